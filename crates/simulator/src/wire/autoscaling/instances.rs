//! Single members: termination, protection, health, standby, detach, attach.

use super::describe::write_activity;
use super::fields::{decrement, group_name};
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::activity::Activity;
use crate::core::region::Region;
use crate::core::rules::group::members::GracePeriod;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::{Health, InstanceId, Protection};

pub(super) fn terminate(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let decrement = decrement(params)?;
    let many = ids(params);
    if many.is_empty() {
        let id = InstanceId::new(params.required("InstanceId")?);
        let activity = region.terminate_member(&id, decrement)?;
        xml.within("Activity", |xml| write_activity(xml, &activity));
        return Ok(());
    }
    if params.text("InstanceId").is_some() {
        return Err(AwsError::validation("You must specify either InstanceId or InstanceIds, but not both."));
    }
    let activities = region.terminate_members(&group_name(params)?, &many, decrement)?;
    write_activities(xml, &activities);
    Ok(())
}

pub(super) fn set_protection(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    _: &mut Xml,
) -> AwsResult<()> {
    let wanted = match params.flag("ProtectedFromScaleIn")? {
        Some(true) => Protection::Protected,
        Some(false) => Protection::Unprotected,
        None => return Err(AwsError::missing("ProtectedFromScaleIn")),
    };
    region.set_protection(&group_name(params)?, &ids(params), wanted)
}

pub(super) fn set_health(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let health = match params.required("HealthStatus")? {
        "Healthy" => Health::Healthy,
        "Unhealthy" => Health::Unhealthy,
        other => {
            return Err(AwsError::validation(format!(
                "Valid instance health states are: [Healthy, Unhealthy]. {other} is not."
            )));
        }
    };
    let grace = match params.flag("ShouldRespectGracePeriod")? {
        Some(false) => GracePeriod::Ignored,
        Some(true) | None => GracePeriod::Respected,
    };
    region.set_health(&InstanceId::new(params.required("InstanceId")?), health, grace)
}

pub(super) fn enter_standby(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let activities = region.enter_standby(&group_name(params)?, &ids(params), decrement(params)?)?;
    write_activities(xml, &activities);
    Ok(())
}

pub(super) fn exit_standby(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let activities = region.exit_standby(&group_name(params)?, &ids(params))?;
    write_activities(xml, &activities);
    Ok(())
}

pub(super) fn detach(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let activities = region.detach_instances(&group_name(params)?, &ids(params), decrement(params)?)?;
    write_activities(xml, &activities);
    Ok(())
}

pub(super) fn attach(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.attach_instances(&group_name(params)?, &ids(params))
}

fn ids(params: &Params) -> Vec<InstanceId> {
    params.texts("InstanceIds").into_iter().map(InstanceId::from).collect()
}

fn write_activities(xml: &mut Xml, activities: &[Activity]) {
    xml.list("Activities", "member", activities, write_activity);
}
