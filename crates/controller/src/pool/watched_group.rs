//! Which group is looked at for a pool.

use super::pools::Pools;
use super::state::{PoolState, Tenure, Watching};
use crate::clouds::{CloudRegion, GroupKey};
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
        if let Some(place) = self.stop_watching(key, state)
            && state.tenure == Tenure::Own
        {
            self.context.announcements.move_group(&place, &GroupKey::of(&region.key, group));
        }
        self.states.watch(key, region, group);
        state.watching = Watching::Here(Arc::clone(region), group.clone());
    }

    /// The group is not looked at while there are no credentials for it. What AWS announced stays true.
    pub(super) fn pause_watching(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) {
        if let Some(place) = self.stop_watching(key, state) {
            state.watching = Watching::Left(place);
        }
    }

    /// The pool is gone, or its group is another one from now on.
    pub(super) fn forget_group(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) {
        let watched = self.stop_watching(key, state);
        if let Some(place) = watched.filter(|_| state.tenure == Tenure::Own) {
            self.context.announcements.forget(&place);
        }
    }

    /// The pool's group is not looked at for it any more; where it was watched last. Without others who use it, its cloud is
    /// gone.
    fn stop_watching(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) -> Option<GroupKey> {
        match std::mem::take(&mut state.watching) {
            Watching::Nowhere => None,
            Watching::Left(place) => Some(place),
            Watching::Here(region, group) => {
                self.states.lets_go(key, &region, &group);
                state.forget_what_was_seen();
                Some(GroupKey::of(&region.key, &group))
            }
        }
    }
}
