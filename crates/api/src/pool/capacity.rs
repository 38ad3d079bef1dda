//! Capacity that an account has apart from what EC2 has for all of its users: placement groups, dedicated hosts, Capacity
//! Reservations.

use crate::patterns;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where in a zone instances are launched: in a placement group, or on the dedicated hosts of a host resource group (EC2 API
/// Reference, LaunchTemplatePlacementRequest). Auto Scaling takes neither the id of a host nor an affinity to one (Auto
/// Scaling User Guide, "Create a launch template for an Auto Scaling group").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("[has(self.groupName), has(self.groupID), has(self.hostResourceGroupARN)].exists_one(given, given)")
        .message("set exactly one of groupName, groupID and hostResourceGroupARN"),
    validation = Rule::new("!has(self.partitionNumber) || !has(self.hostResourceGroupARN)")
        .message("partitionNumber is for placement groups")
)]
pub struct Placement {
    /// Name of the placement group. The identity of the FooCluster may restrict which ones are allowed (`allowedCapacity`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), regex(pattern = patterns::PLACEMENT_GROUP))]
    pub group_name: Option<String>,
    /// Id of the placement group, needed for one that another AWS account shares. `allowedCapacity` applies to it as well.
    #[serde(default, rename = "groupID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::PLACEMENT_GROUP_ID))]
    pub group_id: Option<String>,
    /// Partition of the placement group that all instances are launched in, 1 to 7, for groups with the strategy `partition` only.
    /// Default: EC2 distributes the instances over the partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 7))]
    pub partition_number: Option<i32>,
    /// ARN of a host resource group of AWS License Manager, on whose dedicated hosts the instances run. `allowedCapacity`
    /// applies to it as well.
    #[serde(default, rename = "hostResourceGroupARN", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048), regex(pattern = patterns::RESOURCE_GROUP_ARN))]
    pub host_resource_group_arn: Option<String>,
}

/// Which Capacity Reservations, or which Capacity Block, instances use. EC2 takes one of these fields at a time (EC2 API Reference,
/// LaunchTemplateCapacityReservationSpecificationRequest).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("[has(self.preference), has(self.id), has(self.resourceGroupARN), has(self.block)].exists_one(given, given)")
        .message("set exactly one of preference, id, resourceGroupARN and block")
)]
pub struct CapacityReservation {
    /// Whether instances use any reservation that matches them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preference: Option<ReservationPreference>,
    /// Id of the reservation that all instances use. Without capacity left in it, launches fail. The identity of the FooCluster
    /// may restrict which ones are allowed (`allowedCapacity`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::CAPACITY_RESERVATION))]
    pub id: Option<String>,
    /// ARN of the resource group of reservations that instances use. `allowedCapacity` applies to it as well.
    #[serde(default, rename = "resourceGroupARN", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048), regex(pattern = patterns::RESOURCE_GROUP_ARN))]
    pub resource_group_arn: Option<String>,
    /// Capacity Block for ML that all instances run in. The provider launches them when it has started, and drains all Machines
    /// before EC2 terminates the instances at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<CapacityBlock>,
}

/// A Capacity Block for ML (Auto Scaling User Guide, "Use Capacity Blocks for machine learning workloads").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBlock {
    /// Id of its Capacity Reservation. Change it when the block has ended: instances of another block are replaced only once
    /// this one has started, and the provider does not know when that other block ends. `allowedCapacity` applies to it as well.
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::CAPACITY_RESERVATION))]
    pub id: String,
    /// How long before EC2 begins to terminate the instances the provider deletes their Machines, all at once, in seconds. EC2
    /// begins 30 minutes before the end of the block, and an hour before the end of one of `p6e` UltraServers. Give Pods as much
    /// time as they need to end. Default: 1800.
    #[serde(default = "drain_lead")]
    #[schemars(range(min = 300, max = 86400))]
    pub drain_lead_seconds: i32,
}

impl CapacityBlock {
    /// The block with this id; everything else has its default.
    pub fn of(id: String) -> Self {
        Self { id, drain_lead_seconds: drain_lead() }
    }
}

fn drain_lead() -> i32 {
    1_800
}

/// Whether instances use open Capacity Reservations, as EC2 names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReservationPreference {
    /// An open reservation with matching attributes if there is one, otherwise on-demand capacity. EC2's default.
    Open,
    /// No reservation.
    None,
    /// Reservations only: without one that matches, launches fail.
    CapacityReservationsOnly,
}
