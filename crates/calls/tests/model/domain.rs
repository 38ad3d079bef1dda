//! The smallest domain that has everything: boxes, which have a role, an id and no client token.

use foo_calls::report::{self, Condition, Deletion};
use foo_calls::{Backoff, Calls, Domain, Outcome, Plan, Refusal, Violation};
use foo_model::{Reason, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Between two ticks of a world.
pub(crate) const TICK: Duration = Duration::from_mins(1);
/// A creation without a response did not happen if a read that begins this much later does not show it: the call
/// arrives within a tick, and reads show it a tick later.
const PATIENCE: Duration = Duration::from_mins(2);

/// A box in the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) id: u8,
    pub(crate) role: u8,
    /// Whether it carries our tag.
    pub(crate) own: bool,
}

/// What a read showed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct List {
    pub(crate) begun: Timestamp,
    pub(crate) items: BTreeSet<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Call {
    Create { role: u8 },
    Delete { id: u8 },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) parts: BTreeMap<u8, Part>,
    /// Creations that are about to be sent or whose outcome is unknown.
    pub(crate) intents: BTreeMap<u8, Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) id: u8,
    pub(crate) since: Timestamp,
}

impl foo_calls::Action for Call {
    /// The id of what was created.
    type Response = Option<u8>;
    type Record = Record;

    const LAG: Duration = TICK;

    fn operation(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CreateBox",
            Self::Delete { .. } => "DeleteBox",
        }
    }

    fn repeats(&self, earlier: &Self) -> bool {
        self == earlier
    }

    fn is_done_already(&self, refusal: &Refusal) -> bool {
        matches!(self, Self::Delete { .. }) && refusal.reason == Reason::NotFound
    }

    fn busy(reason: Reason) -> Option<Backoff> {
        (reason == Reason::ResourceInUse).then_some(Backoff::seconds(30, 300))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Boxes;

pub(crate) struct Desired {
    pub(crate) roles: u8,
    pub(crate) being_deleted: bool,
}

pub(crate) struct Observed {
    pub(crate) now: Timestamp,
    pub(crate) list: Option<List>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) calls: Calls<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    deletion: Deletion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ConditionKind {
    Ready,
    Deleting,
}

impl report::ConditionKinds for ConditionKind {
    const READY: Self = Self::Ready;
    const DELETING: Self = Self::Deleting;
}

impl report::Report for Report {
    type Kind = ConditionKind;

    fn conditions(&self) -> &[Condition<ConditionKind>] {
        &[]
    }

    fn conditions_mut(&mut self) -> &mut [Condition<ConditionKind>] {
        &mut []
    }

    fn deletion(&self) -> Deletion {
        self.deletion
    }

    fn set_deletion(&mut self, deletion: Deletion) {
        self.deletion = deletion;
    }
}

impl Domain for Boxes {
    type Action = Call;
    type Desired = Desired;
    type Observed = Observed;
    type Memory = Memory;
    type Report = Report;

    fn plan(desired: &Desired, observed: &Observed, recorded: &Record, memory: &Memory) -> Plan<Self> {
        let mut memory = memory.clone();
        let mut record = memory.calls.begin(recorded, observed.now);
        absorb(&mut record, &mut memory.calls, observed);
        let mut actions = Vec::new();
        let mut deletion = Deletion::NotAsked;
        if desired.being_deleted {
            for part in record.parts.values() {
                send(&mut actions, &memory.calls, Call::Delete { id: part.id }, observed.now);
            }
            let is_known = observed.list.is_some();
            let is_done = is_known && record.parts.is_empty() && record.intents.is_empty();
            deletion = if is_done { Deletion::Done } else { Deletion::Pending };
        } else if observed.list.is_some() {
            for role in 0..desired.roles {
                let call = Call::Create { role };
                let created = memory.calls.effects.iter().any(|it| it.action == call);
                let exists =
                    record.parts.contains_key(&role) || record.intents.contains_key(&role) || created;
                if !exists && send(&mut actions, &memory.calls, call, observed.now) {
                    record.intents.insert(role, observed.now);
                }
            }
        }
        memory.calls.record = Some(record.clone());
        Plan { actions, report: Report { deletion }, record, memory }
    }

    fn violations(
        _desired: &Desired,
        observed: &Observed,
        recorded: &Record,
        memory: &Memory,
        plan: &Plan<Self>,
    ) -> Vec<Violation> {
        let is_ours = |id: u8| {
            let seen = observed.list.iter().flat_map(|it| &it.items).any(|it| it.own && it.id == id);
            let created = memory.calls.effects.iter().any(|it| it.response == Some(id));
            let recorded = memory.calls.record.as_ref().unwrap_or(recorded);
            seen || created || recorded.parts.values().any(|it| it.id == id)
        };
        let breaks = |call: &&Call| match **call {
            Call::Create { role } => !plan.record.intents.contains_key(&role),
            Call::Delete { id } => !is_ours(id),
        };
        plan.actions.iter().filter(breaks).map(|call| Violation(format!("{call:?}"))).collect()
    }

    fn not_sent(mut plan: Plan<Self>, recorded: &Record, memory: &Memory) -> Plan<Self> {
        plan.actions.clear();
        plan.record.clone_from(recorded);
        plan.memory.clone_from(memory);
        plan
    }

    fn calls(memory: &mut Memory) -> &mut Calls<Call> {
        &mut memory.calls
    }
}

/// Sends a call unless it failed lately.
fn send(actions: &mut Vec<Call>, calls: &Calls<Call>, call: Call, now: Timestamp) -> bool {
    calls.failure(&call).is_none_or(|failure| failure.next_try() <= now) && foo_calls::add(actions, call)
}

/// Brings record and memory up to date with responses and reads.
fn absorb(record: &mut Record, calls: &mut Calls<Call>, observed: &Observed) {
    let begun = observed.list.as_ref().map(|it| it.begun);
    let seen_since = |moment: Timestamp| begun.is_some_and(|begun| begun >= moment);
    calls.effects.retain(|effect| !seen_since(effect.visible_at()));
    calls.forget_failures(observed.now);
    let mut deleted = BTreeSet::new();
    for effect in &calls.effects {
        match effect.action {
            Call::Create { role } => {
                record.intents.remove(&role);
                if let Some(id) = effect.response {
                    record.parts.entry(role).or_insert(Part { id, since: effect.at });
                }
            }
            Call::Delete { id } => drop(deleted.insert(id)),
        }
    }
    let items = observed.list.iter().flat_map(|list| &list.items).filter(|it| it.own);
    for item in items.clone().filter(|it| !deleted.contains(&it.id)) {
        record.intents.remove(&item.role);
        let part = Part { id: item.id, since: begun.unwrap_or_default() };
        record.parts.entry(item.role).or_insert(part);
    }
    record.parts.retain(|_, part| {
        let seen = items.clone().any(|it| it.id == part.id);
        !deleted.contains(&part.id) && (seen || !seen_since(part.since.plus(TICK)))
    });
    let started = calls.started.unwrap_or_default();
    record.intents.retain(|role, since| {
        let of_role = calls.failures.iter().filter(|it| it.action == Call::Create { role: *role });
        if of_role.clone().any(|it| !it.lost && it.at >= *since) {
            return false;
        }
        let lost = of_role.map(|it| it.at).max().unwrap_or(started);
        !seen_since((*since).max(started).max(lost).plus(PATIENCE))
    });
}

/// A refusal with this reason.
pub(crate) fn refused(reason: Reason) -> Outcome<Option<u8>> {
    Outcome::Refused(Refusal { reason, code: None, message: String::new() })
}

/// The response was lost.
pub(crate) fn lost() -> Outcome<Option<u8>> {
    Outcome::Lost(Refusal { reason: Reason::ResponseLost, code: None, message: String::new() })
}
