//! Does the group have the warm pool of the spec, and only with instances of its launch template version?
//!
//! Its instances are no Nodes, so it is deleted without draining. The group gets the next launch template version first, then the warm
//! pool is deleted, and created again. A version whose instances would join the cluster waits until nothing is launched into the warm pool.
//!
//! Meanwhile no roll-out and no replacement because of age begins, and no capacity is added, for as long as that may last. Unhealthy
//! and interrupted instances are replaced all the same, and a drained one may be replaced from the old warm pool: that costs another
//! replacement.

use crate::action::GroupAction;
use crate::desired::Goal;
use crate::draft::{Draft, Stage};
use crate::memory::{RAISE_WAITS, RefusedWarmPool};
use crate::report::EventTrigger;
use crate::situation::{
    Situation, Unwanted, View, WarmPoolState, holds_replacements_until, is_overdue, is_recorded, is_secured,
    is_unfit, shows_predecessor, version_of, warm_pool,
};
use foo_model::{AppliedWarmPool, EventReason, Group, WarmPoolSettings};

/// Creates, changes or deletes the warm pool.
pub(crate) fn provide(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(group) = situation.writable_group().filter(|group| is_manageable(situation, group)) else {
        return;
    };
    match warm_pool(situation, group) {
        WarmPoolState::Due(settings) => put(situation, group, settings, Stage::Decorate, draft),
        WarmPoolState::Unwanted(unwanted) => {
            if is_overdue(situation) {
                empty(situation, group, draft);
            }
            delete(situation, group, cause(unwanted), draft);
        }
        WarmPoolState::Unmanaged
        | WarmPoolState::Blocked
        | WarmPoolState::Foreign
        | WarmPoolState::Unread
        | WarmPoolState::Waiting
        | WarmPoolState::Ready
        | WarmPoolState::Deleting => {}
    }
}

/// Makes a warm pool harmless that AWS does not delete: another right suffices, and no instance has to stop moving.
fn empty(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    if let Some(pool) = group.warm_pool.filter(|pool| !pool.settings.is_empty()) {
        put(situation, group, pool.settings.emptied(), Stage::Group, draft);
    }
}

/// Creates or changes the warm pool, unless AWS refused the last call for it a moment ago.
fn put(
    situation: &Situation<'_>,
    group: &Group,
    settings: WarmPoolSettings,
    stage: Stage,
    draft: &mut Draft,
) {
    if !pauses(situation, draft) {
        draft.act(stage, GroupAction::PutWarmPool { name: group.name.clone(), settings });
    }
}

/// Deletes the warm pool, unless AWS is deleting it, or refused the last call for it a moment ago.
pub(super) fn delete(situation: &Situation<'_>, group: &Group, why: &str, draft: &mut Draft) {
    if group.warm_pool.is_none_or(|pool| pool.deleting) || pauses(situation, draft) {
        return;
    }
    draft.event(
        EventTrigger::WarmPool,
        EventReason::WarmPoolDeleted,
        format!("Deleting the warm pool of Auto Scaling group {}: {why}", group.name),
    );
    let (name, why) = (group.name.clone(), why.to_owned());
    draft.act(Stage::Group, GroupAction::DeleteWarmPool { name, why });
}

/// Whether the next call for the warm pool waits, because AWS refused the last one.
fn pauses(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let again = situation.memory.refused_warm_pool.map(RefusedWarmPool::again_at);
    let again = again.filter(|again| situation.observed.now < *again);
    if let Some(again) = again {
        draft.wake_at(again);
    }
    again.is_some()
}

fn cause(unwanted: Unwanted) -> &'static str {
    match unwanted {
        Unwanted::LeftSpec => "the spec no longer names it",
        Unwanted::Joins => "its instances would join the cluster",
        Unwanted::Outdated => "its instances may have other launch template versions than the group",
    }
}

/// What is recorded of the warm pool before the actions of this plan: none of its instances has another version than the recorded one.
pub(super) fn record(situation: &Situation<'_>, group: &Group) -> Option<AppliedWarmPool> {
    let recorded = situation.observed.applied.warm_pool.clone();
    if !is_manageable(situation, group) {
        // The group may get the recorded version again before this manager has settled.
        return recorded
            .map(|it| if it.template == version_of(group) { it } else { AppliedWarmPool::default() });
    }
    // One that was just created may not be visible yet.
    let has_none = group.warm_pool.is_none() && situation.memory.ledger.warm_pool.is_none();
    match warm_pool(situation, group) {
        WarmPoolState::Unmanaged | WarmPoolState::Blocked | WarmPoolState::Waiting if has_none => None,
        WarmPoolState::Unmanaged
        | WarmPoolState::Blocked
        | WarmPoolState::Foreign
        | WarmPoolState::Unread
        | WarmPoolState::Waiting
        | WarmPoolState::Ready
        | WarmPoolState::Deleting => recorded,
        WarmPoolState::Due(_) => Some(AppliedWarmPool { template: version_of(group) }),
        // Whatever the group launches from later, it stays outdated until it is deleted.
        WarmPoolState::Unwanted(_) => Some(AppliedWarmPool::default()),
    }
}

/// Whether this manager may change the warm pool: the one before it has stopped, and what that did is visible. Settings of an adopted
/// group wait until terminations are delayed.
fn is_manageable(situation: &Situation<'_>, group: &Group) -> bool {
    shows_predecessor(situation) && is_secured(situation, group)
}

/// Whether raising capacity waits for the deletion of a warm pool: the group would take outdated instances from it.
pub(super) fn postpones_raise(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let has_own =
        is_recorded(situation) && situation.view.group().is_some_and(|group| group.warm_pool.is_some());
    // A change of the launch template in this plan makes it outdated, unless AWS refuses it.
    let becomes_unfit =
        has_own && draft.pending_change().template.is_some() && draft.memory.template_refused_since.is_none();
    let until = draft.memory.warm_pool_unfit_since.map(|since| since.plus(RAISE_WAITS));
    let Some(until) = until.filter(|until| situation.observed.now < *until) else { return becomes_unfit };
    draft.wake_at(until);
    true
}

/// Whether AWS is to create, change or delete the warm pool.
fn is_due(situation: &Situation<'_>) -> bool {
    let View::Own(group) = situation.view else { return false };
    match situation.desired.goal {
        Goal::Run => {
            matches!(warm_pool(situation, group), WarmPoolState::Due(_) | WarmPoolState::Unwanted(_))
        }
        Goal::Remove => group.warm_pool.is_some_and(|pool| !pool.deleting),
        Goal::Retain | Goal::Orphan => false,
    }
}

/// Remembers since when the group has had a warm pool whose instances it should not take, and for how long a refusal counts. Only a fresh
/// observation shows that, and while the pool is paused, nothing deletes the warm pool.
pub(crate) fn update_timers(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.desired.pause.is_some() {
        draft.memory.warm_pool_unfit_since = None;
        return;
    }
    if !situation.is_fresh() {
        return;
    }
    let since = draft.memory.warm_pool_unfit_since.unwrap_or(situation.observed.now);
    draft.memory.warm_pool_unfit_since = is_unfit(situation).then_some(since);
    draft.memory.refused_warm_pool = draft.memory.refused_warm_pool.filter(|_| is_due(situation));
    if let Some(until) = holds_replacements_until(situation) {
        draft.wake_at(until);
    }
}
