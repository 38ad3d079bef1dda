//! Which released instances are terminated, and does desired capacity shrink with them?

use crate::action::InstanceAction;
use crate::draft::{Draft, Stage};
use crate::memory::BUSY_FOR;
use crate::report::EventTrigger;
use crate::situation::{Capacity, MachineState, Member, Situation, claim};
use foo_model::{Decrement, EventReason, Group, LifecycleState, Timestamp};
use std::time::Duration;

/// Maximum of terminations in one plan: as many as one call takes (Auto Scaling API Reference,
/// TerminateInstanceInAutoScalingGroup, InstanceIds).
const ENDS_AT_ONCE: usize = 100;

/// How long after a termination the next ones are collected, so that instances drained in that time share one
/// call and one observation. It delays no drain, and an instance takes longer to shut down.
const GATHERED_FOR: Duration = Duration::from_secs(15);

/// Terminates instances that Cluster API released.
pub(crate) fn end_released(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(group) = situation.sizable_group() else {
        return;
    };
    let released = situation.members.iter().filter(|member| is_released(situation, member));
    end(situation, group, released, situation.total(), draft);
}

/// Whether it is released and the provider has to terminate it. Standby counts: its Machine was drained like
/// any other, and nothing else terminates the instance.
pub(crate) fn is_released(situation: &Situation<'_>, member: &Member<'_>) -> bool {
    match member.state {
        MachineState::Released => true,
        MachineState::OutOfService => {
            member.instance.lifecycle == LifecycleState::Standby
                && claim(member.foo_machine, member.machine, situation.memory) == MachineState::Released
        }
        MachineState::New
        | MachineState::AwaitingMachine
        | MachineState::Active
        | MachineState::Interrupted
        | MachineState::Draining
        | MachineState::FooMachineDeletedFirst
        | MachineState::TerminateSent
        | MachineState::Terminating => false,
    }
}

/// Terminates instances; each sees desired capacity as the calls before it leave it.
pub(crate) fn end<'s, 'a: 's>(
    situation: &Situation<'a>,
    group: &Group,
    members: impl Iterator<Item = &'s Member<'a>>,
    wanted: u32,
    draft: &mut Draft,
) {
    let change = draft.pending_change();
    let mut capacity = change.desired.map_or(situation.capacity, Capacity::exactly);
    let min = change.min.unwrap_or(group.sizes.min);
    let busy = |member: &&Member<'_>| situation.memory.busy.contains_key(&member.instance.id);
    for at in situation.memory.busy.values() {
        draft.wake_at(at.plus(BUSY_FOR));
    }
    let mut ends = Vec::new();
    for member in members.filter(|member| !busy(member)).take(ENDS_AT_ONCE) {
        let decrement = if member.state == MachineState::OutOfService && !counts_as_capacity(member) {
            // It is not part of desired capacity, which therefore stays.
            Some(Decrement::Replace)
        } else {
            capacity.decrement(wanted, min)
        };
        let Some(decrement) = decrement else {
            // The two possible values of desired capacity disagree: wait for the next observation.
            break;
        };
        ends.push((member, decrement));
        if decrement == Decrement::Shrink {
            capacity = capacity.less_one();
        }
    }
    let only_shrinks = ends.iter().all(|(_, decrement)| *decrement == Decrement::Shrink);
    let gathers = only_shrinks && (1..ENDS_AT_ONCE).contains(&ends.len());
    if let Some(until) = gathered_until(situation).filter(|_| gathers) {
        draft.wake_at(until);
        return;
    }
    for (member, decrement) in ends {
        act(group, member, decrement, draft);
    }
}

/// Until when terminations are collected that nothing waits for. The first is sent at once, and so is the
/// last, when no drain is in progress that could join it; in a roll-out the next launch may wait for each.
fn gathered_until(situation: &Situation<'_>) -> Option<Timestamp> {
    let last = situation.memory.ledger.leaving.values().max()?;
    let until = last.plus(GATHERED_FOR);
    let joined = situation.counts.draining > 0 && situation.surge() == 0;
    (joined && situation.observed.now < until).then_some(until)
}

fn counts_as_capacity(member: &Member<'_>) -> bool {
    member.instance.lifecycle.is_capacity()
}

fn act(group: &Group, member: &Member<'_>, decrement: Decrement, draft: &mut Draft) {
    let why = match (member.foo_machine, decrement) {
        (Some(_), Decrement::Shrink) => "its Machine is drained; desired capacity is lowered with it",
        (Some(_), Decrement::Replace) => "its Machine is drained; desired capacity stays",
        (None, _) => "it never had a Machine",
    };
    let id = member.instance.id.clone();
    draft.event(
        EventTrigger::Instance(id.clone()),
        EventReason::InstanceTerminated,
        format!("Terminating instance {id}: {why}"),
    );
    let group = group.name.clone();
    draft.act(Stage::Ends, InstanceAction::TerminateInstance { group, id, decrement, why: why.to_owned() });
}
