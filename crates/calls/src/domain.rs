//! A planner with its check, and what it returns.

use crate::action::{Action, Value};
use crate::calls::Calls;
use crate::report::{ConditionKinds as _, Deletion, Report, Status};
use foo_model::{Reason, some_names};
use serde::{Deserialize, Serialize};
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

    /// Decides what to do next. Total and deterministic: the same values give the same plan, and every combination of
    /// values gives one.
    fn plan(
        desired: &Self::Desired,
        observed: &Self::Observed,
        recorded: &<Self::Action as Action>::Record,
        memory: &Self::Memory,
    ) -> Plan<Self>;

    /// The rules that a plan breaks; empty for every plan that may be carried out. `recorded` and `memory` are what
    /// went into the plan.
    fn violations(
        desired: &Self::Desired,
        observed: &Self::Observed,
        recorded: &<Self::Action as Action>::Record,
        memory: &Self::Memory,
        plan: &Plan<Self>,
    ) -> Vec<Violation>;

    /// What is left of a plan of which nothing is sent: what it was about to create is not recorded, because the next
    /// plan would wait for it as for a call whose response was lost.
    fn not_sent(
        plan: Plan<Self>,
        recorded: &<Self::Action as Action>::Record,
        memory: &Self::Memory,
    ) -> Plan<Self>;

    /// The calls in a memory.
    fn calls(memory: &mut Self::Memory) -> &mut Calls<Self::Action>;
}

/// What to do next, what is true, and what to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Plan<D: Domain> {
    /// What to send. None waits for another one: they may be sent in any order or at the same time. A failure of one
    /// is independent of the others.
    pub actions: Vec<D::Action>,
    /// What is true and what is waited for.
    pub report: D::Report,
    /// What the status must contain *before* any of the actions is sent. If the write fails, nothing is sent, and the
    /// memory of before this plan is kept.
    pub record: <D::Action as Action>::Record,
    /// What to remember until the next pass, before the outcomes are noted in it.
    pub memory: D::Memory,
}

impl<D: Domain> Plan<D> {
    /// A plan that does nothing, instead of one that breaks invariants. Record and memory stay as they were, and so
    /// does the object of what is being deleted.
    #[must_use]
    pub fn refused(
        mut self,
        violations: &[Violation],
        record: &<D::Action as Action>::Record,
        memory: &D::Memory,
    ) -> Self {
        self.actions.clear();
        self.record.clone_from(record);
        self.memory.clone_from(memory);
        let deletes = match self.report.deletion() {
            Deletion::Pending | Deletion::Done => true,
            Deletion::NotAsked => false,
        };
        if deletes {
            self.report.set_deletion(Deletion::Pending);
        }
        let names: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let names = some_names(names.iter().map(String::as_str));
        for condition in self.report.conditions_mut() {
            if condition.kind == KindOf::<D>::READY {
                condition.status = Status::False;
            } else if condition.kind == KindOf::<D>::DELETING && deletes {
                condition.status = Status::True;
            } else {
                continue;
            }
            condition.reason = Reason::InvalidPlan;
            condition.message = format!(
                "Internal error: the plan violates an invariant and was not carried out, please report: {names}"
            );
        }
        self
    }
}

type KindOf<D> = <<D as Domain>::Report as Report>::Kind;

/// A rule that a plan breaks. Its text names the rule and the action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
