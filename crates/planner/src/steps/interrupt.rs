//! What follows when AWS announces something about an instance?
//!
//! The Machine of an instance that is interrupted in two minutes is deleted at once, whatever the limits: AWS
//! terminates it anyway. An instance that is only at risk, or retires in days, is replaced as in a roll-out,
//! within its limits and, where required, after its replacement has come; or the Node of an instance at risk
//! is only cordoned. Without the announcement the group's hook delays the termination (see the hooks step),
//! and the pool only loses time.

use crate::action::NodeAction;
use crate::desired::Rebalance;
use crate::draft::{Draft, Stage};
use crate::report::EventTrigger;
use crate::situation::{
    MachineState, Member, Situation, at_risk, cooldown_since, is_advised, is_available, is_recommended, room,
    round, staying,
};
use crate::steps::budget::room_to_drain;
use crate::steps::delete::delete_machine;
use foo_model::{EventReason, InstanceId, MachineName, NodeState, SignalKind, Timestamp, count};
use std::collections::BTreeMap;
use std::time::Duration;

/// Deletes the Machine of an instance that AWS interrupts. The same plan requests its replacement (see the
/// size step).
pub(crate) fn delete(situation: &Situation<'_>, member: &Member<'_>, draft: &mut Draft) {
    let Some(machine) = member.machine else { return };
    let message =
        format!("Spot interruption of instance {}: deleting Machine {}", member.instance.id, machine.name);
    draft.event(EventTrigger::Machine(machine.name.clone()), EventReason::SpotInterruption, message);
    delete_machine(situation, Some(machine), "EC2 interrupts its spot instance", draft);
}

/// Replaces instances at risk, within the limits.
pub(crate) fn replace_at_risk(situation: &Situation<'_>, draft: &mut Draft) {
    (draft.memory.round, draft.memory.rebalanced_at) = round(situation, situation.rollout);
    let advised = |member: &Member<'_>| is_advised(situation, member);
    let rests_until = cooldown_since(situation);
    if rests_until > situation.observed.now && situation.members_that_are(MachineState::Active).any(advised) {
        draft.wake_at(rests_until);
    }
    if situation.sizable_group().is_none() {
        return;
    }
    let mut candidates: Vec<&Member<'_>> = at_risk(situation, situation.rollout)
        .filter(|member| !draft.deleted.contains(&member.name) && !member.cannot_be_drained())
        .collect();
    // Certain terminations before possible ones, the earliest announcement first.
    candidates.sort_by_key(|it| {
        (std::cmp::Reverse(it.signal.map(|it| it.kind)), it.signal.map(|it| it.at), it.name.clone())
    });
    if candidates.is_empty() {
        return;
    }
    let floor = situation.least_available();
    let stays: Vec<&Member<'_>> =
        staying(situation).filter(|member| !draft.deleted.contains(&member.name)).collect();
    let mut left = count(&stays);
    let mut available = count(stays.iter().filter(|member| is_available(situation, member)));
    let mut drains = room_to_drain(situation, draft);
    for member in candidates {
        let retires = member.is_announced(SignalKind::Retirement);
        // If no replacement can come first, waiting would only let AWS terminate it undrained.
        let alone =
            floor == situation.target.replicas && situation.counts.departing == 0 && draft.deleted.is_empty();
        let yields = u32::from(retires && alone && !can_be_had_first(situation, draft));
        let least = floor.saturating_sub(yields);
        let serves = is_available(situation, member);
        if drains == 0 || left <= least {
            return;
        }
        if serves && available <= least {
            continue;
        }
        replace(situation, member, draft);
        drains -= 1;
        left -= 1;
        available -= u32::from(serves);
    }
}

/// Maximum of cordons in one plan, so that a pass stays short.
const CORDONS: usize = 50;
/// How long after cordons the next ones are tried and the results are read.
const CORDON_NEXT: Duration = Duration::from_secs(5);
/// How long after a failed cordon it is tried again.
const CORDON_AGAIN: Duration = Duration::from_mins(1);

/// Cordons the Nodes of instances at risk. The workload cluster's API server may be unreachable: if every
/// cordon of the last attempt failed, none is tried for a while.
pub(crate) fn cordon(situation: &Situation<'_>, draft: &mut Draft) {
    let now = situation.observed.now;
    let cordons = &situation.memory.cordons;
    let mut due: Vec<(Option<Timestamp>, InstanceId, MachineName)> = situation
        .members_that_are(MachineState::Active)
        .filter(|member| is_recommended(situation, member, Rebalance::Cordon))
        .filter_map(|member| Some((cordons.get(&member.instance.id), member, member.machine?)))
        .filter(|(cordon, _, machine)| {
            let open = cordon.is_none_or(|cordon| !cordon.done);
            open && machine.node != NodeState::None && !draft.deleted.contains(&machine.name)
        })
        .map(|(cordon, member, machine)| {
            (cordon.map(|cordon| cordon.at), member.instance.id.clone(), machine.name.clone())
        })
        .collect();
    // Nodes that were never tried come first: one that cannot be cordoned does not delay the others.
    due.sort();
    let last = cordons.values().map(|cordon| cordon.at).max();
    let in_vain = cordons.values().all(|cordon| Some(cordon.at) < last || !cordon.done);
    let from = |tried: Option<Timestamp>| {
        let waits_for = if in_vain { last } else { tried };
        waits_for.map_or(now, |at| at.plus(CORDON_AGAIN))
    };
    if let Some(next) = due.iter().map(|(tried, ..)| from(*tried)).filter(|from| *from > now).min() {
        draft.wake_at(next);
    }
    let nodes: BTreeMap<InstanceId, MachineName> = due
        .into_iter()
        .filter(|(tried, ..)| from(*tried) <= now)
        .take(CORDONS)
        .map(|(_, instance, machine)| (instance, machine))
        .collect();
    if !nodes.is_empty() {
        draft.act(Stage::Last, NodeAction::CordonNodes { nodes });
        draft.wake_at(now.plus(CORDON_NEXT));
    }
}

/// How long a retiring instance waits for a replacement that AWS does not launch.
const LAUNCH_WAITS: Duration = Duration::from_mins(30);

/// Whether a replacement can be launched before the instance that it replaces is terminated.
fn can_be_had_first(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if room(situation, 1) == 0 {
        return false;
    }
    let Some(since) = situation.memory.short_since else { return true };
    let until = since.plus(LAUNCH_WAITS);
    draft.wake_at(until);
    situation.observed.now < until
}

fn replace(situation: &Situation<'_>, member: &Member<'_>, draft: &mut Draft) {
    let Some((machine, signal)) = member.machine.zip(member.signal) else { return };
    let (reason, why) = if signal.kind == SignalKind::Retirement {
        (EventReason::InstanceRetirement, "AWS will retire its instance")
    } else {
        (EventReason::RebalanceRecommended, "AWS recommends replacing its spot instance")
    };
    let message = format!("Replacing Machine {}: {why} {}", machine.name, member.instance.id);
    draft.event(EventTrigger::Machine(machine.name.clone()), reason, message);
    delete_machine(situation, Some(machine), why, draft);
}
