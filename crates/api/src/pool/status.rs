//! Status of a FooMachinePool.

use crate::shared::Initialization;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Observed state of the pool. If it is lost, as in a `clusterctl move`, the provider writes all of it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooMachinePoolStatus {
    /// Reports to Cluster API that the pool is provisioned: the group exists and, if any replicas are desired, one
    /// instance has been in service. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// `provisioned` is the same as `ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// Kind of the objects that represent the instances: `FooMachine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_machine_kind: Option<String>,
    /// Number of instances that exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Desired replicas: MachinePool.spec.replicas, capped at `spec.maxSize`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_replicas: Option<i32>,
    /// Number of instances that are in service and whose Node is Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,
    /// Number of instances that are not outdated (see `spec.rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to_date_replicas: Option<i32>,
    /// `metadata.generation` that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Kubernetes version that the MachinePool requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Instance type; with `mixedInstances`, the first one of its list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// What AWS chose, with `mixedInstances`: the number of instances of each type, those that leave included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instance_types: BTreeMap<String, i32>,
    /// Resources of one Node of the pool (`cpu`, `memory`, `nvidia.com/gpu`, …). cluster-autoscaler needs
    /// them to scale from zero.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capacity: BTreeMap<String, String>,
    /// Architecture and operating system of the Nodes. cluster-autoscaler needs them to scale from zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_info: Option<NodeInfo>,
    /// Name and sizes of the Auto Scaling group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_scaling_group: Option<GroupStatus>,
    /// Image that the provider looked up. Absent if `spec.ami.id` names the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageStatus>,
    /// Launch template and version that new instances are launched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_template: Option<LaunchTemplateStatus>,
    /// Progress of the replacement of outdated instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutStatus>,
    /// When the provider replaces the next instance because of its age (`spec.maxInstanceLifetimeSeconds`), if the limits of
    /// roll-outs allow it then. In the past if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_expiry: Option<Time>,
    /// `Ready`, which summarizes the others, and one condition for each thing that the pool depends on. Their
    /// reasons are listed in docs/operations/conditions.md.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Architecture and operating system of the pool's Nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeInfo {
    /// `amd64` or `arm64`.
    pub architecture: String,
    /// `linux`.
    pub operating_system: String,
}

/// The Auto Scaling group as AWS reports it. Sizes are numbers of instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupStatus {
    /// Name of the group.
    pub name: String,
    /// DesiredCapacity of the group.
    pub desired_capacity: i32,
    /// MinSize of the group.
    pub min_size: i32,
    /// MaxSize of the group.
    pub max_size: i32,
}

/// An image that the provider looked up. The annotation `infrastructure.foo.com/image` contains the same, since
/// it goes along when the object is moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageStatus {
    /// Id of the image (`ami-…`).
    pub id: String,
    /// Where the id is from: the SSM parameter, or owner, name and architecture of the look-up.
    pub source: String,
    /// Kubernetes version of the MachinePool at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// When the provider found it.
    pub resolved_at: Time,
}

/// Progress of the replacement of outdated instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStatus {
    /// `Finished`, `OnDelete`, `Paused`, `Waiting`, `Preparing`, `AwaitingWindow`, `Rolling`, `Halted`, `RollingBack` or
    /// `RolledBack`.
    pub phase: String,
    /// Hash of the settings that all instances have when the roll-out is finished.
    pub target_hash: String,
    /// Number of instances that have the target hash.
    pub updated: i32,
    /// Number of instances that have another hash.
    pub outdated: i32,
    /// What the roll-out waits for, or why it stopped.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Launch template and version that new instances are launched from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaunchTemplateStatus {
    /// Id of the launch template (`lt-…`).
    pub id: String,
    /// Version number that new instances are launched from.
    pub version: i64,
    /// Hash of the settings that replace instances when they change.
    pub spec_hash: String,
}
