//! A planner with its check.

use crate::action::{Action, Value};
use crate::calls::Calls;
use crate::plan::Plan;
use crate::report::Report;
use std::fmt;

/// The planner of one kind of things in AWS, with its check.
pub trait Domain: Copy + fmt::Debug + Eq + Send + Sync + 'static {
    /// Its calls.
    type Action: Action;
    /// What is requested.
    type Desired: Send + Sync;
    /// What reads show.
    type Observed: Send + Sync;
    /// What one process remembers: its calls, and what else the domain needs. It can be lost at any time.
    type Memory: Value + Default;
    /// What is true and what is waited for.
    type Report: Value + Report;

    /// Decides what to do next. Total and deterministic: the same values give the same plan, and every combination of values gives one.
    fn plan(
        desired: &Self::Desired,
        observed: &Self::Observed,
        recorded: &<Self::Action as Action>::Record,
        memory: &Self::Memory,
    ) -> Plan<Self>;

    /// The rules that a plan breaks; empty for every plan that may be carried out. `recorded` and `memory` are what went into the plan.
    fn violations(
        desired: &Self::Desired,
        observed: &Self::Observed,
        recorded: &<Self::Action as Action>::Record,
        memory: &Self::Memory,
        plan: &Plan<Self>,
    ) -> Vec<Violation>;

    /// What is left of a plan of which nothing is sent: what it was about to create is not recorded, because the next plan would wait for
    /// it as for a call whose response was lost.
    fn not_sent(
        plan: Plan<Self>,
        recorded: &<Self::Action as Action>::Record,
        memory: &Self::Memory,
    ) -> Plan<Self>;

    /// The calls in a memory.
    fn calls(memory: &mut Self::Memory) -> &mut Calls<Self::Action>;
}

/// A rule that a plan breaks. Its text names the rule and the action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
