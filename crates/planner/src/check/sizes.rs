//! The rules about sizes.

use super::announced;
use super::facts::{Facts, depends_on_size, desired_after};
use super::rule::{Found, Violation};
use crate::action::{Action, GroupAction, InstanceAction, MachineAction, Precondition};
use crate::desired::{Goal, Size};
use crate::memory::EFFECT_DEADLINE;
use foo_model::{FooMachine, Group, Instance, InstanceId, ReservationKind, ReservationState, count};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    settled_first(facts, found);
    created_within_target(facts, found);
    if let Some(group) = facts.group {
        walk(facts, group, found);
        victims_within_excess(facts, group, found);
    }
}

fn settled_first(facts: &Facts<'_>, found: &mut Found) {
    let settled = facts.observed.now >= facts.observed.size_decisions_from && facts.is_fresh();
    for action in facts.actions.iter().filter(|action| depends_on_size(action)) {
        found.check(settled, || Violation::BeforeSettled { action: action.kind() });
    }
}

fn created_within_target(facts: &Facts<'_>, found: &mut Found) {
    for action in facts.actions {
        let Action::Group(GroupAction::CreateGroup(group)) = action else { continue };
        let target = target(facts, 0);
        let desired = group.desired.unwrap_or(0);
        found.check(desired <= target, || Violation::CreatedTooLarge { desired, target });
    }
}

/// Follows desired capacity through the actions.
fn walk(facts: &Facts<'_>, group: &Group, found: &mut Found) {
    let mut existing = existing(facts, group);
    let mut desired = group.sizes.desired;
    // If the size is unknown, the provider does not manage it.
    let external = matches!(facts.desired.size, Size::External { .. } | Size::Unknown);
    for action in facts.actions {
        let after = desired_after(action, desired);
        if let Action::Group(GroupAction::UpdateGroup { change, .. }) = action {
            let removal = facts.desired.goal == Goal::Remove;
            found.check(change.desired.is_none() || !external || removal, || Violation::ExternalSizeWritten);
            // An external maximum may lower it; everything that exists is protected then.
            let by_maximum = external && change.desired.is_none();
            found.check(after >= existing || after >= desired || by_maximum, || {
                Violation::LoweredBelowExisting { before: desired, after, existing }
            });
            found.check(change.desired.is_none_or(|written| written >= existing), || {
                Violation::WrittenBelowExisting { written: change.desired.unwrap_or_default(), existing }
            });
            if after > desired && change.desired.is_some() {
                raise(facts, after, existing, found);
            }
        }
        if let Action::Instance(InstanceAction::TerminateInstance { id, .. }) = action {
            let counts = facts.instances.get(id).is_some_and(|instance| instance.lifecycle.is_capacity());
            existing = existing.saturating_sub(u32::from(counts));
            let wanted =
                if facts.desired.goal == Goal::Remove || external { 0 } else { target(facts, desired) };
            found.check(after == desired || after >= wanted, || Violation::TerminationLowersBelowDesired {
                id: id.clone(),
                after,
                target: wanted,
            });
            found.check(after == desired || !external || facts.desired.goal == Goal::Remove, || {
                Violation::ExternalSizeLowered { id: id.clone() }
            });
        }
        desired = after;
    }
}

fn raise(facts: &Facts<'_>, after: u32, existing: u32, found: &mut Found) {
    let Size::Replicas { ceiling, .. } = facts.desired.size else { return };
    let limit = target(facts, 0)
        .saturating_add(facts.desired.rollout.max_surge.up(target(facts, 0)))
        .saturating_add(announced::interrupted(facts))
        .min(most_in_block(facts).unwrap_or(u32::MAX))
        .max(existing);
    found.check(after <= limit && facts.desired.goal == Goal::Run, || Violation::RaisedAboveLimit {
        after,
        limit,
    });
    found.check(ceiling.is_none_or(|ceiling| after <= ceiling), || Violation::RaisedAboveCeiling {
        after,
        ceiling: ceiling.unwrap_or_default(),
    });
}

/// No more Machines are chosen than there are too many. For an unmarked one there must be a Machine too many;
/// for a marked one capacity too many, launched or not.
fn victims_within_excess(facts: &Facts<'_>, group: &Group, found: &mut Found) {
    let (mut marked, mut unmarked) = (0_u32, 0_u32);
    for action in facts.actions {
        let Action::Machine(MachineAction::DeleteMachine { only_if, name, .. }) = action else { continue };
        let requested = match only_if {
            Precondition::SameUid => continue,
            Precondition::StillMarkedForDeletion { replicas: target } => {
                marked += 1;
                *target
            }
            Precondition::ReplicasAtMost { replicas: target } => {
                unmarked += 1;
                *target
            }
        };
        let written = match facts.desired.size {
            Size::Replicas { wanted, .. } => wanted,
            Size::External { .. } | Size::Unknown => target(facts, group.sizes.desired),
        };
        found.check(requested == written, || Violation::DeletedForOtherReplicas {
            machine: name.clone(),
            requested,
            target: written,
        });
    }
    let target = target(facts, group.sizes.desired);
    let staying = staying(facts, group);
    let launched = staying.saturating_sub(target);
    let unlaunched = group.sizes.desired.saturating_sub(existing(facts, group));
    let asked = staying.saturating_add(unlaunched).saturating_sub(target);
    found.check(marked <= asked, || Violation::TooManyMarkedGo { going: marked, excess: asked });
    found.check(unmarked == 0 || marked + unmarked <= launched, || Violation::TooManyGo {
        going: marked + unmarked,
        excess: launched,
    });
}

/// The desired replicas; `desired` if another controller manages the size.
pub(super) fn target(facts: &Facts<'_>, desired: u32) -> u32 {
    match facts.desired.size {
        Size::Replicas { wanted, ceiling } => {
            let within = ceiling.map_or(wanted, |ceiling| wanted.min(ceiling));
            most_in_block(facts).map_or(within, |most| within.min(most))
        }
        Size::External { .. } | Size::Unknown => {
            let now = facts.observed.now;
            let open = facts.memory.ledger.desired.filter(|(_, at)| at.until(now) < EFFECT_DEADLINE);
            open.map_or(desired, |(expected, _)| expected.max(desired))
        }
    }
}

/// The most instances that may be desired because of the pool's Capacity Block: none while it ends, no more than there are while
/// nothing can be launched in it, nothing is known of it, or its end may be near by clocks that do not agree. `None`: the block
/// does not limit them.
fn most_in_block(facts: &Facts<'_>) -> Option<u32> {
    let runs = facts.desired.goal == Goal::Run && !facts.awaits_adoption();
    let block = facts.desired.capacity_block.as_ref().filter(|_| runs)?;
    let held = facts.group.map_or(0, |group| shown(facts, group));
    let Some(Some(found)) = facts.observed.capacity_block.seen() else { return Some(held) };
    let fits = found.kind == ReservationKind::CapacityBlock && found.instance_type == block.instance_type;
    let may_run = matches!(found.state(), ReservationState::Active | ReservationState::Unavailable);
    let Some(ends) = found.ends.filter(|_| fits && may_run) else { return Some(held) };
    let drained_within = found.terminates_before_end().saturating_add(Duration::from(block.drain_lead));
    let never_open = found.starts.is_some_and(|starts| starts.plus(drained_within) >= ends);
    let can_launch = found.state() == ReservationState::Active && (held > 0 || !never_open);
    let clock = facts.observed.aws_clock;
    let left = clock.remote(facts.observed.now).until(ends);
    if left > drained_within {
        return (!can_launch).then_some(held);
    }
    let drains = clock.agreement.proves_ages() && !left.is_zero();
    Some(if drains { 0 } else { held })
}

/// Capacity that the provider did not terminate a moment ago.
fn existing(facts: &Facts<'_>, group: &Group) -> u32 {
    let capacity = group.instances.iter().filter(|instance| instance.lifecycle.is_capacity());
    count(capacity.filter(|instance| !facts.ended_lately(&instance.id)))
}

/// Capacity of which neither Machine nor FooMachine is shown as being deleted. What the provider ended a moment ago may be among it: a block
/// that has no capacity launches nothing in its place.
fn shown(facts: &Facts<'_>, group: &Group) -> u32 {
    let foo_machines = facts.observed.foo_machines.iter();
    let going = foo_machines.filter(|it| is_shown_deleting(facts, it)).map(|it| &it.instance);
    let going: BTreeSet<&InstanceId> = going.collect();
    count(group.instances.iter().filter(|it| it.lifecycle.is_capacity() && !going.contains(&it.id)))
}

/// Whether the caches show that a FooMachine, or its Machine, is being deleted.
fn is_shown_deleting(facts: &Facts<'_>, foo_machine: &FooMachine) -> bool {
    let machine = facts.machines.get(&foo_machine.name);
    foo_machine.deletion.is_deleting() || machine.is_some_and(|machine| machine.deletion.is_deleting())
}

/// Capacity of which neither Machine nor FooMachine is being deleted.
fn staying(facts: &Facts<'_>, group: &Group) -> u32 {
    count(staying_instances(facts, group))
}

/// Instances of which neither Machine nor FooMachine is being deleted.
pub(super) fn staying_instances<'s>(
    facts: &'s Facts<'_>,
    group: &'s Group,
) -> impl Iterator<Item = &'s Instance> {
    let going: BTreeMap<&InstanceId, bool> = facts
        .observed
        .foo_machines
        .iter()
        .map(|foo_machine| {
            let name = &foo_machine.name;
            let noted = facts.deleted_lately(name) && facts.machines.contains_key(name);
            (&foo_machine.instance, is_shown_deleting(facts, foo_machine) || noted)
        })
        .collect();
    let capacity = group.instances.iter().filter(|instance| instance.lifecycle.is_capacity());
    capacity
        .filter(|instance| !facts.ended_lately(&instance.id))
        .filter(move |instance| !going.get(&instance.id).copied().unwrap_or(false))
}
