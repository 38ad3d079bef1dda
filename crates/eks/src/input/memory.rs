//! What one process remembers of its own calls. It can be lost at any time.

use crate::action::Action;
use crate::recorded::Recorded;
use foo_model::eks::{Change, Changed, Question};
use foo_model::{Reason, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is remembered about one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// When this process planned the cluster first.
    pub(crate) started: Option<Timestamp>,
    /// What was sent and has no answer yet.
    pub(crate) sent: Vec<(Action, Timestamp)>,
    /// Effects of calls that looks may not show yet.
    pub(crate) effects: Vec<Effect>,
    /// Calls that failed.
    pub(crate) failures: Vec<Failure>,
    /// The record of the last plan: the status that a reader shows may be older.
    pub(crate) record: Option<Recorded>,
    /// When the looks in a row began that did not find the cluster.
    pub(crate) missing: Vec<Timestamp>,
    /// Looks that began before this moment are not believed: something changed since.
    pub(crate) distrusted: BTreeMap<Question, Timestamp>,
}

/// The effect of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Effect {
    pub(crate) change: Change,
    pub(crate) changed: Changed,
    pub(crate) at: Timestamp,
}

/// A call that failed, as often as it did in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) change: Change,
    pub(crate) refusal: Refusal,
    /// Whether it may have been carried out.
    pub(crate) lost: bool,
    pub(crate) times: u32,
    /// The first and the last time.
    pub(crate) first: Timestamp,
    pub(crate) at: Timestamp,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It was carried out.
    Done(Box<Changed>),
    /// AWS refused it, or it never reached AWS; nothing was carried out.
    Refused(Refusal),
    /// It may or may not have been carried out: the answer was lost, or AWS failed on its side.
    Lost(Refusal),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Its class.
    pub reason: Reason,
    /// AWS's error code, if the answer had one.
    pub code: Option<String>,
    /// AWS's words, without what differs from one failure to the next.
    pub message: String,
}

impl Memory {
    /// Notes that an action is about to be sent. Until [`Self::answered`] it counts as one whose answer was lost.
    pub fn sent(&mut self, action: &Action, at: Timestamp) {
        self.sent.push((action.clone(), at));
    }

    /// Notes what came of an action.
    pub fn answered(&mut self, action: &Action, at: Timestamp, outcome: Outcome) {
        self.sent.retain(|(sent, _)| sent.change != action.change);
        match outcome {
            Outcome::Done(changed) => {
                let change = action.change.without_token();
                self.failures.retain(|failure| failure.change.without_token() != change);
                self.effects.push(Effect { change: action.change.clone(), changed: *changed, at });
            }
            Outcome::Refused(refusal) => self.failed(&action.change, refusal, false, at),
            Outcome::Lost(refusal) => self.failed(&action.change, refusal, true, at),
        }
    }

    pub(crate) fn failed(&mut self, change: &Change, refusal: Refusal, lost: bool, at: Timestamp) {
        let before = self.failure(change);
        let times = before.map_or(0, |failure| failure.times).saturating_add(1);
        let first = before.map_or(at, |failure| failure.first);
        let bare = change.without_token();
        self.failures.retain(|failure| failure.change.without_token() != bare);
        self.failures.push(Failure { change: change.clone(), refusal, lost, times, first, at });
    }

    /// The failure of this change, with whatever token it was sent.
    pub(crate) fn failure(&self, change: &Change) -> Option<&Failure> {
        let change = change.without_token();
        self.failures.iter().find(|failure| failure.change.without_token() == change)
    }

    /// Looks at this that began before the moment are not believed any more.
    pub(crate) fn distrust(&mut self, question: Question, before: Timestamp) {
        let moment = self.distrusted.entry(question).or_insert(before);
        *moment = (*moment).max(before);
    }
}
