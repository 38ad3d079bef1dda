//! What EC2 said of instances, and what it is still to be asked. Plain data; time is a parameter.

use crate::InstanceDetails;
use crate::error::CloudError;
use crate::model::{GroupName, InstanceId, Timestamp};
use std::collections::{BTreeSet, HashMap};

/// All instances somebody asked for.
#[derive(Debug, Default)]
pub(super) struct Details {
    slots: HashMap<InstanceId, Slot>,
    groups: HashMap<GroupName, BTreeSet<InstanceId>>,
    queue: BTreeSet<InstanceId>,
    /// When the call in flight was sent.
    asked_at: Option<Timestamp>,
    trouble: Option<(Timestamp, CloudError)>,
}

#[derive(Debug)]
struct Slot {
    /// The group that asked last.
    group: GroupName,
    known: Option<(Timestamp, Option<InstanceDetails>)>,
    fetch: Fetch,
    /// Whether the group waits for an answer.
    waits: Waits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetch {
    Idle,
    Queued,
    InFlight,
    /// In flight, but sent too early for somebody who asked since.
    InFlightThenAgain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

impl Details {
    pub(super) fn get(&self, id: &InstanceId) -> Option<(Timestamp, Option<InstanceDetails>)> {
        self.slots.get(id)?.known.clone()
    }

    pub(super) fn trouble(&self) -> Option<(Timestamp, CloudError)> {
        self.trouble.clone()
    }

    pub(super) fn is_wanted(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(super) fn want(&mut self, group: &GroupName, ids: &[InstanceId], newer_than: Option<Timestamp>) {
        for id in ids {
            let slot = self.slots.entry(id.clone()).or_insert_with(|| Slot {
                group: group.clone(),
                known: None,
                fetch: Fetch::Idle,
                waits: Waits::No,
            });
            if slot.group != *group {
                if let Some(ids) = self.groups.get_mut(&slot.group) {
                    ids.remove(id);
                }
                slot.group = group.clone();
            }
            self.groups.entry(group.clone()).or_default().insert(id.clone());
            let recent_enough = |at: Timestamp| newer_than.is_none_or(|newer_than| at > newer_than);
            if slot.known.as_ref().is_some_and(|(at, _)| recent_enough(*at)) {
                continue;
            }
            slot.waits = Waits::Yes;
            match slot.fetch {
                Fetch::Idle => {
                    slot.fetch = Fetch::Queued;
                    self.queue.insert(id.clone());
                }
                Fetch::InFlight if !self.asked_at.is_some_and(recent_enough) => {
                    slot.fetch = Fetch::InFlightThenAgain;
                }
                Fetch::Queued | Fetch::InFlight | Fetch::InFlightThenAgain => {}
            }
        }
    }

    /// The next ids to ask for, at most so many. They are in flight from now on.
    pub(super) fn take(&mut self, at: Timestamp, limit: usize) -> Vec<InstanceId> {
        let ids: Vec<InstanceId> = self.queue.iter().take(limit).cloned().collect();
        for id in &ids {
            self.queue.remove(id);
            if let Some(slot) = self.slots.get_mut(id) {
                slot.fetch = Fetch::InFlight;
            }
        }
        self.asked_at = (!ids.is_empty()).then_some(at);
        ids
    }

    /// Whatever was in flight is lost; ask again.
    pub(super) fn nothing_in_flight(&mut self) {
        for (id, slot) in &mut self.slots {
            if matches!(slot.fetch, Fetch::InFlight | Fetch::InFlightThenAgain) {
                slot.fetch = Fetch::Queued;
                self.queue.insert(id.clone());
            }
        }
        self.asked_at = None;
    }

    /// Takes in the answer of a call and names the groups for which something is new.
    pub(super) fn arrived(
        &mut self,
        ids: &[InstanceId],
        at: Timestamp,
        answer: crate::Result<Vec<InstanceDetails>>,
    ) -> BTreeSet<GroupName> {
        self.asked_at = None;
        match answer {
            Ok(found) => self.found(ids, at, found),
            Err(error) => self.failed(ids, at, error),
        }
    }

    fn found(
        &mut self,
        ids: &[InstanceId],
        at: Timestamp,
        found: Vec<InstanceDetails>,
    ) -> BTreeSet<GroupName> {
        let mut found: HashMap<InstanceId, InstanceDetails> =
            found.into_iter().map(|details| (details.id.clone(), details)).collect();
        let mut wakes = match self.trouble.take() {
            Some(_) => self.waiting(),
            None => BTreeSet::new(),
        };
        for id in ids {
            let Some(slot) = self.slots.get_mut(id) else { continue };
            slot.known = Some((at, found.remove(id)));
            match slot.fetch {
                Fetch::InFlightThenAgain => {
                    slot.fetch = Fetch::Queued;
                    self.queue.insert(id.clone());
                }
                Fetch::InFlight | Fetch::Idle => {
                    slot.fetch = Fetch::Idle;
                    slot.waits = Waits::No;
                }
                // Forgotten and asked for again in the meantime: the second answer is still to come.
                Fetch::Queued => {}
            }
            wakes.insert(slot.group.clone());
        }
        wakes
    }

    fn failed(&mut self, ids: &[InstanceId], at: Timestamp, error: CloudError) -> BTreeSet<GroupName> {
        for id in ids {
            let Some(slot) = self.slots.get_mut(id) else { continue };
            slot.fetch = Fetch::Queued;
            self.queue.insert(id.clone());
        }
        let known = self.trouble.as_ref().is_some_and(|(_, known)| *known == error);
        self.trouble = Some((at, error));
        if known { BTreeSet::new() } else { self.waiting() }
    }

    fn waiting(&self) -> BTreeSet<GroupName> {
        self.slots.values().filter(|slot| slot.waits == Waits::Yes).map(|slot| slot.group.clone()).collect()
    }

    pub(super) fn retain(&mut self, group: &GroupName, keep: &BTreeSet<InstanceId>) {
        let Some(ids) = self.groups.get_mut(group) else { return };
        let gone: Vec<InstanceId> = ids.difference(keep).cloned().collect();
        for id in &gone {
            ids.remove(id);
            self.slots.remove(id);
            self.queue.remove(id);
        }
    }

    pub(super) fn forget(&mut self, group: &GroupName) {
        self.retain(group, &BTreeSet::new());
        self.groups.remove(group);
    }
}
