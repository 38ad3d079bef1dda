//! A second opinion on a plan: the invariants of the design that one plan can break, checked from what goes in and
//! what comes out. It shares no code with the planner beyond the model, so that one mistake is not made twice.
//!
//! The controller runs it on every plan and carries out none that breaks anything.

use crate::action::{Action, OnlyIf};
use crate::desired::{Desired, Goal, Size};
use crate::memory::Memory;
use crate::model::{Decrement, Group, InstanceId, MachineName, RemovalMark};
use crate::observed::{Finalizer, Moves, Observed, Stray};
use crate::{Plan, names};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

mod announced;
mod facts;
mod replacing;
mod sizes;

use facts::Facts;

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// Which action breaks it, and how.
    pub what: String,
}

/// The rules. The numbers are those of the design's invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// I1: an instance is ended only when Cluster API released its FooMachine, or in a removal when it has neither
    /// FooMachine nor Machine. No instance is ended twice.
    EndsOnlyReleased,
    /// I1, from the other side: a Machine in good order is deleted only for an excess, a replacement, an announcement of
    /// AWS or a removal, and never twice.
    DeletesOnlyWithCause,
    /// I2: desired capacity is never written below the number of instances that exist.
    DesiredCoversExisting,
    /// I4: raising desired capacity stays within wish plus surge plus what AWS takes back, and within the ceiling.
    RaisesWithinWish,
    /// I7: a mark without an excess removes nothing, and no more Machines go than are too many.
    VictimsWithinExcess,
    /// I12: what lacks our ownership tags is never changed.
    OwnOnly,
    /// A paused pool is left alone, but for the ARN that a move waits for; a moved one is only let go of.
    HandsOff,
    /// Our finalizer is there before anything is made in AWS, and the pool is not moved before the spec tells of it.
    FinalizerFirst,
    /// Decisions on size wait for a settled manager and a view newer than our last change.
    SettledFirst,
    /// Desired capacity that somebody else manages is not written.
    ExternalSize,
    /// I5: our hook is completed for instances that wait for it, once, and not before Cluster API released them, unless
    /// there is no Machine or AWS waits no longer.
    CompletesOnlyDrained,
    /// I3: a Machine that serves goes for a replacement only while the rest is as many as the budget wants.
    StaysAvailable,
    /// I9: content that was given up on is not launched again.
    LaunchesNoQuarantined,
    /// Our finalizer stays on a FooMachine while its instance may be alive, and on the pool while anything is left.
    FinalizersLast,
}

impl Rule {
    /// All rules, for metrics.
    pub const ALL: [Self; 14] = [
        Self::EndsOnlyReleased,
        Self::DeletesOnlyWithCause,
        Self::DesiredCoversExisting,
        Self::RaisesWithinWish,
        Self::VictimsWithinExcess,
        Self::OwnOnly,
        Self::HandsOff,
        Self::FinalizerFirst,
        Self::SettledFirst,
        Self::ExternalSize,
        Self::CompletesOnlyDrained,
        Self::StaysAvailable,
        Self::LaunchesNoQuarantined,
        Self::FinalizersLast,
    ];

    /// A name that stays, for metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::EndsOnlyReleased => "ends-only-released",
            Self::DeletesOnlyWithCause => "deletes-only-with-cause",
            Self::DesiredCoversExisting => "desired-covers-existing",
            Self::RaisesWithinWish => "raises-within-wish",
            Self::VictimsWithinExcess => "victims-within-excess",
            Self::OwnOnly => "own-only",
            Self::HandsOff => "hands-off",
            Self::FinalizerFirst => "finalizer-first",
            Self::SettledFirst => "settled-first",
            Self::ExternalSize => "external-size",
            Self::CompletesOnlyDrained => "completes-only-drained",
            Self::StaysAvailable => "stays-available",
            Self::LaunchesNoQuarantined => "launches-no-quarantined",
            Self::FinalizersLast => "finalizers-last",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.name(), self.what)
    }
}

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

#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn push(&mut self, rule: Rule, what: impl Into<String>) {
        self.0.push(Violation { rule, what: what.into() });
    }

    fn check(&mut self, holds: bool, rule: Rule, what: impl FnOnce() -> String) {
        if !holds {
            self.push(rule, what());
        }
    }
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

/// The action's name, for messages.
fn kind(action: &Action) -> String {
    let text = format!("{action:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}
