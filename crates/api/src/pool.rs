//! FooMachinePool: one Auto Scaling group.

pub use crate::interruption::{Interruption, RebalancePolicy};
use crate::patterns;
use crate::shared::{Initialization, NetworkReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::core::Rule;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
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

/// Several types and purchase options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct MixedInstances {
    /// Types to choose from, most wanted first.
    #[schemars(length(min = 1, max = 40))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub overrides: Vec<MixedInstancesOverride>,
    /// How many instances, at least, are on demand.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    pub on_demand_base: i32,
    /// Share of on-demand instances above the base, in percent.
    #[serde(default = "all")]
    #[schemars(range(min = 0, max = 100))]
    pub on_demand_percentage: i32,
    /// How spot pools are chosen.
    #[serde(default)]
    pub spot_strategy: SpotStrategy,
    /// Highest spot price per hour in US dollars; the on-demand price if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub spot_max_price: Option<String>,
}

fn all() -> i32 {
    100
}

/// One choice of a mix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MixedInstancesOverride {
    /// The type.
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::INSTANCE_TYPE))]
    pub instance_type: String,
}

/// Spot allocation strategies, in AWS's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpotStrategy {
    /// Deep pools first, the cheaper of them.
    #[default]
    PriceCapacityOptimized,
    /// Deepest pools first.
    CapacityOptimized,
    /// Deepest pools first, the order of the overrides counting a little.
    CapacityOptimizedPrioritized,
    /// Cheapest pools first.
    LowestPrice,
}

/// Which image to boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ami {
    /// Image id (`ami-…`).
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub id: String,
}

/// An EBS volume. What EC2 would refuse only when it launches an instance is refused here (EBS User Guide, "Amazon EBS volume
/// types").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!(self.type in ['io1', 'io2']) || has(self.iops)")
        .message("io1 and io2 need iops"),
    validation = Rule::new("!has(self.iops) || self.type in ['gp3', 'io1', 'io2']")
        .message("iops can be given for gp3, io1 and io2 only"),
    validation = Rule::new("!has(self.throughput) || self.type == 'gp3'")
        .message("throughput can be given for gp3 only"),
    validation = Rule::new("self.type != 'gp3' || !has(self.iops) || (self.iops >= 3000 && self.iops <= 80000 && (self.iops == 3000 || self.iops <= self.sizeGiB * 500))")
        .message("gp3 has 3000 to 80000 iops, above 3000 at most 500 for each GiB"),
    validation = Rule::new("self.type != 'io1' || !has(self.iops) || (self.iops <= 64000 && self.iops <= self.sizeGiB * 50)")
        .message("io1 has at most 64000 iops and at most 50 for each GiB"),
    validation = Rule::new("self.type != 'io2' || !has(self.iops) || self.iops <= self.sizeGiB * 1000")
        .message("io2 has at most 1000 iops for each GiB"),
    validation = Rule::new("self.type != 'gp3' || !has(self.throughput) || self.throughput * 4 <= (has(self.iops) ? self.iops : 3000)")
        .message("gp3 has at most 0.25 MiB/s of throughput for each of its iops, which are 3000 if absent"),
    validation = Rule::new("!(self.type in ['st1', 'sc1']) || self.sizeGiB >= 125")
        .message("st1 and sc1 have at least 125 GiB"),
    validation = Rule::new("!(self.type in ['io1', 'io2']) || self.sizeGiB >= 4")
        .message("io1 and io2 have at least 4 GiB"),
    validation = Rule::new("self.type in ['gp3', 'io2'] || self.sizeGiB <= 16384")
        .message("gp2, io1, st1 and sc1 have at most 16384 GiB"),
    validation = Rule::new("!has(self.kmsKeyID) || (has(self.encrypted) && self.encrypted)")
        .message("kmsKeyID needs encrypted: true")
)]
pub struct Volume {
    /// Size in GiB.
    #[serde(rename = "sizeGiB")]
    #[schemars(range(min = 1, max = 65536))]
    pub size_gib: i32,
    /// Kind of volume.
    #[serde(default, rename = "type")]
    pub kind: VolumeType,
    /// Provisioned I/O operations per second; gp3, io1 and io2 only, and needed for the last two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 256_000))]
    pub iops: Option<i32>,
    /// Provisioned throughput in MiB/s; gp3 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 125, max = 2000))]
    pub throughput: Option<i32>,
    /// Whether it is encrypted; the account's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// KMS key of the encryption.
    #[serde(default, rename = "kmsKeyID", skip_serializing_if = "Option::is_none")]
    pub kms_key_id: Option<String>,
}

/// A volume beside the root volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataVolume {
    /// Device name (`/dev/xvdb`).
    #[schemars(length(min = 1, max = 32))]
    pub device_name: String,
    /// The volume.
    pub volume: Volume,
}

/// EBS volume types, in AWS's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (EBS User Guide, \"Amazon EBS volume types\")")]
pub enum VolumeType {
    Gp2,
    #[default]
    Gp3,
    Io1,
    Io2,
    St1,
    Sc1,
}

/// Instance metadata service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOptions {
    /// Whether session tokens (IMDSv2) are required.
    #[serde(default)]
    pub http_tokens: HttpTokens,
    /// How many network hops an answer may travel, 1–64. Pods without host network need 2.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub http_put_response_hop_limit: i32,
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self { http_tokens: HttpTokens::Required, http_put_response_hop_limit: 1 }
    }
}

fn one() -> i32 {
    1
}

/// Whether IMDSv2 session tokens are required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HttpTokens {
    /// They are.
    #[default]
    Required,
    /// IMDSv1 works as well.
    Optional,
}

/// The spot market.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spot {
    /// Highest price per hour in US dollars; the on-demand price if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub max_price: Option<String>,
}

/// How Machines are chosen when there are too many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScaleIn {
    /// Which of equals goes first.
    #[serde(default)]
    pub policy: VictimPolicy,
    /// How many Machines may be draining at once by the provider's choice. Machines marked with
    /// `cluster.x-k8s.io/delete-machine` are not held back.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_concurrent_drains: i32,
    /// How long replicas must have been as low as they are, and no launch have failed to come, before a Machine is taken
    /// for it that has a Node and no mark; 2100 (35 minutes) if the MachinePool carries cluster-autoscaler's annotations,
    /// else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3600))]
    pub stabilization_seconds: Option<i32>,
}

impl Default for ScaleIn {
    fn default() -> Self {
        Self { policy: VictimPolicy::Oldest, max_concurrent_drains: 10, stabilization_seconds: None }
    }
}

fn ten() -> i32 {
    10
}

/// Which of equals goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum VictimPolicy {
    /// The oldest.
    #[default]
    Oldest,
    /// The newest.
    Newest,
}

/// How instances that were launched from outdated content are replaced. Outdated are those whose image, type, volumes,
/// security groups, bootstrap Secret or Kubernetes version differ; tags and rotated bootstrap data outdate nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// Who replaces them.
    #[serde(default)]
    pub strategy: RolloutStrategy,
    /// How many instances beyond the wish there may be, as a number or as a share of it (`25%`, rounded up). Never
    /// beyond `maxSize`.
    #[serde(default = "one_instance")]
    #[x_kube(validation = share())]
    pub max_surge: IntOrString,
    /// How many instances fewer than the wish may be available, as a number or as a share of it (rounded down). One if
    /// both this and `maxSurge` come to 0.
    #[serde(default = "no_instance")]
    #[x_kube(validation = share())]
    pub max_unavailable: IntOrString,
    /// How long a new instance may take until its Node is Ready for `minReadySeconds` (of the MachinePool's template).
    #[serde(default = "twenty_minutes")]
    #[schemars(range(min = 60, max = 86400))]
    pub ready_timeout_seconds: i32,
    /// What follows when one takes longer. Either way the new content is not launched again until the spec changes, or the
    /// annotation `infrastructure.foo.com/quarantine` is taken off the FooMachinePool.
    #[serde(default)]
    pub on_failure: RolloutFailurePolicy,
}

impl Default for Rollout {
    fn default() -> Self {
        Self {
            strategy: RolloutStrategy::default(),
            max_surge: one_instance(),
            max_unavailable: no_instance(),
            ready_timeout_seconds: twenty_minutes(),
            on_failure: RolloutFailurePolicy::default(),
        }
    }
}

/// A number, or a share in percent.
fn share() -> Rule {
    Rule::new("type(self) == int ? self >= 0 && self <= 10000 : self.matches('^(100|[0-9]{1,2})%$')")
        .message("must be a number from 0 to 10000, or a share from 0% to 100%")
}

fn one_instance() -> IntOrString {
    IntOrString::Int(1)
}

fn no_instance() -> IntOrString {
    IntOrString::Int(0)
}

fn twenty_minutes() -> i32 {
    1_200
}

/// Who replaces outdated instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RolloutStrategy {
    /// The provider: one first, then within `maxSurge` and `maxUnavailable`.
    #[default]
    RollingUpdate,
    /// Whoever deletes their Machines.
    OnDelete,
}

/// What follows when new content does not work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RolloutFailurePolicy {
    /// Nothing more is replaced; what must be launched is launched from the content before.
    #[default]
    Halt,
    /// What was launched from it is replaced by the content before.
    Rollback,
}

/// How sick Machines are replaced: those that MachineHealthCheck gave up on (Cluster API itself leaves the Machines of
/// pools alone), and those whose Node never joins. Machines with `cluster.x-k8s.io/skip-remediation` are left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remediation {
    /// Whether they are replaced.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How many at once, as a number or as a share of the wish (rounded up; at least 1).
    #[serde(default = "one_instance")]
    #[x_kube(validation = share())]
    pub max_in_flight: IntOrString,
    /// With more sick Machines than this, as a number or as a share of the wish (rounded up), none is replaced.
    #[serde(default = "forty_percent")]
    #[x_kube(validation = share())]
    pub unhealthy_limit: IntOrString,
    /// How long a Node may take to join before its Machine counts as sick; 0 is for ever.
    #[serde(default = "half_an_hour")]
    #[schemars(range(min = 0, max = 86400))]
    pub join_timeout_seconds: i32,
}

impl Default for Remediation {
    fn default() -> Self {
        Self {
            enabled: yes(),
            max_in_flight: one_instance(),
            unhealthy_limit: forty_percent(),
            join_timeout_seconds: half_an_hour(),
        }
    }
}

fn yes() -> bool {
    true
}

fn forty_percent() -> IntOrString {
    IntOrString::String("40%".to_owned())
}

fn half_an_hour() -> i32 {
    1_800
}

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
