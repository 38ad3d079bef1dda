//! Single members: termination, protection, health, standby, detach, attach.

use super::describe::write_activity;
use super::groups::{decrement, group_name};
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::activity::Activity;
use crate::core::group::members::GracePeriod;
use crate::core::region::Region;
use crate::core::settings::Batches;
use crate::wire::Caller;
use crate::wire::params::Params;
use crate::wire::xml::Xml;
use foo_cloud::model::{Health, InstanceId, Protection};

/// Ids of one TerminateInstanceInAutoScalingGroup with InstanceIds.
const TERMINATE_LIMIT: usize = 100;

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
    let group = group_name(params)?;
    if many.len() > TERMINATE_LIMIT {
        return Err(AwsError::validation(format!("You can specify up to {TERMINATE_LIMIT} instances.")));
    }
    let name = region.living_group(&group)?;
    if region.settings.batches == Batches::AllOrNothing
        && let Some(stranger) = many.iter().find(|id| !name.members.contains_key(id))
    {
        return Err(AwsError::no_member(stranger));
    }
    let activities =
        many.iter().map(|id| region.terminate_member(id, decrement)).collect::<AwsResult<Vec<_>>>()?;
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
