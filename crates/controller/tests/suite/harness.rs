//! What every controller has, shown once on a controller of ConfigMaps: it is all there is to write for a new one.

use crate::support::{NS, World, objects};
use foo_apiserver_fake::{Fault, Verb};
use foo_controller::Context;
use foo_controller::clouds::{CloudKey, CloudRegion};
use foo_controller::credentials::{Credentials, Keys, Source};
use foo_controller::harness::{ForAll, Harness, PassOutcome, ReconcileAll, Reconciler, Urgency};
use foo_controller::labels::{Controller, PassResult, Task, Watched};
use foo_controller::passes::PassId;
use foo_controller::queue::Action;
use foo_controller::watch::{ChangeFilter, Scope, Watch};
use foo_simulator_core::DEFAULT_REGION;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);
/// How many passes there are at a time.
const AT_A_TIME: u32 = 16;

/// The controller: its passes do what the ConfigMap specifies, and are recorded.
#[derive(Default)]
struct Scripts {
    passes: Mutex<Vec<(String, Instant)>>,
}

impl Scripts {
    /// When there was a pass over this one.
    fn of(&self, name: &str) -> Vec<Instant> {
        let passes = self.passes.lock().unwrap();
        passes.iter().filter(|(of, _)| of == name).map(|(_, at)| *at).collect()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("as in the script")]
struct Failure;

impl Reconciler for Scripts {
    type Object = ConfigMap;
    type Gathered = Arc<ConfigMap>;
    type Fingerprint = Option<BTreeMap<String, String>>;
    type Error = Failure;

    fn gather(&self, script: Arc<ConfigMap>) -> Self::Gathered {
        script
    }

    fn fingerprint(&self, script: &Self::Gathered) -> Self::Fingerprint {
        script.data.clone()
    }

    fn cloud(&self, script: &Self::Gathered) -> Option<(CloudKey, Urgency)> {
        let urgency = if setting(script, "urgent").is_some() { Urgency::Urgent } else { Urgency::Usual };
        Some((CloudKey::of(&keys(&setting(script, "account")?), DEFAULT_REGION), urgency))
    }

    fn conditions(_script: &ConfigMap) -> Option<&[Condition]> {
        Some(&[])
    }

    async fn pass(&self, script: Self::Gathered) -> Result<PassOutcome, Self::Error> {
        self.passes.lock().unwrap().push((script.name_any(), Instant::now()));
        match setting(&script, "does").as_deref() {
            Some("sometimes unknown") if self.of(&script.name_any()).len().is_multiple_of(2) => {
                Ok(PassOutcome::settled(Action::requeue(SECOND)).without_news_of_failures())
            }
            Some("fails" | "sometimes unknown") => Err(Failure),
            Some("reports a failure") => Ok(PassOutcome::failed()),
            Some("hangs") => std::future::pending().await,
            Some("takes 5 s") => {
                sleep(5 * SECOND).await;
                Ok(PassOutcome::worked(Action::await_change()))
            }
            Some("comes back") => Ok(PassOutcome::worked(Action::requeue(MINUTE))),
            _ => Ok(PassOutcome::settled(Action::await_change())),
        }
    }
}

/// Runs the controller until `shutdown` resolves; a Secret names the ConfigMap of its name.
async fn run(
    context: Context,
    scripts: Arc<Scripts>,
    others: impl futures::Stream<Item = ObjectRef<ConfigMap>> + Send + 'static,
    shutdown: impl Future<Output = ()> + Send + Sync + 'static,
) {
    // Metrics have no label for ConfigMaps, and no other controller runs here.
    let own =
        Watch::<ConfigMap>::lenient(&context, Watched::FooCluster, Scope::All, ChangeFilter::EveryVersion);
    let secrets = Watch::<Secret>::lenient(&context, Watched::Secret, Scope::All, ChangeFilter::EveryVersion);
    Harness::new(&context, Controller::Cluster, own)
        .watches(secrets, |secret| Some(ObjectRef::new(&secret.name_any()).within(NS)))
        .reconciles_on(others)
        .run(scripts, shutdown)
        .await;
}

fn setting(script: &ConfigMap, key: &str) -> Option<String> {
    script.data.as_ref()?.get(key).cloned()
}

fn keys(account: &str) -> Credentials {
    let keys = Keys {
        access_key_id: account.to_owned(),
        secret_access_key: "secret".to_owned(),
        session_token: None,
    };
    Credentials { source: Source::Keys(keys), ..Credentials::default() }
}

/// The controller at work.
struct Bench {
    world: World,
    context: Context,
    scripts: Arc<Scripts>,
    names: UnboundedSender<ObjectRef<ConfigMap>>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Bench {
    async fn new() -> Self {
        let mut world = World::empty();
        world.kills_the_manager();
        Self::in_this(world).await
    }

    async fn in_this(world: World) -> Self {
        let (context, scripts) = (world.context(), Arc::new(Scripts::default()));
        let (stop, (names, others)) = (CancellationToken::new(), unbounded());
        let shutdown = stop.clone().cancelled_owned();
        let running = tokio::spawn(run(context.clone(), Arc::clone(&scripts), others, shutdown));
        let bench = Self { world, context, scripts, names, stop, running };
        bench.waits(SECOND).await;
        bench
    }

    async fn waits(&self, time: Duration) {
        self.world.waits(time).await;
    }

    /// There is a ConfigMap of this name with this data.
    fn has(&self, name: &str, data: &[(&str, &str)]) {
        self.world.has(&script(name, data));
    }

    /// Its data are these from now on.
    fn sets(&self, name: &str, data: &[(&str, &str)]) {
        let change = |it: &mut ConfigMap| it.data = script(name, data).data;
        self.world.server.edit(NS, name, change).unwrap();
    }

    /// Something about it changes that is not its data.
    fn touches(&self, name: &str, label: &str) {
        let change =
            |it: &mut ConfigMap| drop(it.labels_mut().insert("touched".to_owned(), label.to_owned()));
        self.world.server.edit(NS, name, change).unwrap();
    }

    /// When there was a pass over it.
    fn passes(&self, name: &str) -> Vec<Instant> {
        self.scripts.of(name)
    }

    /// How many passes ended like this.
    fn ended(&self, result: PassResult) -> u64 {
        self.context.metrics.passes(Controller::Cluster, result)
    }

    /// How long the passes that are under way have been.
    fn under_way(&self) -> Option<Duration> {
        self.context.metrics.underway().longest().remove(&Controller::Cluster)
    }

    /// A cloud is connected with the keys of this account.
    async fn is_connected_to(&self, account: &str) -> Arc<CloudRegion> {
        self.context.clouds.get(&keys(account), DEFAULT_REGION).await.unwrap()
    }
}

fn script(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut script = objects::placed(ConfigMap { data: Some(data), ..ConfigMap::default() });
    script.metadata.name = Some(name.to_owned());
    script
}

/// The times between passes.
fn pauses(passes: &[Instant]) -> Vec<Duration> {
    passes.windows(2).map(|two| two[1] - two[0]).collect()
}

/// `pause` is this, give or take the jitter and what kube needs to notice that it is over.
fn is_about(pause: Duration, nominal: Duration) -> bool {
    (nominal * 8 / 10..=nominal * 12 / 10 + SECOND / 100).contains(&pause)
}

#[tokio::test(start_paused = true)]
async fn a_failing_object_backs_off_whatever_names_it() {
    for does in ["fails", "reports a failure"] {
        let bench = Bench::new().await;
        bench.has("s", &[("does", does)]);
        for step in 0..1200 {
            bench.waits(SECOND).await;
            if step % 3 == 0 {
                bench.touches("s", &step.to_string());
            }
        }
        let pauses = pauses(&bench.passes("s"));
        for (at, pause) in pauses.iter().enumerate() {
            let nominal = (SECOND * (1 << at.min(9))).min(5 * MINUTE);
            assert!(is_about(*pause, nominal), "{does}: {at}: {pauses:?}");
        }
        assert!(pauses.len() >= 10, "{pauses:?}");
        assert_eq!(bench.ended(PassResult::Failed), u64::try_from(pauses.len()).unwrap() + 1);
        assert!(bench.ended(PassResult::Skipped) > 300);
    }
}

#[tokio::test(start_paused = true)]
async fn new_inputs_of_a_failed_object_start_a_pass_at_once_and_reset_its_backoff() {
    let bench = Bench::new().await;
    bench.has("s", &[("does", "fails")]);
    bench.waits(5 * MINUTE).await;
    let before = bench.passes("s").len();
    bench.sets("s", &[("does", "fails"), ("how", "differently")]);
    bench.waits(SECOND / 10).await;
    let passes = bench.passes("s");
    assert_eq!(passes.len(), before + 1);
    bench.waits(10 * SECOND).await;
    let passes = bench.passes("s");
    assert!(is_about(passes[before + 1] - passes[before], SECOND), "{:?}", pauses(&passes));
    bench.sets("s", &[("does", "works")]);
    bench.waits(MINUTE).await;
    bench.sets("s", &[("does", "fails"), ("how", "differently")]);
    let before = bench.passes("s").len();
    bench.waits(10 * SECOND).await;
    let passes = bench.passes("s");
    assert!(is_about(passes[before + 1] - passes[before], SECOND), "success counts: {:?}", pauses(&passes));
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_does_not_know_the_outcome_keeps_the_failure() {
    let bench = Bench::new().await;
    bench.has("s", &[("does", "sometimes unknown")]);
    bench.waits(5 * MINUTE).await;
    let pauses = pauses(&bench.passes("s"));
    for (at, two) in pauses.chunks_exact(2).enumerate() {
        assert!(is_about(two[0], SECOND * (1 << at)) && is_about(two[1], SECOND), "{at}: {pauses:?}");
    }
    assert!(pauses.len() >= 10, "{pauses:?}");
}

#[tokio::test(start_paused = true)]
async fn failures_of_a_deleted_object_are_forgotten() {
    let bench = Bench::new().await;
    bench.has("s", &[("does", "fails")]);
    bench.waits(5 * MINUTE).await;
    bench.world.server.delete::<ConfigMap>(NS, "s").unwrap();
    bench.waits(10 * SECOND).await;
    let before = bench.passes("s").len();
    bench.has("s", &[("does", "fails")]);
    bench.waits(10 * SECOND).await;
    let passes = bench.passes("s");
    assert!(is_about(passes[before + 1] - passes[before], SECOND), "{:?}", pauses(&passes));
    assert_eq!(bench.context.metrics.queue(Controller::Cluster).waiting().objects, 0);
}

#[tokio::test(start_paused = true)]
async fn a_pass_over_its_deadline_is_cancelled_and_retried() {
    let bench = Bench::new().await;
    let deadline = bench.context.settings.last_deadline();
    bench.has("s", &[("does", "hangs")]);
    bench.has("other", &[]);
    bench.waits(deadline.saturating_sub(SECOND)).await;
    assert!(bench.under_way().unwrap() + 2 * SECOND > deadline, "{:?}", bench.under_way());
    assert_eq!(
        (bench.passes("other").len(), bench.ended(PassResult::Settled)),
        (1, 1),
        "no task waits for it"
    );
    assert_eq!(bench.ended(PassResult::GivenUp), 0);
    bench.waits(5 * SECOND).await;
    assert_eq!(bench.ended(PassResult::GivenUp), 1);
    let passes = bench.passes("s");
    assert!(
        is_about(passes[1] - (passes[0] + deadline), SECOND),
        "it counts as a failure: {:?}",
        pauses(&passes)
    );
    bench.sets("s", &[]);
    bench.waits(2 * deadline).await;
    assert_eq!(bench.under_way(), None);
}

#[tokio::test(start_paused = true)]
async fn an_object_has_its_next_pass_when_requested_or_when_something_names_it() {
    let bench = Bench::new().await;
    bench.has("timer", &[("does", "comes back")]);
    bench.has("quiet", &[]);
    bench.waits(10 * MINUTE).await;
    assert_eq!(bench.passes("quiet").len(), 1);
    let timed = pauses(&bench.passes("timer"));
    assert!(timed.len() == 9 && timed.iter().all(|pause| *pause < MINUTE + SECOND / 10), "{timed:?}");
    bench.world.has(&objects::secret("quiet", b""));
    bench.waits(SECOND).await;
    assert_eq!(bench.passes("quiet").len(), 2, "by another kind");
    bench.names.unbounded_send(ObjectRef::new("quiet").within(NS)).unwrap();
    bench.waits(SECOND).await;
    assert_eq!(bench.passes("quiet").len(), 3, "by anything else");
    bench.touches("quiet", "x");
    bench.waits(SECOND).await;
    assert_eq!(bench.passes("quiet").len(), 4, "by itself");
}

/// What a controller owns would live on with it: connections to AWS, and the observers behind them.
#[tokio::test(start_paused = true)]
async fn metrics_keep_no_controller_alive() {
    let bench = Bench::new().await;
    bench.has("a", &[]);
    bench.waits(SECOND).await;
    assert_eq!(bench.passes("a").len(), 1);
    bench.stop.cancel();
    let Bench { world: _world, context, scripts, running, .. } = bench;
    running.await.unwrap();
    assert_eq!(Arc::strong_count(&scripts), 1);
    assert!(context.metrics.exposition().unwrap().contains("foo_objects"));
}

#[tokio::test(start_paused = true)]
async fn passes_are_counted_and_measured() {
    let bench = Bench::new().await;
    for at in 0..2 * AT_A_TIME {
        bench.has(&format!("s{at}"), &[("does", "takes 5 s")]);
    }
    bench.waits(SECOND).await;
    let metric = |name: &str| {
        let text = bench.context.metrics.exposition().unwrap();
        let line = format!("{name}{{controller=\"cluster\"}} ");
        let value = text.lines().find_map(|it| it.strip_prefix(&line)).unwrap();
        value.parse::<f64>().unwrap()
    };
    let is = |value: f64, number: u32| (value - f64::from(number)).abs() < 0.1;
    assert!(is(metric("foo_reconciles_in_flight"), AT_A_TIME));
    assert_eq!(
        bench.context.metrics.queue(Controller::Cluster).waiting().objects,
        usize::try_from(AT_A_TIME).unwrap()
    );
    bench.waits(15 * SECOND).await;
    assert!(is(metric("foo_reconciles_in_flight"), 0));
    assert_eq!(bench.ended(PassResult::Worked), u64::from(2 * AT_A_TIME));
    assert!(is(metric("foo_reconcile_seconds_count"), 2 * AT_A_TIME));
    assert!(metric("foo_reconcile_seconds_sum") >= f64::from(5 * 2 * AT_A_TIME));
    assert!(metric("foo_reconcile_queue_seconds_sum") >= f64::from(4 * AT_A_TIME), "half of them waited");
}

#[tokio::test(start_paused = true)]
async fn an_account_that_is_slow_has_its_part_of_the_passes_unless_something_is_urgent() {
    let bench = Bench::new().await;
    let _connected = [bench.is_connected_to("SLOW").await, bench.is_connected_to("QUICK").await];
    for at in 0..2 * AT_A_TIME {
        bench.has(&format!("slow{at}"), &[("does", "takes 5 s"), ("account", "SLOW")]);
    }
    bench.waits(SECOND).await;
    let begun = || u32::try_from(bench.scripts.passes.lock().unwrap().len()).unwrap();
    assert_eq!(begun(), AT_A_TIME / 2);
    bench.has("quick", &[("account", "QUICK")]);
    bench.has("nowhere", &[]);
    bench.has("urgent", &[("account", "SLOW"), ("urgent", "yes")]);
    bench.waits(SECOND).await;
    for name in ["quick", "nowhere", "urgent"] {
        assert_eq!(bench.passes(name).len(), 1, "{name}");
    }
    // Those in line are named as soon as there is room: four turns of five seconds.
    bench.waits(21 * SECOND).await;
    assert_eq!(begun(), 2 * AT_A_TIME + 3);
    assert_eq!(bench.ended(PassResult::Worked), u64::from(2 * AT_A_TIME));
}

#[tokio::test(start_paused = true)]
async fn no_pass_begins_before_the_caches_of_all_kinds_are_filled() {
    let mut world = World::empty();
    world.kills_the_manager();
    world.server.inject(Fault::unavailable().on(Verb::List).kind("Secret").times(u64::MAX));
    let bench = Bench::in_this(world).await;
    bench.has("s", &[]);
    bench.waits(10 * MINUTE).await;
    assert!(bench.passes("s").is_empty());
    assert!(bench.ended(PassResult::GivenUp) >= 2, "nor does it wait for ever");
    assert!(bench.under_way().is_none_or(|longest| longest <= bench.context.settings.last_deadline()));
    assert!(
        bench.context.readiness.missing().contains(&"secrets/Secret".to_owned()),
        "and /readyz reports it"
    );
    bench.world.server.heal();
    bench.waits(2 * MINUTE).await;
    assert_eq!(bench.passes("s").len(), 1);
}

/// A pass over everything.
struct Inventory {
    config_maps: Store<ConfigMap>,
    /// How many ConfigMaps each pass saw, and when.
    seen: Arc<Mutex<Vec<(usize, Instant)>>>,
}

impl ReconcileAll for Inventory {
    async fn reconcile_all(&mut self, _pass: PassId) -> Option<Duration> {
        self.seen.lock().unwrap().push((self.config_maps.len(), Instant::now()));
        let all = self.config_maps.state();
        if all.iter().any(|script| setting(script, "does").as_deref() == Some("hangs")) {
            std::future::pending::<()>().await;
        }
        all.iter().any(|script| setting(script, "does").as_deref() == Some("comes back")).then_some(MINUTE)
    }
}

#[tokio::test(start_paused = true)]
async fn a_pass_over_everything_waits_for_what_it_needs_and_has_a_deadline_too() {
    let mut world = World::empty();
    world.kills_the_manager();
    let (context, seen) = (world.context(), Arc::new(Mutex::new(Vec::new())));
    world.server.inject(Fault::delay(40 * SECOND).on(Verb::List).kind("Secret"));
    let own =
        Watch::<ConfigMap>::lenient(&context, Watched::FooCluster, Scope::All, ChangeFilter::EveryVersion);
    let secrets = Watch::<Secret>::lenient(&context, Watched::Secret, Scope::All, ChangeFilter::EveryVersion);
    let inventory = Inventory { config_maps: own.store.clone(), seen: Arc::clone(&seen) };
    let controller =
        ForAll::new(&context, Controller::Identity, Task::Identities).watches(own).needs(secrets);
    let _running = tokio::spawn(controller.run(inventory, std::future::pending()));
    let passes = || std::mem::take(&mut *seen.lock().unwrap());
    let counts = || passes().into_iter().map(|(count, _)| count).collect::<Vec<_>>();
    for at in 0..20 {
        world.has(&script(&format!("s{at}"), &[]));
    }
    world.waits(30 * SECOND).await;
    assert!(counts().is_empty(), "the Secrets have not been read");
    world.waits(30 * SECOND).await;
    assert_eq!(counts(), [20], "all at once");
    world.has(&script("timer", &[("does", "comes back")]));
    world.waits(150 * SECOND).await;
    assert_eq!(counts(), [21, 21, 21]);
    world.has(&script("hangs", &[("does", "hangs")]));
    world.waits(2 * context.settings.last_deadline()).await;
    let twice = passes();
    let given_up = context.settings.last_deadline() + 10 * SECOND;
    assert!(is_about(twice[1].1 - twice[0].1, given_up), "{twice:?}");
}

#[tokio::test(start_paused = true)]
async fn at_the_end_passes_under_way_are_finished() {
    let bench = Bench::new().await;
    bench.has("s", &[("does", "takes 5 s")]);
    bench.has("timer", &[("does", "comes back")]);
    bench.waits(SECOND).await;
    bench.stop.cancel();
    let ends = Instant::now();
    bench.running.await.unwrap();
    assert!(ends.elapsed() >= 3 * SECOND && ends.elapsed() < 6 * SECOND, "{:?}", ends.elapsed());
    assert_eq!(bench.context.metrics.passes(Controller::Cluster, PassResult::Worked), 2);
}
