//! What is known of a cluster and what a user wrote about its nodes, before anything of it is believed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts of the cluster that nodes join, as its control plane reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterInput {
    /// Name of the EKS cluster, which is part of what a node signs.
    pub name: String,
    /// URL of the API server, with `https://`.
    pub endpoint: String,
    /// Certificates of the API server's authorities: base64 of PEM, as DescribeCluster has it.
    pub certificate_authority: String,
    /// Range of Services, IPv4 or IPv6, as the control plane reports it: EKS chooses one if the user did not.
    pub service_range: String,
    /// Address of the cluster's DNS Service. Default: the one that EKS gives it, the tenth of the range.
    #[serde(default)]
    pub dns: Option<String>,
}

/// What the operating system of a node reads its user data with.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumIter,
)]
pub enum Family {
    /// Amazon Linux 2023 with nodeadm.
    #[default]
    AL2023,
    /// Bottlerocket: settings in TOML, no shell.
    Bottlerocket,
    /// An image with cloud-init and `/etc/eks/bootstrap.sh`, as Canonical's Ubuntu images for EKS.
    CloudInit,
}

/// What a user wrote about nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeInput {
    /// What the nodes' operating system reads.
    pub family: Family,
    /// Labels with which Nodes register.
    pub labels: BTreeMap<String, String>,
    /// Taints with which Nodes register.
    pub taints: Vec<TaintInput>,
    /// Settings of the kubelet.
    pub kubelet: KubeletInput,
    /// Containerd's configuration, a part of it in TOML, for AL2023.
    pub containerd: Option<String>,
    /// Where images are pulled from first.
    pub registry_mirrors: Vec<MirrorInput>,
    /// What the disks of the instance itself are used for.
    pub local_storage: Option<LocalStorage>,
    /// Files written before the kubelet starts.
    pub files: Vec<FileInput>,
    /// Shell commands that run before the kubelet starts, in order; the failure of one does not keep the others from
    /// running.
    pub pre_commands: Vec<String>,
    /// Shell commands that run after the kubelet started.
    pub post_commands: Vec<String>,
    /// More settings in the family's own form: a NodeConfig in YAML, Bottlerocket's settings in TOML, or a cloud-config
    /// in YAML.
    pub extra: Option<String>,
    /// Whether Nodes join only once their instance enters service of its Auto Scaling group, so that it can wait in a warm
    /// pool.
    pub join_when_in_service: bool,
    /// How the user data is packed.
    pub compression: Compression,
}

/// How user data is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compression {
    /// As it is.
    #[default]
    None,
    /// With gzip, which all three families unpack.
    Gzip,
}

/// What the disks of the instance itself are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LocalStorage {
    /// For the data of containers, striped over all disks.
    #[serde(rename = "RAID0")]
    Raid0,
}

/// A taint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaintInput {
    /// Key, in the syntax of a label's key.
    pub key: String,
    /// Value, in the syntax of a label's value; may be empty.
    #[serde(default)]
    pub value: String,
    /// What the taint does: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// Settings of the kubelet that are named alike in all families; the names are those of KubeletConfiguration. What else
/// there is goes into [`NodeInput::extra`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct KubeletInput {
    /// Most Pods on a Node, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pods: Option<i64>,
    /// What is kept for the kubelet and containerd: `cpu`, `memory`, `ephemeral-storage`, as quantities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kube_reserved: BTreeMap<String, String>,
    /// What is kept for the operating system: as `kube_reserved`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub system_reserved: BTreeMap<String, String>,
    /// Signals and thresholds, a quantity or a percentage, at which Pods are evicted at once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub eviction_hard: BTreeMap<String, String>,
    /// The same, after a time in `eviction_soft_grace_period`, which each must have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub eviction_soft: BTreeMap<String, String>,
    /// Durations for the signals of `eviction_soft`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub eviction_soft_grace_period: BTreeMap<String, String>,
    /// Most seconds that Pods have to end when a soft threshold is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_max_pod_grace_period: Option<i64>,
    /// Percentage of the disk above which images are removed.
    #[serde(rename = "imageGCHighThresholdPercent", skip_serializing_if = "Option::is_none")]
    pub image_gc_high_threshold_percent: Option<i64>,
    /// Percentage of the disk down to which images are removed.
    #[serde(rename = "imageGCLowThresholdPercent", skip_serializing_if = "Option::is_none")]
    pub image_gc_low_threshold_percent: Option<i64>,
    /// Most processes of a Pod; -1 for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_pids_limit: Option<i64>,
    /// Size at which a container's log is rotated, a quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_log_max_size: Option<String>,
    /// How many files a container's log has, at least 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_log_max_files: Option<i64>,
    /// How long a Node that shuts down waits for its Pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_grace_period: Option<String>,
    /// The part of that which is kept for critical Pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_grace_period_critical_pods: Option<String>,
    /// `none` or `static`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_manager_policy: Option<String>,
    /// `none`, `restricted`, `best-effort` or `single-numa-node`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_manager_policy: Option<String>,
    /// Pulls of images per second; 0 for no limit.
    #[serde(rename = "registryPullQPS", skip_serializing_if = "Option::is_none")]
    pub registry_pull_qps: Option<i64>,
    /// Pulls of images at once, beyond `registry_pull_qps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry_burst: Option<i64>,
    /// Whether limits of CPU are enforced with CFS quotas.
    #[serde(rename = "cpuCFSQuota", skip_serializing_if = "Option::is_none")]
    pub cpu_cfs_quota: Option<bool>,
    /// Whether containers have the runtime's seccomp profile unless they name another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seccomp_default: Option<bool>,
}

/// Where images of a registry are pulled from first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MirrorInput {
    /// Host of the registry, with its port if it has one; `*` for all others.
    pub registry: String,
    /// URLs of mirrors, tried in order before the registry itself.
    pub endpoints: Vec<String>,
}

/// A file on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileInput {
    /// Absolute path.
    pub path: String,
    /// User and group, as `root:root`, which is the default.
    #[serde(default)]
    pub owner: Option<String>,
    /// Octal permissions. Default: `0644`.
    #[serde(default)]
    pub permissions: Option<String>,
    /// What the file contains; any bytes.
    pub content: Vec<u8>,
}
