//! What every controller receives.

use crate::announcements::Announcements;
use crate::client::Workloads;
use crate::clock::{Clock, KubernetesClock};
use crate::clouds::Clouds;
use crate::debug::Debug;
use crate::events::Events;
use crate::identities::Identities;
use crate::liveness::Liveness;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::responders::Responders;
use std::sync::Arc;
use std::time::Duration;

/// Everything that lives as long as the process and that all controllers share.
#[derive(Clone)]
pub struct Context {
    /// The management cluster's API server; limited and measured, without retries.
    pub client: kube::Client,
    /// API servers of workload clusters.
    pub workloads: Workloads,
    /// AWS.
    pub clouds: Arc<Clouds>,
    /// Resolves the AWS credentials of clusters.
    pub identities: Identities,
    /// AWS events from the queue, if one is configured.
    pub announcements: Announcements,
    /// Kubernetes events.
    pub events: Events,
    /// The metrics.
    pub metrics: Metrics,
    /// The flags that controllers use.
    pub settings: Settings,
    /// The manager's clock.
    pub clock: Arc<dyn Clock>,
    /// The API server's clock, as far as its responses show it.
    pub kubernetes_clock: KubernetesClock,
    /// The controllers that respond to FooPlans.
    pub plans: Responders,
    /// What `/debug` shows.
    pub debug: Debug,
    /// What `/readyz` depends on.
    pub readiness: Readiness,
    /// What `/livez` depends on.
    pub liveness: Liveness,
}

/// The flags that controllers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Only objects of this namespace; all when absent (`--namespace`).
    pub namespace: Option<String>,
    /// Namespace of the Secrets that FooClusterIdentities name (`--identity-namespace`).
    pub identity_namespace: String,
    /// Only objects with this value of the watch label; all when absent (`--watch-filter`).
    pub watch_filter: Option<String>,
    /// Period after which every object is reconciled again, ± 20 %, even if nothing happened
    /// (`--sync-period`).
    pub sync_period: Duration,
    /// Concurrent passes of one controller (`--concurrency`).
    pub concurrency: u16,
    /// How often managed idle networks are read (`--aws-network-period`).
    pub network_period: Duration,
    /// How long after the start of a leader nothing that depends on the size of a group is decided
    /// (`--settle-time`).
    pub settle_time: Duration,
    /// A pass stops by itself between two actions when it took longer than this; after twice as long it is
    /// aborted (its calls have their own, shorter timeouts).
    pub pass_deadline: Duration,
    /// Seed that spreads what several managers do at the same time; any number.
    pub seed: u64,
}

impl Settings {
    /// The deadline at which a pass over any object is aborted, whatever it waits for.
    pub fn last_deadline(&self) -> Duration {
        self.pass_deadline.saturating_mul(2)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            namespace: None,
            identity_namespace: "default".to_owned(),
            watch_filter: None,
            sync_period: Duration::from_mins(10),
            concurrency: 16,
            network_period: Duration::from_mins(5),
            settle_time: Duration::from_secs(10),
            pass_deadline: Duration::from_mins(2),
            seed: 0,
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("settings", &self.settings).finish_non_exhaustive()
    }
}
