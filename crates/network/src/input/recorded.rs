//! What the FooCluster's status says: ids, and what was about to be created. Together with the tags it is enough to continue after
//! the memory is lost. It may be lost as well (clusterctl move).

use crate::role::Role;
use foo_model::{SecurityGroupId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The record of one network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The part of each role, as far as known.
    pub parts: BTreeMap<Role, RecordedPart>,
    /// Creations that were about to be sent and whose outcome is not recorded.
    pub intents: BTreeMap<Role, Intent>,
    /// Creations of each role so far, where there was more than one: the next one has this number. Tokens are derived from it.
    pub attempts: BTreeMap<Role, u32>,
    /// What was last reached of each role's content, as a hash. Content that differs though it was reached was changed by a person or
    /// another program; otherwise the provider has not changed it yet.
    pub reached: BTreeMap<Role, String>,
    /// Keys of the user's tags that were put on all parts: one that is no longer requested is removed.
    pub tag_keys: BTreeSet<String>,
    /// Keys of the user's tags that were put on the part of a role alone. None of them is empty.
    pub own_tag_keys: BTreeMap<Role, BTreeSet<String>>,
    /// Cluster security groups of EKS that nodes were connected with ([`crate::desired::Connection`]), until a read by its id does not show
    /// the group, or a connection that is no longer requested has ended. Such a group may have the provider's rule.
    pub cluster_groups: BTreeSet<SecurityGroupId>,
}

/// A part that exists as far as we know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPart {
    /// Its id.
    pub id: String,
    /// When AWS returned with the id, or a read first showed it.
    pub since: Timestamp,
    /// Whether a read showed it: before that, one that does not show it says nothing.
    pub seen: bool,
    /// Whether its deletion was about to be sent, or was sent: a read that does not show it then says that it is gone.
    pub deletion: Deletion,
}

/// Whether we delete a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deletion {
    /// It is to stay, or waits for what has to go before it.
    #[default]
    NotSent,
    /// The call was about to be sent; it may have been carried out.
    Sent,
}

impl Recorded {
    /// Notes that the deletion of these ids is about to be sent.
    pub(crate) fn deletes(&mut self, ids: &BTreeSet<String>) {
        for part in self.parts.values_mut().filter(|part| ids.contains(&part.id)) {
            part.deletion = Deletion::Sent;
        }
    }
}

/// A creation that was about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// When that was decided.
    pub since: Timestamp,
    /// Which attempt it is, from 0.
    pub attempt: u32,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where an intent comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// We decided it and may have sent it.
    Decided,
    /// Assumed, because the status was lost: an earlier manager may have created the part.
    Assumed,
}
