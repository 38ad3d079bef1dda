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

/// Which invariants the plan breaks.
pub fn violations(
    _desired: &Desired,
    _observed: &Observed,
    _recorded: &Recorded,
    _memory: &Memory,
    _plan: &Plan,
) -> Vec<Violation> {
    Vec::new()
}
