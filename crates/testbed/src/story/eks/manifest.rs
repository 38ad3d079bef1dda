//! The one file of the story, and how a user asks for a newer version in it. A change of the file changes only this
//! module.

use crate::world::Cluster;
use crate::world::kinds::Kind;
use anyhow::Result;
use serde_json::json;

/// Everything that the user applies. It reads `eks-control-plane` and `eks-nodes`, which [`super::prepared`] creates.
pub(super) const FILE: &str = include_str!("cluster.yaml");
/// Name of the file in the world's folder.
pub(super) const FILE_NAME: &str = "cluster.yaml";
/// Namespace and name of its Cluster.
pub(super) const CLUSTER: &str = "demo";
/// Name of its EKS cluster, which begins with the namespace.
pub(super) const EKS_CLUSTER: &str = "demo_shop";
/// The pool on demand, with Amazon Linux.
pub(super) const LINUX: &str = "linux";
/// The pool with spot instances, with Bottlerocket.
pub(super) const ROCKETS: &str = "rockets";
/// Replicas of each pool.
pub(super) const REPLICAS: usize = 2;
/// The version in the file, the one between and the one that the story ends with.
pub(super) const VERSIONS: [&str; 3] = ["v1.34.0", "v1.35.0", "v1.36.0"];
/// The version that is upgraded to.
pub(super) const NEWEST: &str = VERSIONS[2];
/// The Node label that the file gives the pool on demand.
pub(super) const LABEL: (&str, &str) = ("example.com/team", "shop");
/// Key of the Node taint that the file gives the pool with spot instances.
pub(super) const TAINT: &str = "example.com/batch";

/// The command with which a user upgrades the control plane.
pub(super) fn upgrade_command() -> String {
    format!(
        "kubectl patch foocontrolplane {CLUSTER} -n {CLUSTER} --type=merge -p '{{\"spec\":{{\"version\":\"{NEWEST}\"}}}}'"
    )
}

/// Asks for the newest version of the control plane.
pub(super) async fn upgrade_control_plane(cluster: &Cluster<'_>) -> Result<()> {
    cluster.patch(Kind::FooControlPlane, &json!({"spec": {"version": NEWEST}})).await
}

/// Asks for the newest version of a pool's Nodes.
pub(super) async fn upgrade_pool(cluster: &Cluster<'_>, pool: &str) -> Result<()> {
    let change = json!({"spec": {"template": {"spec": {"version": NEWEST}}}});
    cluster.existing_pool(pool).patch(Kind::MachinePool, &change).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::capi::{Cluster as ClusterObject, MachinePool};
    use foo_api::{FooCluster, FooControlPlane, FooMachinePool, FooNodeConfig};
    use foo_simulator::{DEFAULT_ACCOUNT, DEFAULT_REGION};
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    /// The objects of one kind, as they are written.
    fn documents<K: kube::Resource<DynamicType = ()>>() -> Vec<Value> {
        let all = xtask::yaml::parse(FILE).unwrap();
        let of_kind: Vec<Value> = all.into_iter().filter(|it| it["kind"] == *K::kind(&())).collect();
        for document in &of_kind {
            assert_eq!(document["apiVersion"], *K::api_version(&()), "{document}");
            assert_eq!(document["metadata"]["namespace"], CLUSTER, "{document}");
        }
        assert!(!of_kind.is_empty(), "no {}", K::kind(&()));
        of_kind
    }

    /// The same as our types read them.
    fn objects<K: kube::Resource<DynamicType = ()> + DeserializeOwned>() -> Vec<K> {
        documents::<K>().into_iter().map(|document| serde_json::from_value(document).unwrap()).collect()
    }

    /// The same of a kind of the provider, of whose spec nothing is lost by that: every field exists.
    fn own<K: kube::Resource<DynamicType = ()> + DeserializeOwned + serde::Serialize>() -> Vec<K> {
        let objects = objects::<K>();
        for (document, object) in documents::<K>().iter().zip(&objects) {
            let again = serde_json::to_value(object).unwrap();
            assert!(is_within(&document["spec"], &again["spec"]), "{document}\n{again}");
        }
        objects
    }

    /// Whether all of one value is in another one.
    fn is_within(part: &Value, whole: &Value) -> bool {
        match (part, whole) {
            (Value::Object(part), Value::Object(whole)) => {
                part.iter().all(|(key, it)| whole.get(key).is_some_and(|whole| is_within(it, whole)))
            }
            (Value::Array(part), Value::Array(whole)) => {
                part.len() == whole.len()
                    && part.iter().zip(whole).all(|(part, whole)| is_within(part, whole))
            }
            (part, whole) => part == whole,
        }
    }

    #[test]
    fn the_file_has_what_the_steps_read() {
        let clusters = objects::<ClusterObject>();
        assert_eq!(clusters[0].metadata.name.as_deref(), Some(CLUSTER));
        assert_eq!(own::<FooCluster>()[0].spec.region, DEFAULT_REGION);
        let control_plane = &own::<FooControlPlane>()[0];
        assert_eq!(control_plane.spec.version, VERSIONS[0]);
        let eks = control_plane.spec.eks.as_ref().unwrap();
        assert_eq!(eks.name.as_deref(), Some(EKS_CLUSTER));
        assert!(eks.role_arn.contains(DEFAULT_ACCOUNT) && eks.role_arn.ends_with(crate::CONTROL_PLANE_ROLE));
        let pools = objects::<MachinePool>();
        assert_eq!(pools.len(), 2);
        for pool in &pools {
            assert_eq!(pool.spec.replicas, i32::try_from(REPLICAS).ok());
            assert_eq!(pool.spec.template.spec.version.as_deref(), Some(VERSIONS[0]));
        }
        let machine_pools = own::<FooMachinePool>();
        let names: Vec<_> = machine_pools.iter().filter_map(|it| it.metadata.name.as_deref()).collect();
        assert_eq!(names, [LINUX, ROCKETS]);
        let profile = Some(crate::NODE_ROLE);
        assert!(machine_pools.iter().all(|it| it.spec.iam_instance_profile.as_deref() == profile));
        let configs = own::<FooNodeConfig>();
        assert_eq!(configs[0].spec.labels.get(LABEL.0).map(String::as_str), Some(LABEL.1));
        assert_eq!(configs[1].spec.taints[0].key, TAINT);
    }

    #[test]
    fn the_upgrade_is_by_two_minors() {
        let minor = |version: &str| version.split('.').nth(1).and_then(|it| it.parse::<u16>().ok()).unwrap();
        assert_eq!(minor(NEWEST), minor(VERSIONS[0]) + 2);
        assert!(upgrade_command().contains(NEWEST));
    }
}
