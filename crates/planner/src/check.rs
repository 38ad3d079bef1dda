//! A second opinion on a plan: the invariants of the design that one plan can break, checked from what goes in and
//! what comes out. It shares no decision with the planner, so that one mistake is not made twice: of the planner's code it
//! uses the model, inputs and outputs, and the constants and names that both must agree on.
//!
//! The controller runs it on every plan and carries out none that breaks anything.

use crate::Plan;
use crate::action::{Action, OnlyIf};
use crate::desired::{Desired, Goal};
use crate::memory::Memory;
use crate::model::{InstanceId, MachineName};
use crate::observed::{Finalizer, Moves, Observed};
use std::collections::BTreeSet;

mod announced;
mod facts;
mod replacing;
mod rule;
mod sizes;

pub use rule::{Rule, Violation};

use facts::Facts;
use rule::{Found, kind};

/// The rules that a plan breaks; empty for every plan that may be carried out. `memory` is the memory that went
/// into the plan.
pub fn violations(desired: &Desired, observed: &Observed, memory: &Memory, plan: &Plan) -> Vec<Violation> {
    let facts = Facts::new(desired, observed, memory, plan);
    let mut found = Found::default();
    hands_off(&facts, &mut found);
    own_only(&facts, &mut found);
    finalizer_first(&facts, &mut found);
    ends_only_released(&facts, &mut found);
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
            // What clusterctl move waits for.
            (Some(_), _) => {
                let last = matches!(action, Action::RecordArn { .. } | Action::UnblockMove);
                last && facts.observed.moves == Moves::Blocked
            }
            (None, Goal::LetGo) => {
                matches!(action, Action::ReleaseFooMachine { .. } | Action::RemoveFinalizer)
            }
            (None, Goal::Run | Goal::Remove) => true,
        };
        found.check(allowed, Rule::HandsOff, || {
            format!("{} of a pool that is not ours to act on", kind(action))
        });
    }
}

fn own_only(facts: &Facts<'_>, found: &mut Found) {
    let identity = &facts.desired.identity;
    for action in facts.actions {
        if let Some(name) = facts::group_named_by(action) {
            found.check(*name == identity.group, Rule::OwnOnly, || {
                format!("{} names another group, {name}", kind(action))
            });
            let creates = matches!(action, Action::CreateGroup(_));
            let ours = facts.group.is_some_and(|group| identity.holds(&group.tags));
            let made_here = !creates && facts.makes_group();
            let fits = if creates { facts.group_is_absent() } else { ours || made_here };
            found.check(fits, Rule::OwnOnly, || format!("{} of a group that is not ours", kind(action)));
        }
        let acts = facts::group_named_by(action).is_some() || action.changes_template();
        let acts = acts || matches!(action, Action::DeleteMachine { .. });
        found.check(!acts || !facts.is_to_be_adopted() || facts.adopts(action), Rule::OwnOnly, || {
            format!("{} before the group is this management cluster's", kind(action))
        });
        if action.changes_template() {
            found.check(!facts.is_another_installations(), Rule::OwnOnly, || {
                format!("{} of another management cluster's template", kind(action))
            });
            let creates = matches!(action, Action::CreateTemplate { .. });
            let fits = match facts.observed.template.seen() {
                Some(None) => creates,
                Some(Some(template)) => !creates && identity.owns(&template.tags),
                None => false,
            };
            found.check(fits, Rule::OwnOnly, || format!("{} of a template that is not ours", kind(action)));
        }
    }
}

fn finalizer_first(facts: &Facts<'_>, found: &mut Found) {
    let mut held = facts.observed.finalizer == Finalizer::Present;
    for action in facts.actions {
        held |= *action == Action::AddFinalizer;
        let makes = matches!(
            action,
            Action::CreateGroup(_) | Action::CreateTemplate { .. } | Action::CreateTemplateVersion { .. }
        );
        found.check(held || !makes, Rule::FinalizerFirst, || {
            format!("{} without our finalizer", kind(action))
        });
    }
    let recorded = facts.observed.recorded_arn.is_some();
    let mut blocked = facts.observed.moves == Moves::Blocked;
    for action in facts.actions {
        blocked |= *action == Action::BlockMove;
        let makes = matches!(action, Action::CreateGroup(_) | Action::CreateTemplate { .. });
        found.check(blocked || recorded || !makes, Rule::FinalizerFirst, || {
            format!("{} while the pool may be moved", kind(action))
        });
        let early = *action == Action::UnblockMove && facts.observed.group.seen().is_none() && !recorded;
        found.check(!early, Rule::FinalizerFirst, || "moves are free although nobody has looked".to_owned());
    }
}

fn ends_only_released(facts: &Facts<'_>, found: &mut Found) {
    let mut ended: BTreeSet<&InstanceId> = BTreeSet::new();
    for action in facts.actions {
        let Action::TerminateInstance { id, .. } = action else { continue };
        found.check(ended.insert(id), Rule::EndsOnlyReleased, || format!("{id} is ended twice in one plan"));
        found.check(!facts.ended_lately(id), Rule::EndsOnlyReleased, || {
            format!("{id} was ended a moment ago")
        });
        found.check(facts.is_free(id), Rule::EndsOnlyReleased, || format!("{id} is ended unreleased"));
        let there = facts.instances.get(id).is_some_and(|instance| !instance.lifecycle.is_leaving());
        found.check(there, Rule::EndsOnlyReleased, || format!("{id} is not there, or leaving already"));
    }
}

fn deletes_only_with_cause(facts: &Facts<'_>, found: &mut Found) {
    let mut deleted: BTreeSet<&MachineName> = BTreeSet::new();
    for action in facts.actions {
        let Action::DeleteMachine { name, only_if, .. } = action else { continue };
        let rule = Rule::DeletesOnlyWithCause;
        found.check(deleted.insert(name), rule, || format!("Machine {name} is deleted twice in one plan"));
        let alive = facts.machines.get(name).is_some_and(|machine| !machine.deletion.is_deleting());
        found.check(alive, rule, || format!("Machine {name} is not there, or deleting already"));
        found.check(!facts.deleted_lately(name), rule, || format!("Machine {name} was deleted a moment ago"));
        let caused = match only_if {
            OnlyIf::SameUid => {
                facts.desired.goal == Goal::Remove
                    || facts.is_lost(name)
                    || replacing::is_sick(facts, name)
                    || replacing::is_outdated(facts, name)
                    || replacing::is_overdue(facts, name)
                    || announced::ends_now(facts, name)
                    || announced::retires(facts, name)
                    || announced::may_be_replaced(facts, name)
            }
            OnlyIf::StillMarked { .. } => facts.is_marked(name),
            OnlyIf::WishAtMost { .. } => true,
        };
        found.check(caused, rule, || format!("Machine {name} is deleted without a cause"));
    }
}

fn completes_only_drained(facts: &Facts<'_>, found: &mut Found) {
    let mut completed: BTreeSet<&InstanceId> = BTreeSet::new();
    for action in facts.actions {
        let Action::CompleteHook { id, .. } = action else { continue };
        let rule = Rule::CompletesOnlyDrained;
        found
            .check(completed.insert(id), rule, || format!("the hook of {id} is completed twice in one plan"));
        found.check(facts.waits(id), rule, || format!("{id} does not wait for a hook"));
        found.check(facts.may_complete(id), rule, || format!("{id} is let go undrained"));
    }
}

fn drains_the_living(facts: &Facts<'_>, found: &mut Found) {
    for action in facts.actions {
        let Action::ExcludeFromDraining { name, .. } = action else { continue };
        found.check(facts.is_dead(name), Rule::EndsOnlyReleased, || {
            format!("Machine {name} is excluded from draining although its instance may live")
        });
    }
}

fn finalizers_last(facts: &Facts<'_>, found: &mut Found) {
    for action in facts.actions {
        match action {
            Action::ReleaseFooMachine { name, .. } => {
                found.check(facts.may_release(name), Rule::FinalizersLast, || {
                    format!("FooMachine {name} is released while its instance may be alive")
                });
            }
            Action::RemoveFinalizer => {
                found.check(facts.may_remove_finalizer(), Rule::FinalizersLast, || {
                    "the pool's finalizer is removed while something may be left".to_owned()
                });
            }
            _ => {}
        }
    }
}
