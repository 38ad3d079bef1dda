//! Which group is observed for a pool.

use super::pools::Pools;
use super::state::{PoolState, Tenure, Watching};
use crate::clouds::{CloudRegion, GroupKey};
use foo_api::FooMachinePool;
use foo_planner::desired::Identity;
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;

impl Pools {
    /// Starts watching the group. Repeated for a watched group, because an observer that lost it would not
    /// report it.
    pub(super) fn watch_group(
        &self,
        key: &ObjectRef<FooMachinePool>,
        identity: &Identity,
        region: &Arc<CloudRegion>,
        state: &mut PoolState,
    ) {
        let group = &identity.group;
        if state.is_for_plan || state.watches(region, group) {
            return;
        }
        // With other credentials all observations start again. Announcements of AWS stay valid.
        if let Some(place) = self.stop_watching(key, state)
            && state.tenure == Tenure::Own
        {
            self.context.announcements.move_group(&place, &GroupKey::of(&region.key, group));
        }
        self.states.watch(key, region, group);
        region.observer.names_template(group, &identity.template);
        state.watching = Watching::Here(Arc::clone(region), group.clone());
    }

    /// Stops watching the group while there are no credentials for it. Announcements of AWS stay valid.
    pub(super) fn pause_watching(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) {
        if let Some(place) = self.stop_watching(key, state) {
            state.watching = Watching::Left(place);
        }
    }

    /// The pool is deleted, or has another group from now on.
    pub(super) fn forget_group(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) {
        let watched = self.stop_watching(key, state);
        if let Some(place) = watched.filter(|_| state.tenure == Tenure::Own) {
            self.context.announcements.forget(&place);
        }
    }

    /// Stops watching the pool's group for it. Returns where it was watched last. A cloud that no other pool
    /// uses is dropped.
    fn stop_watching(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) -> Option<GroupKey> {
        if state.is_for_plan {
            return None;
        }
        match std::mem::take(&mut state.watching) {
            Watching::Nowhere => None,
            Watching::Left(place) => Some(place),
            Watching::Here(region, group) => {
                self.states.releases(key, &region, &group);
                state.forget_what_was_seen();
                Some(GroupKey::of(&region.key, &group))
            }
        }
    }
}
