//! FooMachine: one instance of a pool. The provider creates and deletes it; users do not need to.

use crate::patterns;
use crate::shared::Initialization;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One EC2 instance of a FooMachinePool. The provider creates a FooMachine for every instance of the Auto
/// Scaling group; do not create or delete FooMachines yourself: to remove an instance, delete its Machine.
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
#[x_kube(validation = Rule::new("self == oldSelf").message("spec of a FooMachine is immutable"))]
pub struct FooMachineSpec {
    /// Provider id, `aws:///<zone>/<instance id>`. The Node's `spec.providerID` must be exactly the same.
    /// Immutable.
    #[serde(rename = "providerID")]
    #[schemars(length(min = 1, max = 512), regex(pattern = patterns::PROVIDER_ID))]
    pub provider_id: String,
    /// EC2 instance id. Immutable.
    #[serde(rename = "instanceID")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::INSTANCE_ID))]
    pub instance_id: String,
}

/// What the provider knows about the instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooMachineStatus {
    /// `provisioned` reports to Cluster API that the instance is in service. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// Same as `initialization.provisioned`, for clients of Cluster API's v1beta1 contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// IP addresses and DNS names of the instance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<MachineAddress>,
    /// Availability Zone of the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_domain: Option<String>,
    /// Whether it is a spot instance. If so, Cluster API labels the Node `cluster.x-k8s.io/interruptible`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// Lifecycle state in the Auto Scaling group, in AWS's words: `Pending`, `InService`, `Terminating:Wait`,
    /// …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle_state: Option<String>,
    /// EC2 instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Launch template version that the instance was launched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_template_version: Option<i64>,
    /// Hash of the settings that the instance was launched with, as far as they replace instances when they
    /// change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_hash: Option<String>,
    /// Set while AWS is terminating the instance and the lifecycle hook `foo-drain` delays that until the
    /// Node is drained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_hook: Option<DrainHookStatus>,
    /// `Ready` and `Paused`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// How long the lifecycle hook `foo-drain` delays the termination of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrainHookStatus {
    /// When the provider first saw the instance wait for the hook.
    pub since: Time,
    /// When AWS terminates the instance, drained or not: 48 hours after `since`.
    pub deadline: Time,
}

/// One address of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineAddress {
    /// `InternalIP`, `InternalDNS`, `ExternalIP` or `ExternalDNS`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The IP address or DNS name.
    pub address: String,
}
