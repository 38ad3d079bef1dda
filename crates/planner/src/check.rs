//! A second opinion on a plan: verifies, from inputs and outputs alone, the invariants that a single plan can
//! break. It shares no decision with the planner, so that a mistake is not made twice. From the planner's
//! code it uses only the model, the inputs and outputs, and the constants and names on which both must agree.
//!
//! The controller checks every plan and does not carry out one that breaks an invariant.

use crate::Plan;
use crate::action::{
    Action, GroupAction, HookAction, InstanceAction, MachineAction, ObjectAction, PoolAction, Precondition,
    TemplateAction,
};
use crate::desired::{Desired, Goal};
use crate::memory::Memory;
use crate::observed::{Finalizer, MoveBlock, Observed};
use foo_model::{
    Decrement, GroupChange, GroupSettingsChange, InstanceId, LaunchTemplateId, MachineName, Process,
    Protection, TemplateVersion,
};
use std::collections::BTreeSet;

mod announced;
mod facts;
mod replacing;
mod rule;
mod sizes;

pub use rule::{Rule, Violation};

use facts::Facts;
use rule::Found;

/// The rules that a plan breaks; empty for a plan that may be carried out. `memory` is the memory that the
/// plan was made from.
pub fn violations(desired: &Desired, observed: &Observed, memory: &Memory, plan: &Plan) -> Vec<Violation> {
    let facts = Facts::new(desired, observed, memory, plan);
    let mut found = Found::default();
    hands_off(&facts, &mut found);
    own_only(&facts, &mut found);
    only_what_the_spec_named(&facts, &mut found);
    warms_only_suitable(&facts, &mut found);
    finalizer_first(&facts, &mut found);
    ends_only_released(&facts, &mut found);
    launches_protected(&facts, &mut found);
    adopted_are_secured_first(&facts, &mut found);
    deletes_only_with_cause(&facts, &mut found);
    completes_only_drained(&facts, &mut found);
    drains_the_living(&facts, &mut found);
    finalizers_last(&facts, &mut found);
    replacing::check(&facts, &mut found);
    sizes::check(&facts, &mut found);
    found.0
}

fn hands_off(facts: &Facts<'_>, found: &mut Found) {
    for action in facts.actions {
        let allowed = match (facts.desired.pause, facts.desired.goal) {
            // `clusterctl move` waits for these actions.
            (Some(_), _) => {
                let last =
                    matches!(action, Action::Pool(PoolAction::RecordArn { .. } | PoolAction::UnblockMove));
                last && facts.observed.move_block == MoveBlock::Blocked
            }
            (None, Goal::Orphan) => {
                matches!(
                    action,
                    Action::Machine(MachineAction::ReleaseFooMachine { .. })
                        | Action::Pool(PoolAction::RemoveFinalizer)
                )
            }
            (None, Goal::Retain) => retains(action) || (facts.group_is_absent() && ends(action)),
            (None, Goal::Run | Goal::Remove) => true,
        };
        found.check(allowed, || Violation::NotManaged { action: action.kind() });
    }
}

/// What is deleted of a pool without a group.
fn ends(action: &Action) -> bool {
    matches!(
        action,
        Action::Template(TemplateAction::DeleteTemplate { .. })
            | Action::Object(ObjectAction::DeleteUserData { .. })
    )
}

/// Whether an action is possible while a pool releases its group: what would delete or resize the group, or delete its template
/// or what it reads, is not.
fn retains(action: &Action) -> bool {
    match action {
        Action::Read(_)
        | Action::Machine(_)
        | Action::Pool(PoolAction::RemoveFinalizer)
        | Action::Group(GroupAction::TagGroup { .. }) => true,
        Action::Instance(InstanceAction::TerminateInstance { decrement, .. }) => {
            *decrement == Decrement::Replace
        }
        Action::Hook(hook) => !matches!(hook, HookAction::PutLifecycleHook { .. }),
        Action::Pool(_)
        | Action::Group(_)
        | Action::Instance(InstanceAction::ProtectInstances { .. })
        | Action::Template(_)
        | Action::Object(_)
        | Action::Node(_) => false,
    }
}

fn own_only(facts: &Facts<'_>, found: &mut Found) {
    let identity = &facts.desired.identity;
    for action in facts.actions {
        if let Some(name) = action.group() {
            found.check(*name == identity.group, || Violation::NamesAnotherGroup {
                action: action.kind(),
                group: name.clone(),
            });
            let creates = matches!(action, Action::Group(GroupAction::CreateGroup(_)));
            let own = facts.may_manage_group();
            let made_here = !creates && facts.makes_group();
            let adopts = facts.adopts_unowned(action);
            let fits = if creates {
                facts.group_is_absent() && !facts.awaits_adoption()
            } else {
                own || made_here || adopts
            };
            found.check(fits, || Violation::ForeignGroup { action: action.kind() });
        }
        let acts = action.group().is_some() || action.changes_template();
        let acts = acts || matches!(action, Action::Machine(MachineAction::DeleteMachine { .. }));
        found.check(!acts || !facts.is_to_be_adopted() || facts.adopts(action), || {
            Violation::NotAdoptedYet { action: action.kind() }
        });
        if matches!(action, Action::Object(_)) {
            let foreign = facts.group.is_some() && !facts.may_manage_group();
            let fits = !foreign && !facts.is_another_installations();
            found.check(fits, || Violation::ForeignTemplate { action: action.kind() });
        }
        if action.changes_template() {
            found.check(!facts.is_another_installations(), || Violation::AnotherInstallationsTemplate {
                action: action.kind(),
            });
            let creates = matches!(action, Action::Template(TemplateAction::CreateTemplate { .. }));
            let fits = match facts.observed.template.seen() {
                Some(None) => creates,
                Some(Some(template)) => !creates && identity.owns_template(&template.tags),
                None => false,
            };
            found.check(fits, || Violation::ForeignTemplate { action: action.kind() });
        }
    }
}

/// What other users set in the group stays: the provider removes only what its record has, and records what it sets before.
fn only_what_the_spec_named(facts: &Facts<'_>, found: &mut Found) {
    let (wanted, before) = (&facts.desired.group, &facts.observed.applied);
    let mut recorded = before;
    let names_hook = |name| wanted.hooks.as_ref().is_some_and(|hooks| hooks.contains_key(name));
    let names_topic = |topic| wanted.notifications.as_ref().is_some_and(|topics| topics.contains_key(topic));
    let mut check = |fits: bool, name: &str| {
        found.check(fits, || Violation::Unrecorded { name: name.to_owned() });
    };
    for action in facts.actions {
        match action {
            Action::Pool(PoolAction::RecordApplied { applied }) => recorded = applied,
            Action::Group(GroupAction::CreateGroup(group)) => {
                for name in group.hooks.keys() {
                    check(recorded.lifecycle_hooks.contains(name), name.as_str());
                }
            }
            Action::Hook(HookAction::PutOtherHook { name, .. }) => {
                check(names_hook(name) && recorded.lifecycle_hooks.contains(name), name.as_str());
            }
            // One that the spec names is deleted before it is created without its text.
            Action::Hook(HookAction::DeleteOtherHook { name, .. }) => {
                check(names_hook(name) || before.lifecycle_hooks.contains(name), name.as_str());
            }
            Action::Group(GroupAction::PutNotifications { topic, .. }) => {
                check(names_topic(topic) && recorded.notification_topics.contains(topic), topic.as_str());
            }
            Action::Group(GroupAction::DeleteNotifications { topic, .. }) => {
                check(!names_topic(topic) && before.notification_topics.contains(topic), topic.as_str());
            }
            Action::Group(GroupAction::SuspendProcesses { processes, .. }) => {
                for process in processes {
                    let named = wanted.suspended.contains(process);
                    let fits = named && recorded.suspended_processes.contains(process);
                    check(fits || *process == Process::AZRebalance, process.name());
                }
            }
            Action::Group(GroupAction::ResumeProcesses { processes, .. }) => {
                for process in processes {
                    let named = wanted.suspended.contains(process);
                    let left = !named && before.suspended_processes.contains(process);
                    // AWS itself suspends launches that fail for a day.
                    let fits = left || *process == Process::Launch;
                    check(fits && *process != Process::AZRebalance, process.name());
                }
            }
            Action::Group(GroupAction::PutWarmPool { settings, .. }) => {
                // One that is to be deleted is emptied.
                let named = wanted.warm_pool.is_some() || settings.is_empty();
                let own = before.warm_pool.is_some() || wanted.warm_pool.is_some();
                check(named && own && recorded.warm_pool.is_some(), "the warm pool");
            }
            Action::Group(GroupAction::DeleteWarmPool { .. }) => {
                // That of another user is deleted with its group, or is taken over by the spec, unless Pods could end with it.
                let removes = facts.desired.goal == Goal::Remove;
                let may_go = removes || wanted.warm_pool.is_some();
                let own = before.warm_pool.is_some() || (may_go && facts.warm_pool_has_no_pods());
                check(own && (removes || recorded.warm_pool.is_some()), "the warm pool");
            }
            _ => {}
        }
    }
}

/// A warm pool is deleted without draining, so its instances must not join the cluster, neither those of the version that the group has
/// now nor those of the next one. The group takes them first, so they have the version that it has, and that is recorded: AWS does not
/// list them.
fn warms_only_suitable(facts: &Facts<'_>, found: &mut Found) {
    let is_own = facts.observed.applied.warm_pool.is_some();
    let mut recorded = facts.observed.applied.warm_pool.as_ref();
    for action in facts.actions {
        let fits = match action {
            Action::Pool(PoolAction::RecordApplied { applied }) => {
                recorded = applied.warm_pool.as_ref();
                true
            }
            Action::Group(GroupAction::PutWarmPool { settings, .. }) => {
                let version = recorded.and_then(|it| it.template.as_ref());
                let waits = |(id, version): &(LaunchTemplateId, TemplateVersion)| {
                    facts.group_launches(id, *version) && facts.waits_in_warm_pool(id, *version)
                };
                !settings.reuse && (settings.is_empty() || version.is_some_and(waits))
            }
            Action::Group(GroupAction::UpdateGroup { change, .. }) => {
                let next = change.template.as_ref().filter(|_| is_own && facts.fills_warm_pool());
                next.is_none_or(|(id, version, _)| facts.waits_in_warm_pool(id, *version))
            }
            _ => true,
        };
        found.check(fits, || Violation::WarmsUnsuitable);
    }
}

fn finalizer_first(facts: &Facts<'_>, found: &mut Found) {
    let mut held = facts.observed.finalizer == Finalizer::Present;
    for action in facts.actions {
        held |= *action == Action::Pool(PoolAction::AddFinalizer);
        let makes = matches!(
            action,
            Action::Group(GroupAction::CreateGroup(_))
                | Action::Object(ObjectAction::StoreUserData { .. })
                | Action::Template(
                    TemplateAction::CreateTemplate { .. } | TemplateAction::CreateTemplateVersion { .. }
                )
        );
        found.check(held || !makes, || Violation::WithoutFinalizer { action: action.kind() });
    }
    let mut recorded = facts.observed.recorded_arn.is_some();
    let mut blocked = facts.observed.move_block == MoveBlock::Blocked;
    for action in facts.actions {
        blocked |= *action == Action::Pool(PoolAction::BlockMove);
        recorded |= matches!(action, Action::Pool(PoolAction::RecordArn { .. }));
        let makes = matches!(
            action,
            Action::Group(GroupAction::CreateGroup(_))
                | Action::Template(TemplateAction::CreateTemplate { .. })
        );
        found.check(blocked || recorded || !makes, || Violation::WhileMovable { action: action.kind() });
        let early = *action == Action::Pool(PoolAction::UnblockMove)
            && facts.observed.group.seen().is_none()
            && !recorded;
        found.check(!early, || Violation::MovesFreedUnseen);
    }
}

fn ends_only_released(facts: &Facts<'_>, found: &mut Found) {
    let mut ended: BTreeSet<&InstanceId> = BTreeSet::new();
    for action in facts.actions {
        let Action::Instance(InstanceAction::TerminateInstance { id, .. }) = action else { continue };
        found.check(ended.insert(id), || Violation::TerminatedTwice { id: id.clone() });
        found.check(!facts.ended_lately(id), || Violation::TerminatedLately { id: id.clone() });
        found.check(facts.is_free(id), || Violation::TerminatedUndrained { id: id.clone() });
        let there = facts.instances.get(id).is_some_and(|instance| !instance.lifecycle.is_leaving());
        found.check(there, || Violation::TerminatedMissing { id: id.clone() });
    }
}

/// AWS terminates instances without protection on its own: when desired capacity is lowered, and to balance zones.
fn launches_protected(facts: &Facts<'_>, found: &mut Found) {
    for action in facts.actions {
        let protection = match action {
            Action::Group(GroupAction::CreateGroup(group)) => Some(group.settings.new_instances),
            Action::Group(GroupAction::UpdateGroup { change, .. }) => change.settings.new_instances,
            _ => None,
        };
        found.check(protection != Some(Protection::Unprotected), || Violation::LaunchesUnprotected {
            action: action.kind(),
        });
    }
}

/// Adoption sets hook and protection one after the other; until then AWS terminates instances undrained.
fn adopted_are_secured_first(facts: &Facts<'_>, found: &mut Found) {
    if facts.desired.goal != Goal::Run || facts.is_secured() {
        return;
    }
    for action in facts.actions {
        let Action::Group(GroupAction::UpdateGroup { change, .. }) = action else { continue };
        let protects = GroupChange {
            settings: GroupSettingsChange {
                new_instances: change.settings.new_instances,
                ..GroupSettingsChange::default()
            },
            ..GroupChange::default()
        };
        found.check(*change == protects, || Violation::ChangedUnsecured { action: action.kind() });
    }
}

fn deletes_only_with_cause(facts: &Facts<'_>, found: &mut Found) {
    let mut deleted: BTreeSet<&MachineName> = BTreeSet::new();
    for action in facts.actions {
        let Action::Machine(MachineAction::DeleteMachine { name, only_if, .. }) = action else { continue };
        found.check(deleted.insert(name), || Violation::DeletedTwice { machine: name.clone() });
        let alive = facts.machines.get(name).is_some_and(|machine| !machine.deletion.is_deleting());
        found.check(alive, || Violation::DeletedAbsent { machine: name.clone() });
        found.check(!facts.deleted_lately(name), || Violation::DeletedLately { machine: name.clone() });
        let caused = match only_if {
            Precondition::SameUid => {
                facts.desired.goal == Goal::Remove
                    || facts.is_lost(name)
                    || replacing::is_unhealthy(facts, name)
                    || replacing::is_outdated(facts, name)
                    || replacing::is_overdue(facts, name)
                    || replacing::is_expired(facts, name)
                    || announced::ends_now(facts, name)
                    || announced::retires(facts, name)
                    || announced::may_be_replaced(facts, name)
            }
            Precondition::StillMarkedForDeletion { .. } => facts.is_marked(name),
            Precondition::ReplicasAtMost { .. } => true,
        };
        let drains = !facts.cannot_be_drained(name)
            || facts.is_marked(name)
            || (facts.is_lost(name) && !facts.awaits_node(name))
            || announced::ends_now(facts, name);
        found.check(caused && drains, || Violation::DeletedWithoutCause { machine: name.clone() });
    }
}

fn completes_only_drained(facts: &Facts<'_>, found: &mut Found) {
    let mut completed: BTreeSet<&InstanceId> = BTreeSet::new();
    for action in facts.actions {
        let Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) = action else { continue };
        found.check(completed.insert(id), || Violation::CompletedTwice { id: id.clone() });
        let waits = facts.waits(id) || facts.leaves_warm_pool(id);
        found.check(waits, || Violation::CompletedNotWaiting { id: id.clone() });
        found.check(facts.may_complete(id), || Violation::CompletedUndrained { id: id.clone() });
    }
}

fn drains_the_living(facts: &Facts<'_>, found: &mut Found) {
    for action in facts.actions {
        let Action::Machine(MachineAction::ExcludeFromDraining { name, .. }) = action else { continue };
        found.check(facts.is_dead(name), || Violation::ExcludedAlive { machine: name.clone() });
    }
}

fn finalizers_last(facts: &Facts<'_>, found: &mut Found) {
    for action in facts.actions {
        match action {
            Action::Machine(MachineAction::ReleaseFooMachine { name, .. }) => {
                found.check(facts.may_release(name), || Violation::FooMachineReleasedEarly {
                    foo_machine: name.clone(),
                });
            }
            Action::Machine(MachineAction::RetainInstance { name, .. }) => {
                found
                    .check(facts.may_retain(name), || Violation::RetainedUndrained { machine: name.clone() });
            }
            Action::Hook(HookAction::DeleteLifecycleHook { .. }) => {
                let left = !facts.observed.foo_machines.is_empty();
                found.check(facts.desired.goal == Goal::Retain && !left, || Violation::HookDeletedEarly);
            }
            Action::Pool(PoolAction::RemoveFinalizer) => {
                found.check(facts.may_remove_finalizer(), || Violation::FinalizerRemovedEarly);
            }
            _ => {}
        }
    }
}
