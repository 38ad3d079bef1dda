//! What one process remembers of its calls.

use crate::action::Action;
use crate::backoff::Backoff;
use crate::outcome::{Outcome, Refusal};
use foo_model::{Reason, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A failure is forgotten after this: by then, what the call is about was read and planned again many times.
const REMEMBERED: Duration = Duration::from_hours(1);

/// What one process remembers of its calls. It can be lost at any time: record and reads suffice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Calls<A: Action> {
    /// When this process planned first.
    pub started: Option<Timestamp>,
    /// The record of the last plan: the status that a cache shows may be older.
    pub record: Option<A::Record>,
    /// What was sent and has no outcome yet.
    pub sent: Vec<Sent<A>>,
    /// Effects of calls that reads may not show yet.
    pub effects: Vec<Effect<A>>,
    /// Calls that failed.
    pub failures: Vec<Failure<A>>,
}

/// A call without an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Sent<A: Action> {
    /// The call.
    pub action: A,
    /// When it was sent.
    pub at: Timestamp,
}

/// The effect of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Effect<A: Action> {
    /// The call.
    pub action: A,
    /// What the response contained.
    pub response: A::Response,
    /// When it came.
    pub at: Timestamp,
}

/// A call that failed, as often as it did in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Failure<A: Action> {
    /// The call, as it was sent last.
    pub action: A,
    /// Why.
    pub refusal: Refusal,
    /// Whether it may have been carried out.
    pub lost: bool,
    /// When it may have been carried out last, by any call of the row: a refusal says nothing about the calls before it.
    #[serde(default)]
    pub lost_at: Option<Timestamp>,
    /// How often in a row.
    pub times: u32,
    /// The first time.
    pub first: Timestamp,
    /// The last time.
    pub at: Timestamp,
}

impl<A: Action> Default for Calls<A> {
    fn default() -> Self {
        Self { started: None, record: None, sent: Vec::new(), effects: Vec::new(), failures: Vec::new() }
    }
}

impl<A: Action> Calls<A> {
    /// Begins a plan and returns the record that it starts from: that of the last plan, or `recorded` if this process
    /// has not planned yet. A call is planned after the calls before it: one without an outcome by now gets none.
    pub fn begin(&mut self, recorded: &A::Record, now: Timestamp) -> A::Record {
        self.started.get_or_insert(now);
        for sent in std::mem::take(&mut self.sent) {
            self.failed(&sent.action, Refusal::no_response(), true, sent.at);
        }
        self.record.take().unwrap_or_else(|| recorded.clone())
    }

    /// Notes that a call is about to be sent. Until [`Self::ended`] it counts as one whose response was lost.
    pub fn sent(&mut self, action: &A, at: Timestamp) {
        self.sent.push(Sent { action: action.clone(), at });
    }

    /// Notes what became of a call.
    pub fn ended(&mut self, action: &A, at: Timestamp, outcome: Outcome<A::Response>) {
        self.sent.retain(|sent| sent.action != *action);
        match outcome {
            Outcome::Done(response) => self.done(action, response, at),
            Outcome::Refused(refusal) if action.is_done_already(&refusal) => {
                self.done(action, A::Response::default(), at);
            }
            Outcome::Refused(refusal) => self.failed(action, refusal, false, at),
            Outcome::Lost(refusal) => self.failed(action, refusal, true, at),
        }
    }

    fn done(&mut self, action: &A, response: A::Response, at: Timestamp) {
        self.failures.retain(|failure| !action.repeats(&failure.action));
        self.effects.push(Effect { action: action.clone(), response, at });
    }

    fn failed(&mut self, action: &A, refusal: Refusal, lost: bool, at: Timestamp) {
        let before = self.failure(action);
        let times = before.map_or(0, |failure| failure.times).saturating_add(1);
        let first = before.map_or(at, |failure| failure.first);
        let lost_at = if lost { Some(at) } else { before.and_then(|failure| failure.lost_at) };
        self.failures.retain(|failure| !action.repeats(&failure.action));
        self.failures.push(Failure { action: action.clone(), refusal, lost, lost_at, times, first, at });
    }

    /// The failure of the call that this one repeats.
    pub fn failure(&self, action: &A) -> Option<&Failure<A>> {
        self.failures.iter().find(|failure| action.repeats(&failure.action))
    }

    /// Forgets failures of long ago.
    pub fn forget_failures(&mut self, now: Timestamp) {
        self.failures.retain(|it| it.at.plus(REMEMBERED) > now);
    }
}

impl<A: Action> Effect<A> {
    /// From when on reads show it.
    pub fn visible_at(&self) -> Timestamp {
        self.at.plus(A::LAG)
    }
}

impl<A: Action> Failure<A> {
    /// When the call may be sent again.
    pub fn next_try(&self) -> Timestamp {
        let reason = self.refusal.reason;
        self.at.plus(A::busy(reason).unwrap_or_else(|| Backoff::of(reason)).after(self.times))
    }

    /// Whether it usually passes by itself, and has not for long. Right after a creation AWS does not find what exists.
    pub fn is_passing(&self) -> bool {
        let reason = self.refusal.reason;
        let may_pass = reason.is_transient()
            || matches!(reason, Reason::NotFound | Reason::ResponseLost | Reason::ResourceInUse);
        may_pass && self.times < 5
    }

    /// A message with the name of the call. AWS's words have it already; that a response was lost has not.
    pub fn named(&self, message: &str) -> String {
        let operation = self.action.operation();
        if message.contains(operation) { message.to_owned() } else { format!("{operation}: {message}") }
    }
}
