//! Instance refreshes.

use super::describe::{write_policy, write_template};
use super::fields::group_name;
use super::groups::source;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, LaunchSource};
use crate::core::region::Region;
use crate::core::rules::group::refresh::{Preferences, PreferencesSpec, Refresh, Treatment};
use crate::core::time::iso_millis;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use std::time::Duration;

const PAGING: Paging = Paging { limit: "MaxRecords", default: 50, min: 1, max: 100 };
/// CheckpointDelay and BakeTime, in seconds: at most two days (API Reference, RefreshPreferences).
const LONGEST: u32 = 172_800;

pub(super) fn start(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    match params.text("Strategy") {
        None | Some("Rolling") => {}
        Some(other) => {
            return Err(AwsError::validation(format!("The strategy {other} is not simulated.")));
        }
    }
    let desired = params.node("DesiredConfiguration").map(source).transpose()?.flatten();
    let preferences = params.node("Preferences").map(preferences).transpose()?.unwrap_or_default();
    let id = region.start_refresh(&group_name(params)?, desired, preferences)?;
    xml.text("InstanceRefreshId", id);
    Ok(())
}

pub(super) fn cancel(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let waits = params.flag("WaitForTransitioningInstances")?.unwrap_or(true);
    let id = region.cancel_refresh(&group_name(params)?, waits)?;
    xml.text("InstanceRefreshId", id);
    Ok(())
}

pub(super) fn rollback(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let id = region.rollback_refresh(&group_name(params)?)?;
    xml.text("InstanceRefreshId", id);
    Ok(())
}

/// Newest first (API Reference, DescribeInstanceRefreshes).
pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let name = group_name(params)?;
    let page = Page::of(params, &PAGING)?;
    let wanted = params.texts("InstanceRefreshIds");
    let group = region.group_seen(&name).ok_or_else(|| AwsError::no_group(&name))?;
    let newest = group.refreshes.iter().enumerate().rev();
    let after = page.after.as_deref().map(|after| after.parse::<usize>().map_err(|_| AwsError::bad_token()));
    let after = after.transpose()?;
    let entries = newest
        .filter(|(place, _)| after.is_none_or(|after| *place < after))
        .filter(|(_, refresh)| wanted.is_empty() || wanted.contains(&refresh.id));
    let (found, token) = page.take(entries, |(place, _)| place.to_string());
    xml.list("InstanceRefreshes", "member", found, |xml, (_, refresh)| write(xml, &group, refresh));
    xml.optional("NextToken", token);
    Ok(())
}

fn preferences(params: &Params) -> AwsResult<PreferencesSpec> {
    if params.node("AlarmSpecification").is_some_and(|it| !it.texts("Alarms").is_empty()) {
        return Err(AwsError::validation("AlarmSpecification is not simulated."));
    }
    let seconds = |name: &str| match params.count(name)? {
        Some(seconds) if seconds > LONGEST => {
            Err(AwsError::validation(format!("{name} must be between 0 and {LONGEST} seconds.")))
        }
        seconds => Ok(seconds.map(|seconds| Duration::from_secs(seconds.into()))),
    };
    let treatment = |name: &str, replace: &str| match params.text(name) {
        None => Ok(None),
        Some("Ignore") => Ok(Some(Treatment::Ignore)),
        Some("Wait") => Ok(Some(Treatment::Wait)),
        Some(text) if text == replace => Ok(Some(Treatment::Replace)),
        Some(other) => Err(AwsError::validation(format!("{name} {other} is not valid."))),
    };
    let percentages = params.texts("CheckpointPercentages");
    Ok(PreferencesSpec {
        min_healthy: params.count("MinHealthyPercentage")?,
        max_healthy: params.count("MaxHealthyPercentage")?,
        warmup: params.count("InstanceWarmup")?.map(|seconds| Duration::from_secs(seconds.into())),
        checkpoints: percentages
            .iter()
            .map(|text| text.parse().map_err(|_| AwsError::validation("CheckpointPercentages are numbers.")))
            .collect::<AwsResult<_>>()?,
        checkpoint_delay: seconds("CheckpointDelay")?,
        skip_matching: params.flag("SkipMatching")?.unwrap_or(false),
        auto_rollback: params.flag("AutoRollback")?.unwrap_or(false),
        protected: treatment("ScaleInProtectedInstances", "Refresh")?,
        standby: treatment("StandbyInstances", "Terminate")?,
        bake: seconds("BakeTime")?,
    })
}

fn write(xml: &mut Xml, group: &Group, refresh: &Refresh) {
    let status: &'static str = refresh.status.into();
    xml.text("InstanceRefreshId", &refresh.id);
    xml.text("AutoScalingGroupName", group.name.as_str());
    xml.text("Status", status);
    xml.optional("StatusReason", refresh.reason.as_ref());
    xml.optional("StartTime", refresh.started.map(iso_millis));
    xml.optional("EndTime", refresh.ended.map(iso_millis));
    xml.value("PercentageComplete", refresh.percentage());
    xml.value("InstancesToUpdate", refresh.to_update());
    xml.within("ProgressDetails", |xml| {
        xml.within("LivePoolProgress", |xml| {
            xml.value("PercentageComplete", refresh.percentage());
            xml.value("InstancesToUpdate", refresh.to_update());
        });
        if refresh.warm_total > 0 {
            let left = u32::try_from(refresh.warm_remaining.len()).unwrap_or(u32::MAX);
            let done = refresh.warm_total.saturating_sub(left);
            xml.within("WarmPoolProgress", |xml| {
                xml.value("PercentageComplete", done.saturating_mul(100) / refresh.warm_total);
                xml.value("InstancesToUpdate", left);
            });
        }
    });
    xml.within("Preferences", |xml| write_preferences(xml, &refresh.preferences));
    if let Some(desired) = &refresh.desired {
        xml.within("DesiredConfiguration", |xml| match desired {
            LaunchSource::Template(template) => {
                xml.within("LaunchTemplate", |xml| write_template(xml, template));
            }
            LaunchSource::Mixed(policy) => {
                xml.within("MixedInstancesPolicy", |xml| write_policy(xml, policy));
            }
        });
    }
    if let Some(rollback) = &refresh.rollback {
        xml.within("RollbackDetails", |xml| {
            xml.text("RollbackReason", &rollback.reason);
            xml.text("RollbackStartTime", iso_millis(rollback.started));
            xml.value("PercentageCompleteOnRollback", rollback.percentage);
            xml.value("InstancesToUpdateOnRollback", rollback.remaining);
        });
    }
    xml.text("Strategy", "Rolling");
}

fn write_preferences(xml: &mut Xml, preferences: &Preferences) {
    let text = |treatment: Treatment, replace: &'static str| match treatment {
        Treatment::Replace => replace,
        Treatment::Ignore => "Ignore",
        Treatment::Wait => "Wait",
    };
    xml.value("MinHealthyPercentage", preferences.range.min);
    xml.value("MaxHealthyPercentage", preferences.range.max);
    xml.value("InstanceWarmup", preferences.warmup.as_secs());
    if !preferences.checkpoints.is_empty() {
        let texts: Vec<String> = preferences.checkpoints.iter().map(ToString::to_string).collect();
        xml.texts("CheckpointPercentages", "member", texts);
        xml.value("CheckpointDelay", preferences.checkpoint_delay.as_secs());
    }
    xml.value("SkipMatching", preferences.skip_matching);
    xml.value("AutoRollback", preferences.auto_rollback);
    xml.text("ScaleInProtectedInstances", text(preferences.protected, "Refresh"));
    xml.text("StandbyInstances", text(preferences.standby, "Terminate"));
    if !preferences.bake.is_zero() {
        xml.value("BakeTime", preferences.bake.as_secs());
    }
}
