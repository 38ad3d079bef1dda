//! Status of a FooMachinePool.

use crate::node_config::VpcCni;
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
    /// Architecture and operating system of the Nodes. cluster-autoscaler needs them to scale from zero. Absent if the instance
    /// types have both architectures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_info: Option<NodeInfo>,
    /// Most Pods on one Node of the pool; a FooNodeConfig sets one of them by its `spec.vpcCNI`. Of several instance types
    /// the smallest number. Absent until EC2 has described the types, if AWS chooses the types by their attributes, or EC2 does not report how many addresses they
    /// can have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pods: Option<MaxPods>,
    /// Name and sizes of the Auto Scaling group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_scaling_group: Option<GroupStatus>,
    /// The group's warm pool, whoever created it. Its instances are none of `replicas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_pool: Option<WarmPoolStatus>,
    /// Image that the provider looked up, or those of `spec.ami.ids` that it uses. Absent if `spec.ami.id` names the image.
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

/// Most Pods on a Node by the settings of the Amazon VPC CNI. Two of them use the addresses of the Node: the VPC CNI and
/// kube-proxy. All numbers except `standard` are at most 110, or 250 for more than 30 vCPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaxPods {
    /// With the default settings: what images for EKS set by themselves, less for each interface of `spec.networkInterfaces` on the
    /// first network card.
    pub standard: i32,
    /// With custom networking.
    pub custom_networking: i32,
    /// With prefix delegation.
    pub prefix_delegation: i32,
    /// With prefix delegation and custom networking.
    pub prefix_delegation_with_custom_networking: i32,
}

impl MaxPods {
    /// The number with these settings.
    pub const fn with(self, VpcCni { prefix_delegation, custom_networking }: VpcCni) -> i32 {
        match (prefix_delegation, custom_networking) {
            (false, false) => self.standard,
            (false, true) => self.custom_networking,
            (true, false) => self.prefix_delegation,
            (true, true) => self.prefix_delegation_with_custom_networking,
        }
    }
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

/// The group's warm pool as AWS reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WarmPoolStatus {
    /// Its size, in instances (WarmPoolSize).
    pub size: i32,
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
    /// Image of the arm64 instance types of a pool with types of both architectures; then `id` is that of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm64: Option<Arm64ImageStatus>,
}

/// Image of the arm64 instance types of a pool with types of both architectures; then `id` is that of the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arm64ImageStatus {
    /// Id of the image (`ami-…`).
    pub id: String,
    /// Where the id is from: the SSM parameter, or owner, name and architecture of the look-up.
    pub source: String,
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
