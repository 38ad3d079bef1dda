//! The name that a workload cluster has in AWS, by which its cloud controllers find and tag their resources.

use foo_api::FooControlPlane;
use foo_api::capi::{Cluster, ContractReference};
use foo_api::names::CONTROL_PLANE_GROUP;
use foo_model::names::{EKS_NAME_ANNOTATION, eks_cluster_name};
use kube::{Api, Client, ResourceExt};

/// Reference to the FooControlPlane of a Cluster. Without one the Cluster's own name is the one in AWS.
pub(crate) fn control_plane_of(cluster: &Cluster) -> Option<&ContractReference> {
    let reference = cluster.spec.control_plane_ref.as_ref();
    reference.filter(|it| it.api_group == CONTROL_PLANE_GROUP && it.kind == "FooControlPlane")
}

/// Name of the EKS cluster of a FooControlPlane; `None` in another mode. One that was seen keeps its name, even if the
/// object no longer shows which Cluster it belongs to.
pub(crate) fn eks_name(control_plane: &FooControlPlane, cluster: &str, installation: &str) -> Option<String> {
    let eks = control_plane.spec.eks.as_ref()?;
    let status = control_plane.status.as_ref().and_then(|status| status.eks.as_ref());
    let arn = status.and_then(|eks| eks.arn.as_deref());
    let seen = || arn.and_then(|arn| arn.rsplit_once(":cluster/")).map(|(_, name)| name.to_owned());
    let given = || control_plane.annotations().get(EKS_NAME_ANNOTATION).cloned();
    let namespace = control_plane.namespace().unwrap_or_default();
    let default = || eks_cluster_name(&namespace, cluster, installation);
    Some(eks.name.clone().or_else(seen).or_else(given).unwrap_or_else(default))
}

/// The name of the EKS cluster, if the Cluster's control plane is a FooControlPlane in mode `eks`; otherwise that of
/// the Cluster. `None`: the FooControlPlane does not exist. Mode and name are immutable, so that one response is
/// enough.
///
/// # Errors
///
/// The FooControlPlane cannot be read.
pub(crate) async fn workload_name(
    client: &Client,
    cluster: &Cluster,
    installation: &str,
) -> kube::Result<Option<String>> {
    let name = cluster.name_any();
    if control_plane_of(cluster).is_none() {
        return Ok(Some(name));
    }
    let object = read_control_plane(client, cluster).await?;
    Ok(object.map(|object| eks_name(&object, &name, installation).unwrap_or(name)))
}

/// The FooControlPlane of a Cluster. `None`: the Cluster refers to none, or it does not exist.
///
/// # Errors
///
/// The FooControlPlane cannot be read.
pub(crate) async fn read_control_plane(
    client: &Client,
    cluster: &Cluster,
) -> kube::Result<Option<FooControlPlane>> {
    let Some(reference) = control_plane_of(cluster) else { return Ok(None) };
    let namespace = cluster.namespace().unwrap_or_default();
    let objects: Api<FooControlPlane> = Api::namespaced(client.clone(), &namespace);
    objects.get_opt(&reference.name).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn name(eks: &Value, status: &Value, annotations: &Value) -> Option<String> {
        let object = json!({
            "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
            "metadata": { "name": "blue", "namespace": "team-a", "annotations": annotations },
            "spec": { "version": "v1.34.0", "eks": eks }, "status": status,
        });
        eks_name(&serde_json::from_value(object).unwrap(), "blue", "here")
    }

    #[test]
    fn a_cluster_observed_or_named_before_a_move_keeps_its_name() {
        let role = json!({ "roleARN": "arn:aws:iam::123456789012:role/eks" });
        let seen = json!({ "eks": { "arn": "arn:aws:eks:eu-central-1:123456789012:cluster/team-a_seen" } });
        let moved = json!({ EKS_NAME_ANNOTATION: "team-a_moved" });
        let none = json!({});
        assert_eq!(name(&role, &seen, &moved).unwrap(), "team-a_seen");
        assert_eq!(name(&role, &none, &moved).unwrap(), "team-a_moved");
        let default = eks_cluster_name("team-a", "blue", "here");
        assert_eq!(name(&role, &none, &none).unwrap(), default);
        let named = json!({ "roleARN": "arn:aws:iam::123456789012:role/eks", "name": "prod" });
        assert_eq!(name(&named, &seen, &moved).unwrap(), "prod");
        assert_eq!(name(&Value::Null, &none, &none), None);
    }
}
