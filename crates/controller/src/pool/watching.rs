//! Which group is looked at for a pool.

use super::pools::Pools;
use super::state::{PoolState, Tenure};
use crate::announcements::Place;
use crate::clouds::{CloudKey, CloudRegion};
use foo_api::FooMachinePool;
use foo_model::GroupName;
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;

impl Pools {
    /// Starts watching the group. Also one that should be watched: an observer that lost it would never say so.
    pub(super) fn watch_group(
        &self,
        key: &ObjectRef<FooMachinePool>,
        group: &GroupName,
        region: &Arc<CloudRegion>,
        state: &mut PoolState,
    ) {
        if state.watches(region, group) {
            return;
        }
        // With other credentials everything is looked at anew. What AWS announced stays true.
        if let Some((cloud, watched)) = self.stop_watching(key, state).or_else(|| state.left.take())
            && state.tenure == Tenure::Own
        {
            self.context.announcements.moves(&Place::of(&cloud, &watched), &Place::of(&region.key, group));
        }
        self.states.watch(key, region, group);
        state.watched = Some((Arc::clone(region), group.clone()));
    }

    /// The pool's group is not looked at for it any more; where it was watched. Without others who use it, its cloud is gone.
    pub(super) fn stop_watching(
        &self,
        key: &ObjectRef<FooMachinePool>,
        state: &mut PoolState,
    ) -> Option<(CloudKey, GroupName)> {
        let (region, group) = state.watched.take()?;
        self.states.lets_go(key, &region, &group);
        state.forget_what_was_seen();
        Some((region.key.clone(), group))
    }

    pub(super) fn forget_group(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) {
        let watched = self.stop_watching(key, state);
        if state.tenure == Tenure::Anothers {
            return;
        }
        for (cloud, group) in watched.into_iter().chain(state.left.take()) {
            self.context.announcements.forget(&Place::of(&cloud, &group));
        }
    }
}
