//! What a manager remembers between two passes over a pool. It may be lost at any time: a crash only costs time.
//!
//! The life of an expectation: [`Memory::sent`] opens it when a call is made, [`Memory::answered`] keeps or drops it,
//! [`Memory::absorbed`] strikes it off when a newer observation shows the effect or when its deadline has passed.

use crate::action::{Action, GroupAction, HookAction, InstanceAction, MachineAction, NodeAction};
use crate::observed::{Look, Observed};
use crate::recent_targets::RecentTargets;
use foo_model::hook::HookWait;
use foo_model::signal::ADVICE_VALID_FOR;
use foo_model::{Decrement, Group, InstanceId, LifecycleState, MachineName, SpecHash, Timestamp};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long a raise of capacity waits for a template version that is being made, so that a change of content and
/// size at once does not launch old content. Making one takes two calls; if it is still not there after a minute it
/// is being refused, and then capacity of the old content is better than none.
pub(crate) const RAISE_WAITS: Duration = Duration::from_mins(1);

/// How long the group may be short of capacity before that counts as a shortage: longer than an ordinary launch.
pub(crate) const SHORT_FOR: Duration = Duration::from_mins(2);

/// Memory between passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Effects of our own calls that have not been seen yet.
    pub ledger: Ledger,
    /// Since when there have been more Machines than desired.
    pub excess_since: Option<Timestamp>,
    /// Since when the group has been short of the capacity it wants.
    pub short_since: Option<Timestamp>,
    /// When launches last failed to come. Only while it matters: in pools that hold unmarked Machines back.
    #[serde(default)]
    pub starved_at: Option<Timestamp>,
    /// How low the desired replicas has been, and for how long. Only in such pools, too.
    #[serde(default)]
    pub targets: RecentTargets,
    /// Since when a template version with the wanted content has been lacking.
    pub template_due_since: Option<Timestamp>,
    /// Since when AWS has refused to let the group launch from the template that it shall launch from.
    #[serde(default)]
    pub template_refused_since: Option<Timestamp>,
    /// When a template of our name was first read without our tags; they may only not be visible yet.
    #[serde(default)]
    pub foreign_since: Option<Timestamp>,
    /// How the group buys instances, as far as that was seen.
    #[serde(default)]
    pub purchase: Option<Purchase>,
    /// What was wanted when AWS was seen to have suspended launches by itself.
    #[serde(default)]
    pub suspended_for: Option<String>,
    /// Instances that AWS could not end yet because something else went on with them, and when it said so.
    #[serde(default)]
    pub busy: BTreeMap<InstanceId, Timestamp>,
    /// Machines we deleted and have not yet seen deleting.
    pub deleted_machines: BTreeMap<MachineName, Timestamp>,
    /// FooMachines we made and whose Machines have not been seen yet.
    pub created_machines: BTreeMap<MachineName, Timestamp>,
    /// How the content that is being rolled out does.
    #[serde(default)]
    pub rollout: Option<RolloutProgress>,
    /// The round of replacements because of recommendations that goes on.
    #[serde(default)]
    pub round: Option<RebalanceWave>,
    /// When the last round ended; how soon the next may begin is counted from here, or from when this manager began.
    #[serde(default)]
    pub rebalanced_at: Option<Timestamp>,
    /// Instances that wait for our terminating hook.
    #[serde(default)]
    pub hook_waits: BTreeMap<InstanceId, HookWait>,
    /// Instances at risk whose Nodes were to be cordoned, and how that went last; at least as long as an announcement stands.
    #[serde(default)]
    pub cordons: BTreeMap<InstanceId, Cordon>,
}

/// How a group buys instances, and when it was first seen to have changed that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purchase {
    /// On demand, at least.
    pub on_demand_base: u32,
    /// Share of on-demand instances above that.
    pub on_demand_percentage: u32,
    /// When it was not as before; `None` while it is as it was when this manager first saw it.
    pub changed: Option<Timestamp>,
}

impl Purchase {
    /// As the newest view shows it, after what was known.
    fn seen(before: Option<Self>, group: &Group, now: Timestamp) -> Option<Self> {
        let mix = group.mix.as_ref()?;
        let (base, percentage) = (mix.on_demand_base, mix.on_demand_percentage);
        let changed = match before {
            Some(before) if (before.on_demand_base, before.on_demand_percentage) == (base, percentage) => {
                before.changed
            }
            Some(_) => Some(now),
            None => None,
        };
        Some(Self { on_demand_base: base, on_demand_percentage: percentage, changed })
    }
}

/// A try to cordon a Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cordon {
    /// When it was tried.
    pub at: Timestamp,
    /// Whether it is.
    pub done: bool,
}

/// Instances that are replaced because AWS recommended it, all in one go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebalanceWave {
    /// Those that were recommended to go when it began.
    pub instances: BTreeSet<InstanceId>,
}

/// How new content does. Lost in a crash, it begins anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutProgress {
    /// Its spec hash.
    pub hash: SpecHash,
    /// Since when it is being tried.
    pub since: Timestamp,
    /// Its Machines that were available when last looked at.
    pub available: BTreeSet<MachineName>,
    /// Machines of whatever content whose Nodes were Ready when last looked at.
    pub ready: BTreeSet<MachineName>,
    /// How often the Node of one of its Machines was Ready and then was not, though the Machine stayed.
    pub relapses: BTreeMap<MachineName, u32>,
    /// Since when instances of it have been waited for without one becoming available.
    pub waiting_since: Option<Timestamp>,
}

impl RolloutProgress {
    /// It begins: nothing is known yet.
    pub fn of(hash: SpecHash, now: Timestamp) -> Self {
        Self {
            hash,
            since: now,
            available: BTreeSet::new(),
            ready: BTreeSet::new(),
            relapses: BTreeMap::new(),
            waiting_since: None,
        }
    }
}

/// Expected effects of our own calls on the group, until they are seen or a deadline passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// When we last changed the group: older observations are void.
    pub changed_at: Option<Timestamp>,
    /// When we made the group, while it has not been seen.
    pub created: Option<Timestamp>,
    /// The least that desired capacity was at the last plan; a termination that lowers it counts from here.
    pub base: Option<u32>,
    /// Desired capacity as our last call left it, and when.
    pub desired: Option<(u32, Timestamp)>,
    /// Instances we ended, and when.
    pub leaving: BTreeMap<InstanceId, Timestamp>,
}

/// How an action went, as far as its effect is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// The answer was lost: nobody knows. Treated as done until a newer look says otherwise.
    MayHaveHappened,
    /// It was not carried out.
    Refused,
    /// It was not carried out, because something else goes on with the very instance; later it may be.
    NotYet,
}

/// What a memory was before calls were sent whose answers are not known yet.
#[must_use = "the answers are noted with it"]
#[derive(Debug)]
pub struct Unanswered(Box<Memory>);

/// How soon an instance that AWS could not end yet is tried again. Most are being launched, which takes a minute or so.
pub const BUSY_FOR: Duration = Duration::from_secs(10);

/// How long an effect on the group may stay unseen before we stop believing in it. Auto Scaling's reads trail its
/// writes by a few seconds; a minute is longer than any lag reported, and the price of waiting it out is one
/// minute after an answer was lost *and* the call had not been carried out.
pub const EFFECT_DEADLINE: Duration = Duration::from_mins(1);

/// The same for Kubernetes: our caches trail the API server by milliseconds to seconds, core makes a Machine within
/// seconds of its FooMachine. After half a minute the thing did not happen, or was undone.
pub const CACHE_DEADLINE: Duration = Duration::from_secs(30);

impl Memory {
    /// Whether the capacity that was asked for has not come for too long.
    pub(crate) fn is_starving(&self, now: Timestamp) -> bool {
        self.short_since.is_some_and(|since| since.plus(SHORT_FOR) <= now)
    }

    /// Notes that actions are sent, before they are: whoever drops the answer leaves behind that they may have happened.
    ///
    /// What it answers with belongs to [`Memory::answered`].
    pub fn sent(&mut self, actions: &[&Action], now: Timestamp) -> Unanswered {
        let before = self.clone();
        for action in actions.iter().filter(|action| leaves_traces(action)) {
            self.note(action, Outcome::MayHaveHappened, now);
        }
        Unanswered(Box::new(before))
    }

    /// Notes how the actions that were sent went, each with its own outcome; several for one are noted one after the other.
    ///
    /// Each change of the group voids all earlier observations of it, a refused one too: AWS refuses what does not
    /// fit the group as it is, so our picture of it was wrong.
    pub fn answered(
        &mut self,
        unanswered: Unanswered,
        answers: impl IntoIterator<Item = (impl Borrow<Action>, Outcome)>,
        now: Timestamp,
    ) {
        *self = *unanswered.0;
        for (action, outcome) in answers {
            self.note(action.borrow(), outcome, now);
        }
    }

    fn note(&mut self, action: &Action, outcome: Outcome, now: Timestamp) {
        if action.changes_group() {
            self.ledger.changed_at = self.ledger.changed_at.max(Some(now));
        }
        match outcome {
            Outcome::Refused => {}
            Outcome::NotYet => {
                if let Action::Instance(InstanceAction::TerminateInstance { id, .. }) = action {
                    self.busy.insert(id.clone(), now);
                }
            }
            Outcome::Done | Outcome::MayHaveHappened => self.expect_effect(action, now),
        }
        match action {
            Action::Group(GroupAction::UpdateGroup { change, .. }) if change.template.is_some() => {
                self.template_refused_since = match outcome {
                    Outcome::Done => None,
                    Outcome::Refused => self.template_refused_since.or(Some(now)),
                    Outcome::MayHaveHappened | Outcome::NotYet => self.template_refused_since,
                };
            }
            // A Node that could not be cordoned is tried again later, so a try counts, too.
            Action::Node(NodeAction::CordonNodes { nodes }) => {
                let tried = Cordon { at: now, done: outcome == Outcome::Done };
                self.cordons.extend(nodes.keys().map(|instance| (instance.clone(), tried)));
            }
            Action::Pool(_)
            | Action::Read(_)
            | Action::Template(_)
            | Action::Group(_)
            | Action::Instance(_)
            | Action::Hook(_)
            | Action::Machine(_) => {}
        }
    }

    fn expect_effect(&mut self, action: &Action, now: Timestamp) {
        match action {
            Action::Group(action) => self.expect_of_group(action, now),
            Action::Instance(action) => self.expect_of_instances(action, now),
            Action::Hook(action) => self.expect_of_hook(action, now),
            Action::Machine(action) => self.expect_of_machine(action, now),
            Action::Pool(_) | Action::Read(_) | Action::Template(_) | Action::Node(_) => {}
        }
    }

    fn expect_of_group(&mut self, action: &GroupAction, now: Timestamp) {
        match action {
            GroupAction::CreateGroup(group) => {
                self.ledger.created = Some(now);
                self.ledger.expect_desired(group.desired, now);
            }
            GroupAction::UpdateGroup { change, .. } => self.ledger.expect_desired(change.desired, now),
            GroupAction::TagGroup { .. }
            | GroupAction::SuspendProcesses { .. }
            | GroupAction::ResumeProcesses { .. }
            | GroupAction::DeleteGroup { .. } => {}
        }
    }

    fn expect_of_instances(&mut self, action: &InstanceAction, now: Timestamp) {
        match action {
            InstanceAction::TerminateInstance { id, decrement, .. } => {
                self.ledger.leaving.insert(id.clone(), now);
                if *decrement == Decrement::Shrink {
                    self.ledger
                        .expect_desired(self.ledger.base.map(|desired| desired.saturating_sub(1)), now);
                }
            }
            InstanceAction::ProtectInstances { .. } => {}
        }
    }

    fn expect_of_hook(&mut self, action: &HookAction, now: Timestamp) {
        match action {
            HookAction::RecordHeartbeat { id, .. } => {
                if let Some(hold) = self.hook_waits.get_mut(id) {
                    hold.last_heartbeat = Some(now);
                }
            }
            HookAction::CompleteLifecycleAction { id, .. } => {
                if let Some(hold) = self.hook_waits.get_mut(id) {
                    hold.completed = Some(now);
                }
            }
            HookAction::PutLifecycleHook { .. } => {}
        }
    }

    fn expect_of_machine(&mut self, action: &MachineAction, now: Timestamp) {
        match action {
            MachineAction::CreateFooMachine { name, .. } => {
                self.created_machines.insert(name.clone(), now);
            }
            MachineAction::DeleteMachine { name, .. } => {
                self.deleted_machines.insert(name.clone(), now);
            }
            MachineAction::DeleteFooMachine { .. }
            | MachineAction::ReleaseFooMachine { .. }
            | MachineAction::ExcludeFromDraining { .. }
            | MachineAction::SetMachineTimeouts { .. } => {}
        }
    }

    /// This memory after looking: what was seen or is overdue is struck off.
    pub(crate) fn absorbed(&self, observed: &Observed) -> Self {
        let mut memory = self.clone();
        memory.ledger.absorb(observed);
        if let Some(seen) = observed.group.seen() {
            let waits = |id: &InstanceId| {
                let instance = seen.as_ref().and_then(|group| group.instance(id));
                instance.is_some_and(|it| it.lifecycle == LifecycleState::TerminatingWait)
            };
            memory.hook_waits.retain(|id, _| waits(id));
            let before = memory.purchase;
            memory.purchase = seen.as_ref().and_then(|group| Purchase::seen(before, group, observed.now));
        }
        memory.busy.retain(|_, at| !overdue(*at, BUSY_FOR, observed.now));
        // What was announced may be out of sight for a while.
        memory.cordons.retain(|id, cordon| {
            observed.signals.contains_key(id) || cordon.at.until(observed.now) < ADVICE_VALID_FOR
        });
        let machines: BTreeMap<_, _> =
            observed.machines.iter().map(|machine| (&machine.name, machine.deletion)).collect();
        memory.deleted_machines.retain(|name, at| {
            machines.get(name).is_some_and(|deletion| !deletion.is_deleting())
                && !overdue(*at, CACHE_DEADLINE, observed.now)
        });
        memory
            .created_machines
            .retain(|name, at| !machines.contains_key(name) && !overdue(*at, CACHE_DEADLINE, observed.now));
        memory
    }

    /// When the first open expectation gives up; `None` when nothing is expected.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let group = self
            .ledger
            .leaving
            .values()
            .chain(self.ledger.desired.iter().map(|(_, at)| at))
            .chain(&self.ledger.created)
            .map(|at| at.plus(EFFECT_DEADLINE));
        let caches = self.deleted_machines.values().chain(self.created_machines.values());
        group.chain(caches.map(|at| at.plus(CACHE_DEADLINE))).min()
    }
}

impl Ledger {
    fn expect_desired(&mut self, desired: Option<u32>, now: Timestamp) {
        if let Some(desired) = desired {
            self.base = Some(desired);
            self.desired = Some((desired, now));
        }
    }

    fn absorb(&mut self, observed: &Observed) {
        let now = observed.now;
        let seen = match &observed.group {
            Look::At { at, seen } if self.changed_at.is_none_or(|changed| *at > changed) => Some(seen),
            Look::At { .. } | Look::Unknown | Look::Failed { .. } => None,
        };
        let group = seen.and_then(Option::as_ref);
        self.created = self.created.filter(|at| group.is_none() && !overdue(*at, EFFECT_DEADLINE, now));
        self.desired = self.desired.filter(|(expected, at)| {
            group.is_none_or(|group| group.sizes.desired != *expected) && !overdue(*at, EFFECT_DEADLINE, now)
        });
        if let Some(group) = group {
            // The lower of the two: a raise that was lost must not make one decrement look like none.
            let seen = group.sizes.desired;
            self.base = Some(self.desired.map_or(seen, |(expected, _)| expected.min(seen)));
        }
        if let Some(seen) = seen {
            let there: std::collections::BTreeSet<_> =
                seen.iter().flat_map(|group| &group.instances).map(|instance| &instance.id).collect();
            self.leaving.retain(|id, _| there.contains(id));
        }
        self.leaving.retain(|_, at| !overdue(*at, EFFECT_DEADLINE, now));
    }
}

/// Whether a call of AWS leaves something behind that the next plan has to know of, even when nobody heard the answer. What is
/// written to Kubernetes is watched, and seen.
fn leaves_traces(action: &Action) -> bool {
    match action {
        Action::Group(_)
        | Action::Instance(_)
        | Action::Template(_)
        | Action::Hook(HookAction::CompleteLifecycleAction { .. }) => true,
        Action::Hook(HookAction::PutLifecycleHook { .. } | HookAction::RecordHeartbeat { .. })
        | Action::Pool(_)
        | Action::Read(_)
        | Action::Machine(_)
        | Action::Node(_) => false,
    }
}

fn overdue(since: Timestamp, deadline: Duration, now: Timestamp) -> bool {
    since.until(now) >= deadline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raise() -> Action {
        let change = foo_model::GroupChange { desired: Some(5), ..foo_model::GroupChange::default() };
        GroupAction::UpdateGroup { name: "g".into(), change, why: String::new() }.into()
    }

    #[test]
    fn a_call_whose_answer_nobody_heard_may_have_happened() {
        let mut memory = Memory::default();
        drop(memory.sent(&[&raise()], Timestamp(1)));
        assert_eq!(memory.ledger.desired, Some((5, Timestamp(1))));
        assert_eq!(memory.ledger.changed_at, Some(Timestamp(1)));
    }

    #[test]
    fn an_answer_replaces_what_may_have_happened() {
        let mut memory = Memory::default();
        let unanswered = memory.sent(&[&raise()], Timestamp(1));
        memory.answered(unanswered, [(&raise(), Outcome::Refused)], Timestamp(2));
        assert_eq!(memory.ledger.desired, None, "it was refused");
        assert_eq!(memory.ledger.changed_at, Some(Timestamp(2)), "older views are void all the same");
    }

    #[test]
    fn what_is_written_to_kubernetes_is_noted_only_when_it_was_answered() {
        let delete: Action = MachineAction::DeleteMachine {
            name: MachineName::new("m"),
            uid: "u".into(),
            only_if: crate::Precondition::SameUid,
            why: String::new(),
        }
        .into();
        let mut memory = Memory::default();
        let unanswered = memory.sent(&[&delete], Timestamp(1));
        assert_eq!(memory, Memory::default());
        memory.answered(unanswered, [(&delete, Outcome::Done)], Timestamp(2));
        assert_eq!(memory.deleted_machines.len(), 1);
    }
}
