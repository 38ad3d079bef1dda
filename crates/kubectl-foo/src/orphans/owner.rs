//! Whether an object of the management cluster has a resource of AWS, by its tags.

use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use foo_model::names::{
    CONTROL_PLANE_ID_ANNOTATION, INSTALLATION_OF_RETAINED, NETWORK_ID_ANNOTATION, TAG_CLUSTER,
    TAG_CONTROL_PLANE, TAG_INSTALLATION, TAG_NETWORK, TAG_POOL,
};
use kube::ResourceExt as _;
use serde::Serialize;
use std::collections::BTreeMap;

/// The type of an Auto Scaling group (Auto Scaling API Reference, Tag).
const GROUP: &str = "auto-scaling-group";

/// A resource with a tag of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its region.
    pub region: String,
    /// Its type, as EC2 and Auto Scaling name it in tags; `eks-cluster`.
    pub kind: String,
    /// Its id or name.
    pub id: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// The objects that can have resources.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Id of the management cluster.
    pub installation: String,
    /// All pools.
    pub pools: Vec<FooMachinePool>,
    /// All control planes.
    pub control_planes: Vec<FooControlPlane>,
    /// All FooClusters.
    pub clusters: Vec<FooCluster>,
}

/// Resources without an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Orphans {
    /// They belong to nothing.
    pub orphans: Vec<Orphan>,
    /// Number of resources that other management clusters have.
    pub of_other_installations: usize,
    /// The regions that were read.
    pub regions: Vec<String>,
}

/// A resource without an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Orphan {
    /// Its region.
    pub region: String,
    /// The Cluster in its tags, `<namespace>/<name>`.
    pub cluster: String,
    /// Its type.
    pub kind: String,
    /// Its id or name.
    pub id: String,
    /// Why it belongs to nothing.
    pub why: String,
    /// Whether AWS bills it.
    pub price: Price,
}

/// How AWS bills a resource (the price lists of EC2, VPC and EKS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Price {
    /// By the hour, also while it is not used.
    Hourly,
    /// By the size that is stored.
    BySize,
    /// Not by itself.
    None,
}

impl Price {
    fn of(kind: &str) -> Self {
        match kind {
            "instance" | "natgateway" | "elastic-ip" | "vpc-endpoint" | "eks-cluster" => Self::Hourly,
            "volume" | "snapshot" => Self::BySize,
            // Of its instances.
            _ => Self::None,
        }
    }

    /// For a table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hourly => "by the hour",
            Self::BySize => "by size",
            Self::None => "-",
        }
    }
}

/// The resources that no object has.
pub fn orphans(resources: &[Resource], objects: &Objects) -> Orphans {
    let mut found = Orphans::default();
    let of_groups = installations_of_groups(resources);
    for resource in resources {
        let of_group = group_of(resource).and_then(|group| of_groups.get(&group)).copied();
        match objects.owner(resource, of_group) {
            Owner::Exists => {}
            Owner::Elsewhere => found.of_other_installations += 1,
            Owner::Missing(why) => found.orphans.push(Orphan {
                region: resource.region.clone(),
                cluster: resource.tags.get(TAG_CLUSTER).cloned().unwrap_or_default(),
                kind: resource.kind.clone(),
                id: resource.id.clone(),
                why,
                price: Price::of(&resource.kind),
            }),
        }
    }
    found.orphans.sort();
    found
}

/// Region, Cluster and pool of a resource.
type GroupOf<'r> = (&'r str, &'r str, &'r str);

fn group_of(resource: &Resource) -> Option<GroupOf<'_>> {
    let tag = |key: &str| resource.tags.get(key).map(String::as_str);
    Some((resource.region.as_str(), tag(TAG_CLUSTER)?, tag(TAG_POOL)?))
}

/// The management cluster of each group. Its launch template, instances and volumes have no tag of their own for that.
fn installations_of_groups(resources: &[Resource]) -> BTreeMap<GroupOf<'_>, &str> {
    let groups = resources.iter().filter(|resource| resource.kind == GROUP);
    groups.filter_map(|group| Some((group_of(group)?, group.tags.get(TAG_INSTALLATION)?.as_str()))).collect()
}

enum Owner {
    Exists,
    /// An object of another management cluster may have it.
    Elsewhere,
    Missing(String),
}

impl Objects {
    /// Whether an object has it. `of_group`: the management cluster of its group.
    fn owner(&self, resource: &Resource, of_group: Option<&str>) -> Owner {
        let tag = |key: &str| resource.tags.get(key).map(String::as_str);
        let installation = tag(TAG_INSTALLATION).or(of_group);
        let owners = [TAG_NETWORK, TAG_CONTROL_PLANE, TAG_POOL];
        if owners.iter().all(|key| tag(key).is_none()) {
            // Others may have tags of the provider, too: the consent to an adoption, for example.
            return Owner::Exists;
        }
        if installation.is_some_and(|it| it != self.installation && it != INSTALLATION_OF_RETAINED) {
            return Owner::Elsewhere;
        }
        let Some((namespace, cluster)) = tag(TAG_CLUSTER).and_then(|it| it.split_once('/')) else {
            return Owner::Missing(format!("it has no tag {TAG_CLUSTER}"));
        };
        let (exists, what) = if let Some(id) = tag(TAG_NETWORK) {
            let has = |it: &FooCluster| {
                is_in(it, namespace)
                    && is_id(it.annotations().get(NETWORK_ID_ANNOTATION), it.metadata.uid.as_ref(), id)
            };
            (
                self.clusters.iter().any(has),
                format!("no FooCluster in namespace {namespace} has network {id}"),
            )
        } else if let Some(id) = tag(TAG_CONTROL_PLANE) {
            let has = |it: &FooControlPlane| {
                is_in(it, namespace)
                    && is_id(it.annotations().get(CONTROL_PLANE_ID_ANNOTATION), it.metadata.uid.as_ref(), id)
            };
            let what = format!("no FooControlPlane in namespace {namespace} has the id {id}");
            (self.control_planes.iter().any(has), what)
        } else {
            let pool = tag(TAG_POOL).unwrap_or_default();
            let has = |it: &FooMachinePool| {
                let of_cluster = it.labels().get(CLUSTER_NAME_LABEL);
                let is_it = is_in(it, namespace) && it.name_any() == pool;
                is_it && of_cluster.is_none_or(|name| name == cluster) && !has_another_group(it, resource)
            };
            let what = format!("no FooMachinePool {namespace}/{pool} of Cluster {cluster} has it");
            (self.pools.iter().any(has), what)
        };
        match installation {
            _ if exists => Owner::Exists,
            Some(INSTALLATION_OF_RETAINED) => {
                Owner::Missing("it was retained when its pool was deleted (deletionPolicy)".to_owned())
            }
            Some(_) if tag(TAG_NETWORK).is_some() => {
                Owner::Missing(format!("{what}, or it was retained (deletionPolicy)"))
            }
            Some(_) => Owner::Missing(what),
            None => Owner::Missing(format!("{what}; another management cluster may have it")),
        }
    }
}

/// Whether the resource is a group, and the pool has one with another name.
fn has_another_group(pool: &FooMachinePool, resource: &Resource) -> bool {
    let group = pool.status.as_ref().and_then(|status| status.auto_scaling_group.as_ref());
    resource.kind == GROUP && group.is_some_and(|group| group.name != resource.id)
}

fn is_in(object: &impl kube::ResourceExt, namespace: &str) -> bool {
    object.namespace().as_deref() == Some(namespace)
}

/// Whether an object has that id: the annotation's, which stays when the object is moved, or else its uid.
fn is_id(annotated: Option<&String>, uid: Option<&String>, id: &str) -> bool {
    match annotated {
        Some(annotated) => annotated == id,
        None => uid.is_some_and(|uid| uid == id),
    }
}
