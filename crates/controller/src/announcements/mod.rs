//! Events of AWS: EventBridge sends them to a queue, and the leader receives them, so that pools need not
//! wait for the next sweep.
//!
//! Nothing depends on them. An event that is lost, late, duplicated or out of order costs time or a read,
//! because the sweep sees the same a little later; a queue that cannot be read costs only a line in the log.
//!
//! * [`event`]: parses a message;
//! * [`pending`]: announcements, and messages that wait until a pool has acted on them;
//! * [`reader`]: the task that receives, attributes, hides and deletes messages;
//! * this file: the interface for pools.
//!
//! A message is deleted after a pass over its pool with an observation of the group that is newer than the
//! message. If it announces something about an instance, it also waits until the instance's Machine is being
//! deleted, its Node is cordoned, or no action is needed. The observers know from memory which group an
//! instance belongs to; attribution makes no call. A message about something unknown becomes visible in the
//! queue again after a while, for every reader: the instance may not have been observed yet, or belong to
//! another manager.
//!
//! What follows from a new kind of event: [`event`] parses it into a `SignalKind` (`model/src/signal.rs`);
//! `planner/src/steps/interrupt.rs` and `planner/src/check/announced.rs` decide on it (on an instance that leaves a warm
//! pool: `planner/src/steps/hooks.rs`); its rule is in `deploy/aws/events.yaml`, its page is docs/operations/events.md.

pub(crate) mod event;
mod pending;
mod reader;
#[cfg(test)]
mod tests;

pub use crate::clouds::GroupKey;
pub use reader::run;

use foo_model::{InstanceId, Signal, SignalKind, Timestamp};
use foo_planner::report::AnnouncementState;
use pending::PendingMessages;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Announcements of AWS, shared by the reader of the queue and the pools. Empty without a queue.
#[derive(Clone, Default)]
pub struct Announcements(Arc<Inner>);

#[derive(Default)]
struct Inner {
    pending: Mutex<PendingMessages>,
    /// Some message may be due.
    changed: Notify,
}

impl Announcements {
    /// Announcements about instances of a group.
    pub fn signals(&self, place: &GroupKey) -> BTreeMap<InstanceId, Signal> {
        self.pending().signals(place)
    }

    /// Instances of a group that AWS is about to interrupt, sorted.
    pub fn interrupted(&self, place: &GroupKey) -> Vec<InstanceId> {
        let interrupted =
            |(id, signal): (InstanceId, Signal)| (signal.kind == SignalKind::Interruption).then_some(id);
        self.signals(place).into_iter().filter_map(interrupted).collect()
    }

    /// A pass over a pool has ended, with an observation of the group from `seen_at` and these states of
    /// announcements.
    pub fn pass_ended(
        &self,
        place: &GroupKey,
        seen_at: Option<Timestamp>,
        states: &BTreeMap<InstanceId, AnnouncementState>,
    ) {
        if self.pending().pass_ended(place, seen_at, states) {
            self.0.changed.notify_one();
        }
    }

    /// The group is observed with other credentials from now on.
    pub fn move_group(&self, from: &GroupKey, to: &GroupKey) {
        self.pending().move_group(from, to);
    }

    /// The pool no longer exists.
    pub fn forget(&self, place: &GroupKey) {
        if self.pending().forget(place) {
            self.0.changed.notify_one();
        }
    }

    fn pending(&self) -> MutexGuard<'_, PendingMessages> {
        // No code that holds the lock can panic halfway through a change.
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Announcements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcements").finish_non_exhaustive()
    }
}
