//! From configuration to running controllers, in start order, and every way in which the process ends.
//!
//! * SIGTERM or SIGINT: passes under way are finished, the lease is released, exit code 0.
//! * The Lease is lost: exit code 1 at once, passes under way are dropped. Another replica leads by now, or
//!   is about to.
//! * The machine's clock was set back to the right time ([`clock::left_ahead`]): passes under way are finished, the
//!   lease is released, exit code 1. Kubernetes starts the manager again, with the right time.

use crate::admin::Transport;
use crate::announcements::{self, Announcements};
use crate::args::{Config, ControllerName, Diagnostics, Election, Security};
use crate::client::Limit;
use crate::clock::{self, Clock, KubernetesClock};
use crate::clouds::{CloudFactory, Clouds};
use crate::context::Context;
use crate::debug::Debug;
use crate::diagnostics::{self, Access, Certificate};
use crate::events::Events;
use crate::identities::Identities;
use crate::labels::{KubeClient, Task};
use crate::leader::{self, Candidate, Leadership, Role};
use crate::liveness::Liveness;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::responders::{Responders, Subject};
use crate::telemetry::LogLevel;
use crate::{admin, client, cluster, control_plane, identity, node_config, plans, pool};
use anyhow::Context as _;
use foo_cloud::{Limits, SystemClock};
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Passes under way have this long to end after SIGTERM; Kubernetes kills the process after 30 seconds.
const DRAIN: Duration = Duration::from_secs(20);

/// Limit of the reviews of who may see diagnostics: any client that can connect causes requests.
const REVIEWS: Limit = Limit {
    per_second: NonZeroU32::new(20).expect("20 is not 0"),
    burst: NonZeroU32::new(40).expect("40 is not 0"),
};

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By a signal.
    Stopped,
    /// The Lease was lost.
    LeadLost,
    /// The manager's clock was left ahead of its machine's: a new process begins with the right time.
    ClockSetBack,
}

/// Runs the manager until a signal stops it or it loses the Lease.
/// `log_level`: what `/debug/log-level` shows and changes.
pub async fn run(config: Config, factory: Arc<dyn CloudFactory>, log_level: LogLevel) -> anyhow::Result<End> {
    let stop = stop_signal()?;
    let system_clock = SystemClock::start();
    let clock: Arc<dyn Clock> = Arc::new(system_clock.clone());
    let kubernetes_clock = KubernetesClock::with(Arc::clone(&clock));
    let left_ahead = clock::left_ahead(move || system_clock.ahead_of_wall(), kubernetes_clock.clone());
    let mut left_ahead = std::pin::pin!(left_ahead);
    let debug = Debug::default();
    let metrics = Metrics::new();
    metrics.compares(kubernetes_clock.clone());
    let readiness = Readiness::default();
    let liveness = Liveness::default();
    let (underway, deadline) = (metrics.underway().clone(), config.settings.last_deadline());
    liveness.watch_over(move || underway.overdue(deadline));
    metrics.tasks().register_probes(&liveness, &readiness);
    let kube = kube_config(config.kubeconfig.as_deref()).await?;
    let health = admin::health(readiness.clone(), liveness.clone());
    let _health = admin::serve(config.health, health, Transport::Plain)
        .await
        .with_context(|| format!("--health-addr {}", config.health))?;
    if let Some(diagnostics) = &config.diagnostics {
        let address = diagnostics.address;
        serve_diagnostics(diagnostics, kube.clone(), &metrics, &debug, log_level)
            .await
            .with_context(|| format!("--diagnostics-address {address}"))?;
    }

    let identity = identity();
    let lease = config.election.as_ref().map(|election| election.name.as_str());
    metrics.leads(lease, false);
    let candidate = match &config.election {
        Some(election) => {
            let mut candidate = candidate(election, &identity, &kube, &kubernetes_clock, &metrics).await?;
            if let Some(end) =
                wait_until_elected(&mut candidate, &readiness, left_ahead.as_mut(), &stop).await
            {
                // A candidate that created the Lease is its holder before it leads.
                candidate.release().await;
                return Ok(end);
            }
            Some(candidate)
        }
        None => None,
    };
    metrics.leads(lease, true);

    let leadership = candidate.as_ref().map_or_else(Leadership::always, Candidate::leadership);
    let leads = leadership.clone();
    // A process that loses the Lease exits at once; this covers a thread that cannot even report the loss.
    liveness.watch_over(move || {
        (!leads.holds()).then(|| "this process no longer leads and has not exited".to_owned())
    });
    let work = client::leading(
        kube,
        config.kube_limit,
        leadership.clone(),
        kubernetes_clock.clone(),
        metrics.clone(),
    )?;
    let limits = Limits::default();
    let clouds =
        Clouds::new(factory, limits, config.observer.clone(), Arc::clone(&clock), leadership, &metrics);
    let context = Context {
        events: Events::new(work.clone(), &identity, metrics.clone()),
        client: work,
        workloads: client::Workloads::over_the_network(metrics.clone()),
        clouds: Arc::new(clouds),
        identities: Identities::new(config.identity_rules.clone()),
        announcements: Announcements::default(),
        plans: Responders::default(),
        settings: config.settings.clone(),
        debug,
        metrics,
        clock,
        kubernetes_clock,
        readiness,
        liveness,
    };
    let controllers = start(&config, &context, &stop);
    work_until_the_end(controllers, candidate, left_ahead, stop).await
}

/// Starts to compete for the Lease with this identity.
async fn candidate(
    election: &Election,
    identity: &str,
    kube: &kube::Config,
    clock: &KubernetesClock,
    metrics: &Metrics,
) -> anyhow::Result<Candidate> {
    let (config, of_lease, compared) = (kube.clone(), metrics.clone(), clock.clone());
    let lease = move || client::of_the_lease(config, compared, of_lease);
    let settings = leader::Settings {
        namespace: election.namespace.clone(),
        name: election.name.clone(),
        identity: identity.to_owned(),
        timing: election.timing,
    };
    let candidate =
        Candidate::start_apart(lease, settings, clock.clone(), metrics.leader_transitions()).await?;
    metrics.tasks().watch(Task::Election, &identity, candidate.watchdog());
    Ok(candidate)
}

/// Waits until this process leads; if it ends before that, returns how. `left_ahead`: as in [`work_until_the_end`].
pub(crate) async fn wait_until_elected(
    candidate: &mut Candidate,
    readiness: &Readiness,
    left_ahead: impl Future<Output = Duration>,
    stop: &CancellationToken,
) -> Option<End> {
    let role = candidate.standing();
    readiness.wait_for("leader election", move || *role.borrow() != Role::Starting);
    tokio::select! {
        role = candidate.elected() => (role != Role::Leading).then_some(End::LeadLost),
        () = stop.cancelled() => Some(End::Stopped),
        ahead = left_ahead => Some(clock_set_back(ahead)),
    }
}

fn clock_set_back(ahead: Duration) -> End {
    tracing::error!(
        ahead_seconds = ahead.as_secs(),
        "the machine's clock was set back: the manager exits so that it starts again with the right time"
    );
    End::ClockSetBack
}

async fn serve_diagnostics(
    diagnostics: &Diagnostics,
    kube: kube::Config,
    metrics: &Metrics,
    debug: &Debug,
    log_level: LogLevel,
) -> anyhow::Result<()> {
    let certificate = match &diagnostics.security {
        Security::Insecure => {
            let router = diagnostics::open(metrics.clone());
            admin::serve(diagnostics.address, router, Transport::Plain).await?;
            return Ok(());
        }
        Security::SelfSigned => Certificate::self_signed()?,
        Security::Files(files) => Certificate::of_files(files.clone()).await?,
    };
    let reviews = client::limited(kube, KubeClient::Review, REVIEWS, metrics.clone())?;
    let mut secret = [0; 32];
    let random = rustls::crypto::aws_lc_rs::default_provider().secure_random.fill(&mut secret);
    random.map_err(|_none| anyhow::anyhow!("the system gives no random bytes"))?;
    let router = diagnostics::guarded(metrics.clone(), debug, log_level, Access::new(reviews, secret));
    admin::serve(diagnostics.address, router, Transport::Tls(Arc::new(certificate))).await?;
    Ok(())
}

fn start(config: &Config, context: &Context, stop: &CancellationToken) -> JoinSet<()> {
    let mut controllers = JoinSet::new();
    if config.controllers.contains(&ControllerName::Eks) {
        context.identities.expects_control_planes();
    }
    for controller in &config.controllers {
        let stopped = stop.clone().cancelled_owned();
        let context = context.clone();
        match controller {
            ControllerName::Pool => controllers.spawn(pool::run(context, stopped)),
            ControllerName::Cluster => controllers.spawn(cluster::run(context, stopped)),
            ControllerName::ControlPlane => controllers.spawn(control_plane::run(context, stopped)),
            ControllerName::NodeConfig => controllers.spawn(node_config::run(context, stopped)),
            ControllerName::Eks => controllers.spawn(control_plane::eks::run(context, stopped)),
        };
    }
    let calls_aws =
        |name: &ControllerName| !matches!(name, ControllerName::ControlPlane | ControllerName::NodeConfig);
    let planned = config.controllers.iter().filter_map(|controller| match controller {
        ControllerName::Pool => Some(Subject::Pool),
        ControllerName::Cluster => Some(Subject::Network),
        ControllerName::Eks => Some(Subject::ControlPlane),
        ControllerName::ControlPlane | ControllerName::NodeConfig => None,
    });
    let planned: BTreeSet<Subject> = planned.collect();
    if !planned.is_empty() {
        controllers.spawn(plans::run(context.clone(), planned, stop.clone().cancelled_owned()));
    }
    if config.controllers.iter().any(calls_aws) {
        controllers.spawn(identity::run(context.clone(), stop.clone().cancelled_owned()));
    }
    if let Some(queue) =
        config.events_queue.clone().filter(|_| config.controllers.contains(&ControllerName::Pool))
    {
        let Context { announcements, clouds, clock, metrics, .. } = context.clone();
        let stopped = stop.clone().cancelled_owned();
        controllers.spawn(announcements::run(announcements, clouds, clock, metrics, queue, stopped));
    }
    controllers
}

/// `left_ahead` resolves with how far, when the manager's clock is left ahead of its machine's.
pub(crate) async fn work_until_the_end(
    mut controllers: JoinSet<()>,
    mut candidate: Option<Candidate>,
    left_ahead: impl Future<Output = Duration>,
    stop: CancellationToken,
) -> anyhow::Result<End> {
    let lost = async {
        match &mut candidate {
            Some(candidate) => drop(candidate.lost().await),
            None => std::future::pending().await,
        }
    };
    let worked = async {
        let end = tokio::select! {
            () = stop.cancelled() => End::Stopped,
            ended = controllers.join_next() => {
                anyhow::ensure!(stop.is_cancelled(), "a controller ended by itself: {ended:?}");
                End::Stopped
            }
            ahead = left_ahead => {
                stop.cancel();
                clock_set_back(ahead)
            }
        };
        tracing::info!("stopping; waiting for reconciles in progress");
        let all = async { while controllers.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, all).await.is_err() {
            tracing::warn!("reconciles in progress did not end in time");
        }
        controllers.shutdown().await;
        Ok(end)
    };
    let end = tokio::select! {
        // Also while passes are being finished: the next leader must not run at the same time as they do.
        () = lost => return Ok(End::LeadLost),
        worked = worked => worked?,
    };
    if let Some(candidate) = candidate {
        candidate.release().await;
    }
    Ok(end)
}

/// Cancelled by SIGTERM or SIGINT.
fn stop_signal() -> anyhow::Result<CancellationToken> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stopping.cancel();
    });
    Ok(stop)
}

async fn kube_config(kubeconfig: Option<&Path>) -> anyhow::Result<kube::Config> {
    match kubeconfig {
        Some(path) => {
            let file =
                Kubeconfig::read_from(path).with_context(|| format!("--kubeconfig {}", path.display()))?;
            Ok(kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?)
        }
        None => Ok(kube::Config::infer().await?),
    }
}

/// Different from every other candidate's identity, including those of earlier processes in the same pod.
fn identity() -> String {
    let host = std::env::var("POD_NAME")
        .or_else(|_| std::env::var("HOSTNAME"))
        .unwrap_or_else(|_| "foo-manager".into());
    let started = SystemClock::start().now().0;
    format!("{host}_{}-{started}", std::process::id())
}
