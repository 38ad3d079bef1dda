//! Whether the group has the warm pool that the spec asks for. `steps/warm_pool.rs` acts on it.
//!
//! Instances of a warm pool have the launch template version that the group had when they were launched, and a scale-out takes them
//! first. AWS does not list them with the group. So the record of what the spec set in the group has the one version that all of them
//! have, and a warm pool whose version is not the group's is deleted, and created again.

use super::facts::Facts;
use super::size::ReplicasManagedBy;
use super::template::{
    TemplateState, missing_object, template_differs, template_state, uses_wanted_template,
};
use super::view::View;
use crate::desired::{Goal, Template, Wanted};
use crate::memory::{RENEWAL_WAITS, TAKES_OVER_WITHIN};
use foo_model::group::TemplateChoice;
use foo_model::{
    Group, LaunchTemplate, LaunchTemplateId, TemplateVersion, Timestamp, WarmPool, WarmPoolSettings,
};

/// The state of the warm pool of the pool's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarmPoolState {
    /// The spec names none, and the provider has created none: one that another user created stays.
    Unmanaged,
    /// There is none of the provider's, because its instances would join the cluster.
    Blocked,
    /// The spec names one, but another user created one whose instances may be Nodes with Pods: that stays.
    Foreign,
    /// The spec names one, and the last read is too old to know that no other user has created one since.
    Unread,
    /// It waits until the group launches from the content of the spec.
    Waiting,
    /// It is missing, or its settings are not these.
    Due(WarmPoolSettings),
    /// It is as the spec has it, for what the group launches from at present.
    Ready,
    /// It is to be deleted.
    Unwanted(Unwanted),
    /// AWS is deleting it.
    Deleting,
}

/// Why a warm pool is to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwanted {
    /// It has left the spec.
    LeftSpec,
    /// Instances launched into it would join the cluster.
    Joins,
    /// Its instances may have other launch template versions than the group, or have been Nodes.
    Outdated,
}

/// What the spec asks for at this moment.
enum Wish {
    /// None.
    None,
    /// One, but its instances would join the cluster.
    Joins,
    /// One with these settings, once the group launches from the content of the spec.
    Later(WarmPoolSettings),
    /// One with these settings.
    Now(WarmPoolSettings),
}

/// The state of the warm pool of the pool's own group.
pub(crate) fn warm_pool(facts: &Facts<'_>, group: &Group) -> WarmPoolState {
    let wish = wish(facts, group);
    if facts.desired.group.warm_pool.is_some() && may_have_pods_of_others(facts, group) {
        return WarmPoolState::Foreign;
    }
    let takes_over = !is_recorded(facts) && matches!(wish, Wish::Now(_));
    if takes_over && !was_read_lately(facts) {
        return WarmPoolState::Unread;
    }
    // Until the spec takes it over, one that another user created counts as none.
    let counts = is_recorded(facts) || takes_over;
    let Some(pool) = group.warm_pool.filter(|_| counts) else {
        return match wish {
            Wish::None => WarmPoolState::Unmanaged,
            Wish::Joins => WarmPoolState::Blocked,
            Wish::Later(_) => WarmPoolState::Waiting,
            Wish::Now(settings) => WarmPoolState::Due(settings),
        };
    };
    match wish {
        _ if pool.deleting => WarmPoolState::Deleting,
        Wish::None => WarmPoolState::Unwanted(Unwanted::LeftSpec),
        Wish::Joins => WarmPoolState::Unwanted(Unwanted::Joins),
        Wish::Later(_) | Wish::Now(_) if !is_current(facts, group, pool) => {
            WarmPoolState::Unwanted(Unwanted::Outdated)
        }
        Wish::Later(settings) | Wish::Now(settings) if settings == pool.settings => WarmPoolState::Ready,
        Wish::Later(_) => WarmPoolState::Waiting,
        Wish::Now(settings) => WarmPoolState::Due(settings),
    }
}

fn wish(facts: &Facts<'_>, group: &Group) -> Wish {
    let Some(settings) = facts.desired.group.warm_pool else { return Wish::None };
    let has_version = matches!(template_state(facts), TemplateState::Ready(..));
    // A version with the present user data is about to be created, unless that takes long.
    if may_join_next(facts) && (has_version || is_overdue(facts)) {
        return Wish::Joins;
    }
    let settings = settings_now(facts, settings);
    let may_launch = has_version && facts.desired.missing.is_empty() && missing_object(facts).is_none();
    // A read that trails may show the version before the last change.
    let launches_it = !template_differs(facts, group) && facts.memory.ledger.template.is_none();
    if may_launch && launches_it { Wish::Now(settings) } else { Wish::Later(settings) }
}

/// Whether instances launched from the version that the group is to launch from would perhaps join the cluster at once.
fn may_join_next(facts: &Facts<'_>) -> bool {
    let Wanted::Ready(wanted) = &facts.desired.template else { return false };
    template_state(facts).launchable().is_some_and(|(template, version)| !waits(template, version, wanted))
}

/// Whether the user data of a version wait in a warm pool. That is known only of the user data that the pool has now.
fn waits(template: &LaunchTemplate, version: TemplateVersion, wanted: &Template) -> bool {
    let record = template.record(version);
    let has_wanted_data = record.is_some_and(|it| it.data_hash.as_ref() == Some(&wanted.data_hash));
    wanted.waits_in_warm_pool && has_wanted_data
}

/// Whether the record says that the warm pool of the group is the provider's.
pub(crate) fn is_recorded(facts: &Facts<'_>) -> bool {
    facts.observed.applied.warm_pool.is_some()
}

/// Whether the spec names a warm pool, or has named one.
fn has_one(facts: &Facts<'_>) -> bool {
    is_recorded(facts) || facts.desired.group.warm_pool.is_some()
}

/// Whether another user created the group's warm pool, and its deletion could end Pods.
pub(crate) fn may_have_pods_of_others(facts: &Facts<'_>, group: &Group) -> bool {
    !is_recorded(facts) && group.warm_pool.is_some_and(|pool| !pool.deleting && pool.settings.may_have_pods())
}

/// Whether the last read of the group shows the warm pool that this manager's predecessor created or deleted last.
pub(crate) fn shows_predecessor(facts: &Facts<'_>) -> bool {
    facts.shows_predecessor(facts.observed.group.seen_at())
}

/// Whether the group was read a moment ago.
fn was_read_lately(facts: &Facts<'_>) -> bool {
    facts.observed.group.seen_at().is_some_and(|at| facts.observed.now < at.plus(TAKES_OVER_WITHIN))
}

/// While the provider manages the replicas, it moves the maximum size with them: the warm pool would change its size with each surge.
fn settings_now(facts: &Facts<'_>, wanted: WarmPoolSettings) -> WarmPoolSettings {
    let max_prepared = match facts.target.managed_by {
        ReplicasManagedBy::Replicas => Some(wanted.max_prepared.unwrap_or(wanted.min_size)),
        ReplicasManagedBy::External { .. } => wanted.max_prepared,
    };
    WarmPoolSettings { max_prepared, ..wanted }
}

/// The launch template version that the group launches from.
pub(crate) fn version_of(group: &Group) -> Option<(LaunchTemplateId, TemplateVersion)> {
    match group.template.as_ref()? {
        (id, TemplateChoice::Version(version)) => Some((id.clone(), *version)),
        (_, TemplateChoice::Floating(_)) => None,
    }
}

/// Whether all instances of the provider's warm pool have the version that the group launches from, and none was a Node.
fn is_current(facts: &Facts<'_>, group: &Group, pool: WarmPool) -> bool {
    let recorded = facts.observed.applied.warm_pool.as_ref().and_then(|it| it.template.as_ref());
    pool.settings.is_of_provider() && recorded.is_some() && recorded == version_of(group).as_ref()
}

/// Whether the group keeps its launch template until nothing is launched into its own warm pool any more, because instances launched
/// from the next version may join the cluster: whatever the spec names. A warm pool that this manager, or the one before it, has just
/// created may not be visible yet; of the one before it, the record may not be either.
pub(super) fn holds_template(facts: &Facts<'_>, group: &Group) -> bool {
    let knows = shows_predecessor(facts);
    let may_be_own = is_recorded(facts) || (!knows && facts.desired.group.warm_pool.is_some());
    let may_launch =
        !knows || facts.memory.ledger.warm_pool.is_some() || group.warm_pool.is_some_and(WarmPool::launches);
    may_be_own && may_launch && may_join_next(facts)
}

/// Whether the group has the provider's warm pool, and a scale-out would take instances from it that are of another launch template
/// version, or that may have joined the cluster. An empty one gives none.
pub(crate) fn is_unfit(facts: &Facts<'_>) -> bool {
    let View::Own(group) = facts.view else { return false };
    let Some(pool) = group.warm_pool.filter(|_| is_recorded(facts)) else { return false };
    let gives_some = !pool.settings.is_empty() || pool.size > 0;
    gives_some && (!is_current(facts, group, pool) || may_join_next(facts))
}

/// Until when an unfit warm pool may delay anything, also if that is over; `None` without one.
fn deadline(facts: &Facts<'_>) -> Option<Timestamp> {
    // Without a time, it was found by this pass.
    let since = facts.memory.warm_pool_unfit_since.unwrap_or(facts.observed.now);
    is_unfit(facts).then(|| since.plus(RENEWAL_WAITS))
}

/// Whether AWS has not deleted an unfit warm pool for so long that nothing waits for that any more.
pub(crate) fn is_overdue(facts: &Facts<'_>) -> bool {
    deadline(facts).is_some_and(|until| facts.observed.now >= until)
}

/// Until when an unfit warm pool delays roll-outs and replacements because of age; `None` if that is over, or there is none.
pub(crate) fn holds_replacements_until(facts: &Facts<'_>) -> Option<Timestamp> {
    deadline(facts).filter(|until| facts.observed.now < *until)
}

/// Whether the group launches the content that all instances get, and takes no other instances from its warm pool. AWS may not be able
/// to delete the warm pool: after a while roll-outs and replacements because of age no longer wait for that.
pub(super) fn launches_wanted_content(facts: &Facts<'_>) -> bool {
    uses_wanted_template(facts) && holds_replacements_until(facts).is_none()
}

/// Whether a roll-out waits for the end of a warm pool: the group would take instances from it, or keeps its launch template until then.
pub(crate) fn delays_rollout(facts: &Facts<'_>) -> bool {
    let View::Own(group) = facts.view else { return false };
    let ends = matches!(warm_pool(facts, group), WarmPoolState::Unwanted(_) | WarmPoolState::Deleting);
    let keeps_template = template_differs(facts, group) && holds_template(facts, group);
    ends && (keeps_template || holds_replacements_until(facts).is_some())
}

/// Whether the pool waits until the group is read again, because a warm pool is to be created or taken over, or this manager's
/// predecessor may have changed it after the last read.
pub(crate) fn awaits_read(facts: &Facts<'_>) -> bool {
    let View::Own(group) = facts.view else { return false };
    let is_old = facts.is_settled() && has_one(facts) && !shows_predecessor(facts);
    facts.desired.goal == Goal::Run && (is_old || warm_pool(facts, group) == WarmPoolState::Unread)
}

/// Whether the pool waits until the group is read again, or until AWS has deleted a warm pool, unless that takes long.
pub(crate) fn is_awaited(facts: &Facts<'_>) -> bool {
    let View::Own(group) = facts.view else { return false };
    let is_being_deleted = match facts.desired.goal {
        Goal::Run if awaits_read(facts) => return true,
        Goal::Run => warm_pool(facts, group) == WarmPoolState::Deleting,
        Goal::Remove => group.warm_pool.is_some_and(|pool| pool.deleting),
        Goal::Retain | Goal::Orphan => false,
    };
    is_being_deleted && !is_overdue(facts)
}
