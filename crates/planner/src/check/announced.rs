//! What AWS's announcements permit.

use super::facts::Facts;
use crate::desired::{Goal, Rebalance};
use foo_model::signal::{ADVICE_VALID_FOR, COOLDOWN};
use foo_model::{MachineName, Signal, SignalKind, count};

/// The announcement about its instance, while it is valid.
fn announced(facts: &Facts<'_>, name: &MachineName, kind: SignalKind) -> Option<Signal> {
    let signal = facts.observed.signals.get(&facts.claim_of(name)?.instance)?;
    (signal.kind == kind && facts.desired.goal == Goal::Run).then_some(*signal)
}

/// Whether AWS is about to terminate its instance in any case.
pub(super) fn ends_now(facts: &Facts<'_>, name: &MachineName) -> bool {
    announced(facts, name, SignalKind::Interruption).is_some()
}

/// Whether AWS will retire its instance in any case.
pub(super) fn retires(facts: &Facts<'_>, name: &MachineName) -> bool {
    announced(facts, name, SignalKind::Retirement).is_some()
}

/// Whether AWS recommends replacing its instance, the pool follows recommendations, and the cool-down is
/// over.
pub(super) fn may_be_replaced(facts: &Facts<'_>, name: &MachineName) -> bool {
    let now = facts.observed.now;
    let id = facts.claim_of(name).map(|claim| &claim.instance);
    let in_round =
        facts.memory.round.as_ref().zip(id).is_some_and(|(round, id)| round.instances.contains(id));
    let rested = facts.memory.rebalanced_at.is_none_or(|at| at.until(now) >= COOLDOWN)
        && facts.observed.size_decisions_from.until(now) >= COOLDOWN;
    let advice = announced(facts, name, SignalKind::Rebalance);
    let age = advice.and_then(|signal| facts.observed.aws_clock.age(signal.at, now));
    let fresh = age.is_some_and(|age| age < ADVICE_VALID_FOR);
    let follows = facts.desired.interruption.rebalance == Rebalance::Replace;
    follows && (rested || in_round) && fresh
}

/// Instances that AWS is about to interrupt and that still count as capacity.
pub(super) fn interrupted(facts: &Facts<'_>) -> u32 {
    let taken = facts.observed.signals.iter().filter(|(id, signal)| {
        let there = facts.instances.get(id).is_some_and(|instance| instance.lifecycle.is_capacity());
        there && signal.kind == SignalKind::Interruption
    });
    count(taken)
}
