//! Does every instance have its FooMachine, and every FooMachine its instance?
//!
//! Writes only Kubernetes objects.

use crate::action::{MachineAction, ReadAction};
use crate::desired::{Goal, Size};
use crate::draft::{Draft, Stage};
use crate::observed::Ec2State;
use crate::report::EventTrigger;
use crate::situation::{MachineState, Member, MissingInstance, Situation, View};
use crate::steps::delete::delete_machine;
use crate::steps::{hooks, interrupt};
use foo_model::group::GroupStatus;
use foo_model::{
    DeletionTimeouts, EventReason, InstanceId, LifecycleState, Machine, MachinePause, some_names,
};
use std::time::Duration;

/// How long EC2's report that an instance outside its group is alive stays valid: a user detached the
/// instance, or it is about to appear in the group; neither is urgent.
pub(crate) const STRAY_RECHECK: Duration = Duration::from_mins(1);

/// How soon EC2 is asked again about an id that it did not know.
const NOT_FOUND_RECHECK: Duration = Duration::from_secs(30);

/// Creates FooMachines for instances, deletes the Machines of missing instances, and writes timeouts.
pub(crate) fn reconcile_machines(situation: &Situation<'_>, draft: &mut Draft) {
    set_timeouts(situation, draft);
    resume(situation, draft);
    if !situation.knows_members() {
        return;
    }
    for member in &situation.members {
        reconcile_member(situation, member, draft);
    }
    report_unknown_surplus(situation, draft);
    reconcile_missing(situation, draft);
}

/// Reports instances in service that were not requested and had no FooMachine, while this manager has not changed the
/// group: the state after a restore of etcd to before a scale-out. The provider drains and terminates the surplus as the
/// objects request, unless a user pauses the Cluster and corrects the replicas.
fn report_unknown_surplus(situation: &Situation<'_>, draft: &mut Draft) {
    let (requested, existing) = (situation.target.replicas, situation.counts.existing);
    let is_requested = matches!(situation.desired.size, Size::Replicas { .. });
    if !is_requested || existing <= requested || situation.memory.ledger.changed_at.is_some() {
        return;
    }
    let in_service = |member: &&Member<'_>| member.instance.lifecycle == LifecycleState::InService;
    let unknown: Vec<_> = situation.members_that_are(MachineState::New).filter(in_service).collect();
    let Some(first) = unknown.first() else { return };
    let names = some_names(unknown.iter().map(|member| member.instance.id.as_str()));
    draft.event(
        EventTrigger::NewFooMachine(first.name.clone()),
        EventReason::UnknownInstances,
        format!(
            "{names} had no FooMachine, and more instances exist ({existing}) than are requested ({requested}): the surplus is drained \
             and terminated. If the management cluster was restored from a backup, pause the Cluster and correct the replicas first"
        ),
    );
}

fn reconcile_member(situation: &Situation<'_>, member: &Member<'_>, draft: &mut Draft) {
    match member.state {
        MachineState::New => create(situation, member, draft),
        MachineState::FooMachineDeletedFirst => {
            delete_machine(situation, member.machine, "its FooMachine is being deleted", draft);
        }
        MachineState::Terminating => {
            if let Some(until) = hooks::awaits_node(situation, member) {
                draft.wake_at(until);
                if member.foo_machine.is_none() {
                    create(situation, member, draft);
                }
                return;
            }
            delete_machine(situation, member.machine, "AWS is terminating its instance", draft);
        }
        MachineState::Interrupted => interrupt::delete(situation, member, draft),
        // A user put it into standby, or its FooMachine exists.
        MachineState::AwaitingMachine
        | MachineState::Active
        | MachineState::Draining
        | MachineState::Released
        | MachineState::TerminateSent
        | MachineState::OutOfService => {}
    }
}

/// Creates the FooMachine of a launched instance that is not terminating, or has Pods and waits for its drain.
fn create(situation: &Situation<'_>, member: &Member<'_>, draft: &mut Draft) {
    let is_being_deleted =
        matches!(situation.view, View::Own(group) if group.status == GroupStatus::Deleting);
    if is_being_deleted || situation.memory.created_machines.contains_key(&member.name) {
        return;
    }
    draft.act(
        Stage::Machines,
        MachineAction::CreateFooMachine {
            name: member.name.clone(),
            instance: member.instance.id.clone(),
            zone: member.instance.zone.clone(),
            spec_hash: situation.content.spec_hash(member.instance, None).cloned(),
        },
    );
}

/// Excludes a Machine from draining: there is nothing left to drain.
fn exclude(machine: &Machine, draft: &mut Draft) {
    let (name, uid) = (machine.name.clone(), machine.uid.clone());
    draft.act(Stage::Machines, MachineAction::ExcludeFromDraining { name, uid });
}

fn report_vanished(situation: &Situation<'_>, machine: &Machine, instance: &InstanceId, draft: &mut Draft) {
    if situation.desired.goal == Goal::Run {
        let message = format!("Instance {instance} no longer exists: deleting Machine {}", machine.name);
        draft.event(EventTrigger::Machine(machine.name.clone()), EventReason::InstanceMissing, message);
    }
}

/// Handles FooMachines whose instance is not in the group, or waits there for our hook: EC2 decides whether
/// it is gone. A waiting instance may be dead because it was terminated in EC2, or because a spot
/// interruption overtook the drain; a dead Node cannot be drained.
pub(crate) fn reconcile_missing(situation: &Situation<'_>, draft: &mut Draft) {
    let absent = situation.missing.iter().map(|it| (&it.foo_machine.instance, it.ec2_state));
    let held = terminated_by_aws(situation).filter(|member| member.waits_for_hook());
    let lost = absent.chain(held.map(|member| (&member.instance.id, member.ec2_state)));
    let now = situation.observed.now;
    let mut unknown: Vec<InstanceId> = Vec::new();
    for (id, word) in lost {
        match word {
            None => unknown.push(id.clone()),
            // This does not prove that it is gone: ask again until EC2 knows it, or has not known it for
            // long.
            Some(Ec2State::NotFound { at, .. }) if at.until(now) >= NOT_FOUND_RECHECK => {
                unknown.push(id.clone());
            }
            Some(Ec2State::NotFound { at, .. }) => draft.wake_at(at.plus(NOT_FOUND_RECHECK)),
            Some(Ec2State::Gone | Ec2State::Alive) => {}
        }
    }
    if !unknown.is_empty() {
        unknown.extend(release(situation));
        draft.act(Stage::Read, ReadAction::DescribeInstances { ids: unknown });
    }
    for member in terminated_by_aws(situation).filter(|member| member.ec2_state == Some(Ec2State::Gone)) {
        if let Some(machine) = member.machine.filter(|machine| !machine.drain_excluded) {
            exclude(machine, draft);
            report_vanished(situation, machine, &member.instance.id, draft);
        }
    }
    for missing in &situation.missing {
        match missing.ec2_state {
            Some(Ec2State::Gone) => finish_missing(situation, missing, draft),
            // Detached by a user, or not visible in the group yet: leave it alone, and ask again later.
            Some(Ec2State::Alive) => draft.wake_at(now.plus(STRAY_RECHECK)),
            Some(Ec2State::NotFound { .. }) | None => {}
        }
    }
}

/// Instances that will leave the group next: asking about them together with others costs no extra call.
fn release(situation: &Situation<'_>) -> impl Iterator<Item = InstanceId> {
    let completed =
        |id: &InstanceId| situation.memory.hook_waits.get(id).is_some_and(|hold| hold.completed.is_some());
    let goes_on = move |member: &&Member<'_>| {
        let proceeds = member.instance.lifecycle == LifecycleState::TerminatingProceed;
        let claimed = member.foo_machine.is_some() && member.ec2_state.is_none();
        claimed && (proceeds || completed(&member.instance.id))
    };
    situation
        .members_that_are(MachineState::Terminating)
        .filter(goes_on)
        .map(|member| member.instance.id.clone())
}

/// Terminating instances whose Machine is still draining.
fn terminated_by_aws<'a>(situation: &'a Situation<'_>) -> impl Iterator<Item = &'a Member<'a>> {
    situation.members_that_are(MachineState::Terminating).filter(|member| {
        let undrained = member.machine.is_some_and(|machine| !machine.releases_instance());
        member.foo_machine.is_some() && undrained
    })
}

/// Handles an instance that is gone: deletes its Machine, without a drain, and its FooMachine.
fn finish_missing(situation: &Situation<'_>, missing: &MissingInstance<'_>, draft: &mut Draft) {
    let foo_machine = missing.foo_machine;
    let stays = |machine: &Machine| match machine.pause {
        MachinePause::Removing => true,
        MachinePause::None => false,
        _ => !machine.deletion.is_deleting(),
    };
    if situation.desired.goal == Goal::Retain && missing.machine.is_some_and(stays) {
        // Cluster API would not delete it: the step `retain` removes it.
        return;
    }
    if let Some(machine) = missing.machine {
        if !foo_machine.deletion.is_deleting() && !machine.drain_excluded {
            exclude(machine, draft);
        }
        let noted = situation.memory.deleted_machines.contains_key(&machine.name);
        if !machine.deletion.is_deleting() && !noted {
            report_vanished(situation, machine, &foo_machine.instance, draft);
        }
        delete_machine(situation, Some(machine), "its instance no longer exists", draft);
    }
    let (name, uid) = (foo_machine.name.clone(), foo_machine.uid.clone());
    if foo_machine.deletion.is_deleting() {
        // Not before the Machine is seen deleting: a Machine without its FooMachine would never be deleted.
        let orphans = missing.machine.is_some_and(|machine| !machine.deletion.is_deleting());
        if foo_machine.has_finalizer && !orphans {
            draft.act(Stage::Machines, MachineAction::ReleaseFooMachine { name, uid });
        }
    } else if missing.machine.is_none() && !situation.memory.created_machines.contains_key(&name) {
        let why = "its instance no longer exists and it has no Machine".to_owned();
        draft.act(Stage::Machines, MachineAction::DeleteFooMachine { name, uid, why });
    }
}

/// Lets Cluster API act on Machines again that the provider paused while the instances of the pool were to stay: a user changed
/// `deletionPolicy` meanwhile, or the pool was restored or moved.
pub(crate) fn resume(situation: &Situation<'_>, draft: &mut Draft) {
    for machine in &situation.observed.machines {
        match machine.pause {
            MachinePause::None | MachinePause::ByUser => {}
            MachinePause::Requested | MachinePause::InForce | MachinePause::Removing => {
                let (name, uid) = (machine.name.clone(), machine.uid.clone());
                draft.act(Stage::Machines, MachineAction::ResumeMachine { name, uid });
            }
        }
    }
}

/// Writes the pool's deletion timeouts into Machines that differ. Cluster API does not copy them to the
/// Machines of a pool, and without a drain timeout one disruption budget can block a scale-in for ever.
pub(crate) fn set_timeouts(situation: &Situation<'_>, draft: &mut Draft) {
    let wanted = situation.desired.timeouts;
    for machine in &situation.observed.machines {
        if lacks(machine.timeouts, wanted) {
            draft.act(
                Stage::Machines,
                MachineAction::SetMachineTimeouts {
                    name: machine.name.clone(),
                    uid: machine.uid.clone(),
                    timeouts: wanted,
                },
            );
        }
    }
}

/// Whether a desired timeout is missing or different. Timeouts that the pool does not set stay unchanged.
fn lacks(have: DeletionTimeouts, wanted: DeletionTimeouts) -> bool {
    let differs = |have, wanted: Option<_>| wanted.is_some() && have != wanted;
    differs(have.node_drain, wanted.node_drain)
        || differs(have.node_volume_detach, wanted.node_volume_detach)
        || differs(have.node_deletion, wanted.node_deletion)
}
