//! What a FooMachinePool says of itself.

use crate::shared::Initialization;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is true of the pool. It can be lost at any time (clusterctl move): all of it is found again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooMachinePoolStatus {
    /// Cluster API's signal that the infrastructure is there; stays true. Core v1.14 reads this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The same, as the contract's text wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// Kind of the objects that stand for the instances: `FooMachine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_machine_kind: Option<String>,
    /// Instances that exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Instances that are wished for, within `maxSize`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_replicas: Option<i32>,
    /// Instances in service whose Node is Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,
    /// Instances launched from a template version with the wanted content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to_date_replicas: Option<i32>,
    /// Generation of the spec this status belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Kubernetes version the MachinePool asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Instance type, or the first of a mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// What one Node of the pool offers (`cpu`, `memory`, `nvidia.com/gpu`, …), as strings: cluster-autoscaler scales
    /// from zero by it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capacity: BTreeMap<String, String>,
    /// Architecture and operating system of the Nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_info: Option<NodeInfo>,
    /// The group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_scaling_group: Option<GroupStatus>,
    /// The launch template in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_template: Option<LaunchTemplateStatus>,
    /// How far the replacement of outdated instances is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutStatus>,
    /// `Ready` (a summary) and one condition for each thing it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// What kind of Nodes the pool has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeInfo {
    /// `amd64` or `arm64`.
    pub architecture: String,
    /// `linux`.
    pub operating_system: String,
}

/// The group as AWS has it; sizes are instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupStatus {
    /// Its name.
    pub name: String,
    /// Desired capacity.
    pub desired_capacity: i32,
    /// Minimum size.
    pub min_size: i32,
    /// Maximum size.
    pub max_size: i32,
}

/// How far the replacement of outdated instances is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStatus {
    /// `Finished`, `OnDelete`, `Paused`, `Waiting`, `Preparing`, `Rolling`, `Halted`, `RollingBack` or `RolledBack`.
    pub phase: String,
    /// Hash of the content that all instances shall have in the end.
    pub target_hash: String,
    /// Instances that have it.
    pub updated: i32,
    /// Instances that have another one.
    pub outdated: i32,
    /// What it waits for, or why it does not go on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The launch template in use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaunchTemplateStatus {
    /// Its id.
    pub id: String,
    /// Version that new instances launch from.
    pub version: i64,
    /// Hash of the content that rolls nodes.
    pub spec_hash: String,
}
