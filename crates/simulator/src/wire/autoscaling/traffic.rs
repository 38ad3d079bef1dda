//! Target groups of Auto Scaling groups: by their own calls, and as traffic sources of the type `elbv2`. Classic load
//! balancers and VPC Lattice are not simulated as traffic sources.

use super::fields::group_name;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::Group;
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::{TargetGroupArn, TargetState};
use std::collections::BTreeSet;

/// The type of traffic sources that are target groups.
const TYPE: &str = "elbv2";

/// The target groups of a request, by either parameter.
pub(super) fn named(params: &Params) -> AwsResult<BTreeSet<TargetGroupArn>> {
    let mut arns: BTreeSet<TargetGroupArn> =
        params.texts("TargetGroupARNs").into_iter().map(TargetGroupArn::from).collect();
    for source in params.list("TrafficSources") {
        let identifier = source.required("Identifier")?;
        let is_target_group = identifier.contains(":targetgroup/") && !identifier.contains(":vpc-lattice:");
        if !is_target_group || source.text("Type").is_some_and(|kind| kind != TYPE) {
            return Err(AwsError::validation(format!("The traffic source {identifier} is not simulated.")));
        }
        arns.insert(TargetGroupArn::from(identifier));
    }
    Ok(arns)
}

pub(super) fn attach(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.attach_target_groups(&group_name(params)?, &named(params)?)
}

pub(super) fn detach(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.detach_target_groups(&group_name(params)?, &named(params)?)
}

/// The two members of a described group.
pub(super) fn write_of_group(xml: &mut Xml, group: &Group) {
    xml.texts("TargetGroupARNs", "member", group.target_groups.iter().map(TargetGroupArn::as_str));
    xml.list("TrafficSources", "member", &group.target_groups, |xml, arn| {
        xml.text("Identifier", arn.as_str());
        xml.text("Type", TYPE);
    });
}

pub(super) fn describe_target_groups(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let states = states(region, params)?;
    xml.list("LoadBalancerTargetGroups", "member", states, |xml, (arn, state)| {
        xml.text("LoadBalancerTargetGroupARN", arn.as_str());
        xml.text("State", state);
    });
    Ok(())
}

pub(super) fn describe_sources(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let states = states(region, params)?;
    xml.list("TrafficSources", "member", states, |xml, (arn, state)| {
        xml.text("Identifier", arn.as_str());
        xml.text("TrafficSource", arn.as_str());
        xml.text("State", state);
        xml.text("Type", TYPE);
    });
    Ok(())
}

/// `InService` once a target is healthy, otherwise `Added` (Auto Scaling API Reference, `TrafficSourceState`).
fn states(region: &Region, params: &Params) -> AwsResult<Vec<(TargetGroupArn, &'static str)>> {
    let name = group_name(params)?;
    let group = region.group_seen(&name).ok_or_else(|| AwsError::no_group(&name))?;
    let state = |arn: &TargetGroupArn| {
        let targets = region.target_health(arn).unwrap_or_default();
        let serves = targets.values().any(|health| health.state == TargetState::Healthy);
        if serves { "InService" } else { "Added" }
    };
    Ok(group.target_groups.iter().map(|arn| (arn.clone(), state(arn))).collect())
}
