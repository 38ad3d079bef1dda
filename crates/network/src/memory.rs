//! What one process remembers of its own calls and reads. It can be lost at any time.

use crate::action::Action;
use crate::role::Role;
use foo_calls::Calls;
use foo_model::{Reason, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is remembered about one network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its calls.
    pub(crate) calls: Calls<Action>,
    /// When it was first noticed that reads do not show a recorded part, by id.
    pub(crate) absent: BTreeMap<String, Timestamp>,
    /// Reads since the intent that did not show its part.
    pub(crate) intent_reads: BTreeMap<Role, IntentReads>,
    /// NAT gateways and endpoints that AWS could not make, one after the other, by role.
    pub(crate) part_failures: BTreeMap<Role, PartFailure>,
    /// When the network was first seen being deleted.
    pub(crate) deleting_since: Option<Timestamp>,
    /// Ids of what others have in the VPC and reads since the deletion began showed in subnets of the network or with groups of the network. A
    /// security group of a load balancer is no longer linked with the network's once the load balancer is gone.
    pub(crate) linked: BTreeSet<String>,
}

/// The effect of a call.
pub(crate) type Effect = foo_calls::Effect<Action>;

/// A call that failed, as often as it did in a row.
pub(crate) type Failure = foo_calls::Failure<Action>;

/// How many reads since the intent did not show its part, and when the newest of them began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IntentReads {
    pub(crate) reads: u32,
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
