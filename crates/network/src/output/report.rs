//! What is true of a network and what it waits for, as data: conditions, resources and the next reads all come from here, so that
//! status, logs and the plugin say the same.

use crate::role::Role;
use foo_calls::report::Deletion;
use foo_model::network::{Kind, Scope};
use foo_model::{Timestamp, VpcId, Zone};
use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoStaticStr};

/// What `NetworkReady` says of a [`Report::namesake`], after the word `warning`.
pub const NAMESAKE: &str = "AWS has another network for a Cluster of this namespace and name, with the tags of another management cluster; if \
                            this management cluster replaces that one, the Cluster has two networks now";

/// The outcome of a pass besides its actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// One of each [`ConditionKind`], in their order. None while paused: what was published stays.
    pub conditions: Vec<Condition>,
    /// Every part of the network that is requested or exists, by role.
    pub resources: Vec<Resource>,
    /// The VPC, the network's or the user's, once it is known.
    pub vpc: Option<VpcId>,
    /// What stands in the way of deletion and is not the network's. Empty unless being deleted.
    pub foreign: Vec<ForeignResource>,
    /// Whether AWS has a network that another management cluster created for a Cluster of this namespace and name.
    pub namesake: bool,
    /// Reads that the next plan needs.
    pub reads: Vec<ReadRequest>,
    /// Whether [`crate::Observed::quotas`] has to be filled for the next plan; if it is filled, with what is true at
    /// [`Self::again_at`].
    pub wants_quotas: bool,
    /// Plan again at this moment even if nothing happens and no read comes. `None`: nothing is waited for.
    pub again_at: Option<Timestamp>,
    /// Whether everything is as requested (or differs where the policy is Warn): there are no actions and none is waited
    /// for.
    pub settled: bool,
    /// How far the deletion is.
    pub deletion: Deletion,
}

/// One condition.
pub type Condition = foo_calls::report::Condition<ConditionKind>;

/// The conditions of a managed network, by the names that the FooCluster's status has them by.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumIter, IntoStaticStr,
)]
pub enum ConditionKind {
    /// All of the others that end with Ready.
    NetworkReady,
    /// The VPC, its ranges and attributes.
    #[strum(serialize = "VPCReady")]
    VpcReady,
    /// Subnets, their ranges and attributes.
    SubnetsReady,
    /// Route tables, routes, associations, internet gateway and egress-only internet gateway.
    RoutesReady,
    /// NAT gateways and their addresses.
    #[strum(serialize = "NATReady")]
    NatReady,
    /// Security groups and rules.
    SecurityGroupsReady,
    /// VPC endpoints.
    EndpointsReady,
    /// What still stands. False when the network is not being deleted.
    Deleting,
}

impl foo_calls::report::ConditionKinds for ConditionKind {
    const READY: Self = Self::NetworkReady;
    const DELETING: Self = Self::Deleting;
}

impl foo_calls::report::Report for Report {
    type Kind = ConditionKind;

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn conditions_mut(&mut self) -> &mut [Condition] {
        &mut self.conditions
    }

    fn deletion(&self) -> Deletion {
        self.deletion
    }

    fn set_deletion(&mut self, deletion: Deletion) {
        self.deletion = deletion;
    }
}

/// One part of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// What it is for.
    pub role: Role,
    /// Its id, once known.
    pub id: Option<String>,
    /// How far it is.
    pub state: State,
    /// Whose it is.
    pub owner: Owner,
    /// Its zone, of subnets, addresses, NAT gateways and private route tables.
    pub zone: Option<Zone>,
    /// What AWS says about it (`pending`; code and message of a refusal). Empty when there is nothing to say.
    pub message: String,
}

/// How far a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
pub enum State {
    /// It does not exist.
    Missing,
    /// It is created, or what belongs to it is not as requested yet.
    Pending,
    /// It is as requested.
    Ready,
    /// AWS says that it failed, or refuses what it needs.
    Failed,
    /// It is being deleted, or waits for that.
    Deleting,
    /// It is no longer requested, and stays.
    NotRequested,
}

/// Whose a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
pub enum Owner {
    /// It carries the network's tag, or is to.
    Network,
    /// The user's, used by the network and never changed.
    User,
}

/// What is in the VPC, stands in the way of deletion, and is not the network's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ForeignResource {
    /// Its kind.
    pub kind: Kind,
    /// Its id; of a load balancer its name.
    pub id: String,
    /// What people know it by: description, name, the Service that it was made for.
    pub description: String,
}

/// A read that the next plan needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReadRequest {
    /// The kind.
    pub kind: Kind,
    /// `TagKey` stands for the shared read; it fills [`crate::Observed::tagged`], `Ids` [`crate::Observed::by_id`], `Vpc`
    /// [`crate::Observed::in_vpc`].
    pub scope: Scope,
    /// The read has to begin at this moment or later; as soon as that is possible.
    pub from: Timestamp,
}
