//! Lifecycle hooks and their actions.

use foo_model::{InstanceId, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

pub use foo_model::{HookResult as ActionResult, Transition};

/// An instance waits no longer than this, or than 100 heartbeats if that is less (API Reference, LifecycleHook).
const LONGEST_WAIT: Duration = Duration::from_hours(48);

/// A lifecycle hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hook {
    /// Its name, unique in the group.
    pub name: String,
    /// The transition that it delays.
    pub transition: Transition,
    /// How long it waits without a heartbeat.
    pub heartbeat: Duration,
    /// The result of a wait that expires (DefaultResult).
    pub default_result: ActionResult,
    /// NotificationMetadata, NotificationTargetARN and RoleARN, as in the request.
    pub notification: BTreeMap<String, String>,
}

/// Parameters of PutLifecycleHook. An absent one keeps the hook's value; a new hook gets AWS's default.
#[derive(Clone, Debug, Default)]
pub struct HookChange {
    /// Its name.
    pub name: String,
    /// The transition that it delays; required for a new hook.
    pub transition: Option<Transition>,
    /// How long it waits without a heartbeat, in seconds.
    pub heartbeat: Option<u32>,
    /// The result of a wait that expires (DefaultResult).
    pub default_result: Option<ActionResult>,
    /// NotificationMetadata, NotificationTargetARN and RoleARN.
    pub notification: BTreeMap<String, String>,
}

/// One wait of a member for one hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LifecycleAction {
    /// LifecycleActionToken.
    pub token: String,
    /// When it expires without a further heartbeat.
    pub expires: Timestamp,
    /// When it expires even with heartbeats (the global timeout).
    pub limit: Timestamp,
    pub(in crate::core) heartbeat: Duration,
    pub(in crate::core) default_result: ActionResult,
}

/// How a caller identifies a lifecycle action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionKey {
    /// By its LifecycleActionToken.
    Token(String),
    /// By its instance.
    Instance(InstanceId),
}

impl Hook {
    /// GlobalTimeout: the longest wait, with heartbeats.
    pub fn longest_wait(&self) -> Duration {
        self.heartbeat.saturating_mul(100).min(LONGEST_WAIT)
    }
}
