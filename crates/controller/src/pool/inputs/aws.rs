//! Whether a pass can use AWS.

use crate::clouds::CloudRegion;
use crate::pool::gather::Gathered;
use crate::pool::pools::Pools;
use crate::pool::state::{PoolState, Tenure};
use crate::pool::tenure;
use foo_api::FooMachinePool;
use foo_model::{Blocked, Comparison};
use foo_planner::desired::Identity;
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;

/// Whether a pass can use AWS.
pub(in crate::pool) enum Aws<'a> {
    /// It observes and changes the pool's group here.
    Usable(&'a Arc<CloudRegion>, &'a Identity),
    /// Not yet: the pool's region or Cluster is unknown.
    Unknown,
    /// No, for this reason.
    Unusable(Blocked),
}

impl Aws<'_> {
    /// AWS's clock, compared with the manager's. While AWS cannot be used, nothing of it has an age either.
    pub(in crate::pool) fn clock(&self) -> Comparison<foo_model::Aws> {
        match self {
            Self::Usable(region, _) => region.clock(),
            Self::Unknown | Self::Unusable(_) => Comparison::default(),
        }
    }
}

impl Pools {
    /// Whether this pass can use AWS. Watches the group of a pool that has to wait for another pool, and stops watching
    /// it while there are no credentials.
    pub(in crate::pool) fn aws<'a>(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &'a Gathered,
        region: &'a Result<Option<Arc<CloudRegion>>, Blocked>,
        state: &mut PoolState,
    ) -> Aws<'a> {
        let known = region.as_ref().ok().and_then(Option::as_ref);
        let taken = known.and_then(|region| self.taken(gathered, region));
        state.tenure = if taken.is_some() { Tenure::Anothers } else { Tenure::Own };
        if let Some(blocked) = &gathered.unreadable {
            return Aws::Unusable(blocked.clone());
        }
        let (region, identity) = match (region, &gathered.identity) {
            (Err(blocked), _) => {
                self.pause_watching(key, state);
                return Aws::Unusable(blocked.clone());
            }
            (Ok(Some(region)), Some(identity)) => (region, identity),
            (Ok(_), _) => return Aws::Unknown,
        };
        match taken.filter(|_| gathered.pool.metadata.deletion_timestamp.is_none()) {
            Some(taken) => {
                tenure::log_owner(state, key, Some(taken.by));
                // The tags of the group show its owner, without a call.
                self.watch_group(key, identity, region, state);
                Aws::Unusable(taken.blocked)
            }
            None => Aws::Usable(region, identity),
        }
    }
}
