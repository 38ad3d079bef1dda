//! From gathered objects to the desired state: the only place that validates user input.
//!
//! Every error becomes a [`Blocked`] with a reason and a message that stays the same while the cause does;
//! after this file the desired state is valid.

use super::bandwidth;
use super::capacity_block;
use super::content::{self, Facts, NewData};
use super::efa;
use super::hooks;
use super::image::{self, Image, usable};
use super::mix::{self, Arm64};
use super::network_interfaces;
use super::notifications;
use super::overlay;
use super::replacement_rules;
use super::stored;
use super::traffic::{self, Sources};
use super::warm_pool;
use super::{node_version, rival_machine_pools};
use crate::identities::{Limits, Neighbours};
use crate::lookup;
use crate::pool::gather::Gathered;
use crate::pool::identity;
use crate::pool::reads::SecretContent;
use foo_api::in_aws::Thing;
use foo_api::pool::image_source::is_arm64;
use foo_api::shared::{NetworkReference, unsigned};
use foo_api::{capi, names, pool as api};
use foo_cloud::lookups::{Asking, Lookups};
use foo_cloud::{ImageInfo, InstanceTypeInfo};
use foo_model::{
    AdditionalInterface, Adoption, Blocked, DeletionTimeouts, GroupSettings, HookName, InstancesMix,
    LifecycleHook, Maintenance, Notifications, Protection, Reason, Seconds, SecurityGroupId, SubnetId,
};
use foo_planner::desired::{
    Desired, Goal, GroupConfig, Identity, ScaleIn, Size, Template, VictimPolicy, Wanted,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use std::collections::{BTreeMap, BTreeSet};

/// Stabilization of an unmarked scale-in if cluster-autoscaler manages the size. It marks every Machine that
/// it wants deleted. If AWS has no capacity it cancels more than it requested, without marks, and requests
/// again after its back-off of at most thirty minutes (`--max-node-group-backoff-duration`); it needs five
/// more to notice and correct that.
const AUTOSCALER_STABILIZATION: Seconds = Seconds(35 * 60);

/// The AWS cloud provider finds the resources of a cluster by tags with this prefix.
const CLOUD_PROVIDER_TAG: &str = "kubernetes.io/cluster/";

/// The bootstrap data of a pool, or why it is missing.
pub(in crate::pool) enum BootstrapData {
    /// They are there.
    Found(SecretContent),
    /// Missing, and why.
    Missing(Blocked),
}

/// What was looked up earlier.
#[derive(Clone, Copy)]
pub(in crate::pool) struct LookedUp<'a> {
    /// Facts about the pool's instance types; `status.capacity` needs them even if nothing else is usable.
    pub(in crate::pool) types: &'a Result<Vec<InstanceTypeInfo>, Blocked>,
    /// The image.
    pub(in crate::pool) image: &'a Image,
    /// The name that the workload cluster has in AWS, if it is known.
    pub(in crate::pool) workload_name: Option<&'a str>,
    /// The pool's region.
    pub(in crate::pool) region: &'a str,
    /// What the identity lets the pool name in AWS.
    pub(in crate::pool) limits: &'a Limits,
    /// Whose things in AWS it may not name.
    pub(in crate::pool) neighbours: &'a Neighbours<'a>,
}

impl LookedUp<'_> {
    /// The arm64 types, if they have another image than the launch template.
    fn arm64(&self) -> Option<Arm64> {
        let image = self.image.ids.as_ref().ok()?.arm64.clone()?;
        let types = self.types.as_ref().ok()?.iter().filter(|kind| is_arm64(&kind.architecture));
        Some(Arm64 { image, types: types.map(|kind| kind.instance_type.clone()).collect() })
    }
}

/// The desired state of a pool that can use AWS.
pub(in crate::pool) async fn desired(
    identity: &Identity,
    gathered: &Gathered,
    data: BootstrapData,
    known: LookedUp<'_>,
    lookups: &Lookups,
    asking: Asking,
) -> Desired {
    let spec = &gathered.pool.spec;
    let tags = tags(spec, identity, known.workload_name);
    let template = match (gathered.goal, data) {
        (Goal::Remove | Goal::Retain | Goal::Orphan, _) => {
            Wanted::Blocked(Blocked::new(Reason::Deleting, "the pool is being deleted"))
        }
        (Goal::Run, BootstrapData::Missing(blocked)) => Wanted::Blocked(blocked),
        (Goal::Run, BootstrapData::Found(data)) => {
            wanted(match named(spec, known.limits).and_then(|()| foreign_tag(spec, known.workload_name)) {
                Ok(()) => template(gathered, data, identity, &tags, known, lookups, asking).await,
                Err(blocked) => Err(blocked),
            })
        }
    };
    let subnets = match gathered.goal {
        Goal::Run => wanted(subnets(gathered, lookups, asking).await.and_then(|subnets| {
            known.limits.subnets(subnets.iter().map(SubnetId::as_str))?;
            let named = subnets.iter().map(|id| (Thing::Subnet, id.as_str()));
            known.limits.of_neighbours(named, known.neighbours)?;
            Ok(subnets)
        })),
        Goal::Remove | Goal::Retain | Goal::Orphan => {
            Wanted::Blocked(Blocked::new(Reason::Deleting, "the pool is being deleted"))
        }
    };
    let mut missing = missing(gathered);
    let size = match size(gathered) {
        Ok(size) => size,
        Err(blocked) => {
            missing.push(blocked);
            Size::Unknown
        }
    };
    let warnings = autoscaler_warning(gathered)
        .into_iter()
        .chain(rival_machine_pools::warning(gathered))
        .chain(node_version::warning(gathered))
        .chain(block_warning(gathered))
        .chain(known.image.warning.clone());
    assembled(
        gathered,
        identity,
        Parts {
            adoption: Adoption::of(spec.adopt, known.limits.allow_adoption()),
            mix: mix::mix(spec, known.arm64().as_ref()),
            missing,
            size,
            template,
            subnets,
            sources: traffic::sources(spec, known.limits),
            hooks: hooks::allowed(spec, known.limits).ok().map(|()| hooks::hooks(spec)),
            notifications: notifications::allowed(spec, known.limits)
                .ok()
                .map(|()| notifications::notifications(spec)),
            tags,
            warnings: warnings.collect(),
        },
    )
}

/// The desired state of a pool that cannot use AWS, for this reason: no change.
pub(in crate::pool) fn without_aws(gathered: &Gathered, because: Option<&Blocked>) -> Desired {
    let unknown = || {
        Blocked::new(
            Reason::WaitingForClusterInfrastructure,
            "the FooCluster and its region are not known yet",
        )
    };
    let mut missing = missing(gathered);
    // The first missing prerequisite is the cause of everything else.
    let waiting = because.or_else(|| missing.first()).cloned().unwrap_or_else(unknown);
    if missing.is_empty() || gathered.unreadable.is_some() {
        missing.insert(0, waiting.clone());
    }
    let without_cluster = || identity::without_cluster(&gathered.pool, &gathered.installation);
    let parts = Parts {
        adoption: Adoption::of(gathered.pool.spec.adopt, false),
        mix: mix::mix(&gathered.pool.spec, None),
        missing,
        size: Size::Replicas { wanted: 0, ceiling: None },
        template: Wanted::Blocked(waiting.clone()),
        subnets: Wanted::Blocked(waiting),
        sources: Sources::default(),
        hooks: None,
        notifications: None,
        tags: BTreeMap::new(),
        warnings: Vec::new(),
    };
    let desired = assembled(gathered, &gathered.identity.clone().unwrap_or_else(without_cluster), parts);
    // The desired replicas are unknown during this time, so it does not count for the stabilization of a
    // scale-in. No Machine is deleted, so none needs timeouts for it.
    Desired {
        scale_in: ScaleIn { stabilization: Seconds(0), ..desired.scale_in },
        timeouts: DeletionTimeouts::default(),
        ..desired
    }
}

/// The parts that need AWS.
struct Parts {
    adoption: Adoption,
    mix: Option<InstancesMix>,
    missing: Vec<Blocked>,
    size: Size,
    template: Wanted<Template>,
    subnets: Wanted<BTreeSet<SubnetId>>,
    sources: Sources,
    hooks: Option<BTreeMap<HookName, LifecycleHook>>,
    notifications: Option<Notifications>,
    tags: BTreeMap<String, String>,
    warnings: Vec<Blocked>,
}

fn assembled(gathered: &Gathered, identity: &Identity, parts: Parts) -> Desired {
    let Sources { target_groups, classic_load_balancers, lattice_target_groups } = parts.sources;
    let warmup = gathered.pool.spec.autoscaling.as_ref().and_then(|it| it.default_instance_warmup_seconds);
    Desired {
        missing: parts.missing,
        size: parts.size,
        template: parts.template,
        group: GroupConfig {
            settings: GroupSettings {
                subnets: parts.subnets,
                new_instances: Protection::Protected,
                default_warmup: warmup.map(|seconds| Seconds(unsigned(seconds))),
            },
            mix: parts.mix,
            tags: parts.tags,
            target_groups,
            classic_load_balancers,
            lattice_target_groups,
            hooks: parts.hooks,
            notifications: parts.notifications,
            suspended: hooks::suspended(&gathered.pool.spec),
            warm_pool: gathered.pool.spec.warm_pool.map(warm_pool::settings),
            storage: stored::storage(&gathered.pool.spec),
        },
        scale_in: scale_in(gathered),
        rollout: replacement_rules::rollout(gathered),
        // As the spec has it: when its windows are open depends on the time of the pass.
        maintenance: Maintenance::Always,
        capacity_block: capacity_block::block(&gathered.pool.spec),
        remediation: replacement_rules::remediation(gathered),
        target_health: replacement_rules::target_health(gathered),
        interruption: replacement_rules::interruption(gathered),
        timeouts: timeouts(gathered.machine_pool.as_deref()),
        warnings: parts.warnings,
        identity: identity.clone(),
        goal: gathered.goal,
        pause: gathered.paused_by,
        adoption: parts.adoption,
        retains_adopted: gathered.pool.spec.deletion_policy.is_none(),
        may_have_adopted: gathered.pool.spec.group_name.is_some(),
    }
}

/// Whether the identity allows what a spec names in AWS. A user who chooses both instance profile and user data runs
/// programs with the rights of the profile's role.
fn named(spec: &api::FooMachinePoolSpec, limits: &Limits) -> Result<(), Blocked> {
    if let Some(profile) = &spec.iam_instance_profile {
        limits.profile(profile)?;
    }
    if let Some(name) = &spec.ssh_key_name {
        limits.key_pair(name)?;
    }
    let root = spec.root_volume.iter().filter_map(|volume| volume.kms_key_id.as_deref());
    let data = spec.volumes.iter().filter_map(|volume| volume.volume.kms_key_id.as_deref());
    root.chain(data).try_for_each(|key| limits.kms_key(key))?;
    traffic::allowed(spec, limits)?;
    hooks::allowed(spec, limits)?;
    notifications::allowed(spec, limits)?;
    let mut snapshots = spec.volumes.iter().filter_map(|volume| volume.snapshot_id.as_deref());
    snapshots.try_for_each(|id| limits.snapshot(id))?;
    capacity(spec).into_iter().try_for_each(|name| limits.capacity(name))?;
    limits.subnets(overlay::secondary_subnets(spec))?;
    match &spec.user_data_storage {
        Some(storage) => limits.bucket(&storage.s3.bucket),
        None => Ok(()),
    }
}

/// Names, ids and ARNs of what `allowedCapacity` limits.
fn capacity(spec: &api::FooMachinePoolSpec) -> Vec<&str> {
    let placement = spec.placement.iter();
    let placement = placement.flat_map(|it| [&it.group_name, &it.group_id, &it.host_resource_group_arn]);
    let reservation = spec.capacity_reservation.iter().flat_map(|it| [&it.id, &it.resource_group_arn]);
    let block = capacity_block::named(spec).map(|it| &it.id);
    let all = placement.chain(reservation).flatten().chain(block).chain(&spec.license_configurations);
    all.map(String::as_str).collect()
}

fn wanted<T>(result: Result<T, Blocked>) -> Wanted<T> {
    match result {
        Ok(value) => Wanted::Ready(value),
        Err(blocked) => Wanted::Blocked(blocked),
    }
}

/// Prerequisites of the first AWS write that are missing.
pub(in crate::pool) fn missing(gathered: &Gathered) -> Vec<Blocked> {
    let mut missing = Vec::new();
    if gathered.machine_pool.is_none() {
        missing.push(Blocked::new(
            Reason::WaitingForMachinePool,
            "no MachinePool owns this FooMachinePool yet: one must reference it in \
             spec.template.spec.infrastructureRef",
        ));
    }
    missing.extend(turned_away(gathered));
    match &gathered.cluster {
        None => missing.push(Blocked::new(Reason::WaitingForCluster, "the Cluster does not exist yet")),
        Some(cluster) if !cluster.infrastructure_provisioned() => missing.push(Blocked::new(
            Reason::WaitingForClusterInfrastructure,
            format!("the Cluster's infrastructure is not provisioned yet{}", what_it_says(gathered)),
        )),
        Some(_) if gathered.foo_cluster.is_none() => missing.push(Blocked::new(
            Reason::WaitingForClusterInfrastructure,
            "the Cluster's infrastructureRef references no existing FooCluster",
        )),
        Some(_) => {}
    }
    missing
}

/// Whether the MachinePool names another infrastructure meanwhile. Cluster API does not remove its owner
/// reference.
fn turned_away(gathered: &Gathered) -> Option<Blocked> {
    let machine_pool = gathered.machine_pool.as_ref()?;
    let named = &machine_pool.spec.template.spec.infrastructure_ref;
    let name = gathered.pool.name_any();
    let is_named = named.kind == "FooMachinePool" && named.name == name;
    (!is_named).then(|| {
        Blocked::new(
            Reason::NotReferenced,
            format!(
                "MachinePool {} references {} {} now: delete FooMachinePool {name}, whose instances are then drained \
                 and terminated, or reference it again in spec.template.spec.infrastructureRef",
                machine_pool.name_any(),
                named.kind,
                named.name
            ),
        )
    })
}

/// The FooCluster's own message, because the cause is there.
fn what_it_says(gathered: &Gathered) -> String {
    let Some(cluster) = &gathered.foo_cluster else { return String::new() };
    let conditions = cluster.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let ready = foo_api::conditions::find(conditions, "Ready").filter(|ready| ready.status == "False");
    let said = |ready: &Condition| {
        format!(": FooCluster {} says {}: {}", cluster.name_any(), ready.reason, ready.message)
    };
    ready.map(said).unwrap_or_default()
}

fn size(gathered: &Gathered) -> Result<Size, Blocked> {
    let spec = &gathered.pool.spec;
    let Some(machine_pool) = &gathered.machine_pool else { return Ok(Size::Unknown) };
    if turned_away(gathered).is_some() {
        // Its requests concern another pool; existing instances stay until they are deleted.
        return Ok(Size::Unknown);
    }
    // Cluster API's webhook always sets replicas. An object without the field must not drain its pool down to
    // a default.
    let Some(wanted) = machine_pool.spec.replicas.map(unsigned) else {
        return Err(Blocked::new(
            Reason::ReplicasUnknown,
            format!(
                "MachinePool {} does not say how many replicas it requests: set spec.replicas",
                machine_pool.name_any()
            ),
        ));
    };
    if !managed_externally(gathered) || capacity_block::named(spec).is_some() {
        return Ok(Size::Replicas { wanted, ceiling: spec.max_size.map(unsigned) });
    }
    let Some(bounds) = &spec.autoscaling else {
        return Err(Blocked::new(
            Reason::AutoscalingBoundsMissing,
            format!(
                "the MachinePool has the annotation {}: set spec.autoscaling.minSize and maxSize of this \
                 FooMachinePool, or remove the annotation from the MachinePool",
                names::REPLICAS_MANAGED_BY_ANNOTATION
            ),
        ));
    };
    Ok(Size::External { min: unsigned(bounds.min_size), max: unsigned(bounds.max_size), published: wanted })
}

/// The provider sets the size of a pool in a Capacity Block, since at its end the pool has no instances.
fn block_warning(gathered: &Gathered) -> Option<Blocked> {
    let ignored = managed_externally(gathered) && capacity_block::named(&gathered.pool.spec).is_some();
    ignored.then(|| {
        Blocked::new(
            Reason::CapacityBlockNeedsReplicas,
            format!(
                "the provider sets the size of a pool in a Capacity Block, to spec.replicas of the MachinePool: the annotation \
                 {} has no effect, remove it from the MachinePool",
                names::REPLICAS_MANAGED_BY_ANNOTATION
            ),
        )
    })
}

fn managed_externally(gathered: &Gathered) -> bool {
    gathered
        .machine_pool
        .as_ref()
        .and_then(|machine_pool| machine_pool.annotations().get(names::REPLICAS_MANAGED_BY_ANNOTATION))
        .is_some_and(|value| value != "false")
}

/// cluster-autoscaler's two annotations on the MachinePool, if one of them is set.
fn autoscaler_bounds(gathered: &Gathered) -> Option<(Option<&str>, Option<&str>)> {
    let annotations = gathered.machine_pool.as_ref()?.annotations();
    let min = annotations.get(names::AUTOSCALER_MIN_ANNOTATION).map(String::as_str);
    let max = annotations.get(names::AUTOSCALER_MAX_ANNOTATION).map(String::as_str);
    (min.is_some() || max.is_some()).then_some((min, max))
}

/// A pair that cluster-autoscaler cannot parse disables every node group in its scope, and Cluster API's
/// webhook accepts it: so the provider reports it.
fn autoscaler_warning(gathered: &Gathered) -> Option<Blocked> {
    let complaint = match autoscaler_bounds(gathered)? {
        (Some(min), Some(max)) => match (min.parse::<i32>(), max.parse::<i32>()) {
            (Ok(min), Ok(_)) if min < 0 => Some(format!("the minimum {min} is below zero")),
            (Ok(min), Ok(max)) if max < min => Some(format!("the maximum {max} is below the minimum {min}")),
            (Ok(_), Ok(_)) => None,
            _ => Some(format!("{min:?} and {max:?} must both be whole numbers")),
        },
        (None, Some(_)) => Some("the minimum is missing".to_owned()),
        (Some(_), _) => Some("the maximum is missing".to_owned()),
        (None, None) => None,
    };
    complaint.map(|what| {
        Blocked::new(
            Reason::AutoscalerAnnotationsInvalid,
            format!(
                "cluster-autoscaler ignores all its node groups because of this MachinePool's annotations: {what}"
            ),
        )
    })
}

fn scale_in(gathered: &Gathered) -> ScaleIn {
    let rules = &gathered.pool.spec.scale_in;
    let stabilization = match rules.stabilization_seconds {
        Some(seconds) => Seconds(unsigned(seconds)),
        None if autoscaler_bounds(gathered).is_some() && !managed_externally(gathered) => {
            AUTOSCALER_STABILIZATION
        }
        None => Seconds(0),
    };
    ScaleIn {
        policy: match rules.policy {
            api::VictimPolicy::Oldest => VictimPolicy::Oldest,
            api::VictimPolicy::Newest => VictimPolicy::Newest,
        },
        max_concurrent_drains: unsigned(rules.max_concurrent_drains).max(1),
        stabilization,
    }
}

fn timeouts(machine_pool: Option<&capi::MachinePool>) -> DeletionTimeouts {
    let deletion = machine_pool.and_then(|pool| pool.spec.template.spec.deletion).unwrap_or_default();
    let seconds = |value: Option<i32>| value.map(|value| Seconds(unsigned(value)));
    DeletionTimeouts {
        node_drain: seconds(deletion.node_drain_timeout_seconds),
        node_volume_detach: seconds(deletion.node_volume_detach_timeout_seconds),
        node_deletion: seconds(deletion.node_deletion_timeout_seconds),
    }
}

/// Tags of the group, of instances and of volumes, besides the ownership tags.
fn tags(
    spec: &api::FooMachinePoolSpec,
    identity: &Identity,
    workload_name: Option<&str>,
) -> BTreeMap<String, String> {
    let mut tags = spec.tags.clone();
    tags.retain(|key, _| !claims_another_cluster(key, workload_name));
    tags.entry("Name".to_owned()).or_insert_with(|| identity.group.as_str().to_owned());
    // The AWS cloud provider finds its instances by this tag.
    tags.extend(workload_name.map(|name| (format!("{CLOUD_PROVIDER_TAG}{name}"), "owned".to_owned())));
    tags
}

/// Whether this tag would make the cloud controllers of another cluster manage the resource.
fn claims_another_cluster(key: &str, workload_name: Option<&str>) -> bool {
    key.strip_prefix(CLOUD_PROVIDER_TAG).is_some_and(|cluster| Some(cluster) != workload_name)
}

fn foreign_tag(spec: &api::FooMachinePoolSpec, workload_name: Option<&str>) -> Result<(), Blocked> {
    let of_interfaces = overlay::interface_tags(spec);
    let all = [("spec.tags", &spec.tags), ("spec.launchTemplateOverlay.TagSpecifications", &of_interfaces)];
    let foreign = |tags: &BTreeMap<String, String>| {
        tags.keys().find(|key| claims_another_cluster(key, workload_name)).cloned()
    };
    match all.into_iter().find_map(|(field, tags)| Some((field, foreign(tags)?))) {
        None => Ok(()),
        Some((field, key)) => Err(Blocked::new(
            Reason::TagNotAllowed,
            format!(
                "{field}: {key:?} is for instances of another Cluster and is not set: remove it from the spec"
            ),
        )),
    }
}

async fn template(
    gathered: &Gathered,
    data: SecretContent,
    identity: &Identity,
    tags: &BTreeMap<String, String>,
    known: LookedUp<'_>,
    lookups: &Lookups,
    asking: Asking,
) -> Result<Template, Blocked> {
    let spec = &gathered.pool.spec;
    let ids = known.image.ids.as_ref().map_err(Clone::clone)?;
    let (image, efa, bandwidth_weighting) = match known.types {
        Ok(types) => {
            let image = usable_image(spec, ids, types, lookups, asking).await?;
            let efa = efa::efa(spec, types)?;
            network_interfaces::are_supported(spec, efa, types)?;
            (image, efa, bandwidth::weighting(spec, types)?)
        }
        Err(blocked) => {
            // An image that does not exist is the first thing to say.
            usable(&ids.template, &[], lookups, asking).await?;
            return Err(blocked.clone());
        }
    };
    let mut tags = tags.clone();
    tags.extend(identity.ownership_tags());
    let bootstrap = gathered.machine_pool.as_ref().map(|pool| &pool.spec.template.spec);
    content::template(
        spec,
        Facts {
            image: image.id,
            arm64: known.arm64(),
            root_device: image.root_device,
            security_groups: security_groups(gathered, known, lookups, asking).await?,
            user_data: data.user_data,
            waits_in_warm_pool: data.waits_in_warm_pool,
            data_secret_name: bootstrap
                .and_then(|spec| spec.bootstrap.data_secret_name.clone())
                .unwrap_or_default(),
            new_data: NewData::of(bootstrap.and_then(|spec| spec.bootstrap.config_ref.as_ref())),
            version: bootstrap.and_then(|spec| spec.version.clone()),
            keeping: stored::keeping(spec, (known.region, identity), lookups, asking).await?,
            tags,
            efa,
            bandwidth_weighting,
            interfaces: interfaces(gathered, known, lookups, asking).await?,
        },
    )
}

/// Facts about the image of the launch template. That of arm64 types, if they have another one, can be used with the same template.
async fn usable_image(
    spec: &api::FooMachinePoolSpec,
    ids: &image::Ids,
    types: &[InstanceTypeInfo],
    lookups: &Lookups,
    asking: Asking,
) -> Result<ImageInfo, Blocked> {
    let image::Ids { template, arm64 } = ids;
    let (plain, of_arm64) = image::by_image(types, arm64.as_ref());
    let image = usable(template, &plain, lookups, asking).await?;
    let Some(arm64) = arm64 else { return Ok(image) };
    let arm64 = usable(arm64, &of_arm64, lookups, asking).await?;
    if spec.root_volume.is_none() || image.root_device == arm64.root_device {
        return Ok(image);
    }
    let message = format!(
        "spec.rootVolume needs images with one device name of the root volume: image {} has {}, image {} has {}",
        lookup::shown(template.as_str()),
        image.root_device,
        lookup::shown(arm64.id.as_str()),
        arm64.root_device
    );
    Err(Blocked::new(Reason::ImagesNotCombinable, message))
}

/// Facts about the pool's instance types.
pub(in crate::pool) async fn instance_types(
    spec: &api::FooMachinePoolSpec,
    lookups: &Lookups,
    asking: Asking,
) -> Result<Vec<InstanceTypeInfo>, Blocked> {
    let mut found: Vec<InstanceTypeInfo> = mix::described_types(spec).collect();
    for name in mix::named_types(spec) {
        let kind = lookups.instance_type(&name, asking).await.map_err(|error| {
            lookup::failed(
                Reason::InstanceTypeNotFound,
                &format!("instance type {}", lookup::shown(name.as_str())),
                &error,
            )
        })?;
        found.push(kind);
    }
    Ok(found)
}

async fn security_groups(
    gathered: &Gathered,
    known: LookedUp<'_>,
    lookups: &Lookups,
    asking: Asking,
) -> Result<Vec<SecurityGroupId>, Blocked> {
    let references = &gathered.pool.spec.security_groups;
    let mut ids = named_groups(gathered, references, known, lookups, asking).await?;
    let of_cluster = gathered.network().into_iter().flat_map(|network| &network.security_groups);
    ids.extend(of_cluster.map(|id| SecurityGroupId::new(id.as_str())));
    Ok(ids.into_iter().collect())
}

/// The interfaces of `spec.networkInterfaces` with their own security groups.
async fn interfaces(
    gathered: &Gathered,
    known: LookedUp<'_>,
    lookups: &Lookups,
    asking: Asking,
) -> Result<Vec<AdditionalInterface>, Blocked> {
    let mut all = Vec::new();
    for requested in &gathered.pool.spec.network_interfaces {
        let groups = named_groups(gathered, &requested.security_groups, known, lookups, asking).await?;
        all.extend(network_interfaces::each(requested, groups.into_iter().collect()));
    }
    Ok(all)
}

/// Security groups that the spec names, which have to be in the VPC of the FooCluster.
async fn named_groups(
    gathered: &Gathered,
    references: &[NetworkReference],
    known: LookedUp<'_>,
    lookups: &Lookups,
    asking: Asking,
) -> Result<BTreeSet<SecurityGroupId>, Blocked> {
    let network = gathered.network();
    let mut ids = BTreeSet::new();
    for reference in references {
        let what = lookup::describe("security group", reference);
        let found = lookups
            .security_groups(
                &lookup::query(reference, network.map(|network| network.vpc_id.as_str())),
                asking,
            )
            .await
            .map_err(|error| lookup::failed(Reason::SecurityGroupNotFound, &what, &error))?;
        if found.is_empty() {
            return Err(Blocked::new(Reason::SecurityGroupNotFound, format!("{what} does not exist")));
        }
        if let Some(other) =
            found.iter().find(|group| network.is_some_and(|network| group.vpc != network.vpc_id))
        {
            return Err(Blocked::new(
                Reason::SecurityGroupOutsideCluster,
                format!("security group {} is in VPC {}, not in the FooCluster's", other.id, other.vpc),
            ));
        }
        known.limits.security_groups(found.iter().map(|group| group.id.as_str()))?;
        let named = found.iter().map(|group| (Thing::SecurityGroup, group.id.as_str()));
        known.limits.of_neighbours(named, known.neighbours)?;
        ids.extend(found.into_iter().map(|group| group.id));
    }
    Ok(ids)
}

async fn subnets(
    gathered: &Gathered,
    lookups: &Lookups,
    asking: Asking,
) -> Result<BTreeSet<SubnetId>, Blocked> {
    let Some(network) = gathered.network().filter(|network| !network.subnets.is_empty()) else {
        return Err(Blocked::new(
            Reason::WaitingForClusterInfrastructure,
            "the FooCluster has not found or created its network yet",
        ));
    };
    if gathered.pool.spec.subnets.is_empty() {
        return default_subnets(gathered, network);
    }
    let mut ids = BTreeSet::new();
    for reference in &gathered.pool.spec.subnets {
        let what = lookup::describe("subnet", reference);
        let found = lookups
            .subnets(&lookup::query(reference, Some(&network.vpc_id)), asking)
            .await
            .map_err(|error| lookup::failed(Reason::SubnetNotFound, &what, &error))?;
        if found.is_empty() {
            return Err(Blocked::new(Reason::SubnetNotFound, format!("{what} does not exist")));
        }
        for subnet in found {
            if !network.subnets.iter().any(|known| known.id == subnet.id.as_str()) {
                return Err(outside(network, &subnet.id));
            }
            ids.insert(subnet.id);
        }
    }
    Ok(ids)
}

/// Why a pool cannot have a subnet that the cluster does not have for instances.
fn outside(network: &foo_api::cluster::NetworkStatus, subnet: &SubnetId) -> Blocked {
    let is_for_pods = network.pod_subnets.iter().any(|known| known.id == subnet.as_str());
    let message = if is_for_pods {
        format!("subnet {subnet} is for Pods alone: no instance can be launched into it")
    } else {
        format!("subnet {subnet} is not one of the FooCluster's subnets")
    };
    Blocked::new(Reason::SubnetOutsideCluster, message)
}

/// The FooCluster's subnets in the MachinePool's failure domains, otherwise all; private ones if there are
/// any.
fn default_subnets(
    gathered: &Gathered,
    network: &foo_api::cluster::NetworkStatus,
) -> Result<BTreeSet<SubnetId>, Blocked> {
    let domains =
        gathered.machine_pool.as_ref().map(|pool| pool.spec.failure_domains.as_slice()).unwrap_or_default();
    if let Some(zone) = domains.iter().find(|zone| !network.subnets.iter().any(|it| it.zone == **zone)) {
        return Err(Blocked::new(
            Reason::NoSubnetInFailureDomain,
            format!("the FooCluster has no subnet in failure domain {zone}"),
        ));
    }
    Ok(network.default_subnets(domains).into_iter().map(|it| SubnetId::new(it.id.as_str())).collect())
}
