//! EC2's query protocol, version 2016-11-15. One file per family of operations.

mod catalogue;
mod instances;
mod launch_fields;
mod network;
mod tags;
mod template_data;
mod templates;

use super::Operation;

/// All actions.
pub(super) const ACTIONS: [(&str, Operation); 17] = [
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
    ("DescribeVpcs", network::vpcs),
    ("DescribeSubnets", network::subnets),
    ("DescribeSecurityGroups", network::security_groups),
    ("DescribeAvailabilityZones", network::zones),
    ("CreateTags", tags::create),
    ("DeleteTags", tags::delete),
];
