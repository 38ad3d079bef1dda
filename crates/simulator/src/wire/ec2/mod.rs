//! EC2's query protocol, version 2016-11-15. One file per family of operations.

mod capacity;
mod catalogue;
mod everyday;
mod instances;
mod launch_fields;
mod network;
mod status;
mod tags;
mod template_data;
mod templates;
mod volumes;

pub(in crate::wire) use network::ACTIONS as NETWORK_ACTIONS;

use super::operation::Operation;

/// All actions, those of networking aside.
pub(super) const ACTIONS: [(&str, Operation); 33] = [
    ("CreateLaunchTemplate", templates::create),
    ("CreateLaunchTemplateVersion", templates::create_version),
    ("DescribeLaunchTemplates", templates::describe),
    ("DescribeLaunchTemplateVersions", templates::describe_versions),
    ("ModifyLaunchTemplate", templates::modify),
    ("DeleteLaunchTemplateVersions", templates::delete_versions),
    ("DeleteLaunchTemplate", templates::delete),
    ("DescribeInstances", instances::describe),
    ("TerminateInstances", instances::terminate),
    ("DescribeInstanceTypes", catalogue::instance_types),
    ("DescribeImages", catalogue::images),
    ("CreateTags", tags::create),
    ("DeleteTags", tags::delete),
    ("DescribeInstanceStatus", status::describe),
    ("DescribeInstanceAttribute", status::attribute),
    ("GetConsoleOutput", status::console),
    ("DescribeTags", everyday::tags),
    ("DescribeRegions", everyday::regions),
    ("DescribeInstanceTypeOfferings", everyday::offerings),
    ("DescribeAccountAttributes", everyday::account_attributes),
    ("DescribeVolumes", volumes::describe),
    ("CreatePlacementGroup", capacity::create_group),
    ("DescribePlacementGroups", capacity::groups),
    ("DeletePlacementGroup", capacity::delete_group),
    ("CreateCapacityReservation", capacity::create_reservation),
    ("DescribeCapacityReservations", capacity::reservations),
    ("CancelCapacityReservation", capacity::cancel_reservation),
    ("CreateSnapshot", capacity::create_snapshot),
    ("DescribeSnapshots", capacity::snapshots),
    ("DeleteSnapshot", capacity::delete_snapshot),
    ("DescribeKeyPairs", |_, _, _, xml| everyday::none(xml, "keySet")),
    ("DescribeSpotPriceHistory", |_, _, _, xml| everyday::none(xml, "spotPriceHistorySet")),
    ("DescribeSpotInstanceRequests", |_, _, _, xml| everyday::none(xml, "spotInstanceRequestSet")),
];
