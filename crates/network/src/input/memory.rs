//! What one process remembers of its own calls. It can be lost at any time.

use crate::action::Action;
use foo_model::network::{Change, Parts};
use foo_model::{Reason, Timestamp};
use serde::{Deserialize, Serialize};

/// What is remembered of the calls about one network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What was sent and has no answer yet.
    pub(crate) sent: Vec<Sent>,
    /// Effects of calls that looks may not show yet.
    pub(crate) effects: Vec<Effect>,
    /// Calls that failed.
    pub(crate) failures: Vec<Failure>,
}

/// A call without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) action: Action,
    pub(crate) at: Timestamp,
}

/// The effect of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Effect {
    pub(crate) change: Change,
    /// What AWS's answer said was created.
    pub(crate) created: Parts,
    pub(crate) at: Timestamp,
}

/// A call that failed, as often as it did in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) action: Action,
    pub(crate) refusal: Refusal,
    pub(crate) times: u32,
    pub(crate) at: Timestamp,
}

/// What came of a call.
#[expect(clippy::large_enum_variant, reason = "made once per call, and not kept")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It was carried out. With what it created, as `Networks::change_network` answers.
    Done(Parts),
    /// AWS refused it; nothing was carried out.
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
        self.sent.push(Sent { action: action.clone(), at });
    }

    /// Notes what came of an action.
    pub fn answered(&mut self, action: &Action, at: Timestamp, answer: Answer) {
        self.sent.retain(|sent| sent.action != *action);
        match answer {
            Answer::Done(created) => {
                self.failures.retain(|failure| failure.action.change != action.change);
                self.effects.push(Effect { change: action.change.clone(), created, at });
            }
            Answer::Refused(refusal) | Answer::Lost(refusal) => {
                let times = self.failures.iter().find(|it| it.action.change == action.change);
                let times = times.map_or(0, |it| it.times).saturating_add(1);
                self.failures.retain(|failure| failure.action.change != action.change);
                self.failures.push(Failure { action: action.clone(), refusal, times, at });
            }
        }
    }
}
