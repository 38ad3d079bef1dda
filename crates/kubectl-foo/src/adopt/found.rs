//! What AWS has of a group that is to be adopted, in the shapes of its responses (Auto Scaling API Reference,
//! AutoScalingGroup); its launch template is in [`template`](super::template). Only what a FooMachinePool can have is typed.

use super::manifest::STACK;
use super::template::{Mapping, Tag, TemplateVersion};
use crate::access::Reads;
use crate::aws::{Aws, items, or_unread};
use anyhow::{Result, anyhow, bail};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Tag of groups that belong to an EKS managed node group (EKS User Guide, "Tagging").
const NODE_GROUP: &str = "eks:nodegroup-name";

/// A group, what it launches from, and what else changes it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The group.
    pub group: Group,
    /// The version of the launch template that it launches from.
    pub template: TemplateVersion,
    /// The image of that version, if it can be read.
    pub image: Option<Image>,
    /// The images of single instance types, as far as they can be read.
    pub images_of_types: Vec<Image>,
    /// Names of its scaling policies.
    pub policies: Vec<String>,
    /// Names of its scheduled actions.
    pub schedules: Vec<String>,
    /// Ids of its instance refreshes that have not ended.
    pub refreshes: Vec<String>,
    /// Names of its lifecycle hooks for launches.
    pub launch_hooks: Vec<String>,
    /// Names of its lifecycle hooks for terminations.
    pub termination_hooks: Vec<String>,
    /// The CloudFormation stack that has it.
    pub stack: Option<String>,
    /// Names of launch templates that the pool's may not have.
    pub taken_names: Vec<String>,
    /// What could not be read, and why.
    pub unread: Vec<String>,
}

/// An Auto Scaling group.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Group {
    /// Its name.
    pub auto_scaling_group_name: String,
    /// Its ARN.
    #[serde(rename = "AutoScalingGroupARN")]
    pub arn: String,
    /// Set while it is being deleted.
    pub status: Option<String>,
    /// MinSize, in instances.
    pub min_size: i32,
    /// MaxSize, in instances.
    pub max_size: i32,
    /// DesiredCapacity, in instances.
    pub desired_capacity: i32,
    /// `units`, `vcpu` or `memory-mib`.
    pub desired_capacity_type: Option<String>,
    /// The template, unless it is in the mixed instances policy.
    pub launch_template: Option<Specification>,
    /// Set if it launches from a launch configuration.
    pub launch_configuration_name: Option<String>,
    /// Several instance types.
    pub mixed_instances_policy: Option<MixedInstancesPolicy>,
    /// Ids of its subnets, with commas.
    #[serde(rename = "VPCZoneIdentifier")]
    pub subnets: String,
    /// Its members.
    pub instances: Vec<Member>,
    /// Its tags.
    pub tags: Vec<Tag>,
    /// Types of health checks, with commas: `EC2`, `EBS`, `ELB`, `VPC_LATTICE`.
    pub health_check_type: String,
    /// Seconds after which AWS replaces an instance.
    pub max_instance_lifetime: Option<i64>,
    /// Its suspended processes.
    pub suspended_processes: Vec<Suspended>,
    /// Its warm pool.
    pub warm_pool_configuration: Option<WarmPool>,
}

/// A warm pool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct WarmPool {
    /// MinSize, in instances.
    pub min_size: i32,
    /// MaxGroupPreparedCapacity, in instances. Without a limit there is none, or it is -1.
    pub max_group_prepared_capacity: Option<i32>,
    /// `Stopped`, `Running` or `Hibernated`.
    pub pool_state: Option<String>,
    /// What becomes of instances that a scale-in picks.
    pub instance_reuse_policy: ReusePolicy,
    /// Set while it is being deleted.
    pub status: Option<String>,
}

/// What becomes of instances that a scale-in picks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ReusePolicy {
    /// Whether they return to the warm pool.
    pub reuse_on_scale_in: bool,
}

/// A suspended process.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Suspended {
    /// AWS's name of it.
    pub process_name: String,
}

/// A launch template and its version.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Specification {
    /// Its id.
    pub launch_template_id: String,
    /// Its version: a number, `$Latest` or `$Default`.
    pub version: Option<String>,
}

/// Several instance types.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct MixedInstancesPolicy {
    /// Template and types.
    pub launch_template: MixedTemplate,
    /// On-demand and spot instances.
    pub instances_distribution: Distribution,
}

/// The template of a policy and what is launched instead of its type.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct MixedTemplate {
    /// The template.
    pub launch_template_specification: Specification,
    /// The types, by priority.
    pub overrides: Vec<Override>,
}

/// One type of a policy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Override {
    /// The type.
    pub instance_type: Option<String>,
    /// How much capacity it counts as.
    pub weighted_capacity: Option<String>,
    /// A template of its own.
    pub launch_template_specification: Option<Value>,
    /// An image of its own.
    pub image_id: Option<String>,
    /// Attributes that types are chosen by.
    pub instance_requirements: Option<Map<String, Value>>,
}

/// On-demand and spot instances.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Distribution {
    /// How on-demand types are chosen.
    pub on_demand_allocation_strategy: Option<String>,
    /// The least number of on-demand instances.
    pub on_demand_base_capacity: Option<i32>,
    /// Their share beyond that, in percent.
    pub on_demand_percentage_above_base_capacity: Option<i32>,
    /// How spot pools are chosen.
    pub spot_allocation_strategy: Option<String>,
    /// Highest price of a spot instance, in US dollars per hour.
    pub spot_max_price: Option<String>,
}

/// A member of a group.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Member {
    /// Its id.
    pub instance_id: String,
    /// Its state.
    pub lifecycle_state: String,
}

/// An image.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Image {
    /// Its id.
    pub image_id: String,
    /// Its name.
    pub name: String,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// The device of its root volume.
    pub root_device_name: String,
    /// Its volumes.
    pub block_device_mappings: Vec<Mapping>,
}

impl Group {
    /// The launch template that it launches from.
    fn specification(&self) -> Option<&Specification> {
        let of_policy = |policy: &'_ MixedInstancesPolicy| {
            !policy.launch_template.launch_template_specification.launch_template_id.is_empty()
        };
        let mixed = self.mixed_instances_policy.as_ref().filter(|policy| of_policy(policy));
        mixed
            .map(|policy| &policy.launch_template.launch_template_specification)
            .or(self.launch_template.as_ref())
    }

    /// What its mixed instances policy lets it launch.
    pub(super) fn overrides(&self) -> impl Iterator<Item = &Override> {
        self.mixed_instances_policy.iter().flat_map(|policy| &policy.launch_template.overrides)
    }

    /// The EKS managed node group that it belongs to.
    pub fn node_group(&self) -> Option<&str> {
        self.tag(NODE_GROUP)
    }

    /// The value of a tag.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.tags.iter().find(|tag| tag.key == key).map(|tag| tag.value.as_str())
    }
}

/// Reads a group and what belongs to it. What only warns of obstacles may be unreadable.
///
/// # Errors
/// The group or its launch template cannot be read, or does not exist.
pub async fn read(aws: &Aws, reads: &Reads<'_>, name: &str) -> Result<Found> {
    let named = ["autoscaling", "describe-auto-scaling-groups", "--auto-scaling-group-names", name];
    let groups: Vec<Group> = list(aws, "AutoScalingGroups", &named).await?;
    let region = aws.region();
    let group = groups.into_iter().next();
    let group = group.ok_or_else(|| anyhow!("Auto Scaling group {name} does not exist in {region}"))?;
    if let Some(configuration) = &group.launch_configuration_name {
        bail!(
            "{name} launches from the launch configuration {configuration}: have it launch from a launch template first, or write the \
             FooMachinePool by hand"
        );
    }
    let specification = group.specification();
    let specification = specification.ok_or_else(|| anyhow!("{name} has no launch template"))?;
    let version = specification.version.as_deref().unwrap_or("$Default");
    let id = specification.launch_template_id.as_str();
    let of_template =
        ["ec2", "describe-launch-template-versions", "--launch-template-id", id, "--versions", version];
    let of_group = |operation: &'static str| ["autoscaling", operation, "--auto-scaling-group-name", name];
    let (policies, schedules, refreshes, hooks) = (
        of_group("describe-policies"),
        of_group("describe-scheduled-actions"),
        of_group("describe-instance-refreshes"),
        of_group("describe-lifecycle-hooks"),
    );
    let names = format!("Name=launch-template-name,Values={name},{}", name_beside(name));
    let templates = ["ec2", "describe-launch-templates", "--filters", names.as_str()];
    let (versions, policies, schedules, refreshes, hooks, templates) = tokio::join!(
        list::<TemplateVersion>(aws, "LaunchTemplateVersions", &of_template),
        list::<Policy>(aws, "ScalingPolicies", &policies),
        list::<Schedule>(aws, "ScheduledUpdateGroupActions", &schedules),
        list::<Refresh>(aws, "InstanceRefreshes", &refreshes),
        list::<Hook>(aws, "LifecycleHooks", &hooks),
        list::<Template>(aws, "LaunchTemplates", &templates),
    );
    let template = versions?.into_iter().next();
    let template = template.ok_or_else(|| anyhow!("launch template {id} has no version {version}"))?;
    let of_template = template.launch_template_data.image_id.as_deref();
    let image = images(aws, reads, of_template).await.into_iter().next();
    let images_of_types = images(aws, reads, group.overrides().filter_map(|it| it.image_id.as_deref())).await;
    let mut unread = Vec::new();
    let stack = or_unread(stack(aws, &group).await, &mut unread).flatten();
    let hooks = or_unread(hooks, &mut unread).unwrap_or_default();
    let of = |transition: &str| {
        let of = hooks.iter().filter(|hook| hook.lifecycle_transition == transition);
        of.map(|hook| hook.lifecycle_hook_name.clone()).collect()
    };
    let refreshes = or_unread(refreshes, &mut unread).unwrap_or_default();
    let policies = or_unread(policies, &mut unread).unwrap_or_default();
    let schedules = or_unread(schedules, &mut unread).unwrap_or_default();
    let templates = or_unread(templates, &mut unread).unwrap_or_default();
    Ok(Found {
        template,
        image,
        images_of_types,
        policies: policies.into_iter().map(|it| it.policy_name).collect(),
        schedules: schedules.into_iter().map(|it| it.scheduled_action_name).collect(),
        refreshes: refreshes
            .into_iter()
            .filter(Refresh::is_under_way)
            .map(|it| it.instance_refresh_id)
            .collect(),
        launch_hooks: of("autoscaling:EC2_INSTANCE_LAUNCHING"),
        termination_hooks: of("autoscaling:EC2_INSTANCE_TERMINATING"),
        stack,
        taken_names: templates.into_iter().map(|it| it.launch_template_name).collect(),
        unread,
        group,
    })
}

/// Images with these ids, as far as they can be read. A launch template can have the name of a parameter instead.
async fn images<'i>(aws: &Aws, reads: &Reads<'_>, ids: impl IntoIterator<Item = &'i str>) -> Vec<Image> {
    let ids: BTreeSet<&str> = ids.into_iter().filter(|id| id.starts_with("ami-")).collect();
    if ids.is_empty() {
        return Vec::new();
    }
    let command: Vec<&str> = ["ec2", "describe-images", "--image-ids"].into_iter().chain(ids).collect();
    reads.or_warn(list::<Image>(aws, "Images", &command).await).unwrap_or_default()
}

/// The CloudFormation stack that has the group. Its tag stays when the stack gives the group up.
async fn stack(aws: &Aws, group: &Group) -> Result<Option<String>> {
    let Some(stack) = group.tag(STACK) else { return Ok(None) };
    let name = group.auto_scaling_group_name.as_str();
    let command = ["cloudformation", "describe-stack-resources", "--physical-resource-id", name];
    match aws.read::<IgnoredAny>(&command).await {
        Ok(_) => Ok(Some(stack.to_owned())),
        // CloudFormation API Reference, DescribeStackResources: of a resource in no stack a ValidationError.
        Err(error) if error.to_string().contains("does not exist") => Ok(None),
        Err(error) => Err(error),
    }
}

/// Most characters of the name of a launch template (EC2 API Reference, CreateLaunchTemplate).
const LONGEST_NAME: usize = 128;

/// The same name with an addition, for the pool's launch template if one of the first name exists.
pub(super) fn name_beside(name: &str) -> String {
    const ADDITION: &str = "-foo";
    let kept: String = name.chars().take(LONGEST_NAME - ADDITION.len()).collect();
    kept + ADDITION
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Template {
    launch_template_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Policy {
    policy_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Schedule {
    scheduled_action_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Refresh {
    instance_refresh_id: String,
    status: String,
}

impl Refresh {
    /// Whether it can still replace instances (Auto Scaling API Reference, InstanceRefresh).
    fn is_under_way(&self) -> bool {
        let ended = ["Successful", "Failed", "Cancelled", "RollbackFailed", "RollbackSuccessful"];
        !ended.contains(&self.status.as_str())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Hook {
    lifecycle_hook_name: String,
    lifecycle_transition: String,
}

/// The items of a response, which are below that name.
async fn list<T: DeserializeOwned>(aws: &Aws, name: &str, command: &[&str]) -> Result<Vec<T>> {
    items(aws.read(command).await?, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_that_can_still_replace_instances_is_under_way() {
        let is = |status: &str| {
            Refresh { instance_refresh_id: "1".to_owned(), status: status.to_owned() }.is_under_way()
        };
        assert!(["Pending", "InProgress", "Cancelling", "RollbackInProgress", "Baking"].into_iter().all(is));
        assert!(
            !["Successful", "Failed", "Cancelled", "RollbackFailed", "RollbackSuccessful"]
                .into_iter()
                .any(is)
        );
    }

    #[test]
    fn a_name_beside_a_long_one_is_not_longer() {
        assert_eq!(name_beside("workers"), "workers-foo");
        assert_eq!(name_beside(&"a".repeat(128)).len(), 128);
    }
}
