//! Our manager: the three controllers as `run` wires them, without election, limits and HTTP.

use super::MANAGER;
use super::time::Time;
use async_trait::async_trait;
use foo_apiserver_fake::FakeApiServer;
use foo_cloud::{Cloud, Limits, Queue, observer};
use foo_controller::announcements::{self, Announcements};
use foo_controller::clouds::{CloudFactory, CloudKey, Clouds, ConnectError, Metering, QueueAddress};
use foo_controller::context::Settings;
use foo_controller::debug::DebugPools;
use foo_controller::events::Events;
use foo_controller::leader::Leadership;
use foo_controller::metrics::Metrics;
use foo_controller::readiness::Readiness;
use foo_controller::{Context, cluster, control_plane, pool};
use foo_simulator::{DEFAULT_REGION, Simulator};
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A running manager. It dies when this is dropped, in the middle of whatever it does.
pub(crate) struct Manager {
    context: Context,
    stop: CancellationToken,
    controllers: JoinSet<()>,
}

impl Manager {
    /// Starts one.
    pub(crate) fn start(server: &FakeApiServer, aws: &Simulator, time: Time, queue: Option<&str>) -> Self {
        let debug = DebugPools::default();
        let metrics = Metrics::new(debug.clone());
        let clock: Arc<dyn foo_cloud::Clock> = Arc::new(move || time.now());
        let factory = Arc::new(Simulated(aws.clone()));
        let settings = observer::Settings::default();
        let clouds = Clouds::new(
            factory,
            Limits::default(),
            settings,
            Arc::clone(&clock),
            Leadership::always(),
            &metrics,
        );
        let client = server.client_as(MANAGER);
        let context = Context {
            events: Events::new(client.clone(), MANAGER, metrics.clone()),
            clouds: Arc::new(clouds),
            announcements: Announcements::default(),
            settings: Settings::default(),
            readiness: Readiness::default(),
            client,
            metrics,
            clock,
            debug,
        };
        let stop = CancellationToken::new();
        let mut controllers = JoinSet::new();
        controllers.spawn(pool::run(context.clone(), stop.clone().cancelled_owned()));
        controllers.spawn(cluster::run(context.clone(), stop.clone().cancelled_owned()));
        controllers.spawn(control_plane::run(context.clone(), stop.clone().cancelled_owned()));
        if let Some(url) = queue {
            let address = QueueAddress { region: DEFAULT_REGION.to_owned(), url: url.to_owned() };
            controllers.spawn(announcements::run(context.clone(), address, stop.clone().cancelled_owned()));
        }
        Self { context, stop, controllers }
    }

    /// It ends in good order.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        while self.controllers.join_next().await.is_some() {}
    }

    /// Its numbers.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.context.metrics
    }
}

/// Connects to the simulator instead of AWS.
struct Simulated(Simulator);

#[async_trait]
impl CloudFactory for Simulated {
    async fn connect(&self, key: &CloudKey, metering: &Metering) -> Result<Arc<dyn Cloud>, ConnectError> {
        Ok(metering.around(self.0.cloud(&key.region, MANAGER)))
    }

    async fn connect_queue(
        &self,
        queue: &QueueAddress,
        metering: &Metering,
    ) -> Result<Arc<dyn Queue>, ConnectError> {
        let name = queue.url.rsplit('/').next().unwrap_or_default();
        Ok(metering.around_queue(self.0.queue(&queue.region, name, MANAGER)))
    }
}
