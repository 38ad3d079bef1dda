//! FooMachine: one instance of a pool. The provider makes and removes it; nobody else needs to.

use crate::patterns;
use crate::shared::Initialization;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which instance this is. Made by the provider for every instance of a group.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooMachine",
    plural = "foomachines",
    shortname = "foom",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    status = "FooMachineStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/cluster-name']"
    ),
    printcolumn(
        name = "Pool",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/pool-name']"
    ),
    printcolumn(name = "Instance", type_ = "string", json_path = ".spec.instanceID"),
    printcolumn(name = "Zone", type_ = "string", json_path = ".status.failureDomain"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.lifecycleState"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Type", type_ = "string", json_path = ".status.instanceType", priority = 1),
    printcolumn(
        name = "Template",
        type_ = "integer",
        json_path = ".status.launchTemplateVersion",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self == oldSelf").message("a FooMachine stands for one instance for ever"))]
pub struct FooMachineSpec {
    /// `aws:///<zone>/<instance id>`: equal, character by character, to the Node's spec.providerID.
    #[serde(rename = "providerID")]
    #[schemars(length(min = 1, max = 512), regex(pattern = patterns::PROVIDER_ID))]
    pub provider_id: String,
    /// EC2 instance id.
    #[serde(rename = "instanceID")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::INSTANCE_ID))]
    pub instance_id: String,
}

/// What is known of the instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooMachineStatus {
    /// Cluster API's signal that the instance runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// The same, for readers of the older contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Addresses of the instance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<MachineAddress>,
    /// Availability Zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_domain: Option<String>,
    /// Whether it was bought on the spot market: Cluster API labels the Node accordingly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// Auto Scaling's lifecycle state (`InService`, `Terminating:Wait`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle_state: Option<String>,
    /// Instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Launch template version it was launched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_template_version: Option<i64>,
    /// Hash of the wanted content that version was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_hash: Option<String>,
    /// The instance is being ended and waits for our lifecycle hook, so that its Node is drained first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_hook: Option<DrainHookStatus>,
    /// `Ready` and `Paused`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// An instance that waits for our lifecycle hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrainHookStatus {
    /// When it was first seen waiting.
    pub since: Time,
    /// When AWS ends it whether or not it is drained: 48 hours later.
    pub deadline: Time,
}

/// One address of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineAddress {
    /// `InternalIP`, `InternalDNS`, `ExternalIP` or `ExternalDNS`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The address.
    pub address: String,
}
