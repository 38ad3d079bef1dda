//! A Cluster and what it points to, for commands that read from AWS.

use crate::access::{Listed, Reads};
use crate::capi::Cluster;
use crate::refused::{Request, refused, resource};
use anyhow::{Result, anyhow};
use foo_api::capi::ContractReference;
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::{FooCluster, FooClusterIdentity, FooControlPlane};
use kube::{Api, Resource as _};
use std::collections::BTreeSet;

/// A Cluster, as far as it matters for its groups in AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InAws {
    /// Region of its FooCluster.
    pub region: String,
    /// Subnets of its FooCluster, if they are known.
    pub subnets: Option<BTreeSet<String>>,
    /// Name of the FooClusterIdentity.
    pub identity: String,
    /// Whether that allows adoption, if it can be read.
    pub allows_adoption: Option<bool>,
    /// Kubernetes version of its control plane, if that is a FooControlPlane.
    pub version: Option<String>,
    /// Whether its Nodes join by a FooNodeConfig.
    pub is_on_eks: bool,
}

/// The FooCluster of a Cluster, and the Cluster.
async fn foo_cluster(reads: &Reads<'_>, namespace: &str, name: &str) -> Result<(Cluster, FooCluster)> {
    let cluster: Cluster = get(reads, namespace, name).await?;
    let is_ours = |reference: &&ContractReference| reference.kind == FooCluster::kind(&());
    let infrastructure = cluster.spec.infrastructure_ref.as_ref().filter(is_ours);
    let infrastructure = infrastructure.ok_or_else(|| anyhow!("Cluster {name} has no FooCluster"))?;
    let foo_cluster = get(reads, namespace, &infrastructure.name).await?;
    Ok((cluster, foo_cluster))
}

/// The AWS region of a Cluster.
///
/// # Errors
/// It does not exist, has no FooCluster, or a right is missing.
pub async fn region(reads: &Reads<'_>, namespace: &str, name: &str) -> Result<String> {
    Ok(foo_cluster(reads, namespace, name).await?.1.spec.region)
}

/// Reads a Cluster and what it points to. That its identity cannot be read is a warning.
///
/// # Errors
/// It does not exist, has no FooCluster, or a right is missing.
pub async fn in_aws(reads: &Reads<'_>, namespace: &str, name: &str) -> Result<InAws> {
    let (cluster, foo_cluster) = foo_cluster(reads, namespace, name).await?;
    let is_ours = |reference: &&ContractReference| reference.kind == FooControlPlane::kind(&());
    let control_plane: Option<FooControlPlane> = match cluster.spec.control_plane_ref.as_ref().filter(is_ours)
    {
        Some(reference) => Some(get(reads, namespace, &reference.name).await?),
        None => None,
    };
    let identity = foo_cluster.spec.identity_ref.as_ref();
    let identity = identity.map_or_else(|| DEFAULT_IDENTITY.to_owned(), |identity| identity.name.clone());
    let network = foo_cluster.status.as_ref().and_then(|status| status.network.as_ref());
    let subnets = network.map(|network| network.subnets.iter().map(|it| it.id.clone()).collect());
    Ok(InAws {
        allows_adoption: reads.or_warn(allows_adoption(reads, &identity).await).flatten(),
        identity,
        subnets,
        region: foo_cluster.spec.region,
        is_on_eks: control_plane.as_ref().is_some_and(|it| it.spec.eks.is_some()),
        version: control_plane.map(|it| it.spec.version),
    })
}

async fn allows_adoption(reads: &Reads<'_>, name: &str) -> Result<Option<bool>> {
    Ok(Some(identity(reads, name).await?.is_some_and(|identity| identity.spec.allow_adoption)))
}

/// A FooClusterIdentity, if it exists.
///
/// # Errors
/// A right is missing.
pub async fn identity(reads: &Reads<'_>, name: &str) -> Result<Option<FooClusterIdentity>> {
    let api: Api<FooClusterIdentity> = Api::all(reads.client.clone());
    let resource = resource::<FooClusterIdentity>();
    let request = Request { verb: "get", resource: &resource, namespace: None };
    api.get_opt(name).await.map_err(|error| refused(request, error))
}

/// An object by its name.
///
/// # Errors
/// It does not exist, or a right is missing.
pub async fn get<K: Listed>(reads: &Reads<'_>, namespace: &str, name: &str) -> Result<K> {
    let found = get_opt(reads, namespace, name).await?;
    found.ok_or_else(|| anyhow!("{} {name} not found in namespace {namespace}", K::kind(&())))
}

/// An object by its name, if it exists.
///
/// # Errors
/// A right is missing.
pub async fn get_opt<K: Listed>(reads: &Reads<'_>, namespace: &str, name: &str) -> Result<Option<K>> {
    let api: Api<K> = Api::namespaced(reads.client.clone(), namespace);
    let resource = resource::<K>();
    let request = Request { verb: "get", resource: &resource, namespace: Some(namespace) };
    api.get_opt(name).await.map_err(|error| refused(request, error))
}
