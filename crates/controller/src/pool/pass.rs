//! What a pass came to.

use super::act::execute::Failure;
use foo_cloud::CloudError;
use foo_planner::action::PoolAction;
use foo_planner::report::Event;
use foo_planner::{Action, Plan};
use std::time::Duration;

/// What a pass came to.
pub(super) struct Pass {
    /// The last plan.
    pub(super) plan: Plan,
    /// The first action that failed.
    pub(super) failure: Option<(Action, Failure)>,
    /// What is left of the plan.
    pub(super) remainder: Remainder,
    /// How many actions were tried, those of earlier plans included.
    pub(super) tried: usize,
    /// Whether it had anything to go by.
    pub(super) observation: Observation,
}

/// What is left of a plan, and when to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Remainder {
    /// Nothing: every action was carried out, or failed.
    #[default]
    Nothing,
    /// AWS cannot do something yet, or it had no effect the last times: it is tried again after so long.
    Later(Duration),
    /// Another writer was first, or the pass gave way: it is planned again at once.
    PlanAgain,
}

/// Whether a pass had anything to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observation {
    /// The group was looked at, or it is known why not.
    Known,
    /// The first look at the group is under way.
    Pending,
    /// What came of the last failed try is not seen yet: it has voided the look before it, or its answer was lost. The
    /// failure stands.
    Stale,
}

impl Remainder {
    /// Something more is left.
    pub(super) fn add(&mut self, more: Self) {
        *self = match (*self, more) {
            (Self::PlanAgain, _) | (_, Self::PlanAgain) => Self::PlanAgain,
            (Self::Later(one), Self::Later(other)) => Self::Later(one.min(other)),
            (Self::Nothing, one) | (one, Self::Nothing) => one,
        };
    }
}

impl Pass {
    /// Nothing of the plan has been tried yet.
    pub(super) fn begin(plan: Plan) -> Self {
        let (remainder, observation) = (Remainder::Nothing, Observation::Known);
        Self { plan, failure: None, remainder, tried: 0, observation }
    }

    /// The last of several plans, with what the earlier ones told and tried.
    pub(super) fn after(mut self, mut events: Vec<Event>, tried: usize) -> Self {
        events.append(&mut self.plan.report.events);
        self.plan.report.events = events;
        self.tried += tried;
        self
    }

    /// Whether the whole plan was carried out.
    pub(super) fn is_complete(&self) -> bool {
        self.failure.is_none() && self.remainder == Remainder::Nothing
    }

    /// Whether the pool was let go of.
    pub(super) fn is_removed(&self) -> bool {
        self.is_complete() && self.plan.actions.contains(&Action::Pool(PoolAction::RemoveFinalizer))
    }

    /// What AWS refused.
    pub(super) fn refused(&self) -> Option<(Action, CloudError)> {
        match &self.failure {
            Some((action, Failure::Cloud(error))) => Some((action.clone(), error.clone())),
            Some((_, Failure::Kubernetes(_))) | None => None,
        }
    }

    /// Whether nothing is unclear about what became of our calls: one without an answer may still have been carried out.
    pub(super) fn is_clear(&self) -> bool {
        let ledger = &self.plan.memory.ledger;
        ledger.created.is_none() && ledger.desired.is_none() && ledger.leaving.is_empty()
    }

    /// Whether the group was to be changed.
    pub(super) fn tries(&self) -> bool {
        self.failure.is_some() || self.plan.actions.iter().any(Action::changes_group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_most_urgent_of_all_that_is_left() {
        let left = |parts: &[Remainder]| {
            let mut all = Remainder::Nothing;
            for part in parts {
                all.add(*part);
            }
            all
        };
        let later = |seconds| Remainder::Later(Duration::from_secs(seconds));
        assert_eq!(left(&[]), Remainder::Nothing);
        assert_eq!(left(&[later(10), Remainder::Nothing, later(5), later(20)]), later(5));
        assert_eq!(left(&[later(10), Remainder::PlanAgain, later(5)]), Remainder::PlanAgain);
    }
}
