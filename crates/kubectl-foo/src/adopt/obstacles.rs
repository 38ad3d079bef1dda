//! What prevents the adoption of a group, or changes the group besides the provider.

use super::found::{Found, Group, Suspended};
use super::manifest::CAPA_CLUSTER;
use crate::cluster::InAws;
use crate::text::quoted;
use anyhow::{Result, bail};
use foo_model::names::{TAG_ADOPTABLE, TAG_CLUSTER, TAG_INSTALLATION, TAG_POOL};

/// Most tags of a FooMachinePool.
const MOST_TAGS: usize = 40;
/// Beginning of the keys of tags by which cluster-autoscaler with the provider aws finds groups.
pub(super) const AUTOSCALER: &str = "k8s.io/cluster-autoscaler/";

/// Whether cluster-autoscaler scales the group.
pub(super) fn is_autoscaled(group: &Group) -> bool {
    group.tags.iter().any(|tag| tag.key.starts_with(AUTOSCALER))
}

/// What has to be done first, each with the way to do it.
///
/// # Errors
/// The group can never be adopted.
pub(super) fn obstacles(found: &Found, cluster: &InAws) -> Result<Vec<String>> {
    let Found { group, policies, schedules, refreshes, stack, unread, .. } = found;
    let name = &group.auto_scaling_group_name;
    if let Some(node_group) = group.node_group() {
        bail!(
            "{name} belongs to the EKS managed node group {node_group}: AWS owns it, and it cannot be adopted"
        );
    }
    if let Some(owner) = [TAG_POOL, TAG_CLUSTER, TAG_INSTALLATION].iter().find_map(|key| group.tag(key)) {
        bail!("{name} belongs to {owner} already, as a tag of this provider says");
    }
    if let Some(status) = &group.status {
        bail!("{name} is being deleted ({status})");
    }
    let mut obstacles: Vec<String> = unread.iter().map(|why| format!("not known: {why}")).collect();
    obstacles.extend(stack.iter().map(|stack| {
        format!("the CloudFormation stack {stack} has the group: remove it from the stack's template with DeletionPolicy Retain")
    }));
    let of_capa = group.tags.iter().filter(|tag| tag.key.starts_with(CAPA_CLUSTER));
    obstacles.extend(of_capa.map(|tag| {
        format!(
            "Cluster API Provider AWS manages the group: pause the Cluster of its AWSMachinePool, then delete the tag {} of the group",
            tag.key
        )
    }));
    obstacles.extend(policies.iter().map(|policy| sets_size(&format!("scaling policy {policy}"))));
    obstacles.extend(schedules.iter().map(|action| sets_size(&format!("scheduled action {action}"))));
    obstacles.extend(refreshes.iter().map(|refresh| {
        format!("instance refresh {refresh} replaces instances: wait until it ends, or cancel it")
    }));
    if is_autoscaled(group) {
        obstacles.push(
            "cluster-autoscaler finds the group by its tags: stop it, and use the one for Cluster API"
                .to_owned(),
        );
    }
    obstacles.extend(of_capacity(group));
    obstacles.extend(of_cluster(group, cluster));
    Ok(obstacles)
}

/// What the Cluster does not allow.
fn of_cluster(group: &Group, cluster: &InAws) -> Vec<String> {
    let mut obstacles = Vec::new();
    if let Some(subnets) = &cluster.subnets {
        let foreign = group.subnets.split(',').filter(|id| !id.is_empty() && !subnets.contains(*id));
        obstacles.extend(foreign.map(|id| format!("{id} is no subnet of the FooCluster: add it there")));
    }
    if cluster.allows_adoption == Some(false) {
        obstacles.push(format!(
            "the FooClusterIdentity {} does not allow adoption: its administrator sets allowAdoption",
            cluster.identity
        ));
    }
    obstacles
}

/// What stays to be done when the group is adopted.
pub(super) fn afterwards(found: &Found) -> Vec<String> {
    let terminations = found.termination_hooks.iter().map(|hook| {
        format!(
            "lifecycle hook {hook} delays terminations, too: remove it with its controller, since the provider drains Nodes; or keep both, \
             and name the hook in spec.lifecycleHooks"
        )
    });
    let launches = found.launch_hooks.iter().map(|hook| {
        format!("lifecycle hook {hook} delays launches until its controller completes it: remove both, or keep both, and name \
             the hook in spec.lifecycleHooks")
    });
    let suspended = found.group.suspended_processes.iter().filter_map(of_suspension);
    terminations.chain(launches).chain(of_health_checks(&found.group)).chain(suspended).collect()
}

/// What a suspended process means. AZRebalance is suspended by the provider.
fn of_suspension(suspended: &Suspended) -> Option<String> {
    match suspended.process_name.as_str() {
        "" | "AZRebalance" => None,
        name @ ("Launch" | "Terminate") => Some(format!(
            "process {name} is suspended: resume it, otherwise the pool cannot change its instances"
        )),
        name => Some(format!(
            "process {name} is suspended and stays so: resume it, or name it in spec.suspendedProcesses"
        )),
    }
}

/// Auto Scaling's own replacement of what a load balancer reports as unhealthy.
fn of_health_checks(group: &Group) -> Option<String> {
    let other = group
        .health_check_type
        .split(',')
        .map(str::trim)
        .find(|kind| ["ELB", "VPC_LATTICE"].contains(kind))?;
    Some(format!(
        "the group has health checks of the type {other}: AWS replaces all unhealthy instances at once, drained. With the type EC2, and \
         spec.targetGroups and spec.targetHealth, the provider replaces them within limits"
    ))
}

fn sets_size(what: &str) -> String {
    format!(
        "{what} changes the desired capacity: delete it, or let it set the size (annotation cluster.x-k8s.io/replicas-managed-by of the \
         MachinePool, and spec.autoscaling)"
    )
}

fn of_capacity(group: &Group) -> impl Iterator<Item = String> {
    let overrides = group.overrides();
    let is_heavy = |weight: &str| weight != "1";
    let weighted = overrides.filter_map(|it| it.weighted_capacity.as_deref()).any(is_heavy);
    let weights = weighted.then(|| "the instance types have weights: set all to 1".to_owned());
    let unit = group.desired_capacity_type.as_deref().filter(|unit| *unit != "units");
    let unit = unit.map(|unit| format!("the desired capacity is in {unit}: it has to be in units"));
    let is_other = |state: &str| state != "InService";
    let others = group.instances.iter().filter(move |it| is_other(&it.lifecycle_state));
    let others = others.map(|it| {
        format!("instance {} is {}: all instances have to be InService", it.instance_id, it.lifecycle_state)
    });
    let (desired, has) = (group.desired_capacity, group.instances.len());
    let differs = usize::try_from(desired).ok() != Some(has);
    let count = differs.then(|| {
        format!("the group has {has} instances, and desired capacity {desired}: wait until these are equal")
    });
    weights.into_iter().chain(unit).chain(count).chain(others.collect::<Vec<_>>())
}

/// More tags than a FooMachinePool can have.
pub(super) fn of_tags(tags: usize) -> Option<String> {
    let many = tags > MOST_TAGS;
    many.then(|| format!("instances have {tags} tags: a FooMachinePool has at most {MOST_TAGS}; remove some from the manifest"))
}

/// What happens with instances beside what the provider does.
pub(super) fn lifetime(group: &Group) -> Option<String> {
    let seconds = group.max_instance_lifetime.filter(|seconds| *seconds > 0)?;
    Some(format!(
        "AWS replaces instances after {} days; their Nodes are drained. The provider does it within the limits of roll-outs, with \
         spec.maxInstanceLifetimeSeconds",
        seconds / 86_400
    ))
}

/// The command by which the owner of the account agrees, unless that is done.
pub(super) fn consent(group: &Group, adopter: &str, region: &str) -> Option<String> {
    if group.tag(TAG_ADOPTABLE) == Some(adopter) {
        return None;
    }
    let name = &group.auto_scaling_group_name;
    let tag = format!(
        "ResourceId={name},ResourceType=auto-scaling-group,Key={TAG_ADOPTABLE},Value={adopter},PropagateAtLaunch=false"
    );
    Some(format!("aws autoscaling create-or-update-tags --region {region} --tags {}", quoted(&tag)))
}
