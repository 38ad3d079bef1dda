//! The order in which a plan is recorded, sent and remembered.

use crate::action::Action;
use crate::calls::Calls;
use crate::domain::{Domain, Plan, Violation};
use crate::outcome::Outcome;
use foo_model::Timestamp;

/// What one process knows of one object between plans.
///
/// A plan is carried out in this order, and a process may end after each step: [`Self::plan`]; the status is written
/// unless [`Self::is_recorded`]; [`Self::accept`] and [`Self::sent`]; all calls are sent; [`Self::ended`] for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process<D: Domain> {
    /// What the status reports, as it was written last: a cache may show an older one.
    pub record: RecordOf<D>,
    /// What is remembered.
    pub memory: D::Memory,
}

type RecordOf<D> = <<D as Domain>::Action as Action>::Record;

impl<D: Domain> Default for Process<D>
where
    RecordOf<D>: Default,
{
    fn default() -> Self {
        Self::new(RecordOf::<D>::default())
    }
}

impl<D: Domain> Process<D> {
    /// A process that knows what the status reports, and remembers nothing.
    pub fn new(record: RecordOf<D>) -> Self {
        Self { record, memory: D::Memory::default() }
    }

    /// A plan, and the rules that it breaks: if there are any, it is one that does nothing.
    pub fn plan(&self, desired: &D::Desired, observed: &D::Observed) -> (Plan<D>, Vec<Violation>) {
        let Self { record, memory } = self;
        let plan = D::plan(desired, observed, record, memory);
        let violations = D::violations(desired, observed, record, memory, &plan);
        if violations.is_empty() {
            return (plan, violations);
        }
        (plan.refused(&violations, record, memory), violations)
    }

    /// The plan if nothing of it is sent.
    pub fn not_sent(&self, plan: Plan<D>) -> Plan<D> {
        D::not_sent(plan, &self.record, &self.memory)
    }

    /// Whether the status has everything already that must be in it before the plan's calls are sent.
    pub fn is_recorded(&self, plan: &Plan<D>) -> bool {
        plan.record == self.record
    }

    /// Begins to carry a plan out. The status reports what the plan records.
    pub fn accept(&mut self, plan: &Plan<D>) {
        self.record.clone_from(&plan.record);
        self.memory.clone_from(&plan.memory);
    }

    /// Remembers a plan of which nothing is sent. The status need not contain yet what it records.
    pub fn remember(&mut self, plan: &Plan<D>) {
        self.memory.clone_from(&plan.memory);
    }

    /// Records that these calls are about to be sent: if the future is dropped in the middle, they may have
    /// been carried out.
    pub fn sent(&mut self, actions: &[D::Action], now: Timestamp) {
        for action in actions {
            self.calls().sent(action, now);
        }
    }

    /// Notes what became of a call.
    pub fn ended(
        &mut self,
        action: &D::Action,
        now: Timestamp,
        outcome: Outcome<<D::Action as Action>::Response>,
    ) {
        self.calls().ended(action, now, outcome);
    }

    fn calls(&mut self) -> &mut Calls<D::Action> {
        D::calls(&mut self.memory)
    }
}
