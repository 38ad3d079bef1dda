//! Calls of Amazon EC2 Auto Scaling.

mod mix;
mod shapes;

use crate::numbers::signed;
use crate::{AwsCloud, error};
use async_trait::async_trait;
use aws_sdk_autoscaling::types::{AutoScalingGroup, Filter, InstanceReusePolicy, Tag};
use foo_cloud::{CloudError, Ended, ErrorKind, FoundGroups, Groups, Operation, Result};
use foo_model::hook::{DRAIN_HOOK, HookResult, Hooks, LifecycleHook};
use foo_model::{
    Activity, Decrement, Group, GroupChange, GroupName, GroupSettings, GroupSettingsChange, HookName,
    InstanceId, NewGroup, NotificationType, Notifications, Process, TargetGroupArn, Targets, TopicArn,
    TrafficSource, WarmPoolSettings,
};
use mix::Purpose;
use shapes::Launch;
use std::collections::{BTreeMap, BTreeSet};

/// Groups per page (DescribeAutoScalingGroups: MaxRecords, at most 100).
const PAGE: i32 = 100;
/// Maximum number of pages of activities per read; the call is throttled early.
const ACTIVITY_PAGES: usize = 5;

#[async_trait]
impl Groups for AwsCloud {
    async fn account(&self) -> Result<String> {
        const OPERATION: Operation = Operation::GetCallerIdentity;
        let identity = self.sts.get_caller_identity().send().await;
        let identity = identity.map_err(|failed| error::of(OPERATION, &failed))?;
        identity.account.ok_or_else(|| {
            CloudError::new(OPERATION, ErrorKind::Internal, None, "the response names no account")
        })
    }

    async fn caller(&self) -> Result<String> {
        const OPERATION: Operation = Operation::GetCallerIdentity;
        let identity = self.sts.get_caller_identity().send().await;
        let identity = identity.map_err(|failed| error::of(OPERATION, &failed))?;
        identity.arn.ok_or_else(|| {
            CloudError::new(OPERATION, ErrorKind::Internal, None, "the response names no caller")
        })
    }

    async fn describe_groups(&self, asked: &[GroupName]) -> Result<FoundGroups> {
        const OPERATION: Operation = Operation::DescribeAutoScalingGroups;
        if asked.is_empty() {
            return Ok(FoundGroups::default()); // To AWS, no names means all groups.
        }
        let names = asked.iter().map(|name| name.as_str().to_owned()).collect();
        let call = self.autoscaling.repeating.describe_auto_scaling_groups();
        let call = call.set_auto_scaling_group_names(Some(names)).max_records(PAGE);
        let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
        Ok(found_groups(asked, &found))
    }

    async fn describe_groups_tagged(&self, tag_key: &str) -> Result<Vec<Group>> {
        const OPERATION: Operation = Operation::DescribeAutoScalingGroups;
        let tagged = Filter::builder().name("tag-key").values(tag_key).build();
        let call =
            self.autoscaling.repeating.describe_auto_scaling_groups().filters(tagged).max_records(PAGE);
        let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
        Ok(found_groups(&[], &found).groups)
    }

    async fn create_group(&self, spec: &NewGroup) -> Result<()> {
        let NewGroup {
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
        let launch = shapes::launch(&template.0, template.1, mix.as_ref(), Purpose::Create);
        let mut call = self
            .autoscaling
            .once
            .create_auto_scaling_group()
            .auto_scaling_group_name(name.as_str())
            .min_size(signed(*min))
            .max_size(signed(*max))
            .set_desired_capacity(desired.map(signed))
            .vpc_zone_identifier(shapes::subnets(subnets))
            .new_instances_protected_from_scale_in(shapes::is_protected(*new_instances))
            .set_default_instance_warmup(default_warmup.map(|it| signed(it.0)))
            .set_traffic_sources(shapes::identifiers(traffic_sources))
            .set_lifecycle_hook_specification_list(shapes::hooks_of_new(spec.lifecycle_hooks()))
            .set_tags(Some(group_tags(name, tags)));
        call = match launch {
            Launch::Template(template) => call.launch_template(template),
            Launch::Mix(policy) => call.mixed_instances_policy(*policy),
        };
        call.send().await.map_err(|failed| error::of(Operation::CreateAutoScalingGroup, &failed))?;
        Ok(())
    }

    async fn update_group(&self, name: &GroupName, change: &GroupChange) -> Result<()> {
        let GroupChange { min, max, desired, template, settings } = change;
        let GroupSettingsChange { subnets, new_instances, default_warmup } = settings;
        let launch = template
            .as_ref()
            .map(|(id, version, mix)| shapes::launch(id, *version, mix.as_ref(), Purpose::Update));
        let mut call = self
            .autoscaling
            .once
            .update_auto_scaling_group()
            .auto_scaling_group_name(name.as_str())
            .set_min_size(min.map(signed))
            .set_max_size(max.map(signed))
            .set_desired_capacity(desired.map(signed))
            .set_vpc_zone_identifier(subnets.as_ref().map(shapes::subnets))
            .set_new_instances_protected_from_scale_in(new_instances.map(shapes::is_protected))
            .set_default_instance_warmup(default_warmup.map(|it| signed(it.0)));
        call = match launch {
            Some(Launch::Template(template)) => call.launch_template(template),
            Some(Launch::Mix(policy)) => call.mixed_instances_policy(*policy),
            None => call,
        };
        call.send().await.map_err(|failed| error::of(Operation::UpdateAutoScalingGroup, &failed))?;
        Ok(())
    }

    async fn tag_group(&self, name: &GroupName, new: &BTreeMap<String, String>) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let call = self.autoscaling.once.create_or_update_tags().set_tags(Some(group_tags(name, new)));
        call.send().await.map_err(|failed| error::of(Operation::CreateOrUpdateTags, &failed))?;
        Ok(())
    }

    async fn suspend_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        if processes.is_empty() {
            return Ok(()); // To AWS, no processes means all of them.
        }
        let call = self.autoscaling.once.suspend_processes().auto_scaling_group_name(name.as_str());
        let call = call.set_scaling_processes(Some(names(processes)));
        call.send().await.map_err(|failed| error::of(Operation::SuspendProcesses, &failed))?;
        Ok(())
    }

    async fn resume_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        if processes.is_empty() {
            return Ok(());
        }
        let call = self.autoscaling.once.resume_processes().auto_scaling_group_name(name.as_str());
        let call = call.set_scaling_processes(Some(names(processes)));
        call.send().await.map_err(|failed| error::of(Operation::ResumeProcesses, &failed))?;
        Ok(())
    }

    async fn attach_traffic_sources(
        &self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> Result<()> {
        let Some(sources) = shapes::identifiers(sources) else { return Ok(()) };
        let call = self.autoscaling.once.attach_traffic_sources().auto_scaling_group_name(name.as_str());
        let call = call.set_traffic_sources(Some(sources));
        call.send().await.map_err(|failed| error::of(Operation::AttachTrafficSources, &failed))?;
        Ok(())
    }

    async fn detach_traffic_sources(
        &self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> Result<()> {
        let Some(sources) = shapes::identifiers(sources) else { return Ok(()) };
        let call = self.autoscaling.once.detach_traffic_sources().auto_scaling_group_name(name.as_str());
        let call = call.set_traffic_sources(Some(sources));
        call.send().await.map_err(|failed| error::of(Operation::DetachTrafficSources, &failed))?;
        Ok(())
    }

    async fn describe_target_health(&self, arn: &TargetGroupArn) -> Result<Targets> {
        let call = self.balancers.repeating.describe_target_health().target_group_arn(arn.as_str());
        let found =
            call.send().await.map_err(|failed| error::of(Operation::DescribeTargetHealth, &failed))?;
        Ok(shapes::targets(found.target_health_descriptions()))
    }

    async fn describe_notifications(&self) -> Result<BTreeMap<GroupName, Notifications>> {
        const OPERATION: Operation = Operation::DescribeNotificationConfigurations;
        let call = self.autoscaling.repeating.describe_notification_configurations().max_records(PAGE);
        let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
        Ok(shapes::notifications(&found))
    }

    async fn put_notifications(
        &self,
        name: &GroupName,
        topic: &TopicArn,
        types: &BTreeSet<NotificationType>,
    ) -> Result<()> {
        let call =
            self.autoscaling.once.put_notification_configuration().auto_scaling_group_name(name.as_str());
        let types = types.iter().map(|it| it.name().to_owned()).collect();
        let call = call.topic_arn(topic.as_str()).set_notification_types(Some(types));
        call.send().await.map_err(|failed| error::of(Operation::PutNotificationConfiguration, &failed))?;
        Ok(())
    }

    async fn delete_notifications(&self, name: &GroupName, topic: &TopicArn) -> Result<()> {
        let call =
            self.autoscaling.once.delete_notification_configuration().auto_scaling_group_name(name.as_str());
        let call = call.topic_arn(topic.as_str());
        call.send().await.map_err(|failed| error::of(Operation::DeleteNotificationConfiguration, &failed))?;
        Ok(())
    }

    async fn put_warm_pool(&self, name: &GroupName, settings: &WarmPoolSettings) -> Result<()> {
        let WarmPoolSettings { min_size, max_prepared, state, reuse } = settings;
        let call = self.autoscaling.once.put_warm_pool().auto_scaling_group_name(name.as_str());
        // -1 removes the limit (Auto Scaling API Reference, PutWarmPool: MaxGroupPreparedCapacity).
        let call = call
            .min_size(signed(*min_size))
            .max_group_prepared_capacity(max_prepared.map_or(-1, signed))
            .pool_state(state.name().into())
            .instance_reuse_policy(InstanceReusePolicy::builder().reuse_on_scale_in(*reuse).build());
        call.send().await.map_err(|failed| error::of(Operation::PutWarmPool, &failed))?;
        Ok(())
    }

    async fn delete_warm_pool(&self, name: &GroupName) -> Result<()> {
        let call = self.autoscaling.once.delete_warm_pool().auto_scaling_group_name(name.as_str());
        let call = call.force_delete(true);
        call.send().await.map_err(|failed| error::of(Operation::DeleteWarmPool, &failed))?;
        Ok(())
    }

    async fn protect_instances(&self, name: &GroupName, ids: &[InstanceId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = ids.iter().map(|id| id.as_str().to_owned()).collect();
        let call = self.autoscaling.once.set_instance_protection().auto_scaling_group_name(name.as_str());
        let call = call.set_instance_ids(Some(ids)).protected_from_scale_in(true);
        call.send().await.map_err(|failed| error::of(Operation::SetInstanceProtection, &failed))?;
        Ok(())
    }

    async fn terminate_instance(&self, id: &InstanceId, decrement: Decrement) -> Result<()> {
        let call = self.autoscaling.once.terminate_instance_in_auto_scaling_group();
        let call = call.instance_id(id.as_str()).should_decrement_desired_capacity(shrinks(decrement));
        call.send()
            .await
            .map_err(|failed| error::of(Operation::TerminateInstanceInAutoScalingGroup, &failed))?;
        Ok(())
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
        let call = self.autoscaling.once.terminate_instance_in_auto_scaling_group();
        let call = call.auto_scaling_group_name(group.as_str());
        let call = call.set_instance_ids(Some(ids.iter().map(|id| id.as_str().to_owned()).collect()));
        let response = call
            .should_decrement_desired_capacity(shrinks(decrement))
            .send()
            .await
            .map_err(|failed| error::of(Operation::TerminateInstanceInAutoScalingGroup, &failed))?;
        // One activity per instance. A response without any does not show their number.
        let ended = response.activities().len();
        Ok(if ended > 0 && ended < ids.len() { Ended::NotAll } else { Ended::All })
    }

    async fn describe_hooks(&self, name: &GroupName) -> Result<Hooks> {
        const OPERATION: Operation = Operation::DescribeLifecycleHooks;
        let call = self.autoscaling.repeating.describe_lifecycle_hooks();
        let call = call.auto_scaling_group_name(name.as_str());
        let found = call.send().await.map_err(|failed| error::of(OPERATION, &failed))?;
        shapes::hooks(found.lifecycle_hooks()).map_err(|gap| gap.during(OPERATION))
    }

    async fn put_hook(
        &self,
        group: &GroupName,
        name: &HookName,
        hook: &LifecycleHook,
        before: Option<&LifecycleHook>,
    ) -> Result<()> {
        let LifecycleHook { transition, heartbeat, result, target, metadata } = hook;
        // An empty ARN clears the target (Auto Scaling API Reference, PutLifecycleHook: NotificationTargetARN).
        let had_target = before.is_some_and(|before| before.target.is_some());
        let cleared = (target.is_none() && had_target).then(String::new);
        let call = self.autoscaling.once.put_lifecycle_hook().auto_scaling_group_name(group.as_str());
        let call = call
            .lifecycle_hook_name(name.as_str())
            .lifecycle_transition(transition.name())
            .heartbeat_timeout(signed(heartbeat.0))
            .default_result(result.name())
            .set_notification_target_arn(target.as_ref().map(|target| target.arn.clone()).or(cleared))
            .set_role_arn(target.as_ref().and_then(|target| target.role.clone()))
            .set_notification_metadata(metadata.clone());
        call.send().await.map_err(|failed| error::of(Operation::PutLifecycleHook, &failed))?;
        Ok(())
    }

    async fn delete_hook(&self, group: &GroupName, name: &HookName) -> Result<()> {
        let call = self.autoscaling.once.delete_lifecycle_hook().auto_scaling_group_name(group.as_str());
        let call = call.lifecycle_hook_name(name.as_str());
        call.send().await.map_err(|failed| error::of(Operation::DeleteLifecycleHook, &failed))?;
        Ok(())
    }

    async fn record_heartbeat(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        // A repeated call changes nothing, so the SDK may repeat it.
        let call = self.autoscaling.repeating.record_lifecycle_action_heartbeat();
        let call = call.auto_scaling_group_name(name.as_str()).lifecycle_hook_name(DRAIN_HOOK);
        let call = call.instance_id(id.as_str());
        call.send().await.map_err(|failed| error::of(Operation::RecordLifecycleActionHeartbeat, &failed))?;
        Ok(())
    }

    async fn complete_drain_hook(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        let call = self.autoscaling.once.complete_lifecycle_action();
        let call = call.auto_scaling_group_name(name.as_str()).lifecycle_hook_name(DRAIN_HOOK);
        let call = call.instance_id(id.as_str()).lifecycle_action_result(HookResult::Continue.name());
        call.send().await.map_err(|failed| error::of(Operation::CompleteLifecycleAction, &failed))?;
        Ok(())
    }

    async fn delete_group(&self, name: &GroupName) -> Result<()> {
        let call = self.autoscaling.once.delete_auto_scaling_group();
        let call = call.auto_scaling_group_name(name.as_str()).force_delete(false);
        call.send().await.map_err(|failed| error::of(Operation::DeleteAutoScalingGroup, &failed))?;
        Ok(())
    }

    async fn describe_activities(&self, name: &GroupName, limit: u32) -> Result<Vec<Activity>> {
        const OPERATION: Operation = Operation::DescribeScalingActivities;
        let limit = limit.clamp(1, 100);
        let mut found = Vec::new();
        let mut next: Option<String> = None;
        // A page may contain fewer than requested, even none, and still be followed by others.
        for _ in 0..ACTIVITY_PAGES {
            let missing = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
            let call = self.autoscaling.repeating.describe_scaling_activities();
            let call = call.auto_scaling_group_name(name.as_str()).max_records(signed(missing));
            let page = call.set_next_token(next).send().await;
            let page = page.map_err(|failed| error::of(OPERATION, &failed))?;
            // Activities are only reported: an unreadable one is skipped.
            found.extend(page.activities().iter().filter_map(|one| shapes::activity(one).ok()));
            next = page.next_token.filter(|token| !token.is_empty());
            if next.is_none() || found.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
                break;
            }
        }
        Ok(found)
    }
}

/// Reads each group separately: an unreadable group does not affect the others of the page. If even its name
/// is missing, it may be any of the requested groups that are missing: these count as unreadable, not as
/// deleted.
fn found_groups(asked: &[GroupName], found: &[AutoScalingGroup]) -> FoundGroups {
    let mut found_groups = FoundGroups::default();
    let mut nameless = None;
    for group in found {
        match shapes::group(group) {
            Ok(group) => found_groups.groups.push(group),
            Err(gap) => {
                let name = group.auto_scaling_group_name().unwrap_or_default();
                let error = gap.during(Operation::DescribeAutoScalingGroups);
                tracing::warn!(group = name, %error, "AWS returned a group that cannot be understood");
                if name.is_empty() {
                    nameless = Some(error);
                } else {
                    found_groups.odd.insert(name.into(), error);
                }
            }
        }
    }
    if let Some(error) = nameless {
        let seen: BTreeSet<&GroupName> = found_groups.groups.iter().map(|group| &group.name).collect();
        let missing: Vec<&GroupName> = asked.iter().filter(|name| !seen.contains(name)).collect();
        for name in missing {
            found_groups.odd.entry(name.clone()).or_insert_with(|| error.clone());
        }
    }
    found_groups
}

fn shrinks(decrement: Decrement) -> bool {
    match decrement {
        Decrement::Shrink => true,
        Decrement::Replace => false,
    }
}

fn group_tags(group: &GroupName, tags: &BTreeMap<String, String>) -> Vec<Tag> {
    tags.iter().map(|(key, value)| tag(group, key).value(value).propagate_at_launch(false).build()).collect()
}

fn tag(group: &GroupName, key: &str) -> aws_sdk_autoscaling::types::builders::TagBuilder {
    Tag::builder().resource_type("auto-scaling-group").resource_id(group.as_str()).key(key)
}

fn names(processes: &[Process]) -> Vec<String> {
    processes.iter().map(|process| process.name().to_owned()).collect()
}
