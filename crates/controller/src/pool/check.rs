//! Verifies a plan before anything of it is carried out.

use super::failure_report;
use super::inputs::Inputs;
use crate::metrics::Metrics;
use foo_planner::{Memory, Plan};

/// A plan that breaks no invariant; nothing else is carried out.
pub(super) struct CheckedPlan(Plan);

impl CheckedPlan {
    /// The plan made from these inputs; if it breaks an invariant, a plan that does nothing and shows why.
    pub(super) fn of(mut plan: Plan, inputs: &Inputs<'_>, memory: &Memory, metrics: &Metrics) -> Self {
        let violations = foo_planner::check::violations(&inputs.desired, &inputs.observed, memory, &plan);
        if !violations.is_empty() {
            failure_report::refused(&mut plan, &violations, metrics);
        }
        Self(plan)
    }

    pub(super) fn into_plan(self) -> Plan {
        self.0
    }
}
