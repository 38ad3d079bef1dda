//! What other programs do while instances of a pool launch and end, what EC2 Auto Scaling reports to them, and which of its processes
//! are suspended.

use crate::patterns;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A lifecycle hook of the Auto Scaling group, besides the provider's own `foo-drain`. Another program completes it
/// (`CompleteLifecycleAction`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.name != 'foo-drain'").message("foo-drain is the provider's own lifecycle hook"),
    validation = Rule::new("self.transition == 'Launching' || self.defaultResult == 'Continue'")
        .message("a hook of Terminating has the defaultResult Continue: Abandon would end foo-drain, and with it drains"),
    validation = Rule::new("has(self.notificationTargetARN) == has(self.roleARN)")
        .message("notificationTargetARN and roleARN belong together"),
    validation = Rule::new("!has(self.notificationMetadata) || self.notificationMetadata.matches('^[\\\\x20-\\\\x7e\\\\t\\\\n\\\\r]+$')")
        .message("notificationMetadata has printable ASCII characters only")
)]
pub struct LifecycleHook {
    /// Name of the hook, 1 to 255 letters, digits, `-`, `_` and `/`. A hook of that name that exists becomes the pool's.
    #[schemars(length(min = 1, max = 255), regex(pattern = patterns::HOOK_NAME))]
    pub name: String,
    /// What it delays: an instance on its way into service, or one that terminates. Of a terminating instance the hook and
    /// `foo-drain` begin together, and AWS terminates it when both are completed.
    pub transition: HookTransition,
    /// How many seconds an instance waits for the hook without a heartbeat. Range: 30 to 7200. Default: 3600, as AWS has it.
    #[serde(default = "an_hour")]
    #[schemars(range(min = 30, max = 7200))]
    pub heartbeat_timeout_seconds: i32,
    /// What happens when that time is over. `Abandon` terminates a launching instance, and AWS launches another one. Of
    /// terminating instances only `Continue` is possible. Default: `Continue`.
    #[serde(default)]
    pub default_result: HookResult,
    /// ARN of an SNS topic or an SQS queue that each wait is reported to, besides EventBridge. The identity of the FooCluster may
    /// restrict which ones are allowed (`allowedNotificationTargets`). Default: none.
    #[serde(default, rename = "notificationTargetARN", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), regex(pattern = patterns::NOTIFICATION_TARGET_ARN))]
    pub notification_target_arn: Option<String>,
    /// ARN of the IAM role with which EC2 Auto Scaling sends these reports; set it together with `notificationTargetARN`. The
    /// identity of the FooCluster may restrict which ones are allowed (`allowedRoles`).
    #[serde(default, rename = "roleARN", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), regex(pattern = patterns::ROLE_ARN))]
    pub role_arn: Option<String>,
    /// Text in each report, up to 4000 printable ASCII characters. When it is removed, the hook is deleted and created again: AWS
    /// abandons launches that wait for it at that moment. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4000))]
    pub notification_metadata: Option<String>,
}

/// What a lifecycle hook delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HookTransition {
    /// From Pending to InService.
    Launching,
    /// From Terminating to Terminated.
    Terminating,
}

/// What happens when nothing completes a lifecycle hook in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HookResult {
    /// The instance continues.
    #[default]
    Continue,
    /// A launching instance is terminated.
    Abandon,
}

fn an_hour() -> i32 {
    3_600
}

/// A process of EC2 Auto Scaling that can be suspended.
///
/// `AZRebalance` is missing because the provider suspends it always. `Launch` and `Terminate` are missing because nothing could be
/// launched, replaced or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum SuspendedProcess {
    /// Instances that launch are not registered with target groups and load balancers, nor later.
    AddToLoadBalancer,
    /// Alarms of scaling policies change nothing.
    AlarmNotification,
    /// Instances are not marked as unhealthy: AWS does not replace those that failed, stopped or were terminated.
    HealthCheck,
    /// Instance refreshes replace nothing.
    InstanceRefresh,
    /// AWS does not replace instances that it marked as unhealthy.
    ReplaceUnhealthy,
    /// Scheduled actions change nothing.
    ScheduledActions,
}

/// What EC2 Auto Scaling reports about the group to an SNS topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// ARN of the topic. The identity of the FooCluster may restrict which ones are allowed (`allowedNotificationTargets`).
    #[serde(rename = "topicARN")]
    #[schemars(length(min = 1, max = 255), regex(pattern = patterns::TOPIC_ARN))]
    pub topic_arn: String,
    /// What is reported.
    #[schemars(length(min = 1, max = 4))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub types: Vec<NotificationType>,
}

/// What EC2 Auto Scaling reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NotificationType {
    /// An instance was launched.
    Launch,
    /// A launch failed.
    LaunchError,
    /// An instance was terminated.
    Terminate,
    /// A termination failed.
    TerminateError,
}
