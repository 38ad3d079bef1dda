//! Failing extensions: what core reports, what it does under each failure policy, and that it continues when the
//! failure is over.

use super::management::{CLUSTER, EXTENSION_CONFIG, Management, on_management};
use super::served::{Served, extension_config, handlers, is_known, register};
use super::topology;
use anyhow::{Result, ensure};
use foo_runtime_sdk::hooks::{BeforeClusterCreate, BeforeClusterCreateRequest, FailurePolicy};
use foo_runtime_sdk::metrics::CallOutcome;
use foo_runtime_sdk::{Decision, Extension, Failure, Handler};
use foo_testbed::world::SOON;
use foo_testbed::{Pki, Probe, free_port, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const REFUSAL: &str = "this account has no room for another Cluster";
/// Clusters by the failure of the handler that is called for them, and the message that core gets.
const TROUBLES: [(&str, &str); 3] = [
    ("slow", "handler create did not respond within its 1 s"),
    ("panics", "handler create failed inside"),
    ("refused", REFUSAL),
];

/// A pause between two calls about one Cluster that core reaches only if its pauses grow: it begins with 5 ms and
/// doubles them (client-go, `DefaultTypedControllerRateLimiter`).
const LONG_PAUSE: Duration = Duration::from_secs(2);
/// Calls about one Cluster until then: nine doublings, and one for each change of the Cluster by core itself.
const CALLS: usize = 15;

/// When the handler was called, by Cluster.
type Calls = Arc<Mutex<BTreeMap<String, Vec<Instant>>>>;

/// A handler that fails until it is healed.
fn troubled(policy: FailurePolicy, healed: &Arc<AtomicBool>, calls: &Calls) -> Result<Extension> {
    let (healed, calls) = (Arc::clone(healed), Arc::clone(calls));
    let create = move |request: BeforeClusterCreateRequest| {
        let healed = healed.load(Ordering::SeqCst);
        let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.entry(request.cluster.name().to_owned()).or_default().push(Instant::now());
        async move {
            match request.cluster.name() {
                _ if healed => {}
                "slow" => tokio::time::sleep(Duration::from_mins(1)).await,
                "panics" => fall_over(),
                "refused" => return Err(Failure::new(REFUSAL)),
                _ => {}
            }
            Ok(Decision::Proceed)
        }
    };
    let handler = Handler::new(BeforeClusterCreate, "create", create).timeout_seconds(1);
    Ok(Extension::new([handler.failure_policy(policy)])?)
}

#[expect(clippy::panic, reason = "what is tested")]
fn fall_over() {
    panic!("as the test asks");
}

/// An extension that responds to every hook of creation at once.
pub(crate) fn ready(name: &str) -> Result<Extension> {
    let create = |_request| std::future::ready(Ok(Decision::Proceed));
    Ok(Extension::new([Handler::new(BeforeClusterCreate, name, create)])?)
}

/// Waits until all of a Cluster's topology is there.
pub(crate) async fn is_created(management: &Management, namespace: &str, name: &str) -> Result<()> {
    management.until((CLUSTER, namespace, name), "created", topology::is_created).await?;
    topology::is_reconciled(management, namespace, name).await.map(drop)
}

async fn clusters(management: &Management, namespace: &str) -> Result<()> {
    topology::class(management, namespace, |_class| {}).await?;
    for (name, _message) in TROUBLES {
        topology::cluster(management, namespace, name, |_cluster| {}).await?;
    }
    Ok(())
}

#[test]
fn with_policy_fail_every_failure_blocks_the_cluster_and_is_reported() {
    on_management(async |management| {
        let (healed, calls) = (Arc::default(), Calls::default());
        let served = Served::start(management, troubled(FailurePolicy::Fail, &healed, &calls)?).await?;
        register(management, "policy-fail", served.port).await?;
        clusters(management, "policy-fail").await?;
        for (name, message) in TROUBLES {
            let cluster = topology::has_condition(management, "policy-fail", name, &[message]).await?;
            ensure!(!topology::is_created(&cluster), "{cluster:#}");
        }
        core_asks_ever_more_rarely(&calls).await?;
        let outcomes = [CallOutcome::Late, CallOutcome::Panic, CallOutcome::Failure];
        let outcomes = outcomes.map(|it| served.metrics.calls("BeforeClusterCreate", it));
        ensure!(outcomes.iter().all(|calls| *calls > 0), "{outcomes:?}");
        healed.store(true, Ordering::SeqCst);
        for (name, _message) in TROUBLES {
            is_created(management, "policy-fail", name).await?;
        }
        Ok(())
    });
}

/// Core leaves a Cluster that failed alone for longer each time.
async fn core_asks_ever_more_rarely(calls: &Calls) -> Result<()> {
    wait_until("a long pause between the calls about each Cluster", SOON, async || {
        let now = Instant::now();
        let calls = calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (name, calls) in &calls {
            ensure!(calls.len() <= CALLS, "{} calls about Cluster {name}", calls.len());
        }
        let long = |calls: &Vec<Instant>| {
            let next = calls.iter().skip(1).chain([&now]);
            calls.iter().zip(next).any(|(call, next)| next.duration_since(*call) >= LONG_PAUSE)
        };
        let left = calls.iter().filter(|(_, calls)| !long(calls)).map(|(name, _)| name).collect::<Vec<_>>();
        Ok(Probe::when(calls.len() == TROUBLES.len() && left.is_empty(), || format!("not yet: {left:?}")))
    })
    .await
}

#[test]
fn with_policy_ignore_only_a_refusal_blocks_the_cluster() {
    on_management(async |management| {
        let (healed, calls) = (Arc::default(), Calls::default());
        let served = Served::start(management, troubled(FailurePolicy::Ignore, &healed, &calls)?).await?;
        register(management, "policy-ignore", served.port).await?;
        clusters(management, "policy-ignore").await?;
        for name in ["slow", "panics"] {
            is_created(management, "policy-ignore", name).await?;
        }
        // On a busy machine core may give up first: then nothing is counted as late.
        let calls = calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let panics = served.metrics.calls("BeforeClusterCreate", CallOutcome::Panic);
        ensure!(calls.contains_key("slow") && panics > 0, "{panics} panics, calls about {:?}", calls.keys());
        let refused = topology::has_condition(management, "policy-ignore", "refused", &[REFUSAL]).await?;
        ensure!(!topology::is_created(&refused), "{refused:#}");
        healed.store(true, Ordering::SeqCst);
        is_created(management, "policy-ignore", "refused").await
    });
}

#[test]
fn an_unavailable_extension_blocks_clusters_until_it_is_back() {
    on_management(async |management| {
        let served = Served::start(management, ready("create")?).await?;
        let port = served.port;
        register(management, "away", port).await?;
        served.stop().await?;
        topology::class(management, "away", |_class| {}).await?;
        topology::cluster(management, "away", "away", |_cluster| {}).await?;
        let reported = ["failed to call extension handler \"create.away\"", "connection refused"];
        let cluster = topology::has_condition(management, "away", "away", &reported).await?;
        ensure!(!topology::is_created(&cluster), "{cluster:#}");
        let _served = Served::start_at(port, management.rig().api().pki(), ready("create")?).await?;
        is_created(management, "away", "away").await
    });
}

#[test]
fn a_certificate_of_another_authority_is_refused_until_it_is_renewed() {
    on_management(async |management| {
        let foreign = Pki::new()?;
        let served = Served::start_at(free_port()?, &foreign, ready("create")?).await?;
        management.apply(&extension_config(management, "certificate", served.port)).await?;
        let config = (EXTENSION_CONFIG, "", "certificate");
        let unknown = ["Error in discovery", "certificate signed by unknown authority"];
        let config_object = management.until_condition(config, "Discovered", "False", &unknown).await?;
        ensure!(handlers(&config_object).is_empty(), "{config_object:#}");
        // No restart: the server reads its files again, and core asks again.
        served.renew(management.rig().api().pki())?;
        let config_object = is_known(management, "certificate").await?;
        ensure!(handlers(&config_object) == ["create.certificate"], "{config_object:#}");
        Ok(())
    });
}

/// Core does not call again before its sync period (10 min): a user who installs another version of an extension
/// changes its ExtensionConfig.
#[test]
fn changed_handlers_are_discovered_when_the_extension_config_is_edited() {
    on_management(async |management| {
        const NAME: &str = "changes";
        let served = Served::start(management, ready("before")?).await?;
        let port = served.port;
        let config = register(management, NAME, port).await?;
        ensure!(handlers(&config) == ["before.changes"], "{config:#}");
        asks_no_more(management, NAME, &served).await?;
        served.stop().await?;
        let served = Served::start_at(port, management.rig().api().pki(), ready("after")?).await?;
        topology::class(management, NAME, |_class| {}).await?;
        topology::cluster(management, NAME, NAME, |_cluster| {}).await?;
        let reported =
            ["failed to call extension handler \"before.changes\"", "404", "no handler is served here"];
        let cluster = topology::has_condition(management, NAME, NAME, &reported).await?;
        ensure!(!topology::is_created(&cluster), "{cluster:#}");
        management.touch(EXTENSION_CONFIG, "", NAME, "version 2").await?;
        let config = (EXTENSION_CONFIG, "", NAME);
        management.until(config, "the new handler", |config| handlers(config) == ["after.changes"]).await?;
        is_created(management, NAME, NAME).await?;
        ensure!(served.metrics.calls("BeforeClusterCreate", CallOutcome::Success) > 0, "not called");
        Ok(())
    });
}

/// Waits until core has called for the last time. Each of its writes to the ExtensionConfig causes another call; a
/// paused one it does not ask, and when it is not paused any longer core writes that, asks once, finds nothing new and
/// writes nothing.
async fn asks_no_more(management: &Management, name: &str, served: &Served) -> Result<()> {
    const PAUSED: &str = "cluster.x-k8s.io/paused";
    let config = (EXTENSION_CONFIG, "", name);
    let paused = |value: Value| json!({"metadata": {"annotations": {PAUSED: value}}});
    management.patch(EXTENSION_CONFIG, "", name, &paused(json!(""))).await?;
    management.until_condition(config, "Paused", "True", &[]).await?;
    let calls = || served.metrics.calls("Discovery", CallOutcome::Success);
    let before = calls();
    management.patch(EXTENSION_CONFIG, "", name, &paused(Value::Null)).await?;
    management.until_condition(config, "Paused", "False", &[]).await?;
    wait_until("core to ask for the last time", SOON, async || {
        Ok(Probe::when(calls() > before, || format!("{before} calls")))
    })
    .await
}
