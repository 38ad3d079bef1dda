//! What the controller remembers of each pool between passes. All of it may be lost: a restart only costs time.

use super::act::recently_created::Made;
use super::act::repeats::Repeats;
use super::act::terminate_together::Alone;
use super::idle_check::IdleCheck;
use super::reads::Reads;
use crate::clouds::{CloudKey, CloudRegion, GroupKey};
use foo_api::FooMachinePool;
use foo_cloud::CloudError;
use foo_model::{GroupName, Timestamp};
use foo_planner::desired::{Blocked, Identity};
use foo_planner::observed::{Finalizer, MoveBlock};
use foo_planner::{Action, Memory};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of one pool.
#[derive(Default)]
pub(super) struct PoolState {
    /// Uid of the pool: another one of its name begins anew.
    pub(super) uid: Option<String>,
    /// The planner's own memory.
    pub(super) memory: Memory,
    /// When the first pass began; what the status told of before was taken over then.
    pub(super) started: Option<Timestamp>,
    /// Generation of the spec for which AWS was asked about images, types and network.
    pub(super) asked_generation: Option<i64>,
    /// The group belongs to another pool, as far as is known: what was seen of it is nothing to this one.
    pub(super) tenure: Tenure,
    /// Where the group is watched.
    pub(super) watching: Watching,
    /// What the cache does not show yet.
    pub(super) unconfirmed: Unconfirmed,
    /// What was read.
    pub(super) reads: Reads,
    /// What came of our calls.
    pub(super) calls: Calls,
    /// What was told.
    pub(super) reported: Reported,
    /// Whether it rests while nothing changes.
    pub(super) idle: IdleCheck,
}

/// Where a pool's group is watched.
#[derive(Default)]
pub(super) enum Watching {
    /// Nowhere.
    #[default]
    Nowhere,
    /// Here; the cloud is kept in being by this.
    Here(Arc<CloudRegion>, GroupName),
    /// Nowhere while there are no credentials to watch it with; it was watched here before.
    Left(GroupKey),
}

/// Our last writes to the pool, as long as the cache shows it as it was before.
#[derive(Default)]
pub(super) struct Unconfirmed {
    /// We put our finalizer on it.
    pub(super) finalizer: Option<Finalizer>,
    /// We said that it must not be moved.
    pub(super) moves: Option<MoveBlock>,
}

/// What came of our own calls of AWS, as far as a later pass has to know.
#[derive(Default)]
pub(super) struct Calls {
    /// What we created in the last minute and reads may not show yet.
    pub(super) created: Made,
    /// What AWS refused in the last try, until a fresh look shows what came of it.
    pub(super) refused: Option<(Action, CloudError)>,
    /// What AWS would not terminate together with others.
    pub(super) alone: Alone,
    /// What was done again and again without effect.
    pub(super) repeats: Repeats,
}

/// What was told in events or in the log, and is told again only when it changes.
#[derive(Default)]
pub(super) struct Reported {
    /// The last failure.
    failure: Option<String>,
    /// What was last to be said of other MachinePools that name the pool.
    pub(super) rivals: Option<Blocked>,
    /// Who else has the group.
    pub(super) owner: Option<Identity>,
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

/// The pools that wait for news of a group.
type Waiting = Vec<ObjectRef<FooMachinePool>>;

/// Memory of all pools, and which pools wait for news of a group: one, unless several name the same.
#[derive(Default)]
pub(super) struct States {
    pools: Mutex<HashMap<ObjectRef<FooMachinePool>, Arc<tokio::sync::Mutex<PoolState>>>>,
    groups: Mutex<HashMap<GroupKey, Waiting>>,
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
        groups.get(&GroupKey::of(cloud, group)).cloned().unwrap_or_default()
    }

    /// From now on the group is watched for this pool, too.
    pub(super) fn watch(&self, pool: &ObjectRef<FooMachinePool>, region: &CloudRegion, group: &GroupName) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let pools = groups.entry(GroupKey::of(&region.key, group)).or_default();
        if !pools.contains(pool) {
            pools.push(pool.clone());
        }
        // Before anybody else may let go of it: that the last one did would be known too late.
        region.observer.watch(group);
    }

    /// The group is not watched for this pool any more, and with the last pool not at all.
    pub(super) fn lets_go(&self, pool: &ObjectRef<FooMachinePool>, region: &CloudRegion, group: &GroupName) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let place = GroupKey::of(&region.key, group);
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
        let Watching::Here(at, watched) = &self.watching else { return false };
        at.key == cloud.key && watched == group && cloud.observer.is_watched(group)
    }

    /// What was seen in AWS was seen by somebody else, perhaps in another account.
    pub(super) fn forget_what_was_seen(&mut self) {
        self.reads.forget_what_was_seen();
        self.calls.refused = None;
        self.calls.created = Made::default();
    }
}

impl Unconfirmed {
    /// Whether our finalizer is on the pool. Until the cache shows it, adding it again would only be a conflict.
    pub(super) fn finalizer(&mut self, shown: Finalizer) -> Finalizer {
        newer(&mut self.finalizer, shown)
    }

    /// Whether the pool says that it must not be moved.
    pub(super) fn moves(&mut self, shown: MoveBlock) -> MoveBlock {
        newer(&mut self.moves, shown)
    }
}

/// What was written, unless it is shown by now.
fn newer<T: Copy + PartialEq>(written: &mut Option<T>, shown: T) -> T {
    *written = written.filter(|written| *written != shown);
    written.unwrap_or(shown)
}

impl Reported {
    /// Whether this failure has not been told yet. What differs from one try to the next is not part of the question.
    pub(super) fn is_news(&mut self, failure: Option<String>) -> bool {
        let news = failure.is_some() && failure != self.failure;
        self.failure = failure;
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_believed_until_the_cache_shows_it() {
        let mut unconfirmed = Unconfirmed { finalizer: Some(Finalizer::Present), moves: None };
        assert_eq!(unconfirmed.finalizer(Finalizer::Absent), Finalizer::Present);
        assert_eq!(unconfirmed.finalizer(Finalizer::Present), Finalizer::Present);
        assert_eq!(unconfirmed.finalizer(Finalizer::Absent), Finalizer::Absent, "somebody took it off since");
        assert_eq!(unconfirmed.moves(MoveBlock::Free), MoveBlock::Free);
    }
}
