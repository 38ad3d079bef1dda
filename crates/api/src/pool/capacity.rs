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

/// Which Capacity Reservations instances use. EC2 takes one of these fields at a time (EC2 API Reference,
/// LaunchTemplateCapacityReservationSpecificationRequest).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("[has(self.preference), has(self.id), has(self.resourceGroupARN)].exists_one(given, given)")
        .message("set exactly one of preference, id and resourceGroupARN")
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
