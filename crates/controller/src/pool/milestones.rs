//! Measures how long launches, drains and roll-outs of a pool take: each once, when it ends.
//!
//! A beginning counts only if this process saw it, so what was in progress when a manager started is never measured, and
//! nothing is measured by two managers. The times themselves are those of the objects, so a late pass changes none. What
//! a pause overlaps is not measured: its duration is the user's. No decision depends on any of this.

use crate::labels::{LaunchOutcome, RolloutOutcome};
use foo_model::{Deletion, FooMachine, NodeState, SpecHash, Timestamp, Uid};
use foo_planner::desired::PausedBy;
use foo_planner::observed::Verdict;
use foo_planner::report::{RolloutPhase, RolloutReport};
use foo_planner::{Desired, Observed};
use std::collections::BTreeSet;
use std::time::Duration;

/// Something that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// A launch: since the Machine was created.
    Launch(LaunchOutcome, Duration),
    /// The hooks, the drain and the volumes of a Machine: from its deletion to that of its FooMachine.
    Drain(Duration),
    /// A roll-out, with the number of instances that have the new content.
    Rollout(RolloutOutcome, Duration, u32),
}

/// What is in progress.
#[derive(Debug, Default)]
pub(super) struct Milestones {
    /// Machines without a Node.
    joining: BTreeSet<Uid>,
    /// FooMachines that are not deleted.
    in_use: BTreeSet<Uid>,
    rollout: Rollout,
    pause: Pause,
}

/// What is known of pauses.
#[derive(Clone, Copy, Debug, Default)]
enum Pause {
    #[default]
    Never,
    Now,
    /// What began before is not measured.
    Until(Timestamp),
}

/// The roll-out in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Rollout {
    /// Nothing is known yet, so one that is in progress began before.
    #[default]
    Unknown,
    /// None is in progress.
    Idle,
    Since(Timestamp, SpecHash),
    /// It is not measured: this process did not see its beginning, or it waited for a user.
    Unmeasured(SpecHash),
}

impl Milestones {
    /// What ended since the last pass.
    pub(super) fn pass(
        &mut self,
        desired: &Desired,
        observed: &Observed,
        rollout: Option<&RolloutReport>,
    ) -> Vec<Ended> {
        if self.is_paused(desired.pause, observed.now) {
            return Vec::new();
        }
        let mut ended = Vec::new();
        self.launches(observed, &mut ended);
        self.drains(observed, &mut ended);
        // While a record of the desired content's failure stands, another target is the one of the rollback.
        let failed = observed.quarantine.iter().any(|it| it.verdict != Verdict::Over);
        let verdict = if failed { Verdict::Stands } else { Verdict::Over };
        ended.extend(rollout.and_then(|report| self.rollout.reaches(report, verdict, observed.now)));
        ended
    }

    fn is_paused(&mut self, by: Option<PausedBy>, now: Timestamp) -> bool {
        match (by, self.pause) {
            (Some(_), _) => {
                *self = Self { pause: Pause::Now, ..Self::default() };
                true
            }
            (None, Pause::Now) => {
                self.pause = Pause::Until(now);
                false
            }
            (None, Pause::Never | Pause::Until(_)) => false,
        }
    }

    /// Whether nothing of it was during a pause.
    fn counts_from(&self, begin: Timestamp) -> bool {
        match self.pause {
            Pause::Never => true,
            Pause::Now => false,
            Pause::Until(end) => begin > end,
        }
    }

    fn launches(&mut self, observed: &Observed, ended: &mut Vec<Ended>) {
        let mut joining = BTreeSet::new();
        for machine in &observed.machines {
            let known = self.joining.contains(&machine.uid);
            let now = observed.now;
            match (machine.node, machine.deletion) {
                (NodeState::Ready, _) if known => {
                    let since = machine.node_since.unwrap_or(now).min(now);
                    ended.push(Ended::Launch(LaunchOutcome::Ready, machine.created.until(since)));
                }
                (_, Deletion::Since(deleted)) if known => {
                    ended.push(Ended::Launch(LaunchOutcome::Deleted, machine.created.until(deleted)));
                }
                (NodeState::None, Deletion::Alive) if known || self.counts_from(machine.created) => {
                    joining.insert(machine.uid.clone());
                }
                (NodeState::NotReady, Deletion::Alive) if known => {
                    joining.insert(machine.uid.clone());
                }
                (NodeState::None | NodeState::NotReady | NodeState::Ready, _) => {}
            }
        }
        self.joining = joining;
    }

    fn drains(&mut self, observed: &Observed, ended: &mut Vec<Ended>) {
        let drained = |released: &FooMachine| {
            let Deletion::Since(end) = released.deletion else { return None };
            if !self.in_use.contains(&released.uid) {
                return None;
            }
            let machine = observed.machines.iter().find(|it| it.name == released.name)?;
            let Deletion::Since(begin) = machine.deletion else { return None };
            self.counts_from(begin).then(|| Ended::Drain(begin.until(end)))
        };
        ended.extend(observed.foo_machines.iter().filter_map(drained));
        let alive = observed.foo_machines.iter().filter(|it| it.deletion == Deletion::Alive);
        self.in_use = alive.map(|it| it.uid.clone()).collect();
    }
}

impl Rollout {
    /// A pass found it in this phase.
    fn reaches(&mut self, report: &RolloutReport, verdict: Verdict, now: Timestamp) -> Option<Ended> {
        let before = std::mem::take(self);
        let outcome = match report.phase {
            RolloutPhase::Finished => RolloutOutcome::Finished,
            RolloutPhase::RolledBack => RolloutOutcome::RolledBack,
            RolloutPhase::OnDelete
            | RolloutPhase::Paused
            | RolloutPhase::Waiting
            | RolloutPhase::Preparing
            | RolloutPhase::AwaitingWindow
            | RolloutPhase::Rolling
            | RolloutPhase::Halted
            | RolloutPhase::RollingBack => {
                *self = before.continues(report, verdict, now);
                return None;
            }
        };
        *self = Self::Idle;
        match before {
            Self::Since(began, _) => Some(Ended::Rollout(outcome, began.until(now), report.updated)),
            Self::Unknown | Self::Idle | Self::Unmeasured(_) => None,
        }
    }

    fn continues(self, report: &RolloutReport, verdict: Verdict, now: Timestamp) -> Self {
        let target = &report.target_hash;
        let waits_for_user = matches!(
            report.phase,
            RolloutPhase::OnDelete
                | RolloutPhase::Paused
                | RolloutPhase::Waiting
                | RolloutPhase::AwaitingWindow
        );
        let begins = matches!(report.phase, RolloutPhase::Preparing | RolloutPhase::Rolling);
        match self {
            _ if waits_for_user => Self::Unmeasured(target.clone()),
            Self::Idle if begins => Self::Since(now, target.clone()),
            // Another content was requested meanwhile; or the same roll-out is rolled back.
            Self::Since(_, of) | Self::Unmeasured(of)
                if begins && of != *target && verdict == Verdict::Over =>
            {
                Self::Since(now, target.clone())
            }
            Self::Since(..) | Self::Unmeasured(_) => self,
            Self::Unknown | Self::Idle => Self::Unmeasured(target.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(phase: RolloutPhase, target: &str) -> RolloutReport {
        let target_hash = SpecHash::new(target);
        RolloutReport { phase, target_hash, updated: 2, outdated: 1, message: String::new() }
    }

    /// Passes a second apart: what each finds, and what stands about the failure of the desired content.
    fn ended(passes: &[(RolloutPhase, &str, Verdict)]) -> Vec<Ended> {
        let mut rollout = Rollout::default();
        let pass = |(second, (phase, target, verdict)): (i64, &(RolloutPhase, &str, Verdict))| {
            rollout.reaches(&report(*phase, target), *verdict, Timestamp(second * 1000))
        };
        (0..).zip(passes).filter_map(pass).collect()
    }

    fn took(outcome: RolloutOutcome, seconds: u64) -> Vec<Ended> {
        vec![Ended::Rollout(outcome, Duration::from_secs(seconds), 2)]
    }

    #[test]
    fn a_roll_out_is_measured_from_its_first_pass_to_its_end() {
        use RolloutPhase::{Finished, Preparing, Rolling};
        let over = Verdict::Over;
        let whole = [
            (Finished, "a", over),
            (Preparing, "b", over),
            (Rolling, "b", over),
            (Rolling, "b", over),
            (Finished, "b", over),
            (Finished, "b", over),
        ];
        assert_eq!(ended(&whole), took(RolloutOutcome::Finished, 3));
        assert_eq!(ended(&whole[1..]), [], "this process did not see its beginning");
        let changed = [
            (Finished, "a", over),
            (Rolling, "b", over),
            (Rolling, "c", over),
            (Rolling, "c", over),
            (Finished, "c", over),
        ];
        assert_eq!(ended(&changed), took(RolloutOutcome::Finished, 2), "from the last request on");
    }

    #[test]
    fn a_rollback_belongs_to_its_roll_out() {
        use RolloutPhase::{Finished, Halted, Preparing, RolledBack, Rolling, RollingBack};
        let (over, stands) = (Verdict::Over, Verdict::Stands);
        let back = [
            (Finished, "a", over),
            (Rolling, "b", over),
            (Preparing, "a", stands),
            (RollingBack, "a", stands),
            (RolledBack, "a", stands),
        ];
        assert_eq!(ended(&back), took(RolloutOutcome::RolledBack, 3));
        let repaired = [
            (Finished, "a", over),
            (Rolling, "b", over),
            (Halted, "b", stands),
            (Preparing, "c", over),
            (Finished, "c", over),
        ];
        assert_eq!(ended(&repaired), took(RolloutOutcome::Finished, 1), "the user's time does not count");
    }
}
