//! The races of the planner's specification, each a named test. R17 (standby, detached, attached) is played on the
//! simulated AWS, in the controller's tests.

mod autoscaler;
mod aws;
mod managers;
mod people;
mod rollouts;
mod taken;

use crate::world::short;
use foo_model::Decrement;
use foo_planner::action::{InstanceAction, MachineAction};
use foo_planner::{Action, Plan};

/// The plan's actions in few words.
fn words(plan: &Plan) -> Vec<String> {
    plan.actions.iter().map(short).collect()
}

/// How many Machines a plan deletes.
fn deletions(plan: &Plan) -> usize {
    plan.actions
        .iter()
        .filter(|action| matches!(action, Action::Machine(MachineAction::DeleteMachine { .. })))
        .count()
}

/// The decrements of the terminations of a plan.
fn ends(plan: &Plan) -> Vec<Decrement> {
    let end = |action: &Action| match action {
        Action::Instance(InstanceAction::TerminateInstance { decrement, .. }) => Some(*decrement),
        _ => None,
    };
    plan.actions.iter().filter_map(end).collect()
}
