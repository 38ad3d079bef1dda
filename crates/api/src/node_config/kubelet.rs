//! Settings of the kubelet that are named alike in all families.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of the kubelet, under the names of KubeletConfiguration. What else the kubelet has is set in `extra`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.evictionSoft) || (has(self.evictionSoftGracePeriod) && self.evictionSoft.all(signal, signal in self.evictionSoftGracePeriod))")
        .message("evictionSoft requires a grace period for each signal in evictionSoftGracePeriod: without it the kubelet does not start"),
    validation = Rule::new("(has(self.imageGCLowThresholdPercent) ? self.imageGCLowThresholdPercent : 80) < (has(self.imageGCHighThresholdPercent) ? self.imageGCHighThresholdPercent : 85)")
        .message("imageGCLowThresholdPercent (default: 80) must be below imageGCHighThresholdPercent (default: 85): otherwise the kubelet does not start")
)]
pub struct KubeletSettings {
    /// Most Pods on a Node. Not together with a setting of `vpcCNI` that is true. Default: what follows from `vpcCNI`; without it, what the image finds for
    /// the instance type, or `status.maxPods.standard` of a FooMachinePool with `networkInterfaces`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub max_pods: Option<i32>,
    /// What is kept for the kubelet and containerd: `cpu`, `memory` and `ephemeral-storage`, as quantities.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 3, "additionalProperties" = {"type": "string", "maxLength": 32}))]
    pub kube_reserved: BTreeMap<String, String>,
    /// What is kept for the operating system: as `kubeReserved`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 3, "additionalProperties" = {"type": "string", "maxLength": 32}))]
    pub system_reserved: BTreeMap<String, String>,
    /// Signals (`memory.available`, `nodefs.available`, `nodefs.inodesFree`, `imagefs.available`, `imagefs.inodesFree`,
    /// `pid.available`) and thresholds, a quantity or a percentage, at which Pods are evicted at once.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 6, "additionalProperties" = {"type": "string", "maxLength": 32}))]
    pub eviction_hard: BTreeMap<String, String>,
    /// The same, after a time in `evictionSoftGracePeriod`, which each must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 6, "additionalProperties" = {"type": "string", "maxLength": 32}))]
    pub eviction_soft: BTreeMap<String, String>,
    /// Durations for the signals of `evictionSoft`, for example `1m30s`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 6, "additionalProperties" = {"type": "string", "maxLength": 32}))]
    pub eviction_soft_grace_period: BTreeMap<String, String>,
    /// Most seconds that Pods have to end when a soft threshold is met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub eviction_max_pod_grace_period: Option<i32>,
    /// Percentage of the disk above which images are removed. The kubelet's default: 85.
    #[serde(default, rename = "imageGCHighThresholdPercent", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_high_threshold_percent: Option<i32>,
    /// Percentage of the disk down to which images are removed. The kubelet's default: 80.
    #[serde(default, rename = "imageGCLowThresholdPercent", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_low_threshold_percent: Option<i32>,
    /// Most processes of a Pod; -1 for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 2_147_483_647))]
    pub pod_pids_limit: Option<i32>,
    /// Size at which a container's log is rotated, a quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32))]
    pub container_log_max_size: Option<String>,
    /// How many files a container's log has, at least 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 2_147_483_647))]
    pub container_log_max_files: Option<i32>,
    /// How long a Node that shuts down waits for its Pods, for example `1m30s`. Not for CloudInit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32))]
    pub shutdown_grace_period: Option<String>,
    /// The part of `shutdownGracePeriod` that is kept for critical Pods. Not for CloudInit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32))]
    pub shutdown_grace_period_critical_pods: Option<String>,
    /// How CPUs are given to Pods. The kubelet's default: `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_manager_policy: Option<CpuManagerPolicy>,
    /// How CPUs and devices are aligned to NUMA nodes. The kubelet's default: `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology_manager_policy: Option<TopologyManagerPolicy>,
    /// Pulls of images per second; 0 for no limit.
    #[serde(default, rename = "registryPullQPS", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub registry_pull_qps: Option<i32>,
    /// Pulls of images at once, beyond `registryPullQPS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub registry_burst: Option<i32>,
    /// Whether limits of CPU are enforced with CFS quotas. The kubelet's default: true.
    #[serde(default, rename = "cpuCFSQuota", skip_serializing_if = "Option::is_none")]
    pub cpu_cfs_quota: Option<bool>,
    /// Whether containers have the runtime's seccomp profile unless they name another. The kubelet's default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seccomp_default: Option<bool>,
}

/// How CPUs are given to Pods (Kubernetes, "Control CPU Management Policies on the Node").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CpuManagerPolicy {
    /// All Pods share all CPUs.
    None,
    /// Guaranteed Pods with whole numbers of CPUs have their own.
    Static,
}

/// How CPUs and devices are aligned (Kubernetes, "Control Topology Management Policies on a node").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyManagerPolicy {
    /// Not at all.
    None,
    /// Aligned, and Pods that cannot be are rejected.
    Restricted,
    /// Aligned where possible.
    BestEffort,
    /// All on one NUMA node, and Pods that cannot be are rejected.
    SingleNumaNode,
}
