//! How does a pool release its group? (`deletionPolicy: Retain`)
//!
//! Cluster API drains each Machine that is deleted and deletes its Node. So the Machines are paused
//! (`cluster.x-k8s.io/paused`), and when Cluster API reports that, Machines and FooMachines are removed. What was being drained or
//! terminated before ends as usual. Last, the hook is deleted, which no controller would complete, and the tag of the group says
//! that no management cluster has it.

use crate::action::{GroupAction, HookAction, MachineAction, PoolAction, ReadAction};
use crate::draft::{Draft, Stage};
use crate::observed::{Ec2State, Finalizer, LastRead};
use crate::report::EventTrigger;
use crate::situation::{MachineState, Situation, View, group_is_gone};
use crate::steps::delete::delete_machine;
use crate::steps::ends::{end, is_released};
use crate::steps::{hooks, machines, remove};
use foo_model::names::{INSTALLATION_OF_RETAINED, TAG_INSTALLATION};
use foo_model::{EventReason, FooMachine, Group, Machine, MachineName, MachinePause, Timestamp};
use std::collections::BTreeMap;

/// Takes the next steps.
pub(crate) fn retain(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.observed.finalizer == Finalizer::Absent && situation.observed.foo_machines.is_empty() {
        return;
    }
    // What AWS terminates is drained: that has to be known first.
    if !situation.is_fresh() {
        return;
    }
    if situation.knows_members() {
        machines::reconcile_missing(situation, draft);
    }
    leave_all(situation, draft);
    if let Some(group) = situation.writable_group().filter(|_| situation.is_settled()) {
        // Desired capacity stays: AWS launches a replacement.
        let ending = situation.members.iter().filter(|member| is_released(situation, member));
        end(situation, group, ending, situation.capacity.high, draft);
        if !situation.has_machines() {
            release(situation, group, draft);
        }
    }
    if matches!(situation.view, View::Foreign(_)) {
        remove::release_from_foreign_group(situation, draft);
    }
    if group_is_gone(situation) && !situation.has_machines() {
        match situation.view {
            // Without a group nothing launches from the template.
            View::Absent => remove::finish(situation, draft),
            _ if situation.observed.finalizer == Finalizer::Present => {
                draft.act(Stage::Finish, PoolAction::RemoveFinalizer);
            }
            _ => {}
        }
    }
}

/// Removes the objects of all instances that stay.
fn leave_all(situation: &Situation<'_>, draft: &mut Draft) {
    let leaving = leaving(situation);
    let mut objects: BTreeMap<&MachineName, (Option<&FooMachine>, Option<&Machine>)> = BTreeMap::new();
    for foo_machine in &situation.observed.foo_machines {
        objects.entry(&foo_machine.name).or_default().0 = Some(foo_machine);
    }
    for machine in &situation.observed.machines {
        objects.entry(&machine.name).or_default().1 = Some(machine);
    }
    for (name, (foo_machine, machine)) in objects {
        leave(situation, name, foo_machine, machine, leaving.get(name).copied(), draft);
    }
}

/// Removes the objects of an instance, unless it is being drained, or is gone.
fn leave(
    situation: &Situation<'_>,
    name: &MachineName,
    foo_machine: Option<&FooMachine>,
    machine: Option<&Machine>,
    leaving: Option<Leaving>,
    draft: &mut Draft,
) {
    let retained = |machine: Option<&Machine>| MachineAction::RetainInstance {
        name: name.clone(),
        foo_machine: foo_machine.map(|foo_machine| foo_machine.uid.clone()),
        machine: machine.map(|machine| machine.uid.clone()),
    };
    let resume =
        |machine: &Machine| MachineAction::ResumeMachine { name: name.clone(), uid: machine.uid.clone() };
    match machine {
        Some(machine) => match machine.pause {
            MachinePause::Removing => draft.act(Stage::Machines, retained(Some(machine))),
            // A user deleted it after the provider paused it, or AWS terminates its instance: it is drained as any other.
            MachinePause::Requested | MachinePause::InForce
                if machine.deletion.is_deleting() || leaving.is_some() =>
            {
                draft.act(Stage::Machines, resume(machine));
            }
            _ if machine.deletion.is_deleting() => {}
            MachinePause::None if leaving.is_some() => match leaving {
                Some(Leaving::AwaitsNode(until)) => draft.wake_at(until),
                Some(Leaving::Now) | None => {
                    delete_machine(situation, Some(machine), "AWS is terminating its instance", draft);
                }
            },
            MachinePause::None | MachinePause::ByUser => {
                let uid = machine.uid.clone();
                draft.act(Stage::Machines, MachineAction::PauseMachine { name: name.clone(), uid });
            }
            MachinePause::Requested => {}
            MachinePause::InForce => draft.act(Stage::Machines, retained(Some(machine))),
        },
        // Cluster API creates a Machine for each FooMachine: one that was just created may get one yet.
        None if situation.memory.created_machines.contains_key(name) => {}
        // One that is being deleted without a Machine was drained, or a user deleted it: its instance is terminated.
        None if foo_machine.is_some_and(|foo_machine| foo_machine.deletion.is_deleting()) => {}
        None => draft.act(Stage::Machines, retained(None)),
    }
}

/// What becomes of a Machine whose instance AWS is terminating, or that is gone.
#[derive(Clone, Copy)]
enum Leaving {
    /// It is drained.
    Now,
    /// It waits until then for its Node.
    AwaitsNode(Timestamp),
}

/// The Machines whose instances AWS is terminating, or that are gone; none while that is not known.
fn leaving<'s>(situation: &'s Situation<'_>) -> BTreeMap<&'s MachineName, Leaving> {
    if !situation.knows_members() {
        return BTreeMap::new();
    }
    let terminating = situation.members_that_are(MachineState::Terminating).map(|member| {
        let awaits = hooks::awaits_node(situation, member);
        (&member.name, awaits.map_or(Leaving::Now, Leaving::AwaitsNode))
    });
    let gone = situation.missing.iter().filter(|missing| missing.ec2_state == Some(Ec2State::Gone));
    terminating.chain(gone.map(|missing| (&missing.foo_machine.name, Leaving::Now))).collect()
}

/// Deletes the hook; then a tag says that no management cluster has the group.
fn release(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let name = group.name.clone();
    match &situation.observed.hook {
        LastRead::Unknown => {
            draft.act(Stage::Read, ReadAction::DescribeLifecycleHook { group: name });
            return;
        }
        LastRead::Failed { .. } => return,
        LastRead::At { seen: Some(_), .. } => {
            draft.act(Stage::Decorate, HookAction::DeleteLifecycleHook { group: name.clone() });
        }
        LastRead::At { seen: None, .. } => {}
    }
    draft.event(
        EventTrigger::Retention,
        EventReason::AutoScalingGroupRetained,
        format!("Auto Scaling group {name} stays with its launch template and its instances; the provider drains them no longer"),
    );
    let tags = [(TAG_INSTALLATION.to_owned(), INSTALLATION_OF_RETAINED.to_owned())].into();
    draft.act(Stage::Finish, GroupAction::TagGroup { name, tags });
}
