//! The network of a cluster: an existing one, or one that the provider creates.

use super::managed::ManagedNetwork;
use crate::patterns;
use crate::shared::NetworkReference;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Network of a cluster: exactly one of `existing` and `managed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.existing) != has(self.managed)")
        .message("set either existing, for a network that exists already, or managed, for one that the provider creates")
)]
pub struct Network {
    /// A network that exists already, named by ids or tags. The provider creates, changes and deletes nothing in it.
    /// Set either this or `managed`; a FooCluster cannot turn from one to the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing: Option<ExistingNetwork>,
    /// A network that the provider creates, keeps as described here, and deletes with the FooCluster. Set either this
    /// or `existing`. `managed: {}` is a VPC with public and private subnets in three Availability Zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed: Option<ManagedNetwork>,
}

/// An existing network, named by ids or tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExistingNetwork {
    /// Id of the VPC. Restricts the search for subnets and security groups by tags to this VPC. Default: the
    /// search covers all VPCs of the region.
    #[serde(default, rename = "vpcID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub vpc_id: Option<String>,
    /// Subnets that pools may launch instances into, 1 to 64 entries. All must be in one VPC.
    #[schemars(length(min = 1, max = 64))]
    pub subnets: Vec<NetworkReference>,
    /// Security groups of every instance of the cluster, in addition to those of its pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub security_groups: Vec<NetworkReference>,
}
