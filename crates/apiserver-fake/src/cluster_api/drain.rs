//! The record of drains: which Machine was drained, which was not, and whether that was right.

use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// How long drains take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainTime {
    /// No time.
    None,
    /// This long, on tokio's clock.
    Takes(Duration),
    /// Until `FakeCore::release_drain` or `FakeCore::release_drains`.
    UntilReleased,
}

/// Why a drain was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The whole cluster is being deleted.
    ClusterDeleting,
    /// The annotation `machine.cluster.x-k8s.io/exclude-node-draining`.
    Excluded,
    /// The annotation `cluster.x-k8s.io/paused`: its Node stays.
    Paused,
    /// The Machine never had a Node.
    NoNode,
    /// Core had deleted the Node, because its id left the pool's `providerIDList`.
    NodeDeleted,
    /// No control-plane Machines, and the control plane does not show that it is managed externally.
    NoControlPlane,
    /// Its FooMachine was being deleted, or did not exist any more, before the drain was over.
    InfrastructureDeleting,
}

impl SkipReason {
    /// Whether pods were still on the Node although no user requested that.
    fn is_loss(self) -> bool {
        match self {
            Self::ClusterDeleting | Self::Excluded | Self::Paused | Self::NoNode => false,
            Self::NodeDeleted | Self::NoControlPlane | Self::InfrastructureDeleting => true,
        }
    }
}

/// What became of a Machine's drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainOutcome {
    /// Not deleted yet, or waiting for a hook.
    Pending,
    /// Being drained.
    Draining,
    /// Drained.
    Completed,
    /// `nodeDrainTimeoutSeconds` passed.
    TimedOut,
    /// Not drained.
    Skipped(SkipReason),
}

/// What is known of one Machine's drain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainRecord {
    /// Name of the Machine.
    pub machine: String,
    /// Provider id of its instance.
    pub provider_id: String,
    /// Whether it had a Node.
    pub had_node: bool,
    /// What became of the drain.
    pub outcome: DrainOutcome,
    /// Whether the FooMachine (its finalizer included) no longer exists.
    pub infrastructure_gone: bool,
}

impl DrainRecord {
    /// Whether the FooMachine was deleted, or will be, with pods on its Node.
    pub fn is_undrained(&self) -> bool {
        match self.outcome {
            DrainOutcome::Pending | DrainOutcome::Draining => self.had_node && self.infrastructure_gone,
            DrainOutcome::Completed | DrainOutcome::TimedOut => false,
            DrainOutcome::Skipped(reason) => reason.is_loss(),
        }
    }

    fn may_terminate(&self) -> bool {
        match self.outcome {
            DrainOutcome::Pending | DrainOutcome::Draining => !self.had_node,
            DrainOutcome::Completed | DrainOutcome::TimedOut => true,
            DrainOutcome::Skipped(reason) => !reason.is_loss(),
        }
    }
}

/// Whether the deletion may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Draining,
    Over,
}

#[derive(Debug)]
struct Entry {
    uid: String,
    record: DrainRecord,
    had_infrastructure: bool,
    began: Option<Instant>,
    /// What was reported about the time when it began.
    time: DrainTime,
}

/// All drains.
#[derive(Debug)]
pub(crate) struct Drains {
    time: DrainTime,
    entries: Vec<Entry>,
    released: BTreeSet<String>,
}

impl Drains {
    pub(crate) fn new(time: DrainTime) -> Self {
        Self { time, entries: Vec::new(), released: BTreeSet::new() }
    }

    pub(crate) fn set_time(&mut self, time: DrainTime) {
        self.time = time;
    }

    pub(crate) fn release(&mut self, machine: &str) {
        self.released.insert(machine.to_owned());
    }

    pub(crate) fn release_running(&mut self) {
        let running = self.running();
        self.released.extend(running);
    }

    pub(crate) fn running(&self) -> Vec<String> {
        let draining = |entry: &&Entry| entry.record.outcome == DrainOutcome::Draining;
        self.entries.iter().filter(draining).map(|entry| entry.record.machine.clone()).collect()
    }

    /// Machines that are deleted or lost their FooMachine.
    pub(crate) fn records(&self) -> Vec<DrainRecord> {
        let reported =
            |record: &&DrainRecord| record.outcome != DrainOutcome::Pending || record.infrastructure_gone;
        self.entries.iter().map(|entry| &entry.record).filter(reported).cloned().collect()
    }

    pub(crate) fn may_terminate(&self, provider_id: &str) -> bool {
        // The newest Machine of an instance counts: an earlier one was removed while it was paused, and the instance stayed.
        let mut records = self.entries.iter().rev().map(|entry| &entry.record);
        records.find(|record| record.provider_id == provider_id).is_none_or(DrainRecord::may_terminate)
    }

    /// How long until the next drain that takes a time is over.
    pub(crate) fn next_end(&self) -> Option<Duration> {
        let left = |entry: &Entry| match (entry.record.outcome, entry.began, entry.time) {
            (DrainOutcome::Draining, Some(began), DrainTime::Takes(time)) => {
                Some(time.saturating_sub(began.elapsed()))
            }
            _ => None,
        };
        self.entries.iter().filter_map(left).min()
    }

    fn entry(&mut self, uid: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.uid == uid)
    }

    fn entry_or_new(&mut self, uid: &str) -> Option<&mut Entry> {
        if self.entry(uid).is_none() {
            let record = DrainRecord {
                machine: String::new(),
                provider_id: String::new(),
                had_node: false,
                outcome: DrainOutcome::Pending,
                infrastructure_gone: false,
            };
            let time = self.time;
            self.entries.push(Entry {
                uid: uid.to_owned(),
                record,
                had_infrastructure: false,
                began: None,
                time,
            });
        }
        self.entry(uid)
    }

    pub(crate) fn know(&mut self, uid: &str, machine: &str, provider_id: &str, has_node: bool) {
        if let Some(entry) = self.entry_or_new(uid) {
            machine.clone_into(&mut entry.record.machine);
            provider_id.clone_into(&mut entry.record.provider_id);
            entry.record.had_node |= has_node;
        }
    }

    pub(crate) fn saw_infrastructure(&mut self, uid: &str) {
        if let Some(entry) = self.entry_or_new(uid) {
            entry.had_infrastructure = true;
        }
    }

    pub(crate) fn had_infrastructure(&mut self, uid: &str) -> bool {
        self.entry(uid).is_some_and(|entry| entry.had_infrastructure)
    }

    pub(crate) fn lost_infrastructure(&mut self, uid: &str, excuse: Option<SkipReason>) {
        let Some(entry) = self.entry(uid) else { return };
        entry.record.infrastructure_gone = true;
        if matches!(entry.record.outcome, DrainOutcome::Pending | DrainOutcome::Draining)
            && entry.record.had_node
        {
            entry.record.outcome =
                DrainOutcome::Skipped(excuse.unwrap_or(SkipReason::InfrastructureDeleting));
        }
    }

    /// Takes the drain of a Machine that is being deleted one step further.
    pub(crate) fn advance(
        &mut self,
        uid: &str,
        machine: &str,
        provider_id: Option<&str>,
        skip: Option<SkipReason>,
        timeout: Option<Duration>,
    ) -> Progress {
        let (time, released) = (self.time, self.released.contains(machine));
        let Some(entry) = self.entry_or_new(uid) else { return Progress::Over };
        machine.clone_into(&mut entry.record.machine);
        provider_id.unwrap_or_default().clone_into(&mut entry.record.provider_id);
        match (entry.record.outcome, skip) {
            (DrainOutcome::Completed | DrainOutcome::TimedOut | DrainOutcome::Skipped(_), _) => {
                return Progress::Over;
            }
            (DrainOutcome::Pending | DrainOutcome::Draining, Some(reason)) => {
                entry.record.outcome = DrainOutcome::Skipped(reason);
                return Progress::Over;
            }
            (DrainOutcome::Pending, None) => {
                entry.record.outcome = DrainOutcome::Draining;
                entry.began = Some(Instant::now());
                entry.time = time;
            }
            (DrainOutcome::Draining, None) => {}
        }
        let passed = entry.began.map_or(Duration::ZERO, |began| began.elapsed());
        let over = match entry.time {
            DrainTime::None => true,
            DrainTime::Takes(time) => passed >= time,
            DrainTime::UntilReleased => false,
        };
        if over || released {
            entry.record.outcome = DrainOutcome::Completed;
        } else if timeout.is_some_and(|timeout| passed >= timeout) {
            entry.record.outcome = DrainOutcome::TimedOut;
        } else {
            return Progress::Draining;
        }
        Progress::Over
    }
}
