//! Lifecycle hooks and the actions that wait for them.

use super::fields::group_name;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::rules::group::hooks::{ActionKey, ActionResult, Hook, HookChange, Transition};
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::InstanceId;
use std::collections::BTreeMap;

/// Names of one DescribeLifecycleHooks (API Reference).
const NAMES: usize = 50;
/// Parameters that are stored and returned.
const NOTIFICATION: [&str; 3] = ["NotificationMetadata", "NotificationTargetARN", "RoleARN"];

pub(super) fn put(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.put_hook(&group_name(params)?, change(params)?)
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.delete_hook(&group_name(params)?, params.required("LifecycleHookName")?)
}

pub(super) fn complete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let result =
        result(params, "LifecycleActionResult")?.ok_or_else(|| AwsError::missing("LifecycleActionResult"))?;
    let hook = params.required("LifecycleHookName")?;
    region.complete_action(&group_name(params)?, hook, &key(params)?, result)
}

pub(super) fn heartbeat(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.record_heartbeat(&group_name(params)?, params.required("LifecycleHookName")?, &key(params)?)
}

pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let name = group_name(params)?;
    let wanted = params.texts("LifecycleHookNames");
    if wanted.len() > NAMES {
        return Err(AwsError::validation(format!("You can specify up to {NAMES} lifecycle hook names.")));
    }
    let group = region.group_seen(&name).ok_or_else(|| AwsError::no_group(&name))?;
    let found = group.hooks.values().filter(|hook| wanted.is_empty() || wanted.contains(&hook.name));
    xml.list("LifecycleHooks", "member", found, |xml, hook| write_hook(xml, name.as_str(), hook));
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "all operations have this form")]
pub(super) fn describe_types(_: &mut Region, _: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    xml.texts("LifecycleHookTypes", "member", Transition::ALL.map(Transition::name));
    Ok(())
}

/// LifecycleHookSpecificationList of CreateAutoScalingGroup.
pub(super) fn specifications(params: &Params) -> AwsResult<Vec<HookChange>> {
    params.list("LifecycleHookSpecificationList").into_iter().map(change).collect()
}

fn change(params: &Params) -> AwsResult<HookChange> {
    let notification: BTreeMap<String, String> = NOTIFICATION
        .iter()
        .filter_map(|name| params.text(name).map(|text| ((*name).to_owned(), text.to_owned())))
        .collect();
    Ok(HookChange {
        name: params.required("LifecycleHookName")?.to_owned(),
        transition: transition(params)?,
        heartbeat: params.count("HeartbeatTimeout")?,
        default_result: result(params, "DefaultResult")?,
        notification,
    })
}

fn transition(params: &Params) -> AwsResult<Option<Transition>> {
    let Some(text) = params.text("LifecycleTransition") else { return Ok(None) };
    Transition::from_name(text).map(Some).ok_or_else(|| {
        AwsError::validation(format!("Lifecycle Transition {text} is not valid for a Lifecycle Hook."))
    })
}

fn result(params: &Params, name: &str) -> AwsResult<Option<ActionResult>> {
    match params.text(name) {
        None => Ok(None),
        Some("CONTINUE") => Ok(Some(ActionResult::Continue)),
        Some("ABANDON") => Ok(Some(ActionResult::Abandon)),
        Some(other) => Err(AwsError::validation(format!("{name} {other} must be CONTINUE or ABANDON."))),
    }
}

/// How the request identifies the lifecycle action: by its token, or else by the instance.
fn key(params: &Params) -> AwsResult<ActionKey> {
    match (params.text("LifecycleActionToken"), params.text("InstanceId")) {
        (Some(token), _) => Ok(ActionKey::Token(token.to_owned())),
        (None, Some(id)) => Ok(ActionKey::Instance(InstanceId::new(id))),
        (None, None) => {
            Err(AwsError::validation("Either a lifecycle action token or an instance ID must be specified."))
        }
    }
}

fn write_hook(xml: &mut Xml, group: &str, hook: &Hook) {
    xml.text("LifecycleHookName", &hook.name);
    xml.text("AutoScalingGroupName", group);
    xml.text("LifecycleTransition", hook.transition.name());
    xml.value("HeartbeatTimeout", hook.heartbeat.as_secs());
    xml.value("GlobalTimeout", hook.longest_wait().as_secs());
    xml.text("DefaultResult", hook.default_result.name());
    for (name, text) in &hook.notification {
        xml.text(name, text);
    }
}
