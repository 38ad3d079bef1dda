//! May we act on this pool, and how do we let go of it?

use crate::action::{GroupAction, MachineAction, PoolAction};
use crate::desired::Goal;
use crate::draft::{Draft, Stage};
use crate::observed::{Finalizer, MoveBlock};
use crate::report::EventTrigger;
use crate::situation::{Situation, View};
use foo_model::EventReason;
use foo_model::names::TAG_INSTALLATION;

/// Our finalizer, together with the first thing that is done, before it. A pool of which there is nothing yet is not held:
/// if its region is misspelt or its credentials are refused, AWS could not even be asked whether it may go.
///
/// To be asked last: it looks at what the plan does.
pub(crate) fn ensure_finalizer(situation: &Situation<'_>, draft: &mut Draft) {
    let something = matches!(situation.view, View::Ours(_)) || !situation.observed.foo_machines.is_empty();
    if situation.observed.finalizer == Finalizer::Absent && (something || draft.does_something()) {
        draft.act_first(Stage::Own, PoolAction::AddFinalizer);
    }
}

/// The group's ARN in the spec once it is known.
///
/// The ARN is written once. It is immutable after that, so when the group was deleted by hand and made anew, the
/// spec keeps naming the old one; the group's condition says so.
pub(crate) fn record_arn(situation: &Situation<'_>, draft: &mut Draft) {
    if let (View::Ours(group), None) = (situation.view, &situation.observed.recorded_arn) {
        draft.act(Stage::Own, PoolAction::RecordArn { arn: group.arn.clone() });
    }
}

/// Whether the group is another management cluster's, and a person says that it has given it up. Nothing but its adoption is
/// done before that is seen: the other one may only hear of it now.
pub(crate) fn is_to_be_adopted(situation: &Situation<'_>) -> bool {
    matches!(situation.view, View::Ours(group) if situation.desired.identity.adopts(&group.tags))
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

/// Takes the permission to adopt away once the group is this management cluster's: two that had each other's would take the
/// group from each other for ever.
pub(crate) fn forget_adoption(situation: &Situation<'_>, draft: &mut Draft) {
    let identity = &situation.desired.identity;
    let View::Ours(group) = situation.view else { return };
    let done = group.tags.get(TAG_INSTALLATION) == Some(&identity.installation);
    if done && identity.adopt_from.is_some() {
        draft.act(Stage::Own, PoolAction::ForgetAdoption);
    }
}

/// From the first thing made in AWS until the ARN is recorded, the pool must not be moved.
///
/// Names and tags let any manager find template and group again, so nothing is made twice by one with credentials of the
/// same account; one with those of another account is told by the pool's account annotation. The ARN is what tells where
/// the group is when the annotation was lost or the FooCluster is gone. No later write to AWS needs this: whoever has the
/// pool then sees what came of it.
pub(crate) fn block_move(situation: &Situation<'_>, draft: &mut Draft) {
    let recorded = situation.observed.recorded_arn.is_some() || matches!(situation.view, View::Ours(_));
    match situation.observed.move_block {
        MoveBlock::Free if !recorded && draft.makes_something() => {
            draft.act(Stage::Own, PoolAction::BlockMove);
        }
        MoveBlock::Blocked if recorded => draft.act(Stage::Own, PoolAction::UnblockMove),
        MoveBlock::Free | MoveBlock::Blocked => {}
    }
}

/// What a paused pool still does, because `clusterctl move` pauses it and waits: it records the ARN of what was made. When
/// certainly nothing was, there is nothing to wait for either.
pub(crate) fn unblock_move(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.observed.move_block == MoveBlock::Free {
        return;
    }
    record_arn(situation, draft);
    let made_nothing = situation.is_fresh() && situation.memory.ledger.created.is_none();
    let clear = match situation.view {
        View::Ours(_) | View::Foreign(_) => true,
        View::Absent => made_nothing,
        View::Unknown | View::Failed { .. } => false,
    };
    if clear || situation.observed.recorded_arn.is_some() {
        draft.act(Stage::Own, PoolAction::UnblockMove);
    }
}

/// Our finalizers go, nothing else happens: another management cluster has the pool now.
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

/// Whether AWS writes that create something are allowed: all that must be there first is there.
pub(crate) fn may_create(situation: &Situation<'_>) -> bool {
    situation.desired.missing.is_empty() && situation.desired.goal == Goal::Run
}
