//! What the controller remembers of each pool between passes. All of it may be lost: a restart only costs time.

use super::act::execute::Failure;
use super::act::recently_created::Made;
use super::act::repeats::Repeats;
use super::act::terminate_together::Alone;
use super::idle_check::Rest;
use crate::clouds::{CloudKey, CloudRegion};
use foo_api::FooMachinePool;
use foo_cloud::CloudError;
use foo_model::hook::HookConfig;
use foo_model::{GroupName, InstanceId, LaunchTemplate, Timestamp};
use foo_planner::desired::{Blocked, Identity};
use foo_planner::{Action, Memory};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of one pool.
#[derive(Default)]
pub(super) struct PoolState {
    /// Uid of the pool: another one of its name begins anew.
    pub(super) uid: Option<String>,
    /// The planner's own memory.
    pub(super) memory: Memory,
    /// When the first pass began; what the status told of before was taken over then.
    pub(super) began: Option<Timestamp>,
    /// We put our finalizer on the pool and the cache does not show it yet.
    pub(super) held: bool,
    /// We said on the pool that it must not be moved and the cache does not show it yet.
    pub(super) move_blocked: bool,
    /// The launch template as last read, and when.
    pub(super) template: Option<(Timestamp, Option<LaunchTemplate>)>,
    /// What we made in the last minute and reads may not show yet.
    pub(super) made: Made,
    /// The terms of the group's lifecycle hook as last read or made.
    pub(super) hook: Option<(Timestamp, Option<HookConfig>)>,
    /// The bootstrap Secret as last read.
    pub(super) secret: Option<ReadSecret>,
    /// Content is held back because the control plane is older than it.
    pub(super) behind: bool,
    /// Generation of the spec for which AWS was asked about images, types and network.
    pub(super) asked_for: Option<i64>,
    /// Where the pool's group is watched; the cloud is kept in being by this.
    pub(super) watched: Option<(Arc<CloudRegion>, GroupName)>,
    /// The group belongs to another pool, as far as is known: what was seen of it is nothing to this one.
    pub(super) tenure: Tenure,
    /// Who else has the group, as far as was written into the log.
    pub(super) owner: Option<Identity>,
    /// Where it was watched last, while there are no credentials to watch it with.
    pub(super) left: Option<(CloudKey, GroupName)>,
    /// What AWS said of the last launch that failed, and when it was asked; only while the group is short of capacity.
    pub(super) shortage: Option<(Timestamp, Option<String>)>,
    /// Why AWS ends instances, as far as it was asked; only while they wait for their end.
    pub(super) causes: BTreeMap<InstanceId, Option<String>>,
    /// What AWS refused in the last try, until a fresh look shows what came of it.
    pub(super) refused: Option<(Action, CloudError)>,
    /// The last failure that was told in an event.
    pub(super) told: Option<String>,
    /// What was last to be said of other MachinePools that name the pool.
    pub(super) warned: Option<Blocked>,
    /// What AWS would not end together with others.
    pub(super) alone: Alone,
    /// What was done again and again without effect.
    pub(super) repeats: Repeats,
    /// Whether it rests while nothing changes.
    pub(super) rest: Rest,
}

/// Whose group it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tenure {
    /// The pool's own, or nobody's yet.
    #[default]
    Own,
    /// Another pool's of this manager.
    Anothers,
}

/// A bootstrap Secret that was read.
pub(super) struct ReadSecret {
    /// Its name.
    pub(super) name: String,
    /// Its version, if it could be read.
    pub(super) resource_version: Option<String>,
    /// Its data, or why there is none.
    pub(super) data: Result<Vec<u8>, foo_planner::desired::Blocked>,
    /// When it was read.
    pub(super) at: Timestamp,
}

/// The pools that wait for news of a group.
type Waiting = Vec<ObjectRef<FooMachinePool>>;

/// Memory of all pools, and which pools wait for news of a group: one, unless several name the same.
#[derive(Default)]
pub(super) struct States {
    pools: Mutex<HashMap<ObjectRef<FooMachinePool>, Arc<tokio::sync::Mutex<PoolState>>>>,
    groups: Mutex<HashMap<(CloudKey, GroupName), Waiting>>,
}

impl States {
    /// Memory of that pool.
    pub(super) fn of(&self, pool: &ObjectRef<FooMachinePool>) -> Arc<tokio::sync::Mutex<PoolState>> {
        Arc::clone(self.pools.lock().unwrap_or_else(PoisonError::into_inner).entry(pool.clone()).or_default())
    }

    /// Pools that are remembered although they are gone, if there are any: those that vanished without a pass, as with
    /// `clusterctl move`, which takes their finalizers off.
    pub(super) fn vanished(&self, pools: &Store<FooMachinePool>) -> Vec<ObjectRef<FooMachinePool>> {
        let states = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if states.len() <= pools.len() {
            return Vec::new();
        }
        states.keys().filter(|pool| pools.get(pool).is_none()).cloned().collect()
    }

    /// The pools that wait for news of a group.
    pub(super) fn pools_of(&self, cloud: &CloudKey, group: &GroupName) -> Vec<ObjectRef<FooMachinePool>> {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.get(&(cloud.clone(), group.clone())).cloned().unwrap_or_default()
    }

    /// From now on the group is watched for this pool, too.
    pub(super) fn watch(&self, pool: &ObjectRef<FooMachinePool>, region: &CloudRegion, group: &GroupName) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let pools = groups.entry((region.key.clone(), group.clone())).or_default();
        if !pools.contains(pool) {
            pools.push(pool.clone());
        }
        // Before anybody else may let go of it: that the last one did would be known too late.
        region.observer.watch(group);
    }

    /// The group is not watched for this pool any more, and with the last pool not at all.
    pub(super) fn lets_go(&self, pool: &ObjectRef<FooMachinePool>, region: &CloudRegion, group: &GroupName) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (region.key.clone(), group.clone());
        if let Some(pools) = groups.get_mut(&place) {
            pools.retain(|of| of != pool);
            if !pools.is_empty() {
                return;
            }
            groups.remove(&place);
        }
        region.observer.forget(group);
    }

    /// The pool is gone.
    pub(super) fn forget(&self, pool: &ObjectRef<FooMachinePool>) {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).remove(pool);
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        for pools in groups.values_mut() {
            pools.retain(|of| of != pool);
        }
        groups.retain(|_, pools| !pools.is_empty());
    }
}

impl PoolState {
    /// Whether the group is watched in that cloud, and the cloud's observer knows of it.
    pub(super) fn watches(&self, cloud: &CloudRegion, group: &GroupName) -> bool {
        let noted =
            self.watched.as_ref().is_some_and(|(at, watched)| at.key == cloud.key && watched == group);
        noted && cloud.observer.is_watched(group)
    }

    /// What was seen in AWS was seen by somebody else, perhaps in another account.
    pub(super) fn forget_what_was_seen(&mut self) {
        (self.template, self.hook, self.shortage, self.refused) = (None, None, None, None);
        self.made = Made::default();
    }

    /// Whether this failure has not been told yet. What differs from one try to the next is not part of the question.
    pub(super) fn is_news(&mut self, failure: Option<&Failure>) -> bool {
        let text = failure.map(ToString::to_string);
        let news = text.is_some() && text != self.told;
        self.told = text;
        news
    }
}
