//! LaunchInstances.

use super::fields::group_name;
use crate::core::ec2::instances::Market;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::rules::group::launch_instances::{LaunchPlace, LaunchRequest};
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::{InstanceId, SubnetId, Zone};

pub(super) fn launch(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let token = params.required("ClientToken")?;
    if token.chars().count() > 64 {
        return Err(AwsError::validation("A ClientToken has at most 64 characters."));
    }
    let capacity =
        params.count("RequestedCapacity")?.ok_or_else(|| AwsError::missing("RequestedCapacity"))?;
    if capacity == 0 {
        return Err(AwsError::validation("RequestedCapacity must be at least 1."));
    }
    let retries = match params.text("RetryStrategy") {
        None | Some("none") => false,
        Some("retry-with-group-configuration") => true,
        Some(other) => return Err(AwsError::validation(format!("RetryStrategy {other} is not valid."))),
    };
    let request = LaunchRequest {
        group: group_name(params)?,
        capacity,
        token: token.to_owned(),
        place: place(params)?,
        retries,
    };
    let launched = region.launch_instances(request.clone())?;
    xml.text("AutoScalingGroupName", request.group.as_str());
    xml.text("ClientToken", &request.token);
    let zone_id = |zone: &Zone| region.network.zones.get(zone);
    xml.list("Instances", "member", &launched.instances, |xml, some| {
        xml.text("InstanceType", some.instance_type.as_str());
        xml.text("MarketType", if some.market == Market::Spot { "spot" } else { "on-demand" });
        xml.text("SubnetId", some.subnet.as_str());
        xml.text("AvailabilityZone", some.zone.as_str());
        xml.optional("AvailabilityZoneId", zone_id(&some.zone));
        xml.texts("InstanceIds", "member", some.ids.iter().map(InstanceId::as_str));
    });
    xml.list("Errors", "member", &launched.errors, |xml, error| {
        xml.optional("SubnetId", error.subnet.as_ref());
        xml.text("AvailabilityZone", error.zone.as_str());
        xml.optional("AvailabilityZoneId", zone_id(&error.zone));
        xml.text("ErrorCode", &error.code);
        xml.text("ErrorMessage", &error.message);
    });
    Ok(())
}

/// The zone or subnet; at most one (API Reference, LaunchInstances).
fn place(params: &Params) -> AwsResult<Option<LaunchPlace>> {
    let zones = params.texts("AvailabilityZones").into_iter().map(|zone| LaunchPlace::Zone(Zone::from(zone)));
    let ids = params.texts("AvailabilityZoneIds").into_iter().map(LaunchPlace::ZoneId);
    let subnets = params.texts("SubnetIds").into_iter().map(|id| LaunchPlace::Subnet(SubnetId::from(id)));
    let mut places = zones.chain(ids).chain(subnets);
    let first = places.next();
    if places.next().is_some() {
        return Err(AwsError::validation("Only one Availability Zone or one subnet can be specified."));
    }
    Ok(first)
}
