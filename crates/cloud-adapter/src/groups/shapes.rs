//! Groups, instances and activities in AWS's types and in those of `foo-model`.

use super::mix::Purpose;
use crate::error::Gap;
use crate::numbers::{count, signed};
use aws_sdk_autoscaling::types as aws;
use aws_sdk_elasticloadbalancingv2::types as balancing;
use foo_model::group::TemplateChoice;
use foo_model::hook::{DRAIN_HOOK, HookResult, HookTarget, Hooks, LifecycleHook, Transition};
use foo_model::{
    Activity, ActivityStatus, AwsTime, DeletionProtection, Group, GroupName, GroupSettings, GroupStatus,
    Health, HookName, Instance, InstanceId, InstancesMix, LaunchTemplateId, LifecycleState, NotificationType,
    Notifications, Process, Protection, Seconds, Sizes, SubnetId, TargetHealth, Targets, TemplateVersion,
    TrafficSource, TrafficSourceKind, WarmPool, WarmPoolSettings, WarmState,
};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// What a group launches from: AWS accepts one of the two.
#[derive(Debug, PartialEq)]
pub(super) enum Launch {
    Template(aws::LaunchTemplateSpecification),
    Mix(Box<aws::MixedInstancesPolicy>),
}

pub(super) fn launch(
    id: &LaunchTemplateId,
    version: TemplateVersion,
    mix: Option<&InstancesMix>,
    purpose: Purpose,
) -> Launch {
    let template = aws::LaunchTemplateSpecification::builder()
        .launch_template_id(id.as_str())
        .version(version.to_string())
        .build();
    let Some(mix) = mix else { return Launch::Template(template) };
    Launch::Mix(Box::new(super::mix::policy(template, mix, purpose)))
}

pub(super) fn subnets(subnets: &BTreeSet<SubnetId>) -> String {
    subnets.iter().map(SubnetId::as_str).collect::<Vec<_>>().join(",")
}

/// Identifiers of traffic sources with their types; `None` if there are none: an empty list is refused.
pub(super) fn identifiers(sources: &BTreeSet<TrafficSource>) -> Option<Vec<aws::TrafficSourceIdentifier>> {
    let identifier = |source: &TrafficSource| {
        let builder = aws::TrafficSourceIdentifier::builder().identifier(source.identifier());
        builder.r#type(source.kind().name()).build()
    };
    (!sources.is_empty()).then(|| sources.iter().map(identifier).collect())
}

/// The traffic sources of a group, whichever call attached them. Those of a type that is not known are left out.
fn traffic_sources(group: &aws::AutoScalingGroup) -> BTreeSet<TrafficSource> {
    let by_type = group.traffic_sources().iter().filter_map(|source| {
        Some(TrafficSourceKind::from_name(source.r#type()?)?.with(source.identifier()?))
    });
    let names = group.load_balancer_names().iter().map(|name| (TrafficSourceKind::ClassicLoadBalancer, name));
    let arns = group.target_group_arns().iter().map(|arn| (TrafficSourceKind::TargetGroup, arn));
    by_type.chain(names.chain(arns).map(|(kind, identifier)| kind.with(identifier))).collect()
}

/// Targets that are instances; of one with several ports, the worst state.
pub(super) fn targets(found: &[balancing::TargetHealthDescription]) -> Targets {
    let mut targets = Targets::new();
    for description in found {
        let Some(id) = description.target().and_then(balancing::TargetDescription::id) else { continue };
        let Some(health) = description.target_health() else { continue };
        let state = health.state().map(balancing::TargetHealthStateEnum::as_str).unwrap_or_default();
        let reason = health.reason().map(balancing::TargetHealthReasonEnum::as_str).unwrap_or_default();
        let one = TargetHealth::named(state, reason);
        match targets.entry(InstanceId::from(id)) {
            Entry::Vacant(entry) => {
                entry.insert(one);
            }
            Entry::Occupied(mut entry) if entry.get().state < one.state => {
                entry.insert(one);
            }
            Entry::Occupied(_) => {}
        }
    }
    targets
}

/// What each group reports to topics. Types that the provider cannot set are left out.
pub(super) fn notifications(found: &[aws::NotificationConfiguration]) -> BTreeMap<GroupName, Notifications> {
    let mut groups: BTreeMap<GroupName, Notifications> = BTreeMap::new();
    for one in found {
        let (Some(group), Some(topic)) = (one.auto_scaling_group_name(), one.topic_arn()) else { continue };
        let types = groups.entry(group.into()).or_default().entry(topic.into()).or_default();
        types.extend(one.notification_type().and_then(NotificationType::from_name));
    }
    groups
}

pub(super) fn is_protected(protection: Protection) -> bool {
    match protection {
        Protection::Protected => true,
        Protection::Unprotected => false,
    }
}

pub(super) fn group(group: &aws::AutoScalingGroup) -> Result<Group, Gap> {
    // The SDK fills in fields that AWS's model requires: a missing name arrives as an empty one, a size as
    // zero.
    let name =
        group.auto_scaling_group_name().filter(|name| !name.is_empty()).ok_or(Gap("AutoScalingGroupName"))?;
    let policy = group.mixed_instances_policy();
    let template = match policy {
        Some(policy) => policy.launch_template().and_then(aws::LaunchTemplate::launch_template_specification),
        None => group.launch_template(),
    };
    let suspended = group.suspended_processes().iter();
    Ok(Group {
        name: name.into(),
        arn: group.auto_scaling_group_arn().unwrap_or_default().to_owned(),
        sizes: Sizes {
            min: count(group.min_size(), "MinSize")?,
            max: count(group.max_size(), "MaxSize")?,
            desired: count(group.desired_capacity(), "DesiredCapacity")?,
        },
        template: template.and_then(choice),
        mix: policy.map(super::mix::mix),
        settings: GroupSettings {
            subnets: subnet_ids(group.vpc_zone_identifier().unwrap_or_default()),
            new_instances: protection(group.new_instances_protected_from_scale_in()),
            default_warmup: group
                .default_instance_warmup()
                .and_then(|seconds| u32::try_from(seconds).ok())
                .map(Seconds),
        },
        traffic_sources: traffic_sources(group),
        suspended: suspended
            .filter_map(|process| {
                let reason = process.suspension_reason().unwrap_or_default().to_owned();
                Some((Process::from_name(process.process_name()?)?, reason))
            })
            .collect(),
        tags: group.tags().iter().filter_map(tag).collect(),
        status: match group.status() {
            // "Delete in progress" is the only text that AWS documents.
            Some(text) if !text.is_empty() => GroupStatus::Deleting,
            _ => GroupStatus::Active,
        },
        deletion_protection: group
            .deletion_protection()
            .map(|level| DeletionProtection::from_name(level.as_str()))
            .unwrap_or_default(),
        warm_pool: warm_pool(group),
        instances: group.instances().iter().map(instance).collect::<Result<_, _>>()?,
    })
}

/// Without a limit, AWS shows none, or -1 (Auto Scaling API Reference, `WarmPoolConfiguration`).
fn warm_pool(group: &aws::AutoScalingGroup) -> Option<WarmPool> {
    let config = group.warm_pool_configuration()?;
    let number = |value: Option<i32>| value.and_then(|value| u32::try_from(value).ok());
    let reuse = config.instance_reuse_policy().and_then(aws::InstanceReusePolicy::reuse_on_scale_in);
    Some(WarmPool {
        settings: WarmPoolSettings {
            min_size: number(config.min_size()).unwrap_or_default(),
            max_prepared: number(config.max_group_prepared_capacity()),
            state: WarmState::from_name(
                config.pool_state().map(aws::WarmPoolState::as_str).unwrap_or_default(),
            ),
            reuse: reuse.unwrap_or_default(),
        },
        deleting: config.status().is_some(),
        size: number(group.warm_pool_size()).unwrap_or_default(),
    })
}

fn subnet_ids(text: &str) -> BTreeSet<SubnetId> {
    text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(SubnetId::from).collect()
}

fn tag(tag: &aws::TagDescription) -> Option<(String, String)> {
    let key = tag.key()?;
    (!key.starts_with("aws:")).then(|| (key.to_owned(), tag.value().unwrap_or_default().to_owned()))
}

/// A reference to a template by name only is not the provider's: AWS fills in the id where it knows both.
fn choice(template: &aws::LaunchTemplateSpecification) -> Option<(LaunchTemplateId, TemplateChoice)> {
    let id = template.launch_template_id()?;
    // No version means the default one (Auto Scaling API Reference, LaunchTemplateSpecification).
    let version = template.version().unwrap_or("$Default");
    let choice = match version.parse() {
        Ok(number) => TemplateChoice::Version(TemplateVersion(number)),
        Err(_) => TemplateChoice::Floating(version.to_owned()),
    };
    Some((id.into(), choice))
}

fn instance(instance: &aws::Instance) -> Result<Instance, Gap> {
    let lifecycle = there(instance.lifecycle_state().map(aws::LifecycleState::as_str), "LifecycleState")?;
    let version = |template: &aws::LaunchTemplateSpecification| {
        Some((template.launch_template_id()?.into(), TemplateVersion(template.version()?.parse().ok()?)))
    };
    Ok(Instance {
        id: there(instance.instance_id(), "InstanceId")?.into(),
        zone: there(instance.availability_zone(), "AvailabilityZone")?.into(),
        instance_type: instance.instance_type().unwrap_or_default().into(),
        lifecycle: LifecycleState::from_name(lifecycle),
        health: match instance.health_status() {
            Some(text) if text.eq_ignore_ascii_case("Unhealthy") => Health::Unhealthy,
            _ => Health::Healthy,
        },
        protection: protection(instance.protected_from_scale_in()),
        template: instance.launch_template().and_then(version),
    })
}

/// The SDK fills in an empty text for fields that AWS's model requires.
fn there<'a>(text: Option<&'a str>, field: &'static str) -> Result<&'a str, Gap> {
    text.filter(|text| !text.is_empty()).ok_or(Gap(field))
}

fn protection(protected: Option<bool>) -> Protection {
    if protected == Some(true) { Protection::Protected } else { Protection::Unprotected }
}

pub(super) fn activity(activity: &aws::Activity) -> Result<Activity, Gap> {
    use aws::ScalingActivityStatusCode as Code;
    // The SDK fills in the epoch for times that AWS leaves out.
    let started = activity.start_time().and_then(|time| time.to_millis().ok()).filter(|&at| at > 0);
    let started = started.ok_or(Gap("StartTime"))?;
    Ok(Activity {
        id: activity.activity_id().ok_or(Gap("ActivityId"))?.to_owned(),
        status: match activity.status_code().ok_or(Gap("StatusCode"))? {
            Code::Successful => ActivityStatus::Successful,
            Code::Failed => ActivityStatus::Failed,
            Code::Cancelled => ActivityStatus::Cancelled,
            // All other states are kinds of waiting.
            _ => ActivityStatus::InProgress,
        },
        description: activity.description().unwrap_or_default().to_owned(),
        cause: activity.cause().unwrap_or_default().to_owned(),
        status_message: activity.status_message().unwrap_or_default().to_owned(),
        started: AwsTime::from_millis(started),
    })
}

/// The hooks of a group that is being created. The SDK requires name and transition of each; both are set.
pub(super) fn hooks_of_new(
    hooks: impl Iterator<Item = (HookName, LifecycleHook)>,
) -> Option<Vec<aws::LifecycleHookSpecification>> {
    let hooks: Vec<_> = hooks
        .map(|(name, hook)| {
            let LifecycleHook { transition, heartbeat, result, target, metadata } = hook;
            let (arn, role) = target.map(|HookTarget { arn, role }| (arn, role)).unzip();
            aws::LifecycleHookSpecification::builder()
                .lifecycle_hook_name(name.as_str())
                .lifecycle_transition(transition.name())
                .heartbeat_timeout(signed(heartbeat.0))
                .default_result(result.name())
                .set_notification_target_arn(arn)
                .set_role_arn(role.flatten())
                .set_notification_metadata(metadata)
                .build()
        })
        .collect();
    (!hooks.is_empty()).then_some(hooks)
}

/// All hooks of a group.
pub(super) fn hooks(found: &[aws::LifecycleHook]) -> Result<Hooks, Gap> {
    let mut hooks = Hooks::default();
    for hook in found {
        let name = there(hook.lifecycle_hook_name(), "LifecycleHookName")?;
        if name == DRAIN_HOOK {
            hooks.drain = Some(lifecycle_hook(hook)?.into());
        } else {
            // One of other users that cannot be decoded must not hide the provider's.
            match lifecycle_hook(hook) {
                Ok(hook) => drop(hooks.others.insert(HookName::new(name), hook)),
                Err(gap) => tracing::debug!(name, ?gap, "a lifecycle hook cannot be decoded"),
            }
        }
    }
    Ok(hooks)
}

fn lifecycle_hook(hook: &aws::LifecycleHook) -> Result<LifecycleHook, Gap> {
    let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let transition = hook.lifecycle_transition().and_then(Transition::from_name);
    Ok(LifecycleHook {
        transition: transition.ok_or(Gap("LifecycleTransition"))?,
        heartbeat: Seconds(count(hook.heartbeat_timeout(), "HeartbeatTimeout")?),
        result: HookResult::from_name(hook.default_result().unwrap_or_default()),
        target: text(hook.notification_target_arn())
            .map(|arn| HookTarget { arn, role: text(hook.role_arn()) }),
        metadata: text(hook.notification_metadata()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_group_is_active_and_a_missing_size_is_a_gap() {
        let bare = aws::AutoScalingGroup::builder().auto_scaling_group_name("g").min_size(0).max_size(2);
        assert_eq!(group(&bare.clone().build()), Err(Gap("DesiredCapacity")));
        assert_eq!(group(&bare.clone().desired_capacity(-1).build()), Err(Gap("DesiredCapacity")));
        let seen =
            group(&bare.desired_capacity(1).vpc_zone_identifier("subnet-b, subnet-a").build()).unwrap();
        assert_eq!((seen.status, seen.template, seen.mix), (GroupStatus::Active, None, None));
        assert_eq!(seen.settings.subnets, ["subnet-a".into(), "subnet-b".into()].into());
    }

    #[test]
    fn a_warm_pool_without_a_limit_is_shown_as_minus_one_and_its_deletion_by_a_status() {
        let config = aws::WarmPoolConfiguration::builder().max_group_prepared_capacity(-1).min_size(2);
        let with = |config: aws::WarmPoolConfiguration| {
            let bare = aws::AutoScalingGroup::builder().auto_scaling_group_name("g").min_size(0).max_size(2);
            let bare = bare.desired_capacity(1).warm_pool_configuration(config).warm_pool_size(2);
            group(&bare.build()).unwrap().warm_pool.unwrap()
        };
        let settings =
            WarmPoolSettings { min_size: 2, max_prepared: None, state: WarmState::Running, reuse: true };
        let reuse = aws::InstanceReusePolicy::builder().reuse_on_scale_in(true).build();
        let seen = with(config.clone().pool_state("Running".into()).instance_reuse_policy(reuse).build());
        assert_eq!(seen, WarmPool { settings, deleting: false, size: 2 });
        let deleted = with(config.max_group_prepared_capacity(5).status("PendingDelete".into()).build());
        let settings =
            WarmPoolSettings { max_prepared: Some(5), state: WarmState::Stopped, reuse: false, ..settings };
        assert_eq!(deleted, WarmPool { settings, deleting: true, size: 2 });
    }

    #[test]
    fn a_group_shows_its_traffic_sources_in_one_list_and_some_in_older_ones() {
        let source = |kind: &str, id: &str| {
            aws::TrafficSourceIdentifier::builder().r#type(kind).identifier(id).build()
        };
        let seen = aws::AutoScalingGroup::builder()
            .auto_scaling_group_name("g")
            .min_size(0)
            .max_size(2)
            .desired_capacity(1)
            .traffic_sources(source("elb", "old"))
            .traffic_sources(source("vpc-lattice", "arn:lattice"))
            .traffic_sources(source("dns", "unknown"))
            .load_balancer_names("old")
            .target_group_arns("arn:web")
            .build();
        let sources = group(&seen).unwrap().traffic_sources;
        let expected = [
            TrafficSource::ClassicLoadBalancer("old".into()),
            TrafficSource::TargetGroup("arn:web".into()),
            TrafficSource::LatticeTargetGroup("arn:lattice".into()),
        ];
        assert_eq!(sources, expected.into());
        let sent = identifiers(&sources).unwrap();
        let types: Vec<_> = sent.iter().filter_map(aws::TrafficSourceIdentifier::r#type).collect();
        assert_eq!((types, identifiers(&BTreeSet::new())), (vec!["elb", "elbv2", "vpc-lattice"], None));
    }

    #[test]
    fn aws_tags_are_left_out_and_states_keep_their_names() {
        let tagged = |key: &str| aws::TagDescription::builder().key(key).value("v").build();
        let member = aws::Instance::builder()
            .instance_id("i-1")
            .availability_zone("z")
            .lifecycle_state("Terminating:Wait".into())
            .health_status("Unhealthy")
            .build();
        let seen = aws::AutoScalingGroup::builder()
            .auto_scaling_group_name("g")
            .min_size(0)
            .max_size(2)
            .desired_capacity(1)
            .status("Delete in progress")
            .tags(tagged("aws:cloudformation:stack-name"))
            .tags(tagged("mine"))
            .instances(member)
            .suspended_processes(aws::SuspendedProcess::builder().process_name("AZRebalance").build())
            .suspended_processes(aws::SuspendedProcess::builder().process_name("Dreaming").build())
            .build();
        let group = group(&seen).unwrap();
        assert_eq!(group.status, GroupStatus::Deleting);
        assert_eq!(group.tags.keys().collect::<Vec<_>>(), ["mine"]);
        assert_eq!(group.suspended, [(Process::AZRebalance, String::new())].into());
        assert_eq!(group.instances[0].lifecycle, LifecycleState::TerminatingWait);
        assert_eq!(group.instances[0].health, Health::Unhealthy);
    }
}
