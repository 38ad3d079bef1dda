//! What one process remembers of its own calls and looks. It can be lost at any time.

use crate::action::Action;
use crate::recorded::Recorded;
use crate::role::Role;
use foo_model::network::{Change, Parts};
use foo_model::{Reason, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is remembered about one network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// When this process planned the network first.
    pub(crate) started: Option<Timestamp>,
    /// The record of the last plan: newer than what a cache shows of the status.
    pub(crate) record: Option<Recorded>,
    /// What was sent and has no answer yet.
    pub(crate) sent: Vec<Sent>,
    /// Effects of calls that looks may not show yet.
    pub(crate) effects: Vec<Effect>,
    /// Calls that failed.
    pub(crate) failures: Vec<Failure>,
    /// When it was first noticed that looks do not show a recorded part, by id.
    pub(crate) absent: BTreeMap<String, Timestamp>,
    /// Looks since the intent that did not show its part.
    pub(crate) intent_looks: BTreeMap<Role, IntentLooks>,
    /// NAT gateways and endpoints that AWS could not make, one after the other, by role.
    pub(crate) part_failures: BTreeMap<Role, PartFailure>,
    /// When the network was first seen being deleted.
    pub(crate) deleting_since: Option<Timestamp>,
    /// Ids of what others have in the VPC and looks since the deletion began showed in subnets of ours or with groups of ours. A
    /// security group of a load balancer is no longer linked with ours once the load balancer is gone.
    pub(crate) linked: BTreeSet<String>,
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
    pub(crate) role: Role,
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
    /// Whether it may have been carried out.
    pub(crate) lost: bool,
    pub(crate) times: u32,
    pub(crate) at: Timestamp,
}

/// How many looks since the intent did not show its part, and when the newest of them began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IntentLooks {
    pub(crate) looks: u32,
    pub(crate) last: Timestamp,
}

/// A part that AWS could not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartFailure {
    pub(crate) id: String,
    pub(crate) times: u32,
    pub(crate) at: Timestamp,
    pub(crate) reason: Reason,
    /// AWS's code and message.
    pub(crate) message: String,
}

/// What came of a call.
#[expect(clippy::large_enum_variant, reason = "made once per call, and not kept")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It was carried out. With what it created, as `Networks::change_network` answers.
    Done(Parts),
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
    /// The record of the last plan is this.
    pub(crate) fn records(&mut self, record: &Recorded) {
        self.record = Some(record.clone());
    }

    /// Notes that an action is about to be sent. Until [`Self::answered`] it counts as one whose answer was lost.
    pub fn sent(&mut self, action: &Action, at: Timestamp) {
        self.sent.push(Sent { action: action.clone(), at });
    }

    /// Notes what came of an action.
    pub fn answered(&mut self, action: &Action, at: Timestamp, answer: Answer) {
        self.sent.retain(|sent| sent.action.change != action.change);
        match answer {
            Answer::Done(created) => self.done(action, created, at),
            Answer::Refused(refusal) if done_already(&action.change, &refusal) => {
                self.done(action, Parts::default(), at);
            }
            Answer::Refused(refusal) => self.failed(action, refusal, false, at),
            Answer::Lost(refusal) => self.failed(action, refusal, true, at),
        }
    }

    fn done(&mut self, action: &Action, created: Parts, at: Timestamp) {
        self.failures.retain(|failure| failure.action.change != action.change);
        let change = action.change.clone();
        self.effects.push(Effect { role: action.role.clone(), change, created, at });
    }

    pub(crate) fn failed(&mut self, action: &Action, refusal: Refusal, lost: bool, at: Timestamp) {
        let before = self.failures.iter().find(|it| it.action.change == action.change);
        let times = before.map_or(0, |it| it.times).saturating_add(1);
        self.failures.retain(|failure| failure.action.change != action.change);
        self.failures.push(Failure { action: action.clone(), refusal, lost, times, at });
    }
}

/// Whether the refusal says that the one thing that the call is about is as it is to be already.
fn done_already(change: &Change, refusal: &Refusal) -> bool {
    let code = refusal.code.as_deref().unwrap_or_default();
    match change {
        Change::AuthorizeSecurityGroupIngress { rules, .. }
        | Change::AuthorizeSecurityGroupEgress { rules, .. } => {
            rules.len() == 1 && code == "InvalidPermission.Duplicate"
        }
        Change::RevokeSecurityGroupIngress { rules, .. }
        | Change::RevokeSecurityGroupEgress { rules, .. } => {
            rules.len() == 1 && code == "InvalidPermission.NotFound"
        }
        Change::DeleteRoute { .. } => code == "InvalidRoute.NotFound",
        Change::DetachInternetGateway { .. } => code == "Gateway.NotAttached",
        _ => false,
    }
}
