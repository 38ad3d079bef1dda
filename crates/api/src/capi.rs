//! The fields of Cluster API's own objects that we read (group `cluster.x-k8s.io`, version `v1beta2`).
//!
//! Views, not copies: unknown fields are ignored, everything is optional that upstream may leave out. A test
//! in `tests/contract` checks each field against the upstream CRDs.

use crate::names::TOPOLOGY_OWNED_LABEL;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Cluster: what it points to and whether it is paused.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cluster.x-k8s.io",
    version = "v1beta2",
    kind = "Cluster",
    plural = "clusters",
    namespaced,
    schema = "disabled",
    derive = "PartialEq",
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
    /// Ranges of addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_network: Option<ClusterNetwork>,
}

/// Ranges of addresses of a Cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNetwork {
    /// Those of Services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<NetworkRanges>,
}

/// Ranges of addresses, the first one is that of the cluster's own Services.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkRanges {
    /// In CIDR notation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cidr_blocks: Vec<String>,
}

/// Status of a Cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// How far it has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ClusterInitialization>,
}

/// How far a Cluster has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterInitialization {
    /// Whether its infrastructure cluster is provisioned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_provisioned: Option<bool>,
}

/// A reference without version and namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContractReference {
    /// API group.
    #[serde(default)]
    pub api_group: String,
    /// Kind.
    #[serde(default)]
    pub kind: String,
    /// Name.
    #[serde(default)]
    pub name: String,
}

/// MachinePool: how many machines are requested, and what they are like.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cluster.x-k8s.io",
    version = "v1beta2",
    kind = "MachinePool",
    plural = "machinepools",
    namespaced,
    schema = "disabled",
    status = "MachinePoolStatus",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct MachinePoolSpec {
    /// Cluster it belongs to.
    #[serde(default)]
    pub cluster_name: String,
    /// Requested number of machines. Cluster API always sets it; without it the request is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// What the machines are like.
    #[serde(default)]
    pub template: MachineTemplate,
    /// Zones to use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure_domains: Vec<String>,
}

/// What Cluster API knows of a pool's machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachinePoolStatus {
    /// Versions of the kubelets of its Nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<NodeVersion>,
}

/// A version that some Nodes of a pool have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeVersion {
    /// The version, as the kubelets report it.
    #[serde(default)]
    pub version: String,
}

impl MachinePool {
    /// The version that all Nodes report, and the one that a topology requests, if they are builds of the same version and spelled
    /// in another way. Cluster API compares the two character by character (topology controller, `IsMachinePoolUpgrading`): it
    /// considers the pool as being upgraded for ever, and refuses every other version.
    pub fn version_spelled_otherwise(&self) -> Option<(&str, &str)> {
        self.metadata.labels.as_ref().filter(|labels| labels.contains_key(TOPOLOGY_OWNED_LABEL))?;
        let wanted = self.spec.template.spec.version.as_deref()?;
        let versions = self.status.iter().flat_map(|status| &status.versions);
        let reported: BTreeSet<&str> =
            versions.map(|it| it.version.as_str()).filter(|it| !it.is_empty()).collect();
        let mut reported = reported.into_iter();
        let (Some(reported), None) = (reported.next(), reported.next()) else { return None };
        let number = |version: &'_ str| version.split(['-', '+']).next().map(str::to_owned);
        (reported != wanted && number(reported) == number(wanted)).then_some((reported, wanted))
    }
}

/// Template of a pool's machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineTemplate {
    /// Its spec.
    #[serde(default)]
    pub spec: MachineTemplateSpec,
}

/// Spec of a pool's machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineTemplateSpec {
    /// Where the bootstrap data is.
    #[serde(default)]
    pub bootstrap: Bootstrap,
    /// The infrastructure: a FooMachinePool.
    #[serde(default)]
    pub infrastructure_ref: ContractReference,
    /// Kubernetes version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Timeouts of deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<MachineDeletion>,
    /// How long a Node must have been Ready before its Machine counts as available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ready_seconds: Option<i32>,
}

/// Where the bootstrap data is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bootstrap {
    /// The object of the bootstrap provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_ref: Option<ContractReference>,
    /// Secret with the data under the key `value`; absent until the bootstrap provider made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_secret_name: Option<String>,
}

/// Timeouts of a Machine's deletion, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineDeletion {
    /// Draining.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_drain_timeout_seconds: Option<i32>,
    /// Waiting for volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_volume_detach_timeout_seconds: Option<i32>,
    /// Deleting the Node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_deletion_timeout_seconds: Option<i32>,
}

/// Machine: one machine of a pool.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cluster.x-k8s.io",
    version = "v1beta2",
    kind = "Machine",
    plural = "machines",
    namespaced,
    schema = "disabled",
    derive = "PartialEq",
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
}

/// Status of a Machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineStatus {
    /// Its Node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_ref: Option<NodeReference>,
    /// Conditions; `NodeReady` is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// How far its deletion is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<MachineDeletionStatus>,
}

/// How far a Machine's deletion is. Times stay after what they are about has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineDeletionStatus {
    /// When the drain of its Node began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_drain_start_time: Option<Time>,
    /// When the wait for its volumes began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for_node_volume_detach_start_time: Option<Time>,
}

/// A Node by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeReference {
    /// Its name.
    #[serde(default)]
    pub name: String,
}

impl Cluster {
    /// Whether everything of the cluster is paused.
    pub fn is_paused(&self) -> bool {
        self.spec.paused.unwrap_or(false)
    }

    /// Whether its infrastructure cluster is provisioned.
    pub fn infrastructure_provisioned(&self) -> bool {
        self.status
            .as_ref()
            .and_then(|status| status.initialization.as_ref())
            .and_then(|initialization| initialization.infrastructure_provisioned)
            .unwrap_or(false)
    }
}
