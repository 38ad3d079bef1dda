//! Lifecycle hooks: the provider's own, which keeps an instance that AWS ends alive until Cluster API has drained its Node, and those
//! that the spec of a pool names.

use super::ids::HookName;
use super::time::{Seconds, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Name of our terminating hook. Hooks of other names are other people's.
pub const DRAIN_HOOK: &str = "foo-drain";

/// How long the termination of an adopted instance waits for its Machine, which drains it, and for the Machine's Node.
pub const NODE_COMES: Duration = Duration::from_mins(10);

/// From one heartbeat to the next at the latest. A third of the hook's timeout: two may fail.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_mins(20);

/// After how long the hook is read again, in case a user has deleted it.
pub const DESCRIBE_HOOK_AFTER: Duration = Duration::from_hours(6);

/// How long an instance can be kept waiting: 48 hours, or 100 timeouts if that is less (Auto Scaling API Reference,
/// LifecycleHook: GlobalTimeout).
pub const LONGEST_WAIT: Duration = Duration::from_hours(48);

/// How long before the end of that we give up by ourselves, so that it is said.
pub const COMPLETE_BEFORE_DEADLINE: Duration = Duration::from_mins(5);

/// The terms of a terminating hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookConfig {
    /// Whether it holds terminations up; otherwise launches.
    pub terminating: bool,
    /// HeartbeatTimeout.
    pub heartbeat: Seconds,
    /// What a wait that ran out comes to.
    pub result: HookResult,
}

/// How a wait for a hook ends. A terminating instance ends in both cases; a launching one is terminated by `ABANDON`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HookResult {
    /// `CONTINUE`: the instance waits for the other hooks of the group.
    Continue,
    /// `ABANDON`: it does not.
    Abandon,
}

impl HookConfig {
    /// The settings of the provider's hook: a timeout of an hour, so that a manager can be away that long, and a result that
    /// never cuts other hooks short.
    pub const DRAIN: Self =
        Self { terminating: true, heartbeat: Seconds(3_600), result: HookResult::Continue };
}

/// The lifecycle hooks of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// The provider's.
    pub drain: Option<HookConfig>,
    /// All others.
    pub others: BTreeMap<HookName, LifecycleHook>,
}

impl Hooks {
    /// Whether one has this name.
    pub fn has(&self, name: &HookName) -> bool {
        let Self { drain, others } = self;
        (name.as_str() == DRAIN_HOOK && drain.is_some()) || others.contains_key(name)
    }
}

/// A lifecycle hook that another program completes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifecycleHook {
    /// What it delays.
    pub transition: Transition,
    /// HeartbeatTimeout: 30 to 7200 seconds.
    pub heartbeat: Seconds,
    /// DefaultResult: how a wait ends that nothing completes.
    pub result: HookResult,
    /// Where EC2 Auto Scaling reports each wait, besides EventBridge.
    pub target: Option<HookTarget>,
    /// NotificationMetadata: a text in each report.
    pub metadata: Option<String>,
}

impl From<HookConfig> for LifecycleHook {
    fn from(HookConfig { terminating, heartbeat, result }: HookConfig) -> Self {
        let transition = if terminating { Transition::Terminating } else { Transition::Launching };
        Self { transition, heartbeat, result, target: None, metadata: None }
    }
}

/// What the provider has of its own hook: it neither sends nor repairs target and text.
impl From<LifecycleHook> for HookConfig {
    fn from(hook: LifecycleHook) -> Self {
        let LifecycleHook { transition, heartbeat, result, target: _, metadata: _ } = hook;
        Self { terminating: transition == Transition::Terminating, heartbeat, result }
    }
}

/// What a lifecycle hook delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Transition {
    /// From Pending to InService.
    Launching,
    /// From Terminating to Terminated.
    Terminating,
}

/// An SNS topic or an SQS queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookTarget {
    /// NotificationTargetARN.
    pub arn: String,
    /// RoleARN: the role with which EC2 Auto Scaling sends the report. AWS has none only for targets that it does not check.
    pub role: Option<String>,
}

impl Transition {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Launching, Self::Terminating];

    /// AWS's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launching => "autoscaling:EC2_INSTANCE_LAUNCHING",
            Self::Terminating => "autoscaling:EC2_INSTANCE_TERMINATING",
        }
    }

    /// By AWS's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl HookResult {
    /// AWS's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continue => "CONTINUE",
            Self::Abandon => "ABANDON",
        }
    }

    /// By AWS's name; `ABANDON`, AWS's default, for any other.
    pub fn from_name(name: &str) -> Self {
        if name == Self::Continue.name() { Self::Continue } else { Self::Abandon }
    }
}

/// An instance that waits for the provider's hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookWait {
    /// When it was first seen waiting.
    pub since: Timestamp,
    /// When its last heartbeat was sent by this manager.
    pub last_heartbeat: Option<Timestamp>,
    /// When its hook was completed.
    pub completed: Option<Timestamp>,
    /// Whether AWS confirmed that: if the instance waits all the same, it is for another hook.
    #[serde(default)]
    pub confirmed: bool,
}

impl HookWait {
    /// When AWS ends the instance whatever we do.
    pub fn deadline(self) -> Timestamp {
        self.since.plus(LONGEST_WAIT)
    }
}
