//! The manifests of a Cluster that adopts an EKS cluster, with the FooCluster of its network and its FooControlPlane, from what AWS
//! has: [`found`] reads that with the user's own credentials, `control_plane`, `access` and `obstacles` are pure functions. The manager
//! plays no part. Nodes are not adopted here: [`crate::adopt`] does that, group by group.

mod access;
mod adopter;
pub mod capa;
mod control_plane;
pub mod found;
mod obstacles;
mod settings;

pub use adopter::{Adopter, Identity, Wish};

use crate::access::Reads;
use crate::adopt::found::Group;
use crate::adopt::manifest::{manifest_of, reference};
use crate::aws::Aws;
use crate::capi::{Cluster, ClusterSpec};
use crate::cluster::{get_opt, identity};
use crate::text::{line, section};
use anyhow::{Result, bail};
use foo_api::cluster::{ExistingNetwork, Network};
use foo_api::identity::IdentityReference;
use foo_api::patterns::is_aws_name;
use foo_api::shared::NetworkReference;
use foo_api::{FooCluster, FooClusterSpec, FooControlPlane};
use found::Found;
use serde_json::Value;
use std::collections::BTreeSet;

/// What an adoption takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adoption {
    /// ARN of the EKS cluster: it shows the account.
    pub arn: String,
    /// The manifests, in the order in which they are applied.
    pub objects: Vec<Value>,
    /// What prevents it, or works against it.
    pub obstacles: Vec<String>,
    /// What EKS has and the manifest does not.
    pub left: Vec<String>,
    /// The command by which the owner of the account agrees.
    pub consent: Vec<String>,
    /// The command by which the administrator of the management cluster agrees.
    pub permission: Vec<String>,
    /// What stays to be done when the cluster is adopted.
    pub afterwards: Vec<String>,
}

/// Whether the manifests would change objects that exist and do not adopt the EKS cluster.
///
/// # Errors
/// There are some, or a right is missing.
pub async fn check_free(reads: &Reads<'_>, eks: &str, adopter: &Adopter) -> Result<()> {
    let Adopter { namespace, name, region, .. } = adopter;
    let network = get_opt::<FooCluster>(reads, namespace, name).await?;
    if let Some(control_plane) = get_opt::<FooControlPlane>(reads, namespace, name).await? {
        let adopts = control_plane.spec.eks.is_some_and(|it| it.adopt && it.name.as_deref() == Some(eks));
        if !adopts {
            bail!(
                "FooControlPlane {name} exists and does not adopt {eks}: choose another name with --cluster"
            );
        }
        if let Some(other) = network.map(|it| it.spec.region).filter(|other| other != region) {
            bail!("FooCluster {name} exists and is in {other}, not in {region}");
        }
        return Ok(());
    }
    let kind = if network.is_some() {
        "FooCluster"
    } else if get_opt::<Cluster>(reads, namespace, name).await?.is_some() {
        "Cluster"
    } else {
        return Ok(());
    };
    bail!("{kind} {name} exists: choose another name with --cluster");
}

/// What it takes to adopt an EKS cluster. That the FooClusterIdentity cannot be read is a warning.
///
/// # Errors
/// One that says why no FooControlPlane can adopt it, or what cannot be read.
pub async fn adoption(aws: &Aws, reads: &Reads<'_>, eks: &str, adopter: &Adopter) -> Result<Adoption> {
    let found = found::read(aws, reads, eks).await?;
    let identity = match reads.or_warn(identity(reads, adopter.identity_name()).await) {
        None => Identity::Unknown,
        Some(None) => Identity::Missing,
        Some(Some(identity)) => Identity::Known(Box::new(identity.spec)),
    };
    of_found(&found, adopter, &identity)
}

/// What it takes to adopt the EKS cluster that was found.
///
/// # Errors
/// No FooControlPlane can adopt it.
pub fn of_found(found: &Found, adopter: &Adopter, identity: &Identity) -> Result<Adoption> {
    let mut obstacles = obstacles::obstacles(found, adopter, identity)?;
    let control_plane::Written { spec, eks, left } = control_plane::spec(found)?;
    let vpc = &found.cluster.resources_vpc_config.vpc_id;
    let subnets = subnets(found);
    obstacles.extend(obstacles::of_limits(&eks, adopter, identity, vpc, &subnets));
    obstacles.extend(obstacles::of_numbers(&eks, &subnets));
    let Adopter { namespace, name, .. } = adopter;
    let cluster = ClusterSpec {
        paused: None,
        infrastructure_ref: Some(reference::<FooCluster>(name)),
        control_plane_ref: Some(reference::<FooControlPlane>(name)),
    };
    let network = FooClusterSpec {
        region: adopter.region.clone(),
        identity_ref: adopter.identity.clone().map(|name| IdentityReference { name }),
        network: Network { existing: Some(existing(vpc, subnets)), managed: None },
        control_plane_endpoint: None,
    };
    let objects = vec![
        manifest_of::<Cluster>(namespace, name, None, &serde_json::to_value(&cluster)?),
        manifest_of::<FooCluster>(namespace, name, None, &serde_json::to_value(&network)?),
        manifest_of::<FooControlPlane>(namespace, name, None, &spec),
    ];
    Ok(Adoption {
        arn: found.cluster.arn.clone(),
        objects,
        obstacles,
        left,
        consent: obstacles::consent(&found.cluster, adopter).into_iter().collect(),
        permission: obstacles::permission(adopter, identity).into_iter().collect(),
        afterwards: obstacles::afterwards(found, adopter),
    })
}

/// The subnets of the control plane, and those of groups that may be adopted.
fn subnets(found: &Found) -> Vec<String> {
    let of_control_plane = found.cluster.resources_vpc_config.subnet_ids.iter().map(String::as_str);
    let may_be_adopted =
        |group: &&Group| group.node_group().is_none() && is_aws_name(&group.auto_scaling_group_name);
    let groups = found.groups.iter().filter(may_be_adopted);
    let of_groups =
        groups.flat_map(|group| group.subnets.split(',')).map(str::trim).filter(|id| !id.is_empty());
    let all: BTreeSet<&str> = of_control_plane.chain(of_groups).collect();
    all.into_iter().map(str::to_owned).collect()
}

fn existing(vpc: &str, subnets: Vec<String>) -> ExistingNetwork {
    ExistingNetwork {
        vpc_id: Some(vpc.to_owned()).filter(|id| !id.is_empty()),
        subnets: subnets.into_iter().map(|id| NetworkReference { id: Some(id), tags: None }).collect(),
        security_groups: Vec::new(),
    }
}

/// What is not in the manifests, for a person. Ends with a new line.
pub fn notes(adoption: &Adoption) -> String {
    let Adoption { arn, objects: _, obstacles, left, consent, permission, afterwards } = adoption;
    let mut text = String::new();
    line(&mut text, &format!("EKS cluster {arn}"));
    section(&mut text, "In the way", obstacles);
    section(&mut text, "Not in the manifest, and left as it is", left);
    section(&mut text, "Next, by the owner of the AWS account", consent);
    section(&mut text, "Next, by the administrator of the management cluster", permission);
    section(&mut text, "After the adoption", afterwards);
    text
}
