//! A second opinion on a plan.
use crate::{Desired, Memory, Observed, Plan};

/// An invariant that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {}

/// The invariants that a plan breaks; empty for every plan that may be carried out.
pub fn violations(
    _desired: &Desired,
    _observed: &Observed,
    _memory: &Memory,
    _plan: &Plan,
) -> Vec<Violation> {
    Vec::new()
}
