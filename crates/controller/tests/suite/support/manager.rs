//! Our manager: the three controllers as `run` wires them, without election, limits and HTTP.

use super::MANAGER;
use super::time::Time;
use async_trait::async_trait;
use foo_apiserver_fake::FakeApiServer;
use foo_cloud::{Cloud, Limits, observer};
use foo_controller::clouds::{CloudFactory, CloudKey, Clouds, ConnectError, Metering};
use foo_controller::context::Settings;
use foo_controller::debug::DebugPools;
use foo_controller::events::Events;
use foo_controller::leader::Leadership;
use foo_controller::metrics::Metrics;
use foo_controller::readiness::Readiness;
use foo_controller::{Context, cluster, control_plane, pool};
use foo_simulator::Simulator;
use std::future::pending;
use std::sync::Arc;
use tokio::task::JoinSet;

/// A running manager. It dies when this is dropped, in the middle of whatever it does.
pub(crate) struct Manager {
    context: Context,
    _controllers: JoinSet<()>,
}

impl Manager {
    /// Starts one.
    pub(crate) fn start(server: &FakeApiServer, aws: &Simulator, time: Time) -> Self {
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
            settings: Settings::default(),
            readiness: Readiness::default(),
            client,
            metrics,
            clock,
            debug,
        };
        let mut controllers = JoinSet::new();
        controllers.spawn(pool::run(context.clone(), pending()));
        controllers.spawn(cluster::run(context.clone(), pending()));
        controllers.spawn(control_plane::run(context.clone(), pending()));
        Self { context, _controllers: controllers }
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
}
