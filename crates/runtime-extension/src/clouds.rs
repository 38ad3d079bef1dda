//! Connections to AWS: one per credentials and region, made when first needed, with one cache of look-ups each, the manager's own
//! ([`Lookups`]). Nothing here changes anything in AWS: a change is refused before it is sent.

use crate::settings::Access;
use async_trait::async_trait;
use foo_cloud::{Cloud, Limits, Lookups, Metered, Metrics, VcpuQuota};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Connections at a time. Regions come from users: beyond this all are closed, and those in use made again.
const MOST: usize = 64;

/// How long quotas of vCPUs are the answer: as long as the other look-ups of new questions.
const QUOTAS: Duration = Duration::from_mins(10);

/// Makes the connection to a cloud. No call is made yet.
#[async_trait]
pub trait Connect: Send + Sync {
    /// With these credentials, in this region.
    ///
    /// # Errors
    ///
    /// When the settings of the process cannot be used.
    async fn connect(&self, access: &Access, region: &str) -> anyhow::Result<Arc<dyn Cloud>>;
}

/// A connection, and what was looked up through it.
pub(crate) struct Connected {
    /// For questions without a cache.
    pub(crate) cloud: Arc<dyn Cloud>,
    /// For facts that hardly ever change.
    pub(crate) lookups: Lookups,
    vcpus: tokio::sync::Mutex<BTreeMap<VcpuQuota, (Instant, Option<u32>)>>,
    /// Clusters of whose managed networks something was seen.
    begun: Mutex<BTreeSet<String>>,
}

impl Connected {
    fn new(cloud: Arc<dyn Cloud>) -> Self {
        let metered = Metered::new(cloud, Limits::default(), Metrics::unregistered());
        let cloud: Arc<dyn Cloud> = Arc::new(metered.permitted_by(Arc::new(|| false)));
        let lookups = Lookups::new(Arc::clone(&cloud));
        Self { lookups, cloud, vcpus: tokio::sync::Mutex::default(), begun: Mutex::default() }
    }

    /// How many vCPUs of a quota can run, at most ten minutes old; `None` if AWS does not tell. Callers at the same time share one
    /// call.
    pub(crate) async fn vcpu_quota(&self, quota: VcpuQuota) -> foo_cloud::Result<Option<u32>> {
        let mut known = self.vcpus.lock().await;
        if let Some((_, told)) = known.get(&quota).filter(|(at, _)| at.elapsed() < QUOTAS) {
            return Ok(*told);
        }
        let told = self.cloud.vcpu_quota(quota).await?;
        known.insert(quota, (Instant::now(), told));
        Ok(told)
    }

    /// Whether something of a cluster's managed network was seen before.
    pub(crate) fn has_begun(&self, cluster: &str) -> bool {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).contains(cluster)
    }

    /// Something of a cluster's managed network was seen.
    pub(crate) fn begun(&self, cluster: &str) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(cluster.to_owned());
    }
}

/// All connections.
pub struct Clouds {
    connect: Arc<dyn Connect>,
    open: Mutex<BTreeMap<(Access, String), Arc<Connected>>>,
}

impl Clouds {
    /// None yet.
    pub fn new(connect: Arc<dyn Connect>) -> Self {
        Self { connect, open: Mutex::default() }
    }

    /// The connection with these credentials in that region.
    pub(crate) async fn get(&self, access: &Access, region: &str) -> anyhow::Result<Arc<Connected>> {
        let key = (access.clone(), region.to_owned());
        if let Some(there) = self.open().get(&key) {
            return Ok(Arc::clone(there));
        }
        let made = Arc::new(Connected::new(self.connect.connect(access, region).await?));
        let mut open = self.open();
        if open.len() >= MOST {
            open.clear();
        }
        // Another call may have been faster; then its answers are there already.
        Ok(Arc::clone(open.entry(key).or_insert(made)))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<(Access, String), Arc<Connected>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Clouds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clouds").finish_non_exhaustive()
    }
}
