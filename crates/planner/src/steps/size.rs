//! Does desired capacity match the desired replicas?
//!
//! A raise writes the target. A reduction only cancels capacity that was never launched. This step never
//! terminates an instance.

use crate::action::PoolAction;
use crate::desired::Size;
use crate::draft::{Draft, Stage};
use crate::recent_targets::RecentTargets;
use crate::report::EventTrigger;
use crate::situation::{ReplicasManagedBy, Situation, View, is_secured};
use crate::steps::objects;
use crate::steps::own::may_create;
use crate::steps::template::postpones_raise;
use crate::steps::victims::left_to_aws;
use crate::steps::warm_pool;
use foo_model::{EventReason, Group, Timestamp};
use std::time::Duration;

/// Adjusts desired capacity and its bounds to the desired replicas.
pub(crate) fn adjust(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(group) = situation.sizable_group() else {
        return;
    };
    match situation.target.managed_by {
        // Its sizes wait, like its other settings.
        ReplicasManagedBy::Replicas if !is_secured(situation, group) => {}
        ReplicasManagedBy::Replicas => {
            raise(situation, group, draft);
            cancel_unlaunched(situation, group, draft);
            lower_max(situation, group, draft);
        }
        ReplicasManagedBy::External { published, .. } => publish(group, published, draft),
    }
}

/// The least that desired capacity must be: the desired replicas plus surge, or all that exists.
///
/// `None` if the desired replicas are reached and only instances beyond the maximum would justify more: the
/// maximum is never exceeded, and desired capacity is never written below what exists, so nothing can be
/// written.
pub(crate) fn raise_target(situation: &Situation<'_>) -> Option<u32> {
    let goal = wanted_capacity(situation);
    let staying = situation.counts.remaining;
    if staying <= goal {
        return Some(goal);
    }
    let by_aws = left_to_aws(situation).map_or(0, |(beyond, _)| beyond);
    if situation.capacity.high >= goal && staying.saturating_sub(by_aws) <= goal {
        return Some(goal);
    }
    let beyond = situation.target.max.is_some_and(|ceiling| staying > ceiling);
    (!beyond).then_some(staying)
}

/// The desired replicas plus the replacements that may be launched in advance.
///
/// Interrupted instances are replaced at once, whatever the surge: they are gone in two minutes, and then AWS
/// does not count them. If one terminates undrained, the group launches a replacement itself; the excess is
/// then cancelled, or deleted by the victims step.
fn wanted_capacity(situation: &Situation<'_>) -> u32 {
    let target = situation.target;
    let counts = situation.counts;
    let to_replace = situation.target().saturating_sub(counts.active).min(counts.departing);
    let taken = situation.interrupted_beyond_surge().min(to_replace);
    let in_advance = situation.surge().saturating_add(to_replace.saturating_sub(taken));
    let in_advance = in_advance.min(situation.desired.rollout.max_surge.up(target.replicas));
    let goal = target.replicas.saturating_add(in_advance).saturating_add(taken);
    target.max.map_or(goal, |ceiling| goal.min(ceiling))
}

/// Raises desired capacity, and the maximum with it.
fn raise(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let Some(target) = raise_target(situation) else { return };
    // The higher of two possible values: a raise that may have happened is not repeated.
    if situation.capacity.high >= target || !may_create(situation) {
        return;
    }
    let waits = objects::holds_launches(situation)
        || postpones_raise(situation, draft)
        || warm_pool::postpones_raise(situation, draft);
    if waits {
        return;
    }
    let max = (group.sizes.max < target).then_some(target);
    let from = group.sizes.desired;
    draft.event(EventTrigger::Group, EventReason::ScaledUp, format!("desired capacity {from} → {target}"));
    draft.change(format!("desired capacity {from} → {target}"), |change| {
        change.desired = Some(target);
        change.max = max;
    });
}

/// Cancels capacity that was requested and never launched.
///
/// This is safe: every existing instance is protected from scale-in, and the floor counts all that exist;
/// while an instance lacks protection it waits. Launches that replace departing or marked instances are not
/// cancelled.
fn cancel_unlaunched(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let floor = floor(situation, draft);
    if situation.capacity.low <= floor || situation.counts.unprotected > 0 {
        return;
    }
    let from = group.sizes.desired;
    draft.event(
        EventTrigger::Group,
        EventReason::LaunchesCancelled,
        format!("desired capacity {from} → {floor}: launches that have not started are cancelled"),
    );
    draft.change(format!("desired capacity {from} → {floor}"), |change| change.desired = Some(floor));
}

fn floor(situation: &Situation<'_>, draft: &Draft) -> u32 {
    let target = situation.target;
    let counts = situation.counts;
    let going = counts.departing.saturating_add(draft.victims).saturating_add(draft.reserved);
    let needed = situation.total().saturating_add(going);
    let bounded = target.max.map_or(needed, |ceiling| needed.min(ceiling));
    counts.existing.max(bounded)
}

/// Lowers a maximum above the desired replicas once the pool is otherwise idle, so that a scale-in costs
/// no extra call.
fn lower_max(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let size = situation.target.replicas;
    let counts = situation.counts;
    let at_rest = situation.capacity == crate::situation::Capacity::exactly(size)
        && counts.existing == size
        && counts.departing == 0
        && counts.terminating == 0
        && draft.victims == 0
        && wanted_capacity(situation) == size;
    if at_rest && group.sizes.max > size {
        draft
            .change(format!("maximum size {} → {size}", group.sizes.max), |change| change.max = Some(size));
    }
}

/// Reports the group's desired capacity to Cluster API.
fn publish(group: &Group, published: u32, draft: &mut Draft) {
    let replicas = group.sizes.desired;
    if replicas != published {
        draft.act(Stage::Publish, PoolAction::PublishReplicas { replicas });
    }
}

/// Remembers since when there have been too many Machines or too little capacity, and how low the desired
/// replicas have been.
///
/// Only a fresh observation starts or stops a timer about the group.
pub(crate) fn update_timers(situation: &Situation<'_>, draft: &mut Draft) {
    record_target(situation, draft);
    if !matches!(situation.view, View::Own(_)) || !situation.is_fresh() {
        return;
    }
    let now = situation.observed.now;
    let since = |holds: bool, since: Option<Timestamp>| holds.then(|| since.unwrap_or(now));
    let counts = situation.counts;
    draft.memory.excess_since = since(counts.active > situation.target(), draft.memory.excess_since);
    draft.memory.short_since = since(situation.unlaunched() > 0, draft.memory.short_since);
    draft.memory.starved_at = starved_at(situation, draft);
}

/// When launches last failed, as long as that protects registered Nodes (see [`super::victims`]).
fn starved_at(situation: &Situation<'_>, draft: &Draft) -> Option<Timestamp> {
    let now = situation.observed.now;
    let window = Duration::from(situation.desired.scale_in.stabilization);
    let last =
        if draft.memory.is_starving(situation.observed.now) { Some(now) } else { draft.memory.starved_at };
    last.filter(|last| last.plus(window) > now)
}

/// Remembers how low the desired replicas have been, and for how long, in pools with a stabilization window.
fn record_target(situation: &Situation<'_>, draft: &mut Draft) {
    let window = Duration::from(situation.desired.scale_in.stabilization);
    if window.is_zero() {
        draft.memory.targets = RecentTargets::default();
        return;
    }
    let known = match situation.desired.size {
        Size::Unknown => false,
        Size::Replicas { .. } => true,
        // The group has the size.
        Size::External { .. } => matches!(situation.view, View::Own(_)) && situation.is_fresh(),
    };
    if known {
        draft.memory.targets.record(situation.target.replicas, situation.observed.now, window);
    }
}
