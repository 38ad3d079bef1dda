//! May we act on this pool, and how do we let go of it?

use crate::action::Action;
use crate::desired::Goal;
use crate::draft::{Draft, Stage};
use crate::observed::Finalizer;
use crate::situation::{Situation, View};

/// Our finalizer before the first AWS write; the group's ARN in the spec once it is known.
///
/// The ARN is written once. It is immutable after that, so when the group was deleted by hand and made anew, the
/// spec keeps naming the old one; the group's condition says so.
pub(crate) fn take_hold(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.observed.finalizer == Finalizer::Absent {
        draft.act(Stage::Own, Action::AddFinalizer);
    }
    if let (View::Ours(group), None) = (situation.view, &situation.observed.recorded_arn) {
        draft.act(Stage::Own, Action::RecordArn { arn: group.arn.clone() });
    }
}

/// Our finalizers go, nothing else happens: another management cluster has the pool now.
pub(crate) fn let_go(situation: &Situation<'_>, draft: &mut Draft) {
    for foo_machine in situation.observed.foo_machines.iter().filter(|foo_machine| foo_machine.held) {
        draft.act(
            Stage::Machines,
            Action::ReleaseFooMachine { name: foo_machine.name.clone(), uid: foo_machine.uid.clone() },
        );
    }
    if situation.observed.finalizer == Finalizer::Present {
        draft.act(Stage::Finish, Action::RemoveFinalizer);
    }
}

/// Whether AWS writes that create something are allowed: all that must be there first is there.
pub(crate) fn may_create(situation: &Situation<'_>) -> bool {
    situation.desired.missing.is_empty() && situation.desired.goal == Goal::Run
}
