//! Our manager: the controllers as `run` wires them, without election, limits and HTTP.

use super::MANAGER;
use super::time::{Shift, Time};
use super::workload;
use async_trait::async_trait;
use foo_apiserver_fake::FakeApiServer;
use foo_cloud::{Cloud, Limits, Queue, observer};
use foo_controller::announcements::{self, Announcements};
use foo_controller::clock::KubernetesClock;
use foo_controller::clouds::{CloudFactory, Clouds, ConnectError, Metering, QueueAddress};
use foo_controller::context::Settings;
use foo_controller::credentials::{Credentials, Source};
use foo_controller::debug::Debug;
use foo_controller::events::Events;
use foo_controller::identities::{self, Identities};
use foo_controller::leader::Leadership;
use foo_controller::liveness::Liveness;
use foo_controller::metrics::Metrics;
use foo_controller::readiness::Readiness;
use foo_controller::responders::{Responders, Subject};
use foo_controller::{Context, client, cluster, control_plane, identity, node_config, plans, pool};
use foo_model::network::{Kind, Scope};
use foo_simulator_core::{DEFAULT_REGION, Simulator};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How it is started.
#[derive(Default)]
pub(crate) struct Flags {
    /// `--events-queue-url`.
    pub(crate) queue: Option<String>,
    /// `--watch-filter`.
    pub(crate) watch_filter: Option<String>,
    /// `--require-identity`.
    pub(crate) require_identity: bool,
    /// `--namespace`.
    pub(crate) namespace: Option<String>,
    /// `--controllers` without `eks`.
    pub(crate) without_eks: bool,
    /// How far the clock of the machine is from the true one.
    pub(crate) clock: Shift,
}

/// A running manager. It is killed when this is dropped, in the middle of whatever it does.
pub(crate) struct Manager {
    context: Context,
    stop: CancellationToken,
    controllers: JoinSet<()>,
}

impl Manager {
    /// Starts one.
    pub(crate) fn start(server: &FakeApiServer, aws: &Accounts, time: Time, flags: &Flags) -> Self {
        let context = context(server, aws, time, flags);
        let stop = CancellationToken::new();
        let mut controllers = JoinSet::new();
        controllers.spawn(identity::run(context.clone(), stop.clone().cancelled_owned()));
        controllers.spawn(pool::run(context.clone(), stop.clone().cancelled_owned()));
        controllers.spawn(cluster::run(context.clone(), stop.clone().cancelled_owned()));
        controllers.spawn(control_plane::run(context.clone(), stop.clone().cancelled_owned()));
        controllers.spawn(node_config::run(context.clone(), stop.clone().cancelled_owned()));
        if !flags.without_eks {
            context.identities.expects_control_planes();
            controllers.spawn(control_plane::eks::run(context.clone(), stop.clone().cancelled_owned()));
        }
        let mut planned = BTreeSet::from([Subject::Pool, Subject::Network]);
        planned.extend((!flags.without_eks).then_some(Subject::ControlPlane));
        controllers.spawn(plans::run(context.clone(), planned, stop.clone().cancelled_owned()));
        if let Some(url) = &flags.queue {
            let address = QueueAddress { region: DEFAULT_REGION.to_owned(), url: url.to_owned() };
            let Context { announcements, clouds, clock, metrics, .. } = context.clone();
            let stopped = stop.clone().cancelled_owned();
            controllers.spawn(announcements::run(announcements, clouds, clock, metrics, address, stopped));
        }
        Self { context, stop, controllers }
    }

    /// It ends in good order.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        while self.controllers.join_next().await.is_some() {}
    }

    /// Clouds of the usual region that are in use.
    pub(crate) fn clouds(&self) -> Vec<String> {
        let clouds = self.context.clouds.connected_in(DEFAULT_REGION);
        clouds.iter().map(|cloud| cloud.key.credentials.clone()).collect()
    }

    /// For so long others read of EC2 what the limits allow, and each call waits for ten seconds.
    pub(crate) fn uses_up_calls_for(&self, time: Duration) {
        let end = Instant::now() + time;
        for region in self.context.clouds.connected_in(DEFAULT_REGION) {
            for _ in 0..10 * Limits::default().ec2_describe.per_second {
                let cloud = Arc::clone(&region.cloud);
                tokio::spawn(async move {
                    while Instant::now() < end {
                        let others = Scope::TagKey("of-others".to_owned());
                        cloud.describe_network(Kind::Subnet, &others).await.unwrap();
                    }
                });
            }
        }
    }

    /// What it waits for.
    pub(crate) fn readiness(&self) -> &Readiness {
        &self.context.readiness
    }

    /// Its numbers.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.context.metrics
    }
}

/// What the controllers of such a manager are given.
pub(super) fn context(server: &FakeApiServer, aws: &Accounts, time: Time, flags: &Flags) -> Context {
    let debug = Debug::default();
    let metrics = Metrics::new();
    let shift = flags.clock.clone();
    let clock: Arc<dyn foo_cloud::Clock> = Arc::new(move || shift.of(time.now()));
    let kubernetes_clock = KubernetesClock::with(Arc::clone(&clock));
    metrics.compares(kubernetes_clock.clone());
    let factory = Arc::new(aws.clone());
    let settings = observer::Settings::default();
    let clouds =
        Clouds::new(factory, Limits::default(), settings, Arc::clone(&clock), Leadership::always(), &metrics);
    let client = client::over(
        server.service_as(MANAGER),
        Leadership::always(),
        kubernetes_clock.clone(),
        metrics.clone(),
    );
    Context {
        events: Events::new(client.clone(), MANAGER, metrics.clone()),
        clouds: Arc::new(clouds),
        identities: Identities::new(identities::Rules {
            identity_required: flags.require_identity,
            ..identities::Rules::default()
        }),
        announcements: Announcements::default(),
        plans: Responders::default(),
        settings: Settings {
            watch_filter: flags.watch_filter.clone(),
            namespace: flags.namespace.clone(),
            ..Settings::default()
        },
        readiness: Readiness::default(),
        liveness: Liveness::default(),
        workloads: workload::workloads(&aws.usual, &metrics),
        client,
        metrics,
        clock,
        kubernetes_clock,
        debug,
    }
}

/// The caller that AWS sees for these credentials: the role that was assumed last, or the key.
fn caller(credentials: &Credentials) -> &str {
    match (credentials.roles.last(), &credentials.source) {
        (Some(role), _) => &role.arn,
        (None, Source::Keys(keys)) => &keys.access_key_id,
        (None, Source::Manager) => MANAGER,
    }
}

/// Connects to a simulator instead of AWS: each caller to that of its account, all others to the usual one.
#[derive(Clone)]
pub(crate) struct Accounts {
    pub(crate) usual: Simulator,
    pub(crate) of_callers: BTreeMap<String, Simulator>,
}

impl From<&Simulator> for Accounts {
    fn from(usual: &Simulator) -> Self {
        Self { usual: usual.clone(), of_callers: BTreeMap::new() }
    }
}

#[async_trait]
impl CloudFactory for Accounts {
    async fn connect(
        &self,
        credentials: &Credentials,
        region: &str,
        metering: &Metering,
    ) -> Result<Arc<dyn Cloud>, ConnectError> {
        let caller = caller(credentials);
        let account = self.of_callers.get(caller).unwrap_or(&self.usual);
        Ok(metering.around(account.cloud(region, caller).noted_in(metering.clock.clone())))
    }

    async fn connect_queue(
        &self,
        queue: &QueueAddress,
        metering: &Metering,
    ) -> Result<Arc<dyn Queue>, ConnectError> {
        let name = queue.url.rsplit('/').next().unwrap_or_default();
        let queue = self.usual.queue(&queue.region, name, MANAGER);
        Ok(metering.around_queue(queue.noted_in(metering.clock.clone())))
    }
}
