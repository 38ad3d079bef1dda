//! A second opinion on a plan, from inputs and outputs alone.

use crate::{Desired, Memory, Observed, Plan, Recorded};

/// A rule that a plan breaks. Its text names the rule and the action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The rules that a plan breaks; empty for every plan that may be carried out. `recorded` and `memory` are what went into the plan.
pub fn violations(
    desired: &Desired,
    _observed: &Observed,
    _recorded: &Recorded,
    _memory: &Memory,
    plan: &Plan,
) -> Vec<Violation> {
    let acts = desired.paused && !plan.actions.is_empty();
    acts.then(|| Violation("acts while paused".to_owned())).into_iter().collect()
}
