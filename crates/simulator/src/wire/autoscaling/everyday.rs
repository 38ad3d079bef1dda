//! Describe calls of consoles and tools (Terraform's read of a group, kops): constants of the service, and empty
//! lists of resources that the simulator does not have.

#![expect(clippy::unnecessary_wraps, reason = "the form of an operation")]

use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::core::rules::group::notifications::NOTIFICATION_TYPES;
use crate::core::rules::group::operations::TERMINATION_POLICIES;
use crate::wire::xml::Xml;
use foo_model::Process;

/// Auto Scaling User Guide, "Quotas".
const GROUPS_PER_REGION: usize = 500;
const LAUNCH_CONFIGURATIONS_PER_REGION: usize = 200;

const METRICS: [&str; 8] = [
    "GroupMinSize",
    "GroupMaxSize",
    "GroupDesiredCapacity",
    "GroupInServiceInstances",
    "GroupPendingInstances",
    "GroupTerminatingInstances",
    "GroupStandbyInstances",
    "GroupTotalInstances",
];

/// DescribeTerminationPolicyTypes: a constant list.
pub(super) fn termination_policies(xml: &mut Xml) -> AwsResult<()> {
    xml.texts("TerminationPolicyTypes", "member", TERMINATION_POLICIES);
    Ok(())
}

pub(super) fn processes(xml: &mut Xml) -> AwsResult<()> {
    xml.list("Processes", "member", Process::ALL, |xml, it| xml.text("ProcessName", it.name()));
    Ok(())
}

pub(super) fn adjustments(xml: &mut Xml) -> AwsResult<()> {
    let types = ["ChangeInCapacity", "ExactCapacity", "PercentChangeInCapacity"];
    xml.list("AdjustmentTypes", "member", types, |xml, it| xml.text("AdjustmentType", it));
    Ok(())
}

pub(super) fn metrics(xml: &mut Xml) -> AwsResult<()> {
    xml.list("Metrics", "member", METRICS, |xml, metric| xml.text("Metric", metric));
    xml.list("Granularities", "member", ["1Minute"], |xml, it| xml.text("Granularity", it));
    Ok(())
}

pub(super) fn notifications(xml: &mut Xml) -> AwsResult<()> {
    xml.texts("AutoScalingNotificationTypes", "member", NOTIFICATION_TYPES);
    Ok(())
}

/// An empty list of resources that the simulator does not have.
pub(super) fn none(xml: &mut Xml, list: &str) -> AwsResult<()> {
    xml.texts(list, "member", [""; 0]);
    Ok(())
}

/// DescribeAccountLimits.
pub(super) fn account_limits(region: &Region, xml: &mut Xml) -> AwsResult<()> {
    xml.value("MaxNumberOfAutoScalingGroups", GROUPS_PER_REGION);
    xml.value("MaxNumberOfLaunchConfigurations", LAUNCH_CONFIGURATIONS_PER_REGION);
    xml.value("NumberOfAutoScalingGroups", region.groups_seen(None).count());
    xml.value("NumberOfLaunchConfigurations", 0);
    Ok(())
}
