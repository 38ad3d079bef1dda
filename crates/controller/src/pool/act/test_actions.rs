//! Actions that several tests of this folder need.

use foo_model::Decrement;
use foo_planner::Action;
use foo_planner::action::InstanceAction;

/// The termination of an instance of the group `g`.
pub(super) fn termination(id: &str, decrement: Decrement) -> Action {
    Action::Instance(InstanceAction::TerminateInstance {
        group: "g".into(),
        id: id.into(),
        decrement,
        why: String::new(),
    })
}
