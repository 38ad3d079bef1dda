//! What AWS announced about instances, and which instances are at risk. `steps/interrupt.rs` acts on it.

use super::facts::Facts;
use super::member::{MachineState, Member};
use super::rollout::{Phase, Progress, room};
use super::view::View;
use super::warm_pool::is_recorded;
use crate::desired::{Goal, Rebalance};
use crate::memory::RebalanceWave;
use crate::report::AnnouncementState;
use foo_model::hook::HookConfig;
use foo_model::signal::{ADVICE_VALID_FOR, COOLDOWN};
use foo_model::{InstanceId, Signal, SignalKind, Timestamp, count, machine_name};
use std::collections::{BTreeMap, BTreeSet};

/// How far each announcement is handled.
pub(crate) fn announcement_states(facts: &Facts<'_>) -> BTreeMap<InstanceId, AnnouncementState> {
    let signals = &facts.observed.signals;
    signals.iter().map(|(id, signal)| (id.clone(), announcement_state(facts, id, *signal))).collect()
}

fn announcement_state(facts: &Facts<'_>, id: &InstanceId, signal: Signal) -> AnnouncementState {
    if is_stale(facts, signal) {
        return AnnouncementState::Expired;
    }
    if signal.kind == SignalKind::LeavesWarmPool {
        let is_pending = leaves_warm_pool(facts, id) || !facts.knows_members();
        return if is_pending { AnnouncementState::Pending } else { AnnouncementState::Expired };
    }
    let Some(member) = facts.members.iter().find(|member| member.instance.id == *id) else {
        let claimed = facts.missing.iter().any(|missing| missing.foo_machine.instance == *id);
        return match (facts.knows_members(), claimed) {
            (false, _) => AnnouncementState::Pending,
            (true, true) => AnnouncementState::Handled,
            (true, false) => AnnouncementState::Expired,
        };
    };
    let rebalance = facts.desired.interruption.rebalance;
    let is_cordoned = facts.memory.cordons.get(id).is_some_and(|cordon| cordon.done);
    let ignored = signal.kind == SignalKind::Rebalance
        && (rebalance == Rebalance::Ignore || rebalance == Rebalance::Cordon && is_cordoned)
        || facts.desired.goal != Goal::Run;
    match member.state {
        MachineState::Terminating | MachineState::TerminateSent => AnnouncementState::Handled,
        // An instance in standby may come back into service before the recommendation expires.
        MachineState::OutOfService if signal.kind == SignalKind::Rebalance => AnnouncementState::Handled,
        // The provider's own call does not suffice: the deletion must have been observed.
        _ if member.machine.is_some_and(|machine| machine.deletion.is_deleting()) => {
            AnnouncementState::Handled
        }
        MachineState::Released => AnnouncementState::Handled,
        _ if ignored => AnnouncementState::Handled,
        MachineState::OutOfService
        | MachineState::New
        | MachineState::AwaitingMachine
        | MachineState::Active
        | MachineState::Interrupted
        | MachineState::Draining
        | MachineState::FooMachineDeletedFirst => AnnouncementState::Pending,
    }
}

fn is_stale(facts: &Facts<'_>, signal: Signal) -> bool {
    let valid_for = match signal.kind {
        SignalKind::Rebalance => ADVICE_VALID_FOR,
        // Then AWS has ended the wait.
        SignalKind::LeavesWarmPool => HookConfig::DRAIN.heartbeat.into(),
        SignalKind::Retirement | SignalKind::Interruption => return false,
    };
    facts.observed.aws_clock.age(signal.at, facts.observed.now).is_some_and(|age| age >= valid_for)
}

/// Whether an instance that AWS takes out of the provider's warm pool waits until the provider completes its lifecycle action. What is in
/// the group, or has a FooMachine or a Machine, is drained first; an instance of another user's warm pool may be a Node.
pub(crate) fn leaves_warm_pool(facts: &Facts<'_>, id: &InstanceId) -> bool {
    let name = machine_name(&facts.desired.identity.pool, id);
    let is_announced =
        facts.observed.signals.get(id).is_some_and(|signal| signal.kind == SignalKind::LeavesWarmPool);
    let is_known = facts.members.iter().any(|member| member.instance.id == *id)
        || facts.observed.foo_machines.iter().any(|foo_machine| foo_machine.instance == *id)
        || facts.observed.machines.iter().any(|machine| machine.name == name)
        || facts.memory.created_machines.contains_key(&name);
    let has_own = matches!(facts.view, View::Own(_)) && is_recorded(facts);
    is_announced && has_own && !is_known && !facts.memory.left_warm_pool.contains(id)
}

/// Without agreement of the clocks a recommendation waits: it may be as old as any.
fn is_recent_advice(facts: &Facts<'_>, signal: Signal) -> bool {
    let age = facts.observed.aws_clock.age(signal.at, facts.observed.now);
    signal.kind == SignalKind::Rebalance && age.is_some_and(|age| age < ADVICE_VALID_FOR)
}

/// Instances beyond the desired replicas that are needed to replace instances at risk within the limits.
pub(super) struct RebalanceSurge {
    /// For members that are still to be replaced.
    pub(super) wanted: u32,
    /// For those and for members whose replacement has begun.
    pub(super) held: u32,
}

impl RebalanceSurge {
    pub(super) fn of(facts: &Facts<'_>, rollout: Progress) -> Self {
        let wanted = |many: u32| if many == 0 { 0 } else { room(facts, many) };
        let stay = count(at_risk(facts, rollout));
        let round = facts.memory.round.as_ref();
        let goes = |member: &&Member<'_>| {
            let advised = round.is_some_and(|round| round.instances.contains(&member.instance.id));
            let retires = member.is_announced(SignalKind::Retirement);
            member.state.is_leaving() && (retires || advised) && is_free(facts, rollout)
        };
        let go = count(facts.members.iter().filter(goes));
        Self { wanted: wanted(stay), held: wanted(stay.saturating_add(go)) }
    }
}

/// Members that an announcement puts at risk and that are replaced as soon as the limits allow.
pub(crate) fn at_risk<'s, 'a>(
    facts: &'s Facts<'a>,
    rollout: Progress,
) -> impl Iterator<Item = &'s Member<'a>> {
    let free = is_free(facts, rollout);
    let round = facts.memory.round.as_ref();
    let rested = cooldown_since(facts) <= facts.observed.now;
    let is_due = move |member: &Member<'_>| match round {
        Some(round) => round.instances.contains(&member.instance.id),
        None => rested,
    };
    facts
        .members_that_are(MachineState::Active)
        .filter(move |_| free)
        .filter(|member| member.machine.is_some())
        .filter(move |member| match member.signal.map(|signal| signal.kind) {
            Some(SignalKind::Retirement) => true,
            Some(SignalKind::Rebalance) => is_due(member) && is_advised(facts, member),
            // Its Machine is deleted at once, or it has none.
            Some(SignalKind::Interruption | SignalKind::LeavesWarmPool) | None => false,
        })
}

/// Only one kind of replacement runs at a time: a roll-out in progress replaces the same instances. The
/// content for new instances must work.
fn is_free(facts: &Facts<'_>, rollout: Progress) -> bool {
    let works = match rollout.phase {
        Phase::Finished | Phase::OnDelete | Phase::Paused | Phase::Waiting => true,
        Phase::Halted => facts.content.fallback.is_some(),
        // A roll-out that waits for its maintenance window replaces nothing, perhaps for days.
        Phase::Rolling | Phase::RollingBack => rollout.awaits_window,
        Phase::Preparing => false,
    };
    facts.desired.goal == Goal::Run && facts.desired.pause.is_none() && works
}

/// The wave of replacements after this pass, and when the last one ended. A wave consists of the instances
/// that have a recommendation when it begins, so later recommendations do not extend it.
pub(crate) fn round(facts: &Facts<'_>, rollout: Progress) -> (Option<RebalanceWave>, Option<Timestamp>) {
    let memory = facts.memory;
    let last = memory.rebalanced_at;
    if facts.sizable_group().is_none() {
        return (memory.round.clone(), last);
    }
    let advised = |member: &&Member<'_>| is_advised(facts, member);
    let Some(round) = &memory.round else {
        let instances: BTreeSet<InstanceId> =
            at_risk(facts, rollout).filter(advised).map(|member| member.instance.id.clone()).collect();
        return ((!instances.is_empty()).then_some(RebalanceWave { instances }), last);
    };
    let there = |id: &InstanceId| {
        let members = facts.members.iter().filter(|member| member.instance.id == *id);
        let mut open = members.filter(|member| {
            member.state.is_leaving() || member.state == MachineState::Active && is_advised(facts, member)
        });
        open.next().is_some()
    };
    if round.instances.iter().any(there) && is_free(facts, rollout) {
        return (Some(round.clone()), last);
    }
    (None, Some(facts.observed.now))
}

/// Whether AWS recommends replacing it and the pool follows recommendations.
pub(crate) fn is_advised(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    is_recommended(facts, member, Rebalance::Replace)
}

/// Whether AWS recommends replacing it and the pool replaces such instances.
pub(crate) fn is_recommended(facts: &Facts<'_>, member: &Member<'_>, what: Rebalance) -> bool {
    facts.desired.interruption.rebalance == what
        && member.signal.is_some_and(|signal| is_recent_advice(facts, signal))
}

/// When the next wave may begin. A manager that just started does not know when its predecessor began the
/// last one.
pub(crate) fn cooldown_since(facts: &Facts<'_>) -> Timestamp {
    let began = facts.observed.size_decisions_from;
    facts.memory.rebalanced_at.unwrap_or(began).max(began).plus(COOLDOWN)
}
