//! How is a pool removed?
//!
//! First the Machines, which Cluster API drains; then instances, the group, the template, and last our
//! finalizer. Missing inputs (bootstrap data, an image) do not block a removal, and nothing is force-deleted.

use crate::action::{GroupAction, MachineAction, PoolAction, ReadAction, TemplateAction};
use crate::draft::{Draft, Stage};
use crate::observed::{Finalizer, LastRead};
use crate::situation::{
    MachineState, Member, Situation, View, claim, group_is_gone, may_have_pods_of_others,
};
use crate::steps::delete::delete_machine;
use crate::steps::ends::{end, is_released};
use crate::steps::group::protect;
use crate::steps::{hooks, machines, objects, warm_pool};
use foo_model::group::GroupStatus;
use foo_model::{DeletionProtection, FooMachine, Group, LifecycleState, MachineName};
use std::collections::BTreeSet;

/// Takes the next steps of a removal.
pub(crate) fn remove(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.observed.finalizer == Finalizer::Absent && situation.observed.foo_machines.is_empty() {
        return;
    }
    machines::set_timeouts(situation, draft);
    machines::resume(situation, draft);
    if situation.knows_members() {
        // Before the Machines are deleted: those whose instance is gone are excluded from draining first.
        machines::reconcile_missing(situation, draft);
    }
    if situation.members.iter().any(|member| member.adopted)
        && situation.observed.template == LastRead::Unknown
    {
        // It shows which instances were launched from it.
        draft.act(Stage::Read, ReadAction::DescribeLaunchTemplate);
    }
    delete_machines(situation, draft);
    delete_ownerless(situation, draft);
    if let Some(group) = situation.writable_group() {
        empty(situation, group, draft);
    }
    if let (View::Foreign(_), true) = (situation.view, situation.is_fresh()) {
        release_from_foreign_group(situation, draft);
    }
    if group_is_gone(situation) {
        finish(situation, draft);
    }
}

/// Deletes all Machines at once: Cluster API drains them in parallel and respects disruption budgets.
fn delete_machines(situation: &Situation<'_>, draft: &mut Draft) {
    let mut spared: BTreeSet<&MachineName> = BTreeSet::new();
    for member in situation.members.iter().filter(|it| it.cannot_be_drained()) {
        match hooks::awaits_node(situation, member) {
            Some(until) => draft.wake_at(until),
            // AWS ends it in any case.
            None if member.waits_for_hook() => continue,
            None => {}
        }
        spared.insert(&member.name);
    }
    for machine in situation.observed.machines.iter().filter(|machine| !spared.contains(&machine.name)) {
        delete_machine(situation, Some(machine), "the pool is being deleted", draft);
    }
}

/// Deletes FooMachines without a Machine: Cluster API creates no Machines for a pool that is being deleted,
/// so no other controller would delete them. A FooMachine that was just created waits for its Machine to
/// appear.
fn delete_ownerless(situation: &Situation<'_>, draft: &mut Draft) {
    let claimed: BTreeSet<&MachineName> =
        situation.observed.machines.iter().map(|machine| &machine.name).collect();
    let ownerless = |foo_machine: &&FooMachine| {
        !foo_machine.deletion.is_deleting()
            && !claimed.contains(&foo_machine.name)
            && !situation.memory.created_machines.contains_key(&foo_machine.name)
    };
    // The machines step deletes those whose instance is gone. An adopted instance may have Pods that nothing would drain.
    let buried: BTreeSet<&MachineName> = situation
        .missing
        .iter()
        .filter(|missing| {
            situation.knows_members() && missing.ec2_state == Some(crate::observed::Ec2State::Gone)
        })
        .map(|missing| &missing.foo_machine.name)
        .chain(situation.members.iter().filter(|it| it.adopted).map(|member| &member.name))
        .collect();
    for foo_machine in situation.observed.foo_machines.iter().filter(ownerless) {
        if !buried.contains(&foo_machine.name) {
            let why = "the pool is being deleted and it has no Machine".to_owned();
            draft.act(
                Stage::Machines,
                MachineAction::DeleteFooMachine {
                    name: foo_machine.name.clone(),
                    uid: foo_machine.uid.clone(),
                    why,
                },
            );
        }
    }
}

/// Stops launches, terminates released instances, then deletes the group.
fn empty(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    if group.status == GroupStatus::Deleting || !situation.is_settled() {
        return;
    }
    protect(situation, group, draft);
    // AWS deletes no group with a warm pool, and fills it again as the group shrinks.
    if !may_have_pods_of_others(situation, group) {
        warm_pool::delete(situation, group, "the pool is being deleted", draft);
    }
    stop_launches(situation, group, draft);
    let going = situation.members.iter().filter(|member| may_end(situation, member));
    end(situation, group, going, 0, draft);
    let empty = group.instances.is_empty() && group.warm_pool.is_none() && situation.capacity.high == 0;
    // A user enabled deletion protection and has to disable it.
    let allowed = group.deletion_protection != DeletionProtection::All;
    if empty && allowed && draft.pending_change().desired.is_none() {
        draft.act(Stage::Finish, GroupAction::DeleteGroup { name: group.name.clone() });
    }
}

/// Lowers desired capacity and the maximum to what exists, so that AWS launches nothing, and the minimum to
/// zero, so that AWS accepts decrements. An external controller no longer manages the size.
fn stop_launches(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    if group.sizes.min > 0 {
        draft.change("the pool is being deleted: minimum size 0", |change| change.min = Some(0));
    }
    let existing = situation.counts.existing;
    if situation.capacity.low > existing && situation.counts.unprotected == 0 {
        draft.change(format!("the pool is being deleted: no launches beyond {existing}"), |change| {
            change.desired = Some(existing);
            change.max = Some(existing);
        });
    }
}

/// Whether the removal may terminate an instance: Cluster API released it, or Kubernetes never knew it and the provider's group
/// launched it.
///
/// Members that are neither capacity nor terminating are terminated as well once they are released; one that
/// a user is detaching is left to that user.
fn may_end(situation: &Situation<'_>, member: &Member<'_>) -> bool {
    let detached = matches!(member.instance.lifecycle, LifecycleState::Detaching | LifecycleState::Detached);
    let free = |claimed| match claimed {
        MachineState::New => {
            !member.adopted
                && member.machine.is_none()
                && !situation.memory.created_machines.contains_key(&member.name)
        }
        MachineState::Released => true,
        MachineState::AwaitingMachine
        | MachineState::Active
        | MachineState::Interrupted
        | MachineState::Draining
        | MachineState::FooMachineDeletedFirst
        | MachineState::TerminateSent
        | MachineState::Terminating
        | MachineState::OutOfService => false,
    };
    match member.state {
        MachineState::TerminateSent | MachineState::Terminating => false,
        MachineState::OutOfService => {
            !detached && free(claim(member.foo_machine, member.machine, situation.memory))
        }
        standing => is_released(situation, member) || free(standing),
    }
}

/// Releases a pool whose group lost the provider's tags or never had them: the group and its instances are not touched.
/// Cluster API has drained what it drained, and finishes when the provider's finalizers are removed.
pub(crate) fn release_from_foreign_group(situation: &Situation<'_>, draft: &mut Draft) {
    let foreign = situation.members.iter().filter_map(|member| member.foo_machine);
    let ec2_states = situation.missing.iter().map(|missing| missing.foo_machine);
    for foo_machine in foreign
        .chain(ec2_states)
        .filter(|foo_machine| foo_machine.has_finalizer && foo_machine.deletion.is_deleting())
    {
        draft.act(
            Stage::Machines,
            MachineAction::ReleaseFooMachine { name: foo_machine.name.clone(), uid: foo_machine.uid.clone() },
        );
    }
}

/// Deletes what the pool stored in S3 and the template, then removes our finalizer. The template of a group that others created
/// stays.
pub(crate) fn finish(situation: &Situation<'_>, draft: &mut Draft) {
    let mut stored = false;
    match &situation.observed.template {
        _ if situation.is_tagged_by_others() => {}
        LastRead::Unknown | LastRead::Failed { .. } => {
            draft.act(Stage::Read, ReadAction::DescribeLaunchTemplate);
            return;
        }
        LastRead::At { seen: Some(template), .. }
            if situation.desired.identity.owns_template(&template.tags) =>
        {
            objects::remove(situation, Some(template), draft);
            draft.act(Stage::Finish, TemplateAction::DeleteTemplate { id: template.id.clone() });
            return;
        }
        // A foreign template, and so is what is stored under the group's name.
        LastRead::At { seen: Some(_), .. } => {}
        LastRead::At { seen: None, .. } => stored = situation.desired.group.storage.is_some(),
    }
    if situation.observed.foo_machines.is_empty() && situation.observed.finalizer == Finalizer::Present {
        if stored {
            // A crash between an object and the first version of the template leaves an object.
            objects::remove(situation, None, draft);
        }
        draft.act(Stage::Finish, PoolAction::RemoveFinalizer);
    }
}
