//! What a manager remembers between two passes over a pool. It may be lost at any time: a crash only costs
//! time.
//!
//! The life of an expected effect: [`Memory::sent`] adds it when a call is sent, [`Memory::completed`] keeps
//! or drops it, and [`Memory::absorbed`] removes it when a newer observation shows the effect or its deadline
//! has passed.

use crate::action::{
    Action, GroupAction, HookAction, InstanceAction, MachineAction, NodeAction, ObjectAction,
};
use crate::observed::{LastRead, Observed};
use crate::recent_targets::RecentTargets;
use foo_model::hook::HookWait;
use foo_model::signal::ADVICE_VALID_FOR;
use foo_model::{
    Decrement, Group, InstanceId, LaunchTemplateId, LifecycleState, MachineName, SpecHash, TemplateChoice,
    TemplateVersion, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long raising capacity waits for a template version in progress, so that a change of content and size
/// at once does not launch old content. Creating a version takes two calls. If it does not exist after a
/// minute, AWS refuses it, and capacity of the old content is better than none.
pub(crate) const RAISE_WAITS: Duration = Duration::from_mins(1);

/// How long roll-outs and other replacements wait until AWS has deleted a warm pool whose instances they would get. AWS needs a minute or
/// two; if it cannot delete it, a roll-out that replaces some instances twice is better than none.
pub(crate) const RENEWAL_WAITS: Duration = Duration::from_mins(10);

/// How old the last read of the group may be when the provider creates its first warm pool there: another user may have created one whose
/// instances are Nodes with Pods, and `PutWarmPool` would change it. A pass follows a read within seconds.
pub(crate) const TAKES_OVER_WITHIN: Duration = Duration::from_secs(30);

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
    /// When launches last failed. Kept only in pools with a stabilization window, while it matters.
    #[serde(default)]
    pub starved_at: Option<Timestamp>,
    /// How low the desired replicas have been, and for how long. Kept only in pools with a stabilization
    /// window.
    #[serde(default)]
    pub targets: RecentTargets,
    /// Since when no template version has had the desired content.
    pub template_due_since: Option<Timestamp>,
    /// Since when AWS has refused to let the group launch from the desired template version.
    #[serde(default)]
    pub template_refused_since: Option<Timestamp>,
    /// Since when the group has had a warm pool of the provider whose instances it should not take.
    #[serde(default)]
    pub warm_pool_unfit_since: Option<Timestamp>,
    /// That AWS refused the last call for the group's warm pool, as long as a call is due.
    #[serde(default)]
    pub refused_warm_pool: Option<RefusedWarmPool>,
    /// Instances on their way out of the warm pool whose lifecycle action the provider completed, while AWS's announcement is known.
    #[serde(default)]
    pub left_warm_pool: BTreeSet<InstanceId>,
    /// When a template with our name was first read without our tags; the tags may not be visible yet.
    #[serde(default)]
    pub foreign_since: Option<Timestamp>,
    /// Objects that the provider stored, and when, until a list is newer: an older one does not show them. By their places in words.
    #[serde(default)]
    pub stored: BTreeMap<String, Timestamp>,
    /// The purchase options of the group, as last observed.
    #[serde(default)]
    pub purchase: Option<Purchase>,
    /// The desired state at the time when AWS was first seen to have suspended launches.
    #[serde(default)]
    pub suspended_for: Option<String>,
    /// Instances that AWS could not terminate yet because another operation on them was in progress, and when
    /// AWS said so.
    #[serde(default)]
    pub busy: BTreeMap<InstanceId, Timestamp>,
    /// Machines that the provider deleted and the cache does not show as deleted yet.
    pub deleted_machines: BTreeMap<MachineName, Timestamp>,
    /// FooMachines that the provider created and whose Machines the cache does not show yet.
    pub created_machines: BTreeMap<MachineName, Timestamp>,
    /// The progress of the content that is being rolled out.
    #[serde(default)]
    pub rollout: Option<RolloutProgress>,
    /// The present wave of replacements after rebalance recommendations.
    #[serde(default)]
    pub round: Option<RebalanceWave>,
    /// When the last wave ended. The cool-down begins there, or at the start of this manager.
    #[serde(default)]
    pub rebalanced_at: Option<Timestamp>,
    /// Instances that wait for our lifecycle hook.
    #[serde(default)]
    pub hook_waits: BTreeMap<InstanceId, HookWait>,
    /// Instances at risk whose Nodes were to be cordoned, and the result of the last attempt; kept at least
    /// as long as the announcement stands.
    #[serde(default)]
    pub cordons: BTreeMap<InstanceId, Cordon>,
}

/// The purchase options of a group, and when they were first seen changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purchase {
    /// Minimum number of On-Demand Instances.
    pub on_demand_base: u32,
    /// Percentage of On-Demand Instances beyond that number.
    pub on_demand_percentage: u32,
    /// When they were first seen changed; `None` as long as they are as this manager first saw them.
    pub changed: Option<Timestamp>,
}

impl Purchase {
    /// The purchase options after the newest observation.
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

/// A warm pool that AWS does not create, change or delete: the right is missing, or instances are moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RefusedWarmPool {
    /// When AWS refused first.
    pub since: Timestamp,
    /// When AWS refused last.
    pub last: Timestamp,
}

impl RefusedWarmPool {
    /// When the provider tries again: pauses grow from [`BUSY_FOR`] to [`REFUSED_AT_LAST`].
    pub(crate) fn again_at(self) -> Timestamp {
        self.last.plus(self.since.until(self.last).clamp(BUSY_FOR, REFUSED_AT_LAST))
    }
}

/// An attempt to cordon a Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cordon {
    /// When it was made.
    pub at: Timestamp,
    /// Whether the Node is cordoned.
    pub done: bool,
}

/// Instances that are replaced together because AWS recommended it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebalanceWave {
    /// The instances that had a recommendation when the wave began.
    pub instances: BTreeSet<InstanceId>,
}

/// The progress of new content. Lost in a crash: then it starts from zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutProgress {
    /// Its spec hash.
    pub hash: SpecHash,
    /// When its roll-out began.
    pub since: Timestamp,
    /// Its Machines that were available in the last pass.
    pub available: BTreeSet<MachineName>,
    /// Machines of any content whose Nodes were Ready in the last pass.
    pub ready: BTreeSet<MachineName>,
    /// How often the Node of one of its Machines stopped being Ready while the Machine stayed.
    pub relapses: BTreeMap<MachineName, u32>,
    /// Since when instances of it are expected and none has become available.
    pub waiting_since: Option<Timestamp>,
}

impl RolloutProgress {
    /// The progress at the beginning: nothing is known yet.
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

/// Expected effects of our own calls on the group, until an observation shows them or a deadline passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// When the provider last changed the group: older observations are void.
    pub changed_at: Option<Timestamp>,
    /// When the provider created the group, until it is observed.
    pub created: Option<Timestamp>,
    /// The launch template version that the provider gave the group, and when, until the group is observed with it.
    #[serde(default)]
    pub template: Option<(LaunchTemplateId, TemplateVersion, Timestamp)>,
    /// When the provider created the group's warm pool or changed it, until one is observed that AWS is not deleting.
    #[serde(default)]
    pub warm_pool: Option<Timestamp>,
    /// The lower bound of desired capacity at the last plan; a termination with decrement counts from here.
    pub base: Option<u32>,
    /// Desired capacity after our last call, and when it was sent.
    pub desired: Option<(u32, Timestamp)>,
    /// Instances that the provider terminated, and when.
    pub leaving: BTreeMap<InstanceId, Timestamp>,
}

/// The result of an action, as far as its effect matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteOutcome {
    /// It was carried out.
    Done,
    /// The response was lost. Counts as done until a newer observation shows otherwise.
    MayHaveHappened,
    /// It was not carried out.
    Refused,
    /// It was not carried out because another operation on the instance is in progress; it may succeed later.
    NotYet,
}

/// The memory before calls were sent that have no response yet.
#[must_use = "the responses are recorded with it"]
#[derive(Debug)]
pub struct InFlight(Box<Memory>);

/// How soon the provider tries again to terminate an instance that AWS could not terminate. Most of them are
/// launching, which takes about a minute.
pub const BUSY_FOR: Duration = Duration::from_secs(10);

/// The longest pause between two calls for a warm pool that AWS refuses: launches that fail again and again never stop moving, and a right
/// may be missing for long.
const REFUSED_AT_LAST: Duration = Duration::from_mins(1);

/// How long an effect on the group may stay unseen before the provider assumes that it did not happen. Auto
/// Scaling's reads trail its writes by a few seconds. A minute is longer than any lag reported, and costs one
/// minute only if a response was lost *and* the call had no effect.
pub const EFFECT_DEADLINE: Duration = Duration::from_mins(1);

/// The same for Kubernetes: caches trail the API server by milliseconds to seconds, and Cluster API creates a
/// Machine within seconds of its FooMachine. After half a minute the effect did not happen, or was undone.
pub const CACHE_DEADLINE: Duration = Duration::from_secs(30);

impl Memory {
    /// Whether requested capacity has not been launched for too long.
    pub(crate) fn is_starving(&self, now: Timestamp) -> bool {
        self.short_since.is_some_and(|since| since.plus(SHORT_FOR) <= now)
    }

    /// Records that actions are about to be sent. If the response is lost, the record says that they may have
    /// happened.
    ///
    /// Pass the returned value to [`Memory::completed`].
    pub fn sent(&mut self, actions: &[&Action], now: Timestamp) -> InFlight {
        let before = self.clone();
        for action in actions.iter().filter(|action| leaves_traces(action)) {
            self.note(action, WriteOutcome::MayHaveHappened, now);
        }
        InFlight(Box::new(before))
    }

    /// Records the result of each action that was sent; several results of one action are recorded in order.
    ///
    /// Every change of the group voids all earlier observations of it, even a refused one: AWS refuses what
    /// does not fit the group, so the observation was wrong.
    pub fn completed(
        &mut self,
        in_flight: InFlight,
        outcomes: impl IntoIterator<Item = (impl Borrow<Action>, WriteOutcome)>,
        now: Timestamp,
    ) {
        *self = *in_flight.0;
        for (action, outcome) in outcomes {
            self.note(action.borrow(), outcome, now);
        }
    }

    fn note(&mut self, action: &Action, outcome: WriteOutcome, now: Timestamp) {
        if action.changes_group() {
            self.ledger.changed_at = self.ledger.changed_at.max(Some(now));
        }
        match outcome {
            WriteOutcome::Refused => {}
            WriteOutcome::NotYet => {
                if let Action::Instance(InstanceAction::TerminateInstance { id, .. }) = action {
                    self.busy.insert(id.clone(), now);
                }
            }
            WriteOutcome::Done | WriteOutcome::MayHaveHappened => self.expect_effect(action, outcome, now),
        }
        match action {
            Action::Group(GroupAction::UpdateGroup { change, .. }) if change.template.is_some() => {
                self.template_refused_since = match outcome {
                    WriteOutcome::Done => None,
                    WriteOutcome::Refused => self.template_refused_since.or(Some(now)),
                    WriteOutcome::MayHaveHappened | WriteOutcome::NotYet => self.template_refused_since,
                };
            }
            Action::Group(GroupAction::PutWarmPool { .. } | GroupAction::DeleteWarmPool { .. }) => {
                let since = self.refused_warm_pool.map_or(now, |refused| refused.since);
                self.refused_warm_pool = match outcome {
                    WriteOutcome::Done => None,
                    WriteOutcome::Refused | WriteOutcome::NotYet => {
                        Some(RefusedWarmPool { since, last: now })
                    }
                    WriteOutcome::MayHaveHappened => self.refused_warm_pool,
                };
            }
            // An attempt that failed counts too: it is repeated later.
            Action::Node(NodeAction::CordonNodes { nodes }) => {
                let tried = Cordon { at: now, done: outcome == WriteOutcome::Done };
                self.cordons.extend(nodes.keys().map(|instance| (instance.clone(), tried)));
            }
            Action::Object(ObjectAction::StoreUserData { object }) if outcome == WriteOutcome::Done => {
                self.stored.insert(object.place.to_string(), now);
            }
            Action::Pool(_)
            | Action::Read(_)
            | Action::Object(_)
            | Action::Template(_)
            | Action::Group(_)
            | Action::Instance(_)
            | Action::Hook(_)
            | Action::Machine(_) => {}
        }
    }

    fn expect_effect(&mut self, action: &Action, outcome: WriteOutcome, now: Timestamp) {
        match action {
            Action::Group(action) => self.expect_of_group(action, now),
            Action::Instance(action) => self.expect_of_instances(action, now),
            Action::Hook(action) => self.expect_of_hook(action, outcome, now),
            Action::Machine(action) => self.expect_of_machine(action, now),
            Action::Pool(_) | Action::Read(_) | Action::Object(_) | Action::Template(_) | Action::Node(_) => {
            }
        }
    }

    fn expect_of_group(&mut self, action: &GroupAction, now: Timestamp) {
        match action {
            GroupAction::CreateGroup(group) => {
                self.ledger.created = Some(now);
                self.ledger.expect_desired(group.desired, now);
            }
            GroupAction::UpdateGroup { change, .. } => {
                self.ledger.expect_desired(change.desired, now);
                if let Some((id, version, _)) = &change.template {
                    self.ledger.template = Some((id.clone(), *version, now));
                }
            }
            GroupAction::PutWarmPool { .. } => self.ledger.warm_pool = Some(now),
            GroupAction::AdoptGroup { .. }
            | GroupAction::TagGroup { .. }
            | GroupAction::SuspendProcesses { .. }
            | GroupAction::ResumeProcesses { .. }
            | GroupAction::AttachTrafficSources { .. }
            | GroupAction::DetachTrafficSources { .. }
            | GroupAction::PutNotifications { .. }
            | GroupAction::DeleteNotifications { .. }
            | GroupAction::DeleteWarmPool { .. }
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

    fn expect_of_hook(&mut self, action: &HookAction, outcome: WriteOutcome, now: Timestamp) {
        match action {
            HookAction::RecordHeartbeat { id, .. } => {
                if let Some(hold) = self.hook_waits.get_mut(id) {
                    hold.last_heartbeat = Some(now);
                }
            }
            HookAction::CompleteLifecycleAction { id, .. } => match self.hook_waits.get_mut(id) {
                Some(hold) => (hold.completed, hold.confirmed) = (Some(now), outcome == WriteOutcome::Done),
                // No observation shows it: it is completed until AWS has confirmed that.
                None if outcome == WriteOutcome::Done => {
                    self.left_warm_pool.insert(id.clone());
                }
                None => {}
            },
            HookAction::PutLifecycleHook { .. }
            | HookAction::DeleteLifecycleHook { .. }
            | HookAction::PutOtherHook { .. }
            | HookAction::DeleteOtherHook { .. } => {}
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
            | MachineAction::PauseMachine { .. }
            | MachineAction::ResumeMachine { .. }
            | MachineAction::RetainInstance { .. }
            | MachineAction::SetMachineTimeouts { .. } => {}
        }
    }

    /// This memory after an observation, without effects that it shows or that are overdue.
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
        if let LastRead::At { at, .. } = &observed.stored {
            memory.stored.retain(|_, written| *written >= *at);
        }
        memory.busy.retain(|_, at| !overdue(*at, BUSY_FOR, observed.now));
        memory.left_warm_pool.retain(|id| observed.signals.contains_key(id));
        // An announcement may be missing for a while.
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

    /// When the first expected effect expires; `None` if none is expected.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let group = self
            .ledger
            .leaving
            .values()
            .chain(self.ledger.desired.iter().map(|(_, at)| at))
            .chain(&self.ledger.created)
            .chain(&self.ledger.warm_pool)
            .chain(self.ledger.template.iter().map(|(_, _, at)| at))
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
            LastRead::At { at, seen } if self.changed_at.is_none_or(|changed| *at > changed) => Some(seen),
            LastRead::At { .. } | LastRead::Unknown | LastRead::Failed { .. } => None,
        };
        let group = seen.and_then(Option::as_ref);
        self.created = self.created.filter(|at| group.is_none() && !overdue(*at, EFFECT_DEADLINE, now));
        self.template = self.template.take().filter(|(id, version, at)| {
            let launches = group.and_then(|group| group.template.as_ref());
            let is_seen = launches == Some(&(id.clone(), TemplateChoice::Version(*version)));
            !is_seen && !overdue(*at, EFFECT_DEADLINE, now)
        });
        let is_warm = group.and_then(|group| group.warm_pool).is_some_and(|pool| !pool.deleting);
        self.warm_pool = self.warm_pool.filter(|at| !is_warm && !overdue(*at, EFFECT_DEADLINE, now));
        self.desired = self.desired.filter(|(expected, at)| {
            group.is_none_or(|group| group.sizes.desired != *expected) && !overdue(*at, EFFECT_DEADLINE, now)
        });
        if let Some(group) = group {
            // The lower value: if a raise was lost, a decrement must not look as if it had not happened.
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

/// Whether the next plan must know of a call to AWS even if its response was lost. Writes to Kubernetes are
/// watched, so the cache shows them.
fn leaves_traces(action: &Action) -> bool {
    match action {
        Action::Group(_)
        | Action::Instance(_)
        | Action::Template(_)
        | Action::Hook(HookAction::CompleteLifecycleAction { .. }) => true,
        Action::Hook(
            HookAction::PutLifecycleHook { .. }
            | HookAction::DeleteLifecycleHook { .. }
            | HookAction::PutOtherHook { .. }
            | HookAction::DeleteOtherHook { .. }
            | HookAction::RecordHeartbeat { .. },
        )
        | Action::Pool(_)
        | Action::Read(_)
        | Action::Machine(_)
        // A repetition changes nothing.
        | Action::Object(_)
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
    fn a_call_whose_response_was_lost_may_have_been_carried_out() {
        let mut memory = Memory::default();
        drop(memory.sent(&[&raise()], Timestamp(1)));
        assert_eq!(memory.ledger.desired, Some((5, Timestamp(1))));
        assert_eq!(memory.ledger.changed_at, Some(Timestamp(1)));
    }

    #[test]
    fn a_response_replaces_what_may_have_happened() {
        let mut memory = Memory::default();
        let in_flight = memory.sent(&[&raise()], Timestamp(1));
        memory.completed(in_flight, [(&raise(), WriteOutcome::Refused)], Timestamp(2));
        assert_eq!(memory.ledger.desired, None, "it was refused");
        assert_eq!(memory.ledger.changed_at, Some(Timestamp(2)), "older views are void all the same");
    }

    #[test]
    fn writes_to_kubernetes_are_recorded_only_after_a_response() {
        let delete: Action = MachineAction::DeleteMachine {
            name: MachineName::new("m"),
            uid: "u".into(),
            only_if: crate::Precondition::SameUid,
            why: String::new(),
        }
        .into();
        let mut memory = Memory::default();
        let in_flight = memory.sent(&[&delete], Timestamp(1));
        assert_eq!(memory, Memory::default());
        memory.completed(in_flight, [(&delete, WriteOutcome::Done)], Timestamp(2));
        assert_eq!(memory.deleted_machines.len(), 1);
    }
}
