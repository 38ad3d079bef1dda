//! What the figures of this project are to be at most, and whether a measured one is.

use crate::record::{Fleet, Measure};

/// An upper limit of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Goal {
    /// Of what.
    pub(crate) measure: Measure,
    /// With which pools.
    pub(crate) fleet: Fleet,
    /// In the unit of the measure.
    pub(crate) at_most: f64,
}

/// A hundred pools of ten.
const HUNDRED_POOLS: Fleet = Fleet { pools: 100, size: 10 };
/// Ten thousand instances, in pools of ten.
const THOUSAND_POOLS: Fleet = Fleet { pools: 1_000, size: 10 };
/// Ten thousand instances, in one pool.
const TEN_THOUSAND: Fleet = Fleet { pools: 1, size: 10_000 };
/// A pool of five thousand.
const FIVE_THOUSAND: Fleet = Fleet { pools: 1, size: 5_000 };
/// A pool of a thousand.
const THOUSAND: Fleet = Fleet { pools: 1, size: 1_000 };
/// A pool of a hundred.
const HUNDRED: Fleet = Fleet { pools: 1, size: 100 };

/// All goals, in the order of the page.
pub(crate) const GOALS: [Goal; 17] = [
    goal(Measure::IdleCalls, HUNDRED_POOLS, 2.0),
    goal(Measure::IdleCalls, THOUSAND_POOLS, 11.0),
    goal(Measure::IdleCalls, FIVE_THOUSAND, 2.0),
    goal(Measure::IdleWrites, HUNDRED_POOLS, 0.0),
    goal(Measure::IdleWrites, THOUSAND_POOLS, 0.0),
    goal(Measure::IdleWrites, FIVE_THOUSAND, 0.0),
    goal(Measure::ScaleOutCalls, THOUSAND, 30.0),
    goal(Measure::ScaleOutWrites, THOUSAND, 2_050.0),
    goal(Measure::ToZeroCallsEach, THOUSAND, 1.1),
    goal(Measure::ToZeroWritesEach, THOUSAND, 5.0),
    goal(Measure::ScaleInCalls, HUNDRED, 150.0),
    goal(Measure::ScaleInWrites, HUNDRED, 400.0),
    goal(Measure::ResidentMegabytes, THOUSAND_POOLS, 150.0),
    goal(Measure::RestartSeconds, THOUSAND_POOLS, 30.0),
    goal(Measure::RestartCalls, THOUSAND_POOLS, 100.0),
    goal(Measure::FailOverPassSeconds, TEN_THOUSAND, 20.0),
    goal(Measure::RollOutOverLimit, THOUSAND, 3.0),
];

const fn goal(measure: Measure, fleet: Fleet, at_most: f64) -> Goal {
    Goal { measure, fleet, at_most }
}

/// Whether a goal is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    Missed,
    NotMeasured,
}

impl Verdict {
    /// In the table.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Met => "yes",
            Self::Missed => "no",
            Self::NotMeasured => "not measured",
        }
    }
}

impl Goal {
    /// Whether this value, if there is one, meets it.
    pub(crate) fn verdict(&self, measured: Option<f64>) -> Verdict {
        match measured {
            Some(value) if value <= self.at_most => Verdict::Met,
            Some(_) => Verdict::Missed,
            None => Verdict::NotMeasured,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_by_its_limit_and_not_without_a_figure() {
        let goal = goal(Measure::IdleCalls, HUNDRED_POOLS, 2.0);
        let verdicts = [Some(2.0), Some(2.1), None].map(|value| goal.verdict(value));
        assert_eq!(verdicts, [Verdict::Met, Verdict::Missed, Verdict::NotMeasured]);
    }
}
