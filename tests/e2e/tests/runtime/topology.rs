//! A ClusterClass of the stand-in provider, and Clusters of it.

use super::management::{CLUSTER, CLUSTER_CLASS, Management};
use super::provider::GROUP_VERSION;
use anyhow::Result;
use foo_testbed::world::kinds::{condition, text};
use serde_json::{Value, json};

/// The class has this name in every namespace.
pub(crate) const CLASS: &str = "test";
/// Version of a Cluster that is not being upgraded.
pub(crate) const VERSION: &str = "v1.34.1";

/// Creates a namespace with the class, after a change to it.
pub(crate) async fn class(
    management: &Management,
    namespace: &str,
    change: impl FnOnce(&mut Value),
) -> Result<()> {
    management.namespace(namespace).await?;
    let endpoint =
        json!({"controlPlaneEndpoint": {"host": "127.0.0.1", "port": management.rig().api().port()}});
    for (kind, spec) in [
        ("TestCluster", endpoint),
        ("TestControlPlane", json!({"size": "small"})),
        ("TestMachine", json!({"size": "small"})),
        ("TestConfig", json!({"files": "none"})),
    ] {
        management.apply(&template(kind, namespace, CLASS, &spec)).await?;
    }
    let reference = |kind: &str| json!({"templateRef": {"apiVersion": GROUP_VERSION, "kind": format!("{kind}Template"), "name": CLASS}});
    let mut class = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass",
        "metadata": {"name": CLASS, "namespace": namespace},
        "spec": {
            "infrastructure": reference("TestCluster"),
            "controlPlane": reference("TestControlPlane"),
            "workers": {"machineDeployments": [{
                "class": "workers", "infrastructure": reference("TestMachine"), "bootstrap": reference("TestConfig"),
            }]},
        },
    });
    change(&mut class);
    management.apply(&class).await
}

/// Waits until core has discovered the variables of a class. It writes the condition before the variables, in a request
/// of its own.
pub(crate) async fn with_variables(management: &Management, namespace: &str, class: &str) -> Result<Value> {
    management
        .until((CLUSTER_CLASS, namespace, class), "variables to be discovered", |class| {
            condition(class, "VariablesReady").is_some_and(|(status, ..)| status == "True")
                && class.pointer("/status/variables").is_some()
        })
        .await
}

/// A template of the stand-in provider.
pub(crate) fn template(kind: &str, namespace: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": GROUP_VERSION, "kind": format!("{kind}Template"),
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": spec}},
    })
}

/// Creates a Cluster of the class without workers, after a change to it.
pub(crate) async fn cluster(
    management: &Management,
    namespace: &str,
    name: &str,
    change: impl FnOnce(&mut Value),
) -> Result<()> {
    management.rig().link_cluster(namespace, name).await?;
    let mut cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"topology": {"classRef": {"name": CLASS}, "version": VERSION}},
    });
    change(&mut cluster);
    management.apply(&cluster).await
}

/// Waits until the Cluster's topology is blocked, or failed, with all these parts in the message.
pub(crate) async fn has_condition(
    management: &Management,
    namespace: &str,
    name: &str,
    parts: &[&str],
) -> Result<Value> {
    management.until_condition((CLUSTER, namespace, name), "TopologyReconciled", "False", parts).await
}

/// Waits until all objects of the topology are as they should be.
pub(crate) async fn is_reconciled(management: &Management, namespace: &str, name: &str) -> Result<Value> {
    management.until_condition((CLUSTER, namespace, name), "TopologyReconciled", "True", &[]).await
}

/// Whether core has made anything of the topology.
pub(crate) fn is_created(cluster: &Value) -> bool {
    !text(cluster, "/spec/infrastructureRef/name").is_empty()
}
