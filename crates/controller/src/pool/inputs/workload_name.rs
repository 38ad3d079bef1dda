//! The name that the workload cluster has in AWS, by which its cloud controllers find instances.

use super::gather::Gathered;
use crate::pool::reads::Reads;
use foo_api::FooControlPlane;
use foo_api::names::CONTROL_PLANE_GROUP;
use foo_model::Reason;
use foo_model::names::eks_cluster_name;
use foo_planner::desired::Blocked;
use kube::{Api, Client};

/// The name of the EKS cluster, if the Cluster's control plane is a FooControlPlane in mode `eks`; otherwise that of the Cluster.
///
/// Read once: mode and name are immutable. As long as it cannot be read nothing is launched, because other tags on instances are
/// another content of the launch template.
///
/// # Errors
///
/// The FooControlPlane does not exist yet, or cannot be read.
pub(in crate::pool) async fn workload_name(
    client: &Client,
    gathered: &Gathered,
    cluster: &str,
    reads: &mut Reads,
) -> Result<String, Blocked> {
    let reference = gathered.cluster.as_ref().and_then(|cluster| cluster.spec.control_plane_ref.as_ref());
    let is_ours = |group: &str, kind: &str| group == CONTROL_PLANE_GROUP && kind == "FooControlPlane";
    let Some(reference) = reference.filter(|it| is_ours(&it.api_group, &it.kind)) else {
        return Ok(cluster.to_owned());
    };
    if let Some(known) = &reads.workload_name {
        return Ok(known.clone());
    }
    let namespace = gathered.namespace();
    let objects: Api<FooControlPlane> = Api::namespaced(client.clone(), &namespace);
    let blocked = |why: &str| {
        let message = format!("FooControlPlane {} {why}", reference.name);
        Blocked::new(Reason::WaitingForControlPlane, message)
    };
    let object = objects.get_opt(&reference.name).await.map_err(|error| {
        tracing::warn!(%error, namespace, name = reference.name, "could not read the FooControlPlane");
        blocked("cannot be read")
    })?;
    let spec = object.ok_or_else(|| blocked("does not exist yet"))?.spec;
    let name = match spec.eks {
        Some(eks) => eks.name.unwrap_or_else(|| eks_cluster_name(&namespace, cluster)),
        None => cluster.to_owned(),
    };
    reads.workload_name = Some(name.clone());
    Ok(name)
}
