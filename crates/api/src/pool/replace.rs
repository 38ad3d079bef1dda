//! Which Machines go, how many at a time, and what is put in their place.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::KubeSchema;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
