//! What EC2 reported about instances, and what is still to be requested. Plain data; time is a parameter.

use crate::error::CloudError;
use crate::{Described, InstanceDetails};
use foo_model::{GroupName, InstanceId, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// What EC2 last reported about an instance.
///
/// Only `Known` proves that an instance terminated. EC2's reads trail its writes and sometimes go back: an
/// instance that EC2 does not know may be new, or in an impaired zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceReport {
    /// EC2 knows it. Once seen terminating, an instance never becomes alive again, whatever an older read
    /// reports later.
    Known(InstanceDetails),
    /// EC2 does not know it, in each response since this moment.
    NotFound {
        /// When EC2 first reported that.
        since: Timestamp,
    },
}

impl InstanceReport {
    /// The details, if EC2 knows the instance.
    pub fn details(&self) -> Option<&InstanceDetails> {
        match self {
            Self::Known(details) => Some(details),
            Self::NotFound { .. } => None,
        }
    }

    /// Whether EC2 reported that the instance is terminating or terminated.
    pub fn is_terminating(&self) -> bool {
        self.details().is_some_and(|details| !details.state.is_alive())
    }

    /// The state after another response.
    fn after(before: Option<&Self>, at: Timestamp, response: Described) -> Self {
        match (before, response) {
            (Some(terminating), _) if terminating.is_terminating() => terminating.clone(),
            (_, Described::Known(details)) => Self::Known(details),
            (Some(Self::NotFound { since }), Described::NotFound) => Self::NotFound { since: *since },
            (Some(Self::Known(_)) | None, Described::NotFound) => Self::NotFound { since: at },
        }
    }
}

/// All requested instances.
#[derive(Debug, Default)]
pub(super) struct Details {
    slots: HashMap<InstanceId, Slot>,
    groups: HashMap<GroupName, BTreeSet<InstanceId>>,
    queue: BTreeSet<InstanceId>,
    /// Instances missing from EC2's response, and when to request them again.
    omitted: BTreeMap<InstanceId, Timestamp>,
    /// When the call in flight was sent.
    asked_at: Option<Timestamp>,
    failure: Option<(Timestamp, CloudError)>,
}

#[derive(Debug)]
struct Slot {
    /// The group that requested last.
    group: GroupName,
    known: Option<(Timestamp, InstanceReport)>,
    fetch: Fetch,
    /// Whether the group waits for a response.
    waits: Waits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetch {
    Idle,
    Queued,
    InFlight,
    /// In flight, but sent before the last request.
    InFlightThenAgain,
    /// Missing from EC2's response; requested again after a pause.
    Omitted,
}

/// How soon instances missing from a response are requested again: EC2 is impaired, and more calls do not
/// help.
const OMITTED_PAUSE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

impl Details {
    pub(super) fn get(&self, id: &InstanceId) -> Option<(Timestamp, InstanceReport)> {
        self.slots.get(id)?.known.clone()
    }

    pub(super) fn failure(&self) -> Option<(Timestamp, CloudError)> {
        self.failure.clone()
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
            if slot.known.as_ref().is_some_and(|(at, report)| report.is_terminating() || recent_enough(*at)) {
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
                Fetch::Queued | Fetch::InFlight | Fetch::InFlightThenAgain | Fetch::Omitted => {}
            }
        }
    }

    /// The next ids to request, at most `limit`. They are in flight from now on.
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

    /// Queues the missing instances whose pause is over, and returns when the next one is due.
    pub(super) fn retry_omitted(&mut self, now: Timestamp) -> Option<Timestamp> {
        let due: Vec<InstanceId> =
            self.omitted.iter().filter(|(_, due)| **due <= now).map(|(id, _)| id.clone()).collect();
        for id in due {
            self.omitted.remove(&id);
            if let Some(slot) = self.slots.get_mut(&id) {
                slot.fetch = Fetch::Queued;
                self.queue.insert(id);
            }
        }
        self.omitted.values().min().copied()
    }

    /// All calls in flight are lost; request again.
    pub(super) fn nothing_in_flight(&mut self) {
        for (id, slot) in &mut self.slots {
            if matches!(slot.fetch, Fetch::InFlight | Fetch::InFlightThenAgain) {
                slot.fetch = Fetch::Queued;
                self.queue.insert(id.clone());
            }
        }
        self.asked_at = None;
    }

    /// Applies the response of a call and returns the groups with news.
    pub(super) fn arrived(
        &mut self,
        ids: &[InstanceId],
        at: Timestamp,
        response: crate::Result<BTreeMap<InstanceId, Described>>,
    ) -> BTreeSet<GroupName> {
        self.asked_at = None;
        match response {
            Ok(found) => self.found(ids, at, found),
            Err(error) => self.failed(ids, at, error),
        }
    }

    fn found(
        &mut self,
        ids: &[InstanceId],
        at: Timestamp,
        mut found: BTreeMap<InstanceId, Described>,
    ) -> BTreeSet<GroupName> {
        let mut wakes = match self.failure.take() {
            Some(_) => self.waiting(),
            None => BTreeSet::new(),
        };
        for id in ids {
            let Some(slot) = self.slots.get_mut(id) else { continue };
            let Some(response) = found.remove(id) else {
                // Nothing changed; waiting callers keep waiting.
                if slot.fetch != Fetch::Queued {
                    slot.fetch = Fetch::Omitted;
                    self.omitted.insert(id.clone(), at.plus(OMITTED_PAUSE));
                }
                continue;
            };
            let before = slot.known.as_ref().map(|(_, report)| report);
            slot.known = Some((at, InstanceReport::after(before, at, response)));
            match slot.fetch {
                Fetch::InFlightThenAgain => {
                    slot.fetch = Fetch::Queued;
                    self.queue.insert(id.clone());
                }
                Fetch::InFlight | Fetch::Idle | Fetch::Omitted => {
                    slot.fetch = Fetch::Idle;
                    slot.waits = Waits::No;
                }
                // Forgotten and requested again meanwhile: the second response is still to come.
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
        let known = self.failure.as_ref().is_some_and(|(_, known)| *known == error);
        self.failure = Some((at, error));
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
            self.omitted.remove(id);
        }
    }

    pub(super) fn forget(&mut self, group: &GroupName) {
        self.retain(group, &BTreeSet::new());
        self.groups.remove(group);
    }
}
