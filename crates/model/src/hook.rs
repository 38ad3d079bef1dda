//! Our lifecycle hook: it keeps an instance that AWS ends alive until Cluster API has drained its Node.

use super::time::{Seconds, Timestamp};
use serde::{Deserialize, Serialize};
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

/// How a wait for a hook ends. A terminating instance ends in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HookResult {
    /// `CONTINUE`: other hooks of the group have their turn.
    Continue,
    /// `ABANDON`: they do not.
    Abandon,
}

impl HookConfig {
    /// The settings of the provider's hook: a timeout of an hour, so that a manager can be away that long, and a result that
    /// never cuts other hooks short.
    pub const DRAIN: Self =
        Self { terminating: true, heartbeat: Seconds(3_600), result: HookResult::Continue };
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
}

impl HookWait {
    /// When AWS ends the instance whatever we do.
    pub fn deadline(self) -> Timestamp {
        self.since.plus(LONGEST_WAIT)
    }
}
