//! The fields of a Cluster and of a Machine that this plugin shows, beside those that the manager reads
//! (`foo_api::capi`): a manager that kept them would reconcile whenever Cluster API writes one. `tests/contract` checks
//! them against the upstream CRDs.

use foo_api::capi::{ContractReference, MachineDeletion, MachineStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// Cluster: what it points to, and how Cluster API reports on it.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cluster.x-k8s.io",
    version = "v1beta2",
    kind = "Cluster",
    plural = "clusters",
    namespaced,
    schema = "disabled",
    status = "ClusterStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSpec {
    /// Pauses everything of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// The infrastructure cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_ref: Option<ContractReference>,
    /// The control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_ref: Option<ContractReference>,
}

/// Status of a Cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterStatus {
    /// Conditions; `Available` is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Machine: as the manager reads it, and the version of its kubelet.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cluster.x-k8s.io",
    version = "v1beta2",
    kind = "Machine",
    plural = "machines",
    namespaced,
    schema = "disabled",
    status = "MachineStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct MachineSpec {
    /// Cluster it belongs to.
    #[serde(default)]
    pub cluster_name: String,
    /// Its FooMachine.
    #[serde(default)]
    pub infrastructure_ref: ContractReference,
    /// Its instance, once that is known.
    #[serde(default, rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Timeouts of its deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<MachineDeletion>,
    /// Version of the kubelet on its Node: Cluster API copies it from there to the Machines of a MachinePool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}
