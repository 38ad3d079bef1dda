//! What users write: Cluster, pool, Secrets, workload. One function for each object, so that a test can apply them in
//! any order or leave one out.

use super::aws::{GROUP_LABEL, IMAGE, INSTANCE_TYPE, REGION, SECURITY_GROUP, SUBNETS};
use serde_json::{Value, json};

/// Kubernetes version of all clusters: that of the API server that is run.
pub const VERSION: &str = "v1.36.3";

/// Namespace and name of the Cluster of the demo.
pub const DEMO: &str = "demo";

/// Namespace, Cluster and name of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolName {
    /// Namespace of everything.
    pub namespace: String,
    /// Its Cluster.
    pub cluster: String,
    /// Name of the FooMachinePool.
    pub pool: String,
    /// Name of the MachinePool: the same, but in a topology.
    pub machine_pool: String,
}

impl PoolName {
    /// Name of its Auto Scaling group and launch template, as documented for names below 128 characters.
    pub fn group(&self) -> String {
        let Self { namespace, cluster, pool, .. } = self;
        let separator = if namespace.contains('-') || cluster.contains('-') { '_' } else { '-' };
        format!("{namespace}{separator}{cluster}{separator}{pool}")
    }

    /// Name of the Secret with its bootstrap data.
    pub fn bootstrap_secret(&self) -> String {
        format!("{}-bootstrap", self.cluster)
    }
}

/// Name of the Secret with the kubeconfig of the existing API server.
pub fn existing_kubeconfig(cluster: &str) -> String {
    format!("{cluster}-existing-api-server")
}

/// The namespace.
pub fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// The Secret with the kubeconfig of the existing API server.
pub fn kubeconfig_secret(namespace: &str, cluster: &str, kubeconfig: &str) -> Value {
    secret(namespace, &existing_kubeconfig(cluster), kubeconfig)
}

/// The Secret with the pool's user data.
pub fn bootstrap_secret(name: &PoolName) -> Value {
    secret(&name.namespace, &name.bootstrap_secret(), "#!/bin/sh\n/etc/eks/bootstrap.sh\n")
}

/// The Secret with the authority of the existing API server, by which the kubeadm bootstrap provider lets Nodes know
/// it. Its key is not read for joining.
pub fn authority_secret(namespace: &str, cluster: &str, certificate: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {
            "name": format!("{cluster}-ca"), "namespace": namespace,
            "labels": {"cluster.x-k8s.io/cluster-name": cluster},
        },
        "stringData": {"tls.crt": certificate, "tls.key": "none"},
    })
}

fn secret(namespace: &str, name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "stringData": {"value": value},
    })
}

/// The Cluster.
pub fn cluster(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "infrastructureRef": {"apiGroup": "infrastructure.foo.com", "kind": "FooCluster", "name": name},
            "controlPlaneRef": {"apiGroup": "controlplane.foo.com", "kind": "FooControlPlane", "name": name},
        },
    })
}

/// The FooCluster.
pub fn foo_cluster(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "region": REGION,
            "network": {
                "existing": {
                    "subnets": SUBNETS.map(|id| json!({"id": id})),
                    "securityGroups": [{"id": SECURITY_GROUP}],
                },
            },
        },
    })
}

/// The FooControlPlane.
pub fn foo_control_plane(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "version": VERSION,
            "external": {"kubeconfigSecretRef": {"name": existing_kubeconfig(name)}},
        },
    })
}

/// The MachinePool.
pub fn machine_pool(name: &PoolName, replicas: u32) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool",
        "metadata": {"name": name.machine_pool, "namespace": name.namespace},
        "spec": {
            "clusterName": name.cluster,
            "replicas": replicas,
            "template": {"spec": {
                "clusterName": name.cluster,
                "version": VERSION,
                "bootstrap": {"dataSecretName": name.bootstrap_secret()},
                "infrastructureRef":
                    {"apiGroup": "infrastructure.foo.com", "kind": "FooMachinePool", "name": name.pool},
            }},
        },
    })
}

/// The FooMachinePool.
pub fn foo_machine_pool(name: &PoolName) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool",
        "metadata": {"name": name.pool, "namespace": name.namespace},
        "spec": {"instanceType": INSTANCE_TYPE, "ami": {"id": IMAGE}},
    })
}

/// A Deployment with one pod for each Node of the group, as far as there is room, and a budget for it.
pub fn deployment(name: &PoolName, app: &str, pods: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": app, "namespace": name.namespace},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": {"app": app}},
            "template": {
                "metadata": {"labels": {"app": app}},
                "spec": {
                    "nodeSelector": {GROUP_LABEL: foo_api::labels::must_format_value(&name.group())},
                    "containers": [{"name": "app", "image": "none"}],
                },
            },
        },
    })
}

/// A PodDisruptionBudget for the pods of a Deployment.
pub fn budget(namespace: &str, app: &str, max_unavailable: u32) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": namespace},
        "spec": {"maxUnavailable": max_unavailable, "selector": {"matchLabels": {"app": app}}},
    })
}
