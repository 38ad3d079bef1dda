//! What the pool controller keeps between passes, and which credentials and region a pool uses.

use super::gather::{Caches, Gathered};
use super::names;
use super::state::States;
use crate::Context;
use crate::announcements::Announcements;
use crate::apply::StatusWriter;
use crate::clouds::{CloudKey, CloudRegion, GroupKey};
use crate::credentials::Credentials;
use foo_api::names::managers;
use foo_api::{FooCluster, FooMachine, FooMachinePool};
use foo_model::{Blocked, Reason};
use foo_model::{InstanceId, Timestamp};
use kube::ResourceExt;
use std::sync::Arc;
use std::time::Duration;

/// If the account's calls have to wait longer than this, a pass does not begin, or does not start its next
/// action.
pub(super) const LONGEST_BACKLOG: Duration = Duration::from_secs(5);

/// The pool controller's own state.
pub(super) struct Pools {
    /// What all controllers share.
    pub(super) context: Context,
    /// The informer caches.
    pub(super) caches: Caches,
    /// The memory of each pool.
    pub(super) states: States,
    pub(super) pool_status: StatusWriter,
    pub(super) machine_status: StatusWriter,
    pub(super) settled_from: Timestamp,
}

/// What users and controllers request of a pool: when it changes, a failed pool is tried again at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InputFingerprint {
    /// Generations of the FooMachinePool and of its MachinePool.
    pub(super) generations: (Option<i64>, Option<i64>),
    /// Whether it is paused: `clusterctl move` waits for the result of a paused pool.
    pub(super) paused: bool,
    /// The FooMachines that are being deleted: their instances wait for their termination.
    pub(super) leaving: Vec<String>,
    /// Instances that AWS is about to interrupt, in two minutes.
    pub(super) taken: Vec<InstanceId>,
    /// The region and credentials: others may have the missing right.
    pub(super) cloud: Option<CloudKey>,
}

/// The region and credentials of a pool.
pub(super) struct Access {
    pub(super) credentials: Arc<Credentials>,
    pub(super) region: String,
}

impl Access {
    pub(super) fn key(&self) -> CloudKey {
        CloudKey::of(&self.credentials, &self.region)
    }
}

impl InputFingerprint {
    pub(super) fn of(
        gathered: &Gathered,
        announcements: &Announcements,
        access: &Result<Option<Access>, Blocked>,
    ) -> Self {
        let access = access.as_ref().ok().and_then(Option::as_ref);
        let cloud = access.map(Access::key);
        let group = gathered.identity.as_ref().map(|identity| &identity.group);
        let place = cloud.as_ref().zip(group).map(|(cloud, group)| GroupKey::of(cloud, group));
        let leaving = |machine: &&Arc<FooMachine>| machine.metadata.deletion_timestamp.is_some();
        Self {
            generations: (
                gathered.pool.metadata.generation,
                gathered.machine_pool.as_ref().and_then(|pool| pool.metadata.generation),
            ),
            paused: gathered.paused_by.is_some(),
            leaving: gathered.foo_machines.iter().filter(leaving).map(|machine| machine.name_any()).collect(),
            taken: place.map(|place| announcements.interrupted(&place)).unwrap_or_default(),
            cloud,
        }
    }
}

impl Pools {
    /// A controller that just started, or just became the leader.
    pub(super) fn new(context: Context, caches: Caches) -> Self {
        let settled_from = context.clock.now().plus(context.settings.settle_time);
        Self {
            pool_status: StatusWriter::new(managers::POOL_STATUS),
            machine_status: StatusWriter::new(managers::MACHINE_STATUS),
            states: States::default(),
            settled_from,
            context,
            caches,
        }
    }

    /// The region and credentials of a pool, from its FooCluster. Without a FooCluster, the region of its
    /// group and the credentials of a cluster that names no identity.
    pub(super) fn access(&self, gathered: &Gathered) -> Result<Option<Access>, Blocked> {
        self.access_of(&gathered.pool, gathered.foo_cluster.as_deref())
    }

    /// The same for any pool and its FooCluster.
    pub(super) fn access_of(
        &self,
        pool: &FooMachinePool,
        cluster: Option<&FooCluster>,
    ) -> Result<Option<Access>, Blocked> {
        let recorded = pool.spec.provider_id.as_deref().and_then(names::region_of_arn);
        let Some(region) = cluster.map(|cluster| cluster.spec.region.as_str()).or(recorded) else {
            return Ok(None);
        };
        let identity = cluster.and_then(|cluster| cluster.spec.identity_ref.as_ref());
        let name = identity.map(|reference| reference.name.as_str());
        let namespace = pool.namespace().unwrap_or_default();
        let credentials = self.context.identities.credentials(name, &namespace, region)?;
        Ok(Some(Access { credentials, region: region.to_owned() }))
    }

    pub(super) async fn region(
        &self,
        access: Result<Option<Access>, Blocked>,
    ) -> Result<Option<Arc<CloudRegion>>, Blocked> {
        let Some(Access { credentials, region }) = access? else { return Ok(None) };
        let connected = self.context.clouds.get(&credentials, &region).await;
        connected.map(Some).map_err(|error| Blocked::new(Reason::CredentialsInvalid, error.to_string()))
    }
}
