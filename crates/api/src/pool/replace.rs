//! Which Machines the provider deletes, how many at a time, and how it replaces them.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::KubeSchema;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which Machines the provider deletes when there are more than requested, and how fast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScaleIn {
    /// Which Machines the provider deletes first, among those that are otherwise equal. Default: `Oldest`.
    #[serde(default)]
    pub policy: VictimPolicy,
    /// How many Machines of the pool may drain at the same time before the provider deletes another one, for
    /// any reason of its own: scale-in, roll-out, remediation. Machines with the annotation
    /// `cluster.x-k8s.io/delete-machine` are exempt. Range: 1 to 1000. Default: 10.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_concurrent_drains: i32,
    /// How many seconds MachinePool.spec.replicas must have been at its present value or lower, without a
    /// failed launch, before the provider deletes a Machine that has a Node. Machines with the annotation
    /// `cluster.x-k8s.io/delete-machine` are exempt. Range: 0 to 3600. Default: 2100 (35 minutes) if the
    /// MachinePool has cluster-autoscaler's annotations, otherwise 0.
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

/// Which Machines the provider deletes first, among those that are otherwise equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum VictimPolicy {
    /// The oldest Machines.
    #[default]
    Oldest,
    /// The newest Machines.
    Newest,
}

/// How the provider replaces outdated instances. An instance is outdated if the image, instance type,
/// security groups, instance profile, key pair, volumes, metadata options, spot options, Kubernetes version
/// or the name of the bootstrap Secret changed since it was launched, or the user data of its FooNodeConfig.
/// Changed tags and new data in the bootstrap Secret of another provider do not outdate an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// Whether the provider replaces outdated instances by itself. Default: `RollingUpdate`.
    #[serde(default)]
    pub strategy: RolloutStrategy,
    /// How many instances a roll-out may launch beyond the desired replicas: a number, or a percentage of the
    /// desired replicas (`25%`, rounded up). `spec.maxSize` is never exceeded. Default: 1.
    #[serde(default = "one_instance")]
    #[x_kube(validation = share())]
    pub max_surge: IntOrString,
    /// How many of the desired replicas may be unavailable during a roll-out: a number, or a percentage of
    /// the desired replicas (rounded down). If this and `maxSurge` both come to 0, one may be unavailable.
    /// Default: 0.
    #[serde(default = "no_instance")]
    #[x_kube(validation = share())]
    pub max_unavailable: IntOrString,
    /// How many seconds a new instance may take to become available, that is, until its Node has been Ready
    /// for the MachinePool's `minReadySeconds`. If one takes longer, the roll-out has failed. Range: 60 to
    /// 86400. Default: 1200.
    #[serde(default = "twenty_minutes")]
    #[schemars(range(min = 60, max = 86400))]
    pub ready_timeout_seconds: i32,
    /// What the provider does when a roll-out has failed. In both cases it does not launch instances with the
    /// failed settings again until the spec changes or the annotation `infrastructure.foo.com/quarantine` is
    /// removed from the FooMachinePool. Default: `Halt`.
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

/// A number or a percentage.
fn share() -> Rule {
    Rule::new("type(self) == int ? self >= 0 && self <= 10000 : self.matches('^(100|[0-9]{1,2})%$')")
        .message("must be a number from 0 to 10000 or a percentage from 0% to 100%")
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

/// Whether the provider replaces outdated instances by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RolloutStrategy {
    /// The provider replaces them: one first, then as many at a time as `maxSurge` and `maxUnavailable`
    /// allow.
    #[default]
    RollingUpdate,
    /// The provider replaces an outdated instance when a user deletes its Machine.
    OnDelete,
}

/// What the provider does when a roll-out has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RolloutFailurePolicy {
    /// Replaces nothing more. Instances that must be launched meanwhile are launched with the previous
    /// settings.
    #[default]
    Halt,
    /// Replaces what the roll-out launched with instances that have the previous settings.
    Rollback,
}

/// How the provider replaces unhealthy Machines: those that a MachineHealthCheck marked for remediation
/// (Cluster API itself does not remediate Machines of a pool), and those whose Node does not join in time.
/// Machines with the annotation `cluster.x-k8s.io/skip-remediation` are exempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remediation {
    /// Whether the provider replaces unhealthy Machines. Default: true.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How many unhealthy Machines may be under replacement at the same time: a number, or a percentage of
    /// the desired replicas (rounded up, at least 1). Default: 1.
    #[serde(default = "one_instance")]
    #[x_kube(validation = share())]
    pub max_in_flight: IntOrString,
    /// If more Machines than this are unhealthy, the provider replaces none, because the cause is probably
    /// elsewhere: a number, or a percentage of the desired replicas (rounded up). Default: `40%`.
    #[serde(default = "forty_percent")]
    #[x_kube(validation = share())]
    pub unhealthy_limit: IntOrString,
    /// How many seconds a Node may take to join before its Machine counts as unhealthy. 0 means without
    /// limit. Range: 0 to 86400. Default: 1800.
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
