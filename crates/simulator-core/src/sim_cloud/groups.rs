//! `foo_cloud::Groups` on the simulated Auto Scaling. Like the adapter it makes no call for an empty list: to AWS that
//! would mean everything.

use super::{SimCloud, convert, is_unknown_to_conditions, not_allowed};
use crate::core::Region;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::activity::ActivityLog;
use crate::core::group::model::{Group, GroupTag};
use crate::core::rules::group::hooks::{ActionKey, ActionResult};
use crate::core::rules::group::operations::{Deletion, GroupUpdate, NewGroup};
use crate::core::rules::group::targets::no_target_group;
use crate::iam::{ask, refusals};
use async_trait::async_trait;
use foo_cloud::{Ended, FoundGroups, Groups, Operation, Result};
use foo_model::hook::{DRAIN_HOOK, Hooks, LifecycleHook};
use foo_model::{
    Activity, Decrement, GroupChange, GroupName, GroupSettings, GroupSettingsChange, HookName, InstanceId,
    LaunchTemplateId, NotificationType, Notifications, Process, Protection, TargetGroupArn, Targets,
    TopicArn, TrafficSource, WarmPoolSettings,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Names of one DescribeAutoScalingGroups, and its largest page.
const PAGE: usize = 100;

fn group_tags(tags: &BTreeMap<String, String>) -> BTreeMap<String, GroupTag> {
    tags.iter()
        .map(|(key, value)| (key.clone(), GroupTag { value: value.clone(), propagate: false }))
        .collect()
}

/// Refuses a template that the manager's policy does not allow: it must carry the ownership tag.
fn check_template(region: &Region, template: Option<&LaunchTemplateId>) -> AwsResult<()> {
    match template {
        Some(id) if is_unknown_to_conditions(region, id) => Err(refusals::of_template(region, id)),
        _ => Ok(()),
    }
}

#[async_trait]
impl Groups for SimCloud {
    async fn account(&self) -> Result<String> {
        let account = self.account_id();
        self.call(Operation::GetCallerIdentity, String::new(), |_| Ok(account)).await
    }

    async fn caller(&self) -> Result<String> {
        let arn = self.arn();
        self.call(Operation::GetCallerIdentity, String::new(), |_| Ok(arn)).await
    }

    async fn describe_groups(&self, names: &[GroupName]) -> Result<FoundGroups> {
        if names.is_empty() {
            return Ok(FoundGroups::default());
        }
        let wanted: BTreeSet<&GroupName> = names.iter().collect();
        self.call(Operation::DescribeAutoScalingGroups, format!("{names:?}"), |region| {
            if names.len() > PAGE {
                return Err(AwsError::validation("You can specify up to 100 Auto Scaling group names."));
            }
            let found = wanted.iter().filter_map(|name| region.group_seen(name));
            Ok(found.map(|group| convert::group_of(&group)).collect::<Vec<_>>().into())
        })
        .await
    }

    async fn describe_groups_tagged(&self, tag_key: &str) -> Result<Vec<foo_model::Group>> {
        let mut groups: Vec<foo_model::Group> = Vec::new();
        loop {
            let after = groups.last().map(|group| group.name.clone());
            let (page, more) = self
                .call(Operation::DescribeAutoScalingGroups, tag_key.to_owned(), |region| {
                    let fits = |group: &Cow<'_, Group>| group.tags.contains_key(tag_key);
                    let mut found = region.groups_seen(after.as_ref()).filter(fits);
                    let page: Vec<foo_model::Group> =
                        found.by_ref().take(PAGE).map(|group| convert::group_of(&group)).collect();
                    Ok((page, found.next().is_some()))
                })
                .await?;
            groups.extend(page);
            if !more {
                return Ok(groups);
            }
        }
    }

    async fn create_group(&self, spec: &foo_model::NewGroup) -> Result<()> {
        let foo_model::NewGroup {
            name,
            min,
            max,
            desired,
            template,
            mix,
            settings,
            traffic_sources,
            drain_hook: _,
            hooks: _,
            tags,
        } = spec;
        let GroupSettings { subnets, new_instances, default_warmup } = settings;
        let new = NewGroup {
            name: name.clone(),
            min: *min,
            max: *max,
            desired: *desired,
            source: Some(convert::source_of(&template.0, template.1, mix.as_ref())),
            subnets: subnets.iter().cloned().collect(),
            new_instances: *new_instances,
            tags: group_tags(tags),
            traffic_sources: traffic_sources.clone(),
            settings: convert::settings_of(*default_warmup),
            hooks: spec
                .lifecycle_hooks()
                .map(|(name, hook)| convert::hook_change_of(&name, &hook, None))
                .collect(),
        };
        self.call(Operation::CreateAutoScalingGroup, format!("{spec:?}"), |region| {
            check_template(region, Some(&template.0))?;
            region.create_group(new)
        })
        .await
    }

    async fn update_group(&self, name: &GroupName, change: &GroupChange) -> Result<()> {
        let GroupChange { min, max, desired, template, settings } = change;
        let GroupSettingsChange { subnets, new_instances, default_warmup } = settings;
        let update = GroupUpdate {
            min: *min,
            max: *max,
            desired: *desired,
            source: template
                .as_ref()
                .map(|(id, version, mix)| convert::source_of(id, *version, mix.as_ref())),
            subnets: subnets.as_ref().map(|subnets| subnets.iter().cloned().collect()),
            new_instances: *new_instances,
            settings: convert::settings_of(*default_warmup),
        };
        self.call_on_group(Operation::UpdateAutoScalingGroup, name, format!("{name} {change:?}"), |region| {
            check_template(region, template.as_ref().map(|(id, _, _)| id))?;
            region.update_group(name, update)
        })
        .await
    }

    async fn tag_group(&self, name: &GroupName, tags: &BTreeMap<String, String>) -> Result<()> {
        if tags.is_empty() {
            return Ok(());
        }
        self.call_on_group(Operation::CreateOrUpdateTags, name, format!("{name} {tags:?}"), |region| {
            region.tag_group(name, group_tags(tags))
        })
        .await
    }

    async fn suspend_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        if processes.is_empty() {
            return Ok(());
        }
        self.call_on_group(Operation::SuspendProcesses, name, format!("{name} {processes:?}"), |region| {
            region.suspend_processes(name, processes)
        })
        .await
    }

    async fn resume_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        if processes.is_empty() {
            return Ok(());
        }
        self.call_on_group(Operation::ResumeProcesses, name, format!("{name} {processes:?}"), |region| {
            region.resume_processes(name, processes)
        })
        .await
    }

    async fn attach_traffic_sources(
        &self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> Result<()> {
        if sources.is_empty() {
            return Ok(());
        }
        self.call_on_group(Operation::AttachTrafficSources, name, format!("{name} {sources:?}"), |region| {
            region.attach_traffic_sources(name, sources)
        })
        .await
    }

    async fn detach_traffic_sources(
        &self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> Result<()> {
        if sources.is_empty() {
            return Ok(());
        }
        self.call_on_group(Operation::DetachTrafficSources, name, format!("{name} {sources:?}"), |region| {
            region.detach_traffic_sources(name, sources)
        })
        .await
    }

    async fn describe_target_health(&self, arn: &TargetGroupArn) -> Result<Targets> {
        self.call(Operation::DescribeTargetHealth, arn.to_string(), |region| {
            region.target_health(arn).ok_or_else(no_target_group)
        })
        .await
    }

    async fn describe_notifications(&self) -> Result<BTreeMap<GroupName, Notifications>> {
        self.call(Operation::DescribeNotificationConfigurations, String::new(), |region| {
            let groups = region.groups_seen(None);
            let some = groups.filter(|group| !group.notifications.is_empty());
            Ok(some.map(|group| (group.name.clone(), convert::notifications_of(&group))).collect())
        })
        .await
    }

    async fn put_notifications(
        &self,
        name: &GroupName,
        topic: &TopicArn,
        types: &BTreeSet<NotificationType>,
    ) -> Result<()> {
        let what = format!("{name} {topic} {types:?}");
        self.call_on_group(Operation::PutNotificationConfiguration, name, what, |region| {
            let types = types.iter().map(|it| it.name().to_owned()).collect();
            region.put_notifications(name, topic.as_str(), types)
        })
        .await
    }

    async fn delete_notifications(&self, name: &GroupName, topic: &TopicArn) -> Result<()> {
        let what = format!("{name} {topic}");
        self.call_on_group(Operation::DeleteNotificationConfiguration, name, what, |region| {
            region.delete_notifications(name, topic.as_str())
        })
        .await
    }

    async fn put_warm_pool(&self, name: &GroupName, settings: &WarmPoolSettings) -> Result<()> {
        let what = format!("{name} {settings:?}");
        let change = convert::warm_pool_change(settings);
        self.call_on_group(Operation::PutWarmPool, name, what, |region| region.put_warm_pool(name, change))
            .await
    }

    async fn delete_warm_pool(&self, name: &GroupName) -> Result<()> {
        self.call_on_group(Operation::DeleteWarmPool, name, name.to_string(), |region| {
            region.delete_warm_pool(name, true)
        })
        .await
    }

    async fn protect_instances(&self, name: &GroupName, ids: &[InstanceId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        self.call_on_group(Operation::SetInstanceProtection, name, format!("{name} {ids:?}"), |region| {
            region.set_protection(name, ids, Protection::Protected)
        })
        .await
    }

    async fn terminate_instance(&self, id: &InstanceId, decrement: Decrement) -> Result<()> {
        let (operation, caller) = (Operation::TerminateInstanceInAutoScalingGroup, self.arn());
        self.call(operation, format!("{id} {decrement:?}"), |region| {
            let group = region.group_of(id).and_then(|name| region.group(&name));
            if let Some(group) = group.filter(|it| !ask::knows_tags(region, it.created)) {
                return Err(not_allowed(operation, &group.arn, &caller));
            }
            region.terminate_member(id, decrement).map(drop)
        })
        .await
    }

    async fn terminate_instances(
        &self,
        group: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
    ) -> Result<Ended> {
        if ids.is_empty() {
            return Ok(Ended::All);
        }
        let what = format!("{group} {ids:?} {decrement:?}");
        self.call_on_group(Operation::TerminateInstanceInAutoScalingGroup, group, what, |region| {
            let ended = region.terminate_members(group, ids, decrement)?.len();
            Ok(if ended < ids.len() { Ended::NotAll } else { Ended::All })
        })
        .await
    }

    async fn describe_hooks(&self, name: &GroupName) -> Result<Hooks> {
        self.call(Operation::DescribeLifecycleHooks, name.to_string(), |region| {
            let group = region.group_seen(name).ok_or_else(|| AwsError::no_group(name))?;
            let others = group.hooks.iter().filter(|(name, _)| *name != DRAIN_HOOK);
            Ok(Hooks {
                drain: group.hooks.get(DRAIN_HOOK).map(|hook| convert::hook_of(hook).into()),
                others: others.map(|(name, hook)| (HookName::new(name), convert::hook_of(hook))).collect(),
            })
        })
        .await
    }

    async fn put_hook(
        &self,
        group: &GroupName,
        name: &HookName,
        hook: &LifecycleHook,
        before: Option<&LifecycleHook>,
    ) -> Result<()> {
        let what = format!("{group} {name} {hook:?} {before:?}");
        self.call_on_group(Operation::PutLifecycleHook, group, what, |region| {
            region.put_hook(group, convert::hook_change_of(name, hook, before))
        })
        .await
    }

    async fn delete_hook(&self, group: &GroupName, name: &HookName) -> Result<()> {
        self.call_on_group(Operation::DeleteLifecycleHook, group, format!("{group} {name}"), |region| {
            region.delete_hook(group, name.as_str())
        })
        .await
    }

    async fn record_heartbeat(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        self.call_on_group(
            Operation::RecordLifecycleActionHeartbeat,
            name,
            format!("{name} {id}"),
            |region| region.record_heartbeat(name, DRAIN_HOOK, &ActionKey::Instance(id.clone())),
        )
        .await
    }

    async fn complete_drain_hook(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        self.call_on_group(Operation::CompleteLifecycleAction, name, format!("{name} {id}"), |region| {
            let key = ActionKey::Instance(id.clone());
            region.complete_action(name, DRAIN_HOOK, &key, ActionResult::Continue)
        })
        .await
    }

    async fn delete_group(&self, name: &GroupName) -> Result<()> {
        self.call_on_group(Operation::DeleteAutoScalingGroup, name, name.to_string(), |region| {
            region.delete_group(name, Deletion::IfEmpty)
        })
        .await
    }

    async fn describe_activities(&self, name: &GroupName, limit: u32) -> Result<Vec<Activity>> {
        self.call(Operation::DescribeScalingActivities, name.to_string(), |region| {
            if region.group_seen(name).is_none() {
                return Err(AwsError::no_group(name));
            }
            let limit = usize::try_from(limit.clamp(1, 100)).unwrap_or(PAGE);
            let log = region.activity_log(name);
            let newest = log.into_iter().flat_map(ActivityLog::newest_first).take(limit);
            Ok(newest.map(|(_, activity)| convert::activity_of(activity)).collect())
        })
        .await
    }
}
