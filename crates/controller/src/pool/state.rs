//! The memory of each pool between passes. All of it may be lost: a restart only costs time.

use super::idle_check::IdleCheck;
use super::milestones::Milestones;
use super::reads::Reads;
use super::recently_created::Made;
use super::repeats::Repeats;
use super::terminated_alone::Alone;
use crate::clouds::{CloudKey, CloudRegion, GroupKey};
use foo_api::FooMachinePool;
use foo_api::pool::ImageStatus;
use foo_cloud::CloudError;
use foo_model::{Applied, Blocked, GroupName, Timestamp};
use foo_planner::desired::Identity;
use foo_planner::observed::{Finalizer, MoveBlock};
use foo_planner::{Action, Memory};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The memory of one pool.
#[derive(Default)]
pub(super) struct PoolState {
    /// Uid of the pool: another pool with its name starts from zero.
    pub(super) uid: Option<String>,
    /// The planner's own memory.
    pub(super) memory: Memory,
    /// When the first pass began, which also resumed what the status shows.
    pub(super) started: Option<Timestamp>,
    /// Generation of the spec for which images, types and network were looked up.
    pub(super) asked_generation: Option<i64>,
    /// Whether the group belongs to another pool, as far as known; observations of such a group do not count.
    pub(super) tenure: Tenure,
    /// Where the group is watched.
    pub(super) watching: Watching,
    /// Writes that the cache does not show yet.
    pub(super) unconfirmed: Unconfirmed,
    /// Values that were read.
    pub(super) reads: Reads,
    /// Results of our calls.
    pub(super) calls: Calls,
    /// What was reported.
    pub(super) reported: Reported,
    /// Whether it is idle while nothing changes.
    pub(super) idle: IdleCheck,
    /// What is in progress, and is measured when it ends.
    pub(super) milestones: Milestones,
    /// Whether this is the copy for a plan: then nothing is written or observed for it.
    pub(super) is_for_plan: bool,
    /// Whether a plan assumes bootstrap data that does not exist yet.
    pub(super) assumes_bootstrap_data: bool,
}

/// Where a pool's group is watched.
#[derive(Clone, Default)]
pub(super) enum Watching {
    /// Nowhere.
    #[default]
    Nowhere,
    /// Here; this reference keeps the cloud.
    Here(Arc<CloudRegion>, GroupName),
    /// Nowhere while there are no credentials for it; it was watched here before.
    Left(GroupKey),
}

/// Our last writes to the pool, until the cache shows them.
#[derive(Clone, Default)]
pub(super) struct Unconfirmed {
    /// The finalizer.
    pub(super) finalizer: Option<Finalizer>,
    /// The move block.
    pub(super) moves: Option<MoveBlock>,
    /// The record of the image.
    pub(super) image: Option<WrittenImage>,
    /// The record of what of the spec was applied to the group.
    pub(super) applied: Option<Applied>,
}

/// The record of an image that was written; `None` if it was removed.
#[derive(Clone)]
pub(super) struct WrittenImage(pub(super) Option<ImageStatus>);

/// Results of our calls to AWS, as far as a later pass needs them.
#[derive(Default)]
pub(super) struct Calls {
    /// What the provider created in the last minute and reads may not show yet.
    pub(super) created: Made,
    /// What AWS refused in the last attempt, until a fresh observation shows the result.
    pub(super) refused: Option<(Action, CloudError)>,
    /// Why AWS refused the last call for the warm pool, as long as the planner remembers that. It is no failure of a pass: the pool works
    /// without its warm pool.
    pub(super) refused_warm_pool: Option<CloudError>,
    /// Instances that AWS would not terminate together with others.
    pub(super) alone: Alone,
    /// Actions that were repeated without effect.
    pub(super) repeats: Repeats,
}

/// What events or logs reported; it is reported again only when it changes.
#[derive(Default)]
pub(super) struct Reported {
    /// The last failures.
    failures: Vec<String>,
    /// The last warnings about other MachinePools that reference the pool, and about its image.
    pub(super) warnings: Vec<Blocked>,
    /// The other pool that has the group.
    pub(super) owner: Option<Identity>,
}

/// Which pool a group belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tenure {
    /// This pool, or none yet.
    #[default]
    Own,
    /// Another pool of this manager.
    Anothers,
}

/// The pools that wait for changes of a group.
type Waiting = Vec<ObjectRef<FooMachinePool>>;

/// The memory of all pools, and which pools wait for changes of a group: one, unless several name the same.
#[derive(Default)]
pub(super) struct States {
    pools: Mutex<HashMap<ObjectRef<FooMachinePool>, Arc<tokio::sync::Mutex<PoolState>>>>,
    groups: Mutex<HashMap<GroupKey, Waiting>>,
}

impl States {
    /// The memory of a pool.
    pub(super) fn of(&self, pool: &ObjectRef<FooMachinePool>) -> Arc<tokio::sync::Mutex<PoolState>> {
        Arc::clone(self.pools.lock().unwrap_or_else(PoisonError::into_inner).entry(pool.clone()).or_default())
    }

    /// Pools that are remembered although they no longer exist: those that vanished without a pass, as with
    /// `clusterctl move`, which removes their finalizers.
    pub(super) fn vanished(&self, pools: &Store<FooMachinePool>) -> Vec<ObjectRef<FooMachinePool>> {
        let states = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if states.len() <= pools.len() {
            return Vec::new();
        }
        states.keys().filter(|pool| pools.get(pool).is_none()).cloned().collect()
    }

    /// The pools that wait for changes of a group.
    pub(super) fn pools_of(&self, cloud: &CloudKey, group: &GroupName) -> Vec<ObjectRef<FooMachinePool>> {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.get(&GroupKey::of(cloud, group)).cloned().unwrap_or_default()
    }

    /// Watches the group for this pool, too.
    pub(super) fn watch(&self, pool: &ObjectRef<FooMachinePool>, region: &CloudRegion, group: &GroupName) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let pools = groups.entry(GroupKey::of(&region.key, group)).or_default();
        if !pools.contains(pool) {
            pools.push(pool.clone());
        }
        // Under the lock: otherwise another pool could stop watching the group in between.
        region.observer.watch(group);
    }

    /// Stops watching the group for this pool, and after the last pool altogether.
    pub(super) fn releases(&self, pool: &ObjectRef<FooMachinePool>, region: &CloudRegion, group: &GroupName) {
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

    /// The pool no longer exists.
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
    /// A copy for a plan, with what was read. What was reported, and whether the pool is idle, is of no use to it.
    pub(super) fn for_plan(&self) -> Self {
        Self {
            uid: self.uid.clone(),
            memory: self.memory.clone(),
            started: self.started,
            asked_generation: self.asked_generation,
            tenure: self.tenure,
            watching: self.watching.clone(),
            unconfirmed: self.unconfirmed.clone(),
            reads: self.reads.clone(),
            calls: Calls { created: self.calls.created.clone(), ..Calls::default() },
            reported: Reported { owner: self.reported.owner.clone(), ..Reported::default() },
            idle: IdleCheck::default(),
            milestones: Milestones::default(),
            is_for_plan: true,
            assumes_bootstrap_data: false,
        }
    }

    /// Whether the group is watched in that cloud, and the cloud's observer knows of it.
    pub(super) fn watches(&self, cloud: &CloudRegion, group: &GroupName) -> bool {
        let Watching::Here(at, watched) = &self.watching else { return false };
        at.key == cloud.key && watched == group && cloud.observer.is_watched(group)
    }

    /// Drops what was observed with other credentials, perhaps in another account.
    pub(super) fn forget_what_was_seen(&mut self) {
        self.reads.forget_what_was_seen();
        self.calls.refused = None;
        self.calls.refused_warm_pool = None;
        self.calls.created = Made::default();
    }
}

impl Unconfirmed {
    /// Whether our finalizer is on the pool. Until the cache shows it, adding it again would only cause a
    /// conflict.
    pub(super) fn finalizer(&mut self, shown: Finalizer) -> Finalizer {
        newer(&mut self.finalizer, shown)
    }

    /// Whether the pool blocks its move.
    pub(super) fn moves(&mut self, shown: MoveBlock) -> MoveBlock {
        newer(&mut self.moves, shown)
    }

    /// The record of what of the spec was applied to the group.
    pub(super) fn applied(&mut self, shown: Applied) -> Applied {
        match self.applied.take() {
            Some(written) if written != shown => self.applied.insert(written).clone(),
            Some(_) | None => shown,
        }
    }

    /// The record of the image.
    pub(super) fn image(&mut self, shown: Option<ImageStatus>) -> Option<ImageStatus> {
        match self.image.take() {
            Some(written) if written.0 != shown => self.image.insert(written).0.clone(),
            Some(_) | None => shown,
        }
    }
}

/// The written value, unless the cache shows it.
fn newer<T: Copy + PartialEq>(written: &mut Option<T>, shown: T) -> T {
    *written = written.filter(|written| *written != shown);
    written.unwrap_or(shown)
}

impl Reported {
    /// Those of these failures that are not reported yet, ignoring what differs between attempts.
    pub(super) fn news(&mut self, failures: Vec<String>) -> Vec<String> {
        let news = failures.iter().filter(|failure| !self.failures.contains(failure)).cloned().collect();
        self.failures = failures;
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    #[test]
    fn a_write_is_trusted_until_the_cache_has_it() {
        let mut unconfirmed = Unconfirmed { finalizer: Some(Finalizer::Present), ..Unconfirmed::default() };
        assert_eq!(unconfirmed.finalizer(Finalizer::Absent), Finalizer::Present);
        assert_eq!(unconfirmed.finalizer(Finalizer::Present), Finalizer::Present);
        assert_eq!(
            unconfirmed.finalizer(Finalizer::Absent),
            Finalizer::Absent,
            "another user removed it since"
        );
        assert_eq!(unconfirmed.moves(MoveBlock::Free), MoveBlock::Free);
    }

    #[test]
    fn a_recorded_image_counts_before_the_cache_has_it() {
        let image = |id: &str| ImageStatus {
            id: id.to_owned(),
            source: "SSM parameter /node".to_owned(),
            version: None,
            resolved_at: Time(jiff::Timestamp::UNIX_EPOCH),
            arm64: None,
        };
        let (old, new) = (Some(image("ami-1")), Some(image("ami-2")));
        let mut unconfirmed =
            Unconfirmed { image: Some(WrittenImage(new.clone())), ..Unconfirmed::default() };
        assert_eq!(unconfirmed.image(None), new);
        assert_eq!(unconfirmed.image(old.clone()), new);
        assert_eq!(unconfirmed.image(new.clone()), new);
        assert_eq!(unconfirmed.image(old.clone()), old, "written by another since");
        let mut removed = Unconfirmed { image: Some(WrittenImage(None)), ..Unconfirmed::default() };
        assert_eq!(
            (removed.image(old.clone()), removed.image(None), removed.image(old.clone())),
            (None, None, old)
        );
    }
}
