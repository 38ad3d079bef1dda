//! FooMachinePool: one Auto Scaling group. Here its spec as a whole; the parts of it by what they are about.

mod launch;
mod replace;
mod status;

pub use crate::interruption::{Interruption, RebalancePolicy};
pub use launch::{
    Ami, DataVolume, HttpTokens, MetadataOptions, MixedInstances, MixedInstancesOverride, Spot, SpotStrategy,
    Volume, VolumeType,
};
pub use replace::{Remediation, Rollout, RolloutFailurePolicy, RolloutStrategy, ScaleIn, VictimPolicy};
pub use status::{FooMachinePoolStatus, GroupStatus, LaunchTemplateStatus, NodeInfo, RolloutStatus};

use crate::patterns;
use crate::shared::NetworkReference;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One Auto Scaling group, used by a MachinePool through `spec.template.spec.infrastructureRef`.
///
/// Everything may be changed at any time unless a field says otherwise.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooMachinePool",
    plural = "foomachinepools",
    shortname = "foomp",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    status = "FooMachinePoolStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/cluster-name']"
    ),
    printcolumn(name = "Desired", type_ = "integer", json_path = ".status.desiredReplicas"),
    printcolumn(name = "Replicas", type_ = "integer", json_path = ".status.replicas"),
    printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyReplicas"),
    printcolumn(name = "Up-To-Date", type_ = "integer", json_path = ".status.upToDateReplicas"),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version", priority = 1),
    printcolumn(name = "Type", type_ = "string", json_path = ".status.instanceType", priority = 1),
    printcolumn(name = "Group", type_ = "string", json_path = ".status.autoScalingGroup.name", priority = 1),
    printcolumn(
        name = "Template",
        type_ = "integer",
        json_path = ".status.launchTemplate.version",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.instanceType) != has(self.mixedInstances)")
        .message("give either instanceType or mixedInstances"),
    validation = Rule::new("!has(self.mixedInstances) || !has(self.spot)")
        .message("with mixedInstances, spot is bought through its onDemandPercentage and spotMaxPrice"),
    validation = Rule::new("!has(oldSelf.providerID) || !has(self.providerID) || self.providerID == oldSelf.providerID")
        .message("providerID is written by the provider and cannot be changed"),
    validation = Rule::new("has(self.groupName) == has(oldSelf.groupName) && (!has(self.groupName) || self.groupName == oldSelf.groupName)")
        .message("groupName cannot be changed, set or taken away later: make another FooMachinePool with a MachinePool of its own"),
    validation = Rule::new("!has(self.autoscaling) || !has(self.maxSize) || self.autoscaling.maxSize <= self.maxSize")
        .message("autoscaling.maxSize is above maxSize"),
    validation = Rule::new("!has(self.rootVolume) || !(self.rootVolume.type in ['st1', 'sc1'])")
        .message("st1 and sc1 cannot be root volumes")
)]
pub struct FooMachinePoolSpec {
    /// ARN of the group. Written by the provider once, and again when a replaced object comes without it.
    #[serde(default, rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub provider_id: Option<String>,
    /// `aws:///<zone>/<instance id>` of every instance that exists, sorted. Written by the provider; an id stays until
    /// its instance is gone.
    #[serde(default, rename = "providerIDList", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10000), inner(length(min = 1, max = 512)))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub provider_id_list: Option<Vec<String>>,
    /// Name of the group and of its launch template; if absent made from namespace, Cluster and name. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_./()-]{2,127}$"))]
    pub group_name: Option<String>,
    /// Number of instances that is never passed, whatever the MachinePool wishes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub max_size: Option<i32>,
    /// Bounds of the group while somebody else decides on its size (`cluster.x-k8s.io/replicas-managed-by` on the
    /// MachinePool); required then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<Autoscaling>,

    /// Type of all instances (`m7i.large`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::INSTANCE_TYPE))]
    pub instance_type: Option<String>,
    /// Several types and a share of spot instances, instead of `instanceType`. There are no weights: a replica is an
    /// instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed_instances: Option<MixedInstances>,
    /// Image the instances boot from.
    pub ami: Ami,
    /// Name of the IAM instance profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = patterns::INSTANCE_PROFILE))]
    pub iam_instance_profile: Option<String>,
    /// EC2 key pair for SSH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub ssh_key_name: Option<String>,
    /// Security groups beside those of the FooCluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub security_groups: Vec<NetworkReference>,
    /// Root volume; the image's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<Volume>,
    /// Further volumes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 24))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["deviceName".into()]))]
    pub volumes: Vec<DataVolume>,
    /// Instance metadata service: IMDSv2 is required unless said otherwise.
    #[serde(default)]
    pub metadata_options: MetadataOptions,
    /// Buy all instances on the spot market.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
    /// Subnets to launch into; each must belong to the FooCluster. If absent: the FooCluster's subnets in the
    /// MachinePool's failureDomains, or else all its private subnets (all its subnets if none is private).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub subnets: Vec<NetworkReference>,
    /// How Machines are chosen when there are too many.
    #[serde(default)]
    pub scale_in: ScaleIn,
    /// How instances that were launched from outdated content are replaced.
    #[serde(default)]
    pub rollout: Rollout,
    /// How sick Machines are replaced.
    #[serde(default)]
    pub remediation: Remediation,
    /// What follows from what AWS announces about instances. It reaches the manager only through a queue
    /// (`--events-queue-url`). An interruption notice always deletes the Machine at once and asks for its replacement; an
    /// instance that will be retired is replaced within the budgets of `rollout`.
    #[serde(default)]
    pub interruption: Interruption,
    /// Tags of the group, its instances and their volumes. A change rolls no nodes: running instances keep theirs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(
        validation = Rule::new("self.all(key, !key.startsWith('aws:') && !key.startsWith('infrastructure.foo.com/'))")
            .message("tags must not begin with aws: or infrastructure.foo.com/"),
        validation = Rule::new("self.all(key, size(key) >= 1 && size(key) <= 128)")
            .message("keys of tags have 1 to 128 characters"),
        validation = Rule::new("self.all(key, !key.matches('[\\\\x00-\\\\x1f\\\\x7f]') && !self[key].matches('[\\\\x00-\\\\x1f\\\\x7f]'))")
            .message("tags must not contain control characters")
    )]
    #[schemars(extend("maxProperties" = 40, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub tags: BTreeMap<String, String>,
}

/// Bounds of a group whose size somebody else decides on, in instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.minSize <= self.maxSize").message("minSize is above maxSize"))]
pub struct Autoscaling {
    /// MinSize of the group.
    #[schemars(range(min = 0, max = 10000))]
    pub min_size: i32,
    /// MaxSize of the group.
    #[schemars(range(min = 0, max = 10000))]
    pub max_size: i32,
}
