//! What AWS tells through a queue: EventBridge events, read by the leader, so that nobody has to wait for the next sweep.
//!
//! Nothing depends on them. An event that is lost, late, doubled or out of order costs time or a look, because the sweep
//! sees the same things a little later; a queue that is broken costs nothing but a line in the log.
//!
//! * [`event`]: what a message says;
//! * [`pending`]: what was announced, and the messages that wait until it was acted on;
//! * [`reader`]: the task that receives, attributes, parks and deletes;
//! * this file: what pools see of it.
//!
//! A message is deleted when the pool it is about has passed over its group with a look taken after the message came, and,
//! if it announces something about an instance, when the instance's Machine is being deleted, its Node is
//! cordoned, or nothing is to be done.
//! Attribution is a question to the observers' memory, never a call. What is unknown to them is shown again after a
//! while, to everybody who reads the queue: the instance may not have been seen yet, or be another manager's.

pub(crate) mod event;
mod pending;
mod reader;
#[cfg(test)]
mod tests;

pub use crate::clouds::GroupKey;
pub use event::EventKind;
pub use reader::run;

use foo_model::{InstanceId, Signal, SignalKind, Timestamp};
use foo_planner::report::AnnouncementState;
use pending::PendingMessages;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What AWS announced, shared by the reader of the queue and the pools. Without a queue it stays empty.
#[derive(Clone, Default)]
pub struct Announcements(Arc<Inner>);

#[derive(Default)]
struct Inner {
    pending: Mutex<PendingMessages>,
    /// Something may be due.
    changed: Notify,
}

impl Announcements {
    /// What is announced about instances of a group.
    pub fn signals(&self, place: &GroupKey) -> BTreeMap<InstanceId, Signal> {
        self.pending().signals(place)
    }

    /// Those of a group's instances that AWS announced to take back, sorted.
    pub fn interrupted(&self, place: &GroupKey) -> Vec<InstanceId> {
        let interrupted =
            |(id, signal): (InstanceId, Signal)| (signal.kind == SignalKind::Interruption).then_some(id);
        self.signals(place).into_iter().filter_map(interrupted).collect()
    }

    /// A pass over a pool has ended: how old its look at the group is, and what it says to the announcements.
    pub fn pass_ended(
        &self,
        place: &GroupKey,
        seen_at: Option<Timestamp>,
        answers: &BTreeMap<InstanceId, AnnouncementState>,
    ) {
        if self.pending().pass_ended(place, seen_at, answers) {
            self.0.changed.notify_one();
        }
    }

    /// A group is looked at with other credentials from now on.
    pub fn move_group(&self, from: &GroupKey, to: &GroupKey) {
        self.pending().move_group(from, to);
    }

    /// A pool is gone.
    pub fn forget(&self, place: &GroupKey) {
        if self.pending().forget(place) {
            self.0.changed.notify_one();
        }
    }

    fn pending(&self) -> MutexGuard<'_, PendingMessages> {
        // Nothing in here panics half way through a change.
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Announcements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcements").finish_non_exhaustive()
    }
}
