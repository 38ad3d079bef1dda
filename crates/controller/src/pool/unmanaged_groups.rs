//! Finds Auto Scaling groups with the tags of this management cluster whose FooMachinePool does not exist: etcd was
//! restored to before the pool, or its finalizer was removed by hand. Nothing else reports them, and their instances
//! run and cost. The provider changes nothing about them.
//!
//! One list of groups per credentials and region in an hour. A pool that no cache has is read from the API server:
//! another manager may reconcile it, or the caches may be late. What is found counts when it is found again: a pool
//! that was just deleted leaves its group in AWS's responses for a moment.

use super::gather::Caches;
use crate::Context;
use crate::apply::is_not_found;
use crate::clouds::{CloudKey, CloudRegion};
use crate::labels::Task;
use crate::unmanaged_groups::{UnmanagedGroup, UnmanagedGroups};
use foo_api::FooMachinePool;
use foo_cloud::Watchdog;
use foo_model::group::GroupStatus;
use foo_model::names::TAG_INSTALLATION;
use foo_planner::desired::Identity;
use kube::Api;
use kube_runtime::reflector::ObjectRef;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Between two checks.
const PERIOD: Duration = Duration::from_hours(1);
/// Before the first check, and before a group that was found for the first time is checked again.
const SOON: Duration = Duration::from_mins(5);
/// Timeout of one check.
const DEADLINE: Duration = Duration::from_mins(5);
/// Timeout of the read of one pool.
const READ: Duration = Duration::from_secs(10);

/// Checks for as long as there are passes.
pub(super) async fn run(context: Context, caches: Caches) {
    if caches.wait_until_filled().await.is_err() {
        return;
    }
    let (tasks, watchdog) = (context.metrics.tasks().clone(), Watchdog::default());
    tasks.watch(Task::UnmanagedGroups, &"all regions", &watchdog);
    let groups = context.metrics.unmanaged_groups();
    let search = Search { context, caches };
    let mut pause = SOON;
    loop {
        sleep(pause).await;
        let unconfirmed =
            tasks.within(Task::UnmanagedGroups, &watchdog, DEADLINE, search.update(&groups)).await;
        pause = if unconfirmed.unwrap_or(true) { SOON } else { PERIOD };
    }
}

struct Search {
    context: Context,
    caches: Caches,
}

impl Search {
    /// Finds them in all connected clouds. Returns whether some were found for the first time.
    async fn update(&self, groups: &UnmanagedGroups) -> bool {
        let (mut found, mut unknown) = (BTreeMap::new(), Vec::new());
        for cloud in self.context.clouds.connected() {
            match self.of_cloud(&cloud).await {
                Ok(unmanaged) => found.extend(unmanaged),
                Err(Unknown) => unknown.push(cloud.key.to_string()),
            }
        }
        groups.replace(found, &unknown)
    }

    async fn of_cloud(&self, cloud: &CloudRegion) -> Result<BTreeMap<String, UnmanagedGroup>, Unknown> {
        let tagged = cloud.cloud.describe_groups_tagged(TAG_INSTALLATION).await.map_err(|error| {
            tracing::warn!(%error, cloud = %cloud.key, "could not list the groups of this management cluster");
            Unknown
        })?;
        let mut unmanaged = BTreeMap::new();
        for group in tagged.iter().filter(|group| group.status != GroupStatus::Deleting) {
            let found = UnmanagedGroup::of(&cloud.key.to_string(), group, &self.caches.installation);
            let Some(found) = found.filter(|found| self.is_watched(&found.owner.namespace)) else { continue };
            if !self.has_pool(&found.owner, &cloud.key).await? {
                unmanaged.insert(group.arn.clone(), found);
            }
        }
        Ok(unmanaged)
    }

    /// Managers of other namespaces report their own.
    fn is_watched(&self, namespace: &str) -> bool {
        self.context.settings.namespace.as_ref().is_none_or(|watched| watched == namespace)
    }

    async fn has_pool(&self, owner: &Identity, cloud: &CloudKey) -> Result<bool, Unknown> {
        let cached = ObjectRef::new(&owner.pool).within(&owner.namespace);
        if self.caches.pools.get(&cached).is_some() {
            return Ok(true);
        }
        let pools: Api<FooMachinePool> = Api::namespaced(self.context.client.clone(), &owner.namespace);
        match timeout(READ, pools.get_metadata(&owner.pool)).await {
            Ok(Ok(_)) => Ok(true),
            Ok(Err(error)) if is_not_found(&error) => Ok(false),
            Ok(Err(error)) => {
                tracing::warn!(%error, %cloud, pool = owner.pool, "could not read the FooMachinePool of a group");
                Err(Unknown)
            }
            Err(_late) => {
                tracing::warn!(%cloud, pool = owner.pool, "could not read the FooMachinePool of a group in time");
                Err(Unknown)
            }
        }
    }
}

/// It could not be found out.
struct Unknown;
