//! What a planner returns.

use crate::action::Action;
use crate::domain::{Domain, Violation};
use crate::report::{Deletion, Kind as _, Report as _, Status};
use foo_model::{Reason, some_names};
use serde::{Deserialize, Serialize};

/// What to do next, what is true, and what to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Plan<D: Domain> {
    /// What to send. None waits for another one: they may be sent in any order or at the same time. A failure of one says nothing
    /// about the others.
    pub actions: Vec<D::Action>,
    /// What is true and what is waited for.
    pub report: D::Report,
    /// What the status must say *before* any of the actions is sent. If the write fails, nothing is sent, and the memory of before this
    /// plan is kept.
    pub record: <D::Action as Action>::Record,
    /// What to remember until the next pass, before the outcomes are noted in it.
    pub memory: D::Memory,
}

impl<D: Domain> Plan<D> {
    /// A plan that does nothing, instead of one that breaks invariants. Record and memory stay as they were, and so does the object of
    /// what is being deleted.
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

type KindOf<D> = <<D as Domain>::Report as crate::report::Report>::Kind;
