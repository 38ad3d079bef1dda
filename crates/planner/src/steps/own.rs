//! May the provider act on this pool, and how does it release the pool?

use crate::action::{GroupAction, MachineAction, PoolAction};
use crate::desired::Goal;
use crate::draft::{Draft, Stage};
use crate::observed::{Finalizer, MoveBlock};
use crate::report::EventTrigger;
use crate::situation::{AdoptionState, Situation, View, adoption, is_to_come};
use crate::steps::warm_pool;
use foo_model::names::TAG_INSTALLATION;
use foo_model::{Applied, EventReason, HookName, Process, Timestamp, TopicArn};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How soon the pool is planned again while a record may be of something that is not there any more: a read that shows nothing new wakes
/// no pool.
const ASKED_AGAIN: Duration = Duration::from_mins(1);

/// Adds our finalizer together with, and before, the first other action. A pool that owns nothing yet gets no
/// finalizer: with a misspelt region or refused credentials the provider could not even find out whether it
/// may be deleted.
///
/// Called last: it depends on what the plan does.
pub(crate) fn ensure_finalizer(situation: &Situation<'_>, draft: &mut Draft) {
    let something = matches!(situation.view, View::Own(_)) || !situation.observed.foo_machines.is_empty();
    if situation.observed.finalizer == Finalizer::Absent && (something || draft.does_something()) {
        draft.act_first(Stage::Own, PoolAction::AddFinalizer);
    }
}

/// Writes the group's ARN into the spec once it is known.
///
/// The ARN is immutable. If a user deletes the group and the provider recreates it, the spec keeps the old
/// ARN; the group's condition says so.
pub(crate) fn record_arn(situation: &Situation<'_>, draft: &mut Draft) {
    if let (View::Own(group), None) = (situation.view, &situation.observed.recorded_arn) {
        draft.act(Stage::Own, PoolAction::RecordArn { arn: group.arn.clone() });
    }
}

/// Whether the group belongs to another management cluster, and a user says that it has given the group up.
/// Until an observation shows the adoption the plan does nothing else: the other cluster may learn of it only
/// now.
pub(crate) fn is_to_be_adopted(situation: &Situation<'_>) -> bool {
    matches!(situation.view, View::Own(group) if situation.desired.identity.adopts(&group.tags))
}

/// Makes the group this management cluster's.
pub(crate) fn adopt(situation: &Situation<'_>, draft: &mut Draft) {
    let identity = &situation.desired.identity;
    let Some(group) = situation.writable_group() else { return };
    let from = identity.other_installation(&group.tags).unwrap_or_default();
    draft.event(
        EventTrigger::Adoption,
        EventReason::AutoScalingGroupAdopted,
        format!("Adopting Auto Scaling group {} from management cluster {from}", group.name),
    );
    let tags = [(TAG_INSTALLATION.to_owned(), identity.installation.clone())].into();
    draft.act(Stage::Own, GroupAction::TagGroup { name: group.name.clone(), tags });
}

/// Adopts a group that has no owner, if the spec requests it and everything allows it. Until an observation shows the adoption the
/// plan does nothing else.
pub(crate) fn adopt_unowned(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let (Some(AdoptionState::Due(group)), true) = (adoption(situation), situation.is_fresh()) else {
        return false;
    };
    let identity = &situation.desired.identity;
    draft.event(
        EventTrigger::Adoption,
        EventReason::AutoScalingGroupAdopted,
        format!(
            "Adopting Auto Scaling group {} with desired capacity {}: it has no owner",
            group.name, group.sizes.desired
        ),
    );
    if !situation.observed.recorded_adoption {
        draft.act(Stage::Own, PoolAction::RecordAdoption);
    }
    let (name, tags) = (group.name.clone(), identity.adopted_tags());
    draft.act(Stage::Own, GroupAction::AdoptGroup { name, tags, desired: group.sizes.desired });
    true
}

/// Records on the FooMachinePool that the group was adopted, if the record is lost. A deletion that would delete the group because of
/// that waits for it.
pub(crate) fn record_adoption(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let View::Own(group) = situation.view else { return false };
    let counts = match situation.desired.goal {
        Goal::Run => true,
        Goal::Remove => situation.desired.retains_adopted && situation.desired.may_have_adopted,
        Goal::Retain | Goal::Orphan => false,
    };
    let lacks = group.was_adopted() && !situation.observed.recorded_adoption;
    if counts && lacks {
        draft.act(Stage::Own, PoolAction::RecordAdoption);
    }
    counts && lacks
}

/// Records what of the spec is set in the group, before it is set, and forgets what has left both.
pub(crate) fn record_applied(situation: &Situation<'_>, draft: &mut Draft) {
    let group = match situation.view {
        View::Own(_) => situation.writable_group(),
        View::Absent if draft.makes_something() => None,
        View::Absent | View::Unknown | View::Failed { .. } | View::Foreign(_) => return,
    };
    if matches!(situation.view, View::Own(_)) && group.is_none() {
        return;
    }
    let (observed, wanted) = (situation.observed, &situation.desired.group);
    let recorded = &observed.applied;
    let left = wanted.no_longer_named(recorded);
    // What has left the spec and is not there any more is forgotten, unless this manager's predecessor may have set it after the read.
    let is_known = |read_at: Option<Timestamp>| group.is_none() || situation.shows_predecessor(read_at);
    let hooks_known = is_known(observed.hook.seen_at());
    let topics_known = is_known(observed.notifications.seen_at());
    let processes_known = is_known(observed.group.seen_at());
    let has_hook = |name: &HookName| group.is_some() && observed.other_hooks.contains_key(name);
    let topics_there = observed.notifications.seen().filter(|_| group.is_some());
    let has_topic = |topic: &TopicArn| topics_there.is_some_and(|has| has.contains_key(topic));
    let is_suspended = |process: &Process| group.is_some_and(|it| it.suspended.contains_key(process));
    let hooks = wanted.hooks.iter().flat_map(BTreeMap::keys).cloned();
    let topics = wanted.notifications.iter().flat_map(BTreeMap::keys).cloned();
    let processes = wanted.suspended.iter().copied();
    let kept_hooks = kept(&recorded.lifecycle_hooks, &left.lifecycle_hooks, hooks_known, has_hook);
    let kept_topics = kept(&recorded.notification_topics, &left.notification_topics, topics_known, has_topic);
    let kept_processes =
        kept(&recorded.suspended_processes, &left.suspended_processes, processes_known, is_suspended);
    let applied = Applied {
        lifecycle_hooks: kept_hooks.chain(hooks).collect(),
        suspended_processes: kept_processes.chain(processes).collect(),
        notification_topics: kept_topics.chain(topics).collect(),
        warm_pool: group.and_then(|group| warm_pool::record(situation, group)),
    };
    // A warm pool waits for reads of its own.
    let has_left = Applied { warm_pool: None, ..wanted.no_longer_named(&applied) } != Applied::default();
    if has_left && !(hooks_known && topics_known && processes_known) {
        draft.wake_at(observed.now.plus(ASKED_AGAIN));
    }
    if applied != *recorded {
        draft.act(Stage::Own, PoolAction::RecordApplied { applied });
    }
}

/// What stays recorded: of what has left the spec all while it is not known whether it is there, and then what is.
fn kept<T: Clone + Ord>(
    recorded: &BTreeSet<T>,
    left: &BTreeSet<T>,
    is_known: bool,
    is_there: impl Fn(&T) -> bool,
) -> impl Iterator<Item = T> {
    recorded.iter().filter(move |it| !left.contains(*it) || !is_known || is_there(it)).cloned()
}

/// Whether a deletion waits until the group is known. If it was adopted, it may stay (the record of that may be lost), and what cannot
/// be drained must not be deleted.
pub(crate) fn awaits_group(situation: &Situation<'_>) -> bool {
    let unknown = match situation.view {
        View::Unknown | View::Failed { .. } => true,
        View::Absent | View::Foreign(_) | View::Own(_) => false,
    };
    let adopted = situation.observed.recorded_adoption || situation.desired.may_have_adopted;
    unknown && adopted && situation.observed.recorded_arn.is_some() && situation.desired.goal == Goal::Remove
}

/// Removes the permission to adopt once the group is this management cluster's: two clusters with permission
/// to adopt from each other would take the group from each other for ever.
pub(crate) fn forget_adoption(situation: &Situation<'_>, draft: &mut Draft) {
    let identity = &situation.desired.identity;
    let View::Own(group) = situation.view else { return };
    let done = group.tags.get(TAG_INSTALLATION) == Some(&identity.installation);
    if done && identity.adopt_from.is_some() {
        draft.act(Stage::Own, PoolAction::ForgetAdoption);
    }
}

/// From the first creation in AWS until the ARN is recorded, the pool must not be moved.
///
/// A manager with credentials of the same account finds template and group by names and tags, so it creates
/// nothing twice; one with credentials of another account recognizes that by the pool's account annotation.
/// If that annotation is lost or the FooCluster is gone, the ARN shows where the group is. No later write to
/// AWS needs the block: whoever has the pool observes its result.
pub(crate) fn block_move(situation: &Situation<'_>, draft: &mut Draft) {
    let recorded = situation.observed.recorded_arn.is_some() || matches!(situation.view, View::Own(_));
    match situation.observed.move_block {
        MoveBlock::Free if !recorded && draft.makes_something() => {
            draft.act(Stage::Own, PoolAction::BlockMove);
        }
        MoveBlock::Blocked if recorded => draft.act(Stage::Own, PoolAction::UnblockMove),
        MoveBlock::Free | MoveBlock::Blocked => {}
    }
}

/// What the provider still does for a paused pool, because `clusterctl move` pauses it and waits: it records
/// the ARN of the group. If certainly nothing was created, it removes the block.
pub(crate) fn unblock_move(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.observed.move_block == MoveBlock::Free {
        return;
    }
    record_arn(situation, draft);
    let made_nothing = situation.is_fresh() && situation.memory.ledger.created.is_none();
    let clear = match situation.view {
        View::Own(_) | View::Foreign(_) => true,
        View::Absent => made_nothing,
        View::Unknown | View::Failed { .. } => false,
    };
    if clear || situation.observed.recorded_arn.is_some() {
        draft.act(Stage::Own, PoolAction::UnblockMove);
    }
}

/// Removes our finalizers and does nothing else: another management cluster has the pool now.
pub(crate) fn release_pool(situation: &Situation<'_>, draft: &mut Draft) {
    for foo_machine in situation.observed.foo_machines.iter().filter(|foo_machine| foo_machine.has_finalizer)
    {
        draft.act(
            Stage::Machines,
            MachineAction::ReleaseFooMachine { name: foo_machine.name.clone(), uid: foo_machine.uid.clone() },
        );
    }
    if situation.observed.finalizer == Finalizer::Present {
        draft.act(Stage::Finish, PoolAction::RemoveFinalizer);
    }
}

/// Whether the provider may create something in AWS: all prerequisites exist, and no group is to be adopted instead.
pub(crate) fn may_create(situation: &Situation<'_>) -> bool {
    situation.desired.missing.is_empty() && situation.desired.goal == Goal::Run && !is_to_come(situation)
}
