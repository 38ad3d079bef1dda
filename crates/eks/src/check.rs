//! A second opinion on a plan, from inputs and outputs alone.

use crate::{Desired, Memory, Observed, Plan, Recorded};

/// An invariant that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {}

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
