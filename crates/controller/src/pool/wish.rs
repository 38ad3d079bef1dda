//! From what was gathered to what is wanted: the one place where user input is read and judged.
//!
//! Whatever is wrong becomes a [`Blocked`] with a reason and a sentence that stays the same while the cause does;
//! after this file nothing about the wish can be wrong.

use super::content::{self, Facts};
use super::gather::Gathered;
use super::names::group_name;
use super::replacing;
use super::twins;
use crate::identities::Limits;
use crate::lookup;
use foo_api::{capi, names, pool as api};
use foo_cloud::InstanceTypeInfo;
use foo_cloud::lookups::{Asking, Lookups};
use foo_cloud::model::Reason;
use foo_cloud::model::{DeletionTimeouts, Seconds, SecurityGroupId, SubnetId};
use foo_planner::desired::{
    Blocked, Desired, Goal, GroupWish, Identity, PausedBy, ScaleIn, Size, Template, VictimPolicy, Wanted,
};
use foo_planner::names::ADOPT_FROM_ANNOTATION;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use std::collections::{BTreeMap, BTreeSet};

/// Stabilisation of unmarked shrinking when cluster-autoscaler owns the size. It marks every Machine that it means; when
/// AWS has no capacity it takes back more than it asked for, unmarked, and asks again when its back-off is over: thirty
/// minutes at most (`--max-node-group-backoff-duration`), and five more for it to notice and correct itself.
const AUTOSCALER_STABILIZATION: Seconds = Seconds(35 * 60);

/// The AWS cloud provider finds what belongs to a cluster by tags that begin so.
const CLOUD_PROVIDER_TAG: &str = "kubernetes.io/cluster/";

/// The bootstrap data of a pool, as far as it could be had.
pub(super) enum BootstrapData {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// Not there, and why.
    Missing(Blocked),
}

/// What of a pool's wish does not need AWS.
pub(super) struct Wish {
    /// Whose pool it is.
    pub(super) identity: Identity,
    /// Whether it shall exist.
    pub(super) goal: Goal,
    /// Who paused it.
    pub(super) pause: Option<PausedBy>,
}

/// Who the pool is and whether it shall exist; `None` while its cluster is not known.
pub(super) fn identify(gathered: &Gathered) -> Option<Wish> {
    let pool = &gathered.pool;
    let cluster = gathered.cluster_name()?;
    let (namespace, name) = (gathered.namespace(), pool.name_any());
    let group = group_name(pool, &cluster);
    Some(Wish {
        identity: Identity {
            namespace,
            pool: name,
            cluster,
            group,
            installation: gathered.installation.as_ref().to_owned(),
            adopt_from: pool.annotations().get(ADOPT_FROM_ANNOTATION).cloned(),
        },
        goal: goal(pool),
        pause: pause(gathered),
    })
}

fn goal(pool: &foo_api::FooMachinePool) -> Goal {
    match (
        &pool.metadata.deletion_timestamp,
        pool.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION),
    ) {
        (None, _) => Goal::Run,
        (Some(_), true) => Goal::LetGo,
        (Some(_), false) => Goal::Remove,
    }
}

/// Who paused the pool, if anybody did.
pub(super) fn pause(gathered: &Gathered) -> Option<PausedBy> {
    if gathered.cluster.as_ref().is_some_and(|cluster| cluster.is_paused()) {
        Some(PausedBy::Cluster)
    } else if gathered.pool.annotations().contains_key(names::PAUSED_ANNOTATION) {
        Some(PausedBy::Annotation)
    } else {
        None
    }
}

/// The whole wish.
///
/// `types` are the facts about the pool's instance types, asked for before (they are needed for `status.capacity` even
/// when nothing else is usable).
pub(super) async fn desired(
    wish: Wish,
    gathered: &Gathered,
    data: BootstrapData,
    types: &Result<Vec<InstanceTypeInfo>, Blocked>,
    limits: &Limits,
    lookups: &Lookups,
    asking: Asking,
) -> Desired {
    let spec = &gathered.pool.spec;
    let tags = tags(spec, &wish.identity);
    let template = match (wish.goal, data) {
        (Goal::Remove | Goal::LetGo, _) => {
            Wanted::Blocked(Blocked::new(Reason::Deleting, "the pool is being deleted"))
        }
        (Goal::Run, BootstrapData::Missing(blocked)) => Wanted::Blocked(blocked),
        (Goal::Run, BootstrapData::Bytes(bytes)) => {
            wanted(match limited_profile(spec, limits).and_then(|()| foreign_tag(spec, &wish.identity)) {
                Ok(()) => template(gathered, bytes, &wish.identity, &tags, types, lookups, asking).await,
                Err(blocked) => Err(blocked),
            })
        }
    };
    let subnets = match wish.goal {
        Goal::Run => wanted(subnets(gathered, lookups, asking).await.and_then(|subnets| {
            limits.subnets(subnets.iter().map(SubnetId::as_str))?;
            Ok(subnets)
        })),
        Goal::Remove | Goal::LetGo => {
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
    Desired {
        missing,
        size,
        template,
        group: GroupWish { subnets, mix: content::mix(spec), tags },
        scale_in: scale_in(gathered),
        rollout: replacing::rollout(gathered),
        remediation: replacing::remediation(gathered),
        interruption: replacing::interruption(gathered),
        timeouts: timeouts(gathered.machine_pool.as_deref()),
        warnings: autoscaler_warning(gathered).into_iter().chain(twins::warning(gathered)).collect(),
        identity: wish.identity,
        goal: wish.goal,
        pause: wish.pause,
    }
}

/// Who chooses both instance profile and user data runs programs with the rights of that profile's role.
fn limited_profile(spec: &api::FooMachinePoolSpec, limits: &Limits) -> Result<(), Blocked> {
    spec.iam_instance_profile.as_deref().map_or(Ok(()), |profile| limits.profile(profile))
}

fn wanted<T>(result: Result<T, Blocked>) -> Wanted<T> {
    match result {
        Ok(value) => Wanted::Ready(value),
        Err(blocked) => Wanted::Blocked(blocked),
    }
}

/// The same for a pool whose cluster is not known: it has no group yet, only a name of its own.
pub(super) fn unidentified(gathered: &Gathered) -> Wish {
    let (namespace, name) = (gathered.namespace(), gathered.pool.name_any());
    Wish {
        identity: Identity {
            namespace,
            group: name.as_str().into(),
            pool: name,
            cluster: String::new(),
            installation: gathered.installation.as_ref().to_owned(),
            adopt_from: None,
        },
        goal: goal(&gathered.pool),
        pause: pause(gathered),
    }
}

/// What must be there before the first AWS write.
pub(super) fn missing(gathered: &Gathered) -> Vec<Blocked> {
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

/// That the MachinePool names another infrastructure by now. Cluster API leaves its owner reference where it was.
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

/// What the FooCluster says of itself, since that is where the cause is to be found.
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
        // What it wishes for is another pool's business; what is there stays until it is deleted.
        return Ok(Size::Unknown);
    }
    // Core's webhook always sets replicas. An object that lost the field must not drain its pool down to a default.
    let Some(wanted) = machine_pool.spec.replicas.map(content::unsigned) else {
        return Err(Blocked::new(
            Reason::ReplicasUnknown,
            format!(
                "MachinePool {} does not say how many replicas it requests: set spec.replicas",
                machine_pool.name_any()
            ),
        ));
    };
    if !managed_externally(gathered) {
        return Ok(Size::Replicas { wanted, ceiling: spec.max_size.map(content::unsigned) });
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
    Ok(Size::External {
        min: content::unsigned(bounds.min_size),
        max: content::unsigned(bounds.max_size),
        published: wanted,
    })
}

fn managed_externally(gathered: &Gathered) -> bool {
    gathered
        .machine_pool
        .as_ref()
        .and_then(|machine_pool| machine_pool.annotations().get(names::REPLICAS_MANAGED_BY_ANNOTATION))
        .is_some_and(|value| value != "false")
}

/// cluster-autoscaler's two annotations on the MachinePool, if any is there.
fn autoscaler_bounds(gathered: &Gathered) -> Option<(Option<&str>, Option<&str>)> {
    let annotations = gathered.machine_pool.as_ref()?.annotations();
    let min = annotations.get(names::AUTOSCALER_MIN_ANNOTATION).map(String::as_str);
    let max = annotations.get(names::AUTOSCALER_MAX_ANNOTATION).map(String::as_str);
    (min.is_some() || max.is_some()).then_some((min, max))
}

/// A pair that cluster-autoscaler cannot read disables every node group in its scope, and Cluster API's webhook lets it
/// pass: so we say it.
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
        Some(seconds) => Seconds(content::unsigned(seconds)),
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
        max_concurrent_drains: content::unsigned(rules.max_concurrent_drains).max(1),
        stabilization,
    }
}

fn timeouts(machine_pool: Option<&capi::MachinePool>) -> DeletionTimeouts {
    let deletion = machine_pool.and_then(|pool| pool.spec.template.spec.deletion).unwrap_or_default();
    let seconds = |value: Option<i32>| value.map(|value| Seconds(content::unsigned(value)));
    DeletionTimeouts {
        node_drain: seconds(deletion.node_drain_timeout_seconds),
        node_volume_detach: seconds(deletion.node_volume_detach_timeout_seconds),
        node_deletion: seconds(deletion.node_deletion_timeout_seconds),
    }
}

/// Tags of the group, of instances and of volumes, beside the ownership tags.
fn tags(spec: &api::FooMachinePoolSpec, identity: &Identity) -> BTreeMap<String, String> {
    let mut tags = spec.tags.clone();
    tags.retain(|key, _| !claims_another_cluster(key, identity));
    tags.entry("Name".to_owned()).or_insert_with(|| identity.group.as_str().to_owned());
    // The AWS cloud provider finds its instances by this tag.
    tags.insert(format!("{CLOUD_PROVIDER_TAG}{}", identity.cluster), "owned".to_owned());
    tags
}

/// Whether the cloud controllers of another cluster would take what carries this tag for theirs.
fn claims_another_cluster(key: &str, identity: &Identity) -> bool {
    key.strip_prefix(CLOUD_PROVIDER_TAG).is_some_and(|cluster| cluster != identity.cluster)
}

fn foreign_tag(spec: &api::FooMachinePoolSpec, identity: &Identity) -> Result<(), Blocked> {
    match spec.tags.keys().find(|key| claims_another_cluster(key, identity)) {
        None => Ok(()),
        Some(key) => Err(Blocked::new(
            Reason::TagNotAllowed,
            format!(
                "spec.tags: {key:?} is for instances of another Cluster and is not set: remove it from the spec"
            ),
        )),
    }
}

async fn template(
    gathered: &Gathered,
    user_data: Vec<u8>,
    identity: &Identity,
    tags: &BTreeMap<String, String>,
    types: &Result<Vec<InstanceTypeInfo>, Blocked>,
    lookups: &Lookups,
    asking: Asking,
) -> Result<Template, Blocked> {
    let spec = &gathered.pool.spec;
    let image = lookups.image(&spec.ami.id.as_str().into(), asking).await.map_err(|error| {
        lookup::failed(Reason::ImageNotFound, &format!("image {}", lookup::shown(&spec.ami.id)), &error)
    })?;
    if !image.available {
        return Err(Blocked::new(
            Reason::ImageNotAvailable,
            format!("image {} is not available", lookup::shown(&spec.ami.id)),
        ));
    }
    let types = types.as_ref().map_err(Clone::clone)?;
    if let Some(other) = types.iter().find(|kind| kind.architecture != image.architecture) {
        return Err(Blocked::new(
            Reason::ArchitectureMismatch,
            format!(
                "image {} is built for {}, instance type {} runs {}",
                lookup::shown(&spec.ami.id),
                image.architecture,
                other.instance_type,
                other.architecture
            ),
        ));
    }
    let mut tags = tags.clone();
    tags.extend(identity.ownership_tags());
    let bootstrap = gathered.machine_pool.as_ref().map(|pool| &pool.spec.template.spec);
    content::template(
        spec,
        Facts {
            image: image.id,
            root_device: image.root_device,
            security_groups: security_groups(gathered, lookups, asking).await?,
            user_data,
            data_secret_name: bootstrap
                .and_then(|spec| spec.bootstrap.data_secret_name.clone())
                .unwrap_or_default(),
            version: bootstrap.and_then(|spec| spec.version.clone()),
            tags,
        },
    )
}

/// Facts about the pool's instance types.
pub(super) async fn instance_types(
    spec: &api::FooMachinePoolSpec,
    lookups: &Lookups,
    asking: Asking,
) -> Result<Vec<InstanceTypeInfo>, Blocked> {
    let mut found = Vec::new();
    for name in content::instance_types(spec) {
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
    lookups: &Lookups,
    asking: Asking,
) -> Result<Vec<SecurityGroupId>, Blocked> {
    let network = gathered.foo_cluster.as_ref().and_then(|cluster| cluster.status.as_ref()?.network.as_ref());
    let mut ids: BTreeSet<SecurityGroupId> = network
        .iter()
        .flat_map(|network| network.security_groups.iter().map(|id| SecurityGroupId::new(id.as_str())))
        .collect();
    for reference in &gathered.pool.spec.security_groups {
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
        ids.extend(found.into_iter().map(|group| group.id));
    }
    Ok(ids.into_iter().collect())
}

async fn subnets(
    gathered: &Gathered,
    lookups: &Lookups,
    asking: Asking,
) -> Result<BTreeSet<SubnetId>, Blocked> {
    let Some(network) =
        gathered.foo_cluster.as_ref().and_then(|cluster| cluster.status.as_ref()?.network.clone())
    else {
        return Err(Blocked::new(
            Reason::WaitingForClusterInfrastructure,
            "the FooCluster has not found its network yet",
        ));
    };
    if gathered.pool.spec.subnets.is_empty() {
        return default_subnets(gathered, &network);
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
                return Err(Blocked::new(
                    Reason::SubnetOutsideCluster,
                    format!("subnet {} is not one of the FooCluster's subnets", subnet.id),
                ));
            }
            ids.insert(subnet.id);
        }
    }
    Ok(ids)
}

/// The FooCluster's subnets in the MachinePool's failure domains, or else all; private ones where there are any.
fn default_subnets(
    gathered: &Gathered,
    network: &foo_api::cluster::NetworkStatus,
) -> Result<BTreeSet<SubnetId>, Blocked> {
    let domains =
        gathered.machine_pool.as_ref().map(|pool| pool.spec.failure_domains.as_slice()).unwrap_or_default();
    let eligible: Vec<_> = network
        .subnets
        .iter()
        .filter(|subnet| domains.is_empty() || domains.contains(&subnet.zone))
        .collect();
    if let Some(zone) = domains.iter().find(|zone| !eligible.iter().any(|subnet| &subnet.zone == *zone)) {
        return Err(Blocked::new(
            Reason::NoSubnetInFailureDomain,
            format!("the FooCluster has no subnet in failure domain {zone}"),
        ));
    }
    let private = eligible.iter().filter(|subnet| !subnet.public);
    let ids: BTreeSet<SubnetId> = private.map(|subnet| SubnetId::new(subnet.id.as_str())).collect();
    if ids.is_empty() {
        return Ok(eligible.iter().map(|subnet| SubnetId::new(subnet.id.as_str())).collect());
    }
    Ok(ids)
}
