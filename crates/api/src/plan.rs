//! FooPlan: a question to the manager, what it would do if objects had another content, and the result.
//!
//! An object and no endpoint of the manager: whoever may create one in a namespace needs no connection to the manager, and
//! RBAC, admission and audit of the API server apply (docs/decisions/0027-plans-are-objects.md).

use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// How long a FooPlan is kept.
pub const KEPT_FOR: Duration = Duration::from_mins(10);
/// How many Machines the status names; the numbers count all.
pub const NAMED_MACHINES: usize = 200;
/// How many differences the status shows.
pub const NAMED_CHANGES: usize = 500;
/// How many settings with another value in AWS the status shows.
pub const NAMED_SETTINGS: usize = 200;
/// How many calls the status names; the number counts all.
pub const NAMED_CALLS: usize = 500;

/// What the manager would do for a changed FooMachinePool, FooControlPlane or FooCluster. `kubectl foo plan` creates a FooPlan,
/// prints its status and deletes it. The manager writes the status once, changes nothing else, and deletes a FooPlan ten minutes
/// after its creation.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooPlan",
    plural = "fooplans",
    shortname = "foopl",
    namespaced,
    derive = "PartialEq",
    status = "FooPlanStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    printcolumn(name = "Pool", type_ = "string", json_path = ".status.pool.name"),
    printcolumn(name = "ControlPlane", type_ = "string", json_path = ".status.controlPlane.name"),
    printcolumn(name = "Network", type_ = "string", json_path = ".status.network.name"),
    printcolumn(name = "Replaced", type_ = "integer", json_path = ".status.pool.deletionCount"),
    printcolumn(name = "Launched", type_ = "integer", json_path = ".status.pool.launches"),
    printcolumn(name = "Seconds", type_ = "integer", json_path = ".status.pool.seconds"),
    printcolumn(name = "Error", type_ = "string", json_path = ".status.error"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self == oldSelf").message("spec of a FooPlan is immutable"))]
pub struct FooPlanSpec {
    /// The objects with the content that is planned for, as the API server returns them from a dry run: either a
    /// FooMachinePool, its MachinePool, or both, of the same namespace and of one pool; or a FooControlPlane; or a
    /// FooCluster. An object that is left out is as it is in the cluster.
    #[schemars(length(min = 1, max = 2), schema_with = "any_objects")]
    pub objects: Vec<Value>,
    /// How long the steps of a pool take. Default of each: as its own Machines took, otherwise an assumption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durations: Option<GivenDurations>,
}

fn any_objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": 2,
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
    })
}

/// How long steps take, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GivenDurations {
    /// From the launch of an instance until its Node is Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400))]
    pub launch_seconds: Option<i32>,
    /// From the deletion of a Machine until its Node is drained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400))]
    pub drain_seconds: Option<i32>,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooPlanStatus {
    /// Why there is no plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What would follow for the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolPlan>,
    /// What would follow for the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<CallsPlan>,
    /// What would follow for the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<CallsPlan>,
}

/// What would follow for a pool, if every call succeeds, every Node joins and every drain ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct PoolPlan {
    /// Name of the FooMachinePool.
    pub name: String,
    /// What differs between the present and the planned state, in AWS's terms; of many differences, the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlannedChange>,
    /// Settings that have another value in AWS than the plan gives them, of what exists there; of many, the first ones. Nothing, if
    /// the outcome is Unfinished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingInAws>,
    /// Machines that are deleted, in order; of many, the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deletions: Vec<PlannedDeletion>,
    /// How many Machines are deleted.
    pub deletion_count: i64,
    /// How many instances are launched.
    pub launches: i64,
    /// Instances in service with a Ready Node: now, and at least while the plan is carried out.
    pub ready: Range,
    /// Instances that are launching or in service: now, and at most while the plan is carried out.
    pub instances: Range,
    /// How often each action is carried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<PlannedAction>,
    /// How many calls of AWS that change something this takes.
    pub aws_calls: i64,
    /// How long it takes, in seconds.
    pub seconds: i64,
    /// On which durations that is based.
    pub durations: UsedDurations,
    /// Whether anything is left afterwards.
    pub outcome: Outcome,
    /// What is not as it should be at the end: conditions of the FooMachinePool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<RemainingCondition>,
    /// What has to be known to read the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What would follow for a control plane or a network, if every call succeeds and every update ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallsPlan {
    /// Name of the FooControlPlane or FooCluster.
    pub name: String,
    /// What differs between the present and the planned state, in AWS's terms; of many differences, the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlannedChange>,
    /// Settings that have another value in AWS than the plan gives them, of what exists there; of many, the first ones. Nothing, if
    /// the outcome is Unfinished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingInAws>,
    /// Calls of AWS that change something, in order; of many, the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<PlannedCall>,
    /// How many calls of AWS that change something this takes.
    pub aws_calls: i64,
    /// How long it takes, in seconds.
    pub seconds: i64,
    /// Whether anything is left afterwards.
    pub outcome: Outcome,
    /// What is not as it should be at the end: conditions of the object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<RemainingCondition>,
    /// What has to be known to read the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A call of AWS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCall {
    /// When it is sent, in seconds from now.
    pub after_seconds: i64,
    /// AWS's name of the operation.
    pub operation: String,
    /// Why.
    pub why: String,
}

/// A value that differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedChange {
    /// What: `launchTemplate.image` or `size.replicas` of a pool, `version` of a control plane, `nat` of a network.
    pub field: String,
    /// The present value, as JSON; of a long one the beginning. User data and configurations of add-ons are never shown, only
    /// that they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The planned value, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Whether this difference replaces instances; only of pools.
    pub replaces: bool,
}

/// A setting with another value in AWS than the plan gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingInAws {
    /// What has the setting: `Auto Scaling group default-c-workers`, `cluster prod`, `add-on vpc-cni`, `security-group/node sg-1`.
    pub resource: String,
    /// Which one: `maxSize`, `logging`, `tags.team`.
    pub setting: String,
    /// The value that the plan gives it, as JSON; of a long one the beginning. Left out: it is removed. Configurations of add-ons,
    /// and the hash of user data and tags of a launch template, are never shown, only that they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<String>,
    /// The value that AWS has, as JSON. Left out: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "inAWS")]
    pub in_aws: Option<String>,
}

/// A Machine that is deleted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedDeletion {
    /// Its name.
    pub machine: String,
    /// Id of its instance.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "instanceID")]
    pub instance_id: Option<String>,
    /// When, in seconds from now.
    pub after_seconds: i64,
    /// Why.
    pub why: String,
}

/// A number now, and its extreme while a plan is carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// Now.
    pub now: i64,
    /// The extreme.
    pub extreme: i64,
}

/// An action of the manager.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedAction {
    /// Its name.
    pub name: String,
    /// How often.
    pub times: i64,
}

/// How long steps are assumed to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsedDurations {
    /// From the launch of an instance until its Node is Ready.
    pub launch_seconds: i64,
    /// Of how many Machines of the pool that is the median; 0: it is given, or an assumption.
    pub measured_launches: i64,
    /// From the deletion of a Machine until its Node is drained.
    pub drain_seconds: i64,
}

/// How a plan ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Outcome {
    /// Nothing is left to do.
    #[default]
    Settled,
    /// Something is left that the manager does not do by itself.
    Waiting,
    /// There are too many steps to foresee all.
    Unfinished,
}

/// A condition that is not as it should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemainingCondition {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its reason.
    pub reason: String,
    /// Its message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}
