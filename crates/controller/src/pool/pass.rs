//! The result of a pass.

use foo_cloud::CloudError;
use foo_planner::action::PoolAction;
use foo_planner::memory::WriteOutcome;
use foo_planner::report::Event;
use foo_planner::{Action, Plan};
use std::time::Duration;

/// The result of a pass.
pub(super) struct Pass {
    /// The last plan.
    pub(super) plan: Plan,
    /// The first action that failed.
    pub(super) failure: Option<(Action, ActionFailure)>,
    /// What remains to be done.
    pub(super) remainder: Remainder,
    /// How many actions were tried, including those of earlier plans.
    pub(super) tried: usize,
    /// Whether it had an observation to plan from.
    pub(super) observation: Observation,
}

/// Why an action failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ActionFailure {
    /// AWS.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// Kubernetes.
    #[error("{0}")]
    Kubernetes(#[from] Box<kube::Error>),
}

impl From<kube::Error> for ActionFailure {
    fn from(error: kube::Error) -> Self {
        Self::Kubernetes(Box::new(error))
    }
}

impl ActionFailure {
    /// The result for the planner's memory.
    pub(super) fn outcome(&self) -> WriteOutcome {
        match self {
            Self::Cloud(error) if error.may_have_happened() => WriteOutcome::MayHaveHappened,
            Self::Cloud(_) => WriteOutcome::Refused,
            // Objects in the API server are watched: the cache will show what happened.
            Self::Kubernetes(error) if is_response(error) => WriteOutcome::Refused,
            Self::Kubernetes(_) => WriteOutcome::MayHaveHappened,
        }
    }

    /// Another writer was first, or the object was deleted: the caches will show it soon.
    pub(super) fn is_race(&self) -> bool {
        matches!(self, Self::Kubernetes(error) if matches!(error.as_ref(), kube::Error::Api(status) if status.code == 409 || status.code == 404))
    }
}

fn is_response(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code < 500)
}

/// What remains of a plan, and when to continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Remainder {
    /// Nothing: every action was carried out, or failed.
    #[default]
    Nothing,
    /// AWS cannot do something yet, or an action had no effect before: it is tried again after this time.
    Later(Duration),
    /// Another writer was first, or the pass yielded: a new plan is created at once.
    PlanAgain,
}

/// Whether a pass had an observation to plan from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observation {
    /// The group was observed, or the reason why not is known.
    Known,
    /// The first observation of the group is in progress.
    Pending,
    /// The result of the last failed call is not observed yet: the call voided the observation, or its
    /// response was lost. The failure stays in the report.
    Stale,
}

impl Remainder {
    /// Adds something that remains.
    pub(super) fn add(&mut self, more: Self) {
        *self = match (*self, more) {
            (Self::PlanAgain, _) | (_, Self::PlanAgain) => Self::PlanAgain,
            (Self::Later(one), Self::Later(other)) => Self::Later(one.min(other)),
            (Self::Nothing, one) | (one, Self::Nothing) => one,
        };
    }
}

impl Pass {
    /// No action of the plan has been tried yet.
    pub(super) fn begin(plan: Plan) -> Self {
        let (remainder, observation) = (Remainder::Nothing, Observation::Known);
        Self { plan, failure: None, remainder, tried: 0, observation }
    }

    /// The last of several plans, with the events and the number of actions of the earlier ones.
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

    /// Whether the pool was released.
    pub(super) fn is_removed(&self) -> bool {
        self.is_complete() && self.plan.actions.contains(&Action::Pool(PoolAction::RemoveFinalizer))
    }

    /// The action that AWS refused.
    pub(super) fn refused(&self) -> Option<(Action, CloudError)> {
        match &self.failure {
            Some((action, ActionFailure::Cloud(error))) => Some((action.clone(), error.clone())),
            Some((_, ActionFailure::Kubernetes(_))) | None => None,
        }
    }

    /// Whether the result of every call is known: a call without a response may have been carried out.
    pub(super) fn is_clear(&self) -> bool {
        let ledger = &self.plan.memory.ledger;
        ledger.created.is_none() && ledger.desired.is_none() && ledger.leaving.is_empty()
    }

    /// Whether the plan changes the group.
    pub(super) fn tries(&self) -> bool {
        self.failure.is_some() || self.plan.actions.iter().any(Action::changes_group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_remaining_action_is_kept() {
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
