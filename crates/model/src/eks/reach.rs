//! Where a control plane is in a network, and who reaches it.

use crate::{SecurityGroupId, SubnetId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Where the control plane has interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Subnets, at least two in two zones.
    pub subnets: BTreeSet<SubnetId>,
    /// Security groups besides the cluster's own.
    pub security_groups: BTreeSet<SecurityGroupId>,
}

/// Who reaches the API server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointAccess {
    /// From the internet.
    pub public: bool,
    /// From inside the VPC without leaving it.
    pub private: bool,
    /// Ranges that the public endpoint is open to; meaningless without it.
    pub public_cidrs: BTreeSet<String>,
}

impl EndpointAccess {
    /// The ranges that a request names: none without the public endpoint, for which they are meaningless.
    pub fn sent_cidrs(&self) -> Option<&BTreeSet<String>> {
        Some(&self.public_cidrs).filter(|cidrs| self.public && !cidrs.is_empty())
    }
}
