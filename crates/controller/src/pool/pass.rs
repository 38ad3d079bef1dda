//! What a pass comes to, and what can be read off it.

use super::act::execute::Failure;
use super::output::failure_report;
use super::state::PoolState;
use foo_cloud::CloudError;
use foo_planner::report::{Event, Pace};
use foo_planner::{Action, Plan};
use std::time::Duration;

/// What a pass came to.
pub(super) struct Pass {
    pub(super) plan: Plan,
    pub(super) failure: Option<(Action, Failure)>,
    pub(super) raced: bool,
    pub(super) acted: bool,
    pub(super) sight: Sight,
    /// AWS could not do something yet: when to try again.
    pub(super) again: Option<Duration>,
}

/// Whether a pass had anything to go by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// The group was looked at, or it is known why not.
    Had,
    /// The first look at the group is under way.
    Awaited,
    /// What came of the last failed try is not seen yet: it has voided the look before it, or its answer was lost. The
    /// failure stands.
    Voided,
}

impl Pass {
    /// The last of several rounds, with what the earlier ones told and did.
    pub(super) fn after(mut self, mut events: Vec<Event>, acted: bool) -> Self {
        events.append(&mut self.plan.report.events);
        self.plan.report.events = events;
        Self { acted, ..self }
    }
}

/// How closely to look: a pool that fails is left alone until its next try.
pub(super) fn pace(pass: &Pass) -> foo_cloud::observer::Pace {
    match (&pass.failure, pass.sight, pass.plan.report.next.pace) {
        (None, Sight::Had | Sight::Awaited, Pace::Active) => foo_cloud::observer::Pace::Active,
        (None, Sight::Had | Sight::Awaited, Pace::Patient) => foo_cloud::observer::Pace::Patient,
        (None | Some(_), _, _) => foo_cloud::observer::Pace::Quiet,
    }
}

/// What AWS refused in this pass.
pub(super) fn refused(pass: &Pass) -> Option<(Action, CloudError)> {
    match &pass.failure {
        Some((action, Failure::Cloud(error))) => Some((action.clone(), error.clone())),
        Some((_, Failure::Kubernetes(_))) | None => None,
    }
}

/// Whether nothing is unclear about what became of our calls: one without an answer may still have been carried out.
pub(super) fn is_clear(pass: &Pass) -> bool {
    let ledger = &pass.plan.memory.ledger;
    ledger.created.is_none() && ledger.desired.is_none() && ledger.leaving.is_empty()
}

/// Whether this pass, which had no fresh look to plan by, leaves what AWS refused before as it was. If so, the report
/// says it again: a status that forgot it would be written twice for each try.
pub(super) fn refusal_stands(pass: &mut Pass, state: &PoolState, region: &str) -> bool {
    let tries = pass.failure.is_some() || pass.plan.actions.iter().any(Action::changes_group);
    match &state.refused {
        Some((action, error)) if !tries => {
            failure_report::refusal(&mut pass.plan.report, action, error, region);
            true
        }
        Some(_) | None => false,
    }
}
