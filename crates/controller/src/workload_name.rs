//! The name that a workload cluster has in AWS, by which its cloud controllers find and tag what is theirs.

use foo_api::FooControlPlane;
use foo_api::capi::{Cluster, ContractReference};
use foo_api::names::CONTROL_PLANE_GROUP;
use foo_model::names::eks_cluster_name;
use kube::{Api, Client, ResourceExt};

/// Reference to the FooControlPlane of a Cluster. Without one the Cluster's own name is the one in AWS.
pub(crate) fn control_plane_of(cluster: &Cluster) -> Option<&ContractReference> {
    let reference = cluster.spec.control_plane_ref.as_ref();
    reference.filter(|it| it.api_group == CONTROL_PLANE_GROUP && it.kind == "FooControlPlane")
}

/// The name of the EKS cluster, if the Cluster's control plane is a FooControlPlane in mode `eks`; otherwise that of the Cluster. `None`:
/// the FooControlPlane does not exist. Mode and name are immutable, so that one answer is enough.
///
/// # Errors
///
/// The FooControlPlane cannot be read.
pub(crate) async fn workload_name(client: &Client, cluster: &Cluster) -> kube::Result<Option<String>> {
    let Some(reference) = control_plane_of(cluster) else { return Ok(Some(cluster.name_any())) };
    let namespace = cluster.namespace().unwrap_or_default();
    let objects: Api<FooControlPlane> = Api::namespaced(client.clone(), &namespace);
    let object = objects.get_opt(&reference.name).await?;
    Ok(object.map(|object| match object.spec.eks {
        Some(eks) => eks.name.unwrap_or_else(|| eks_cluster_name(&namespace, &cluster.name_any())),
        None => cluster.name_any(),
    }))
}
