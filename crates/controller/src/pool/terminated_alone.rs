//! Which instances are terminated one by one, because AWS would not terminate them together with others.

use foo_model::{InstanceId, Timestamp};
use foo_planner::Action;
use foo_planner::action::InstanceAction;
use std::collections::HashMap;
use std::time::Duration;

/// How long instances that AWS would not terminate together are terminated one by one.
const ALONE_FOR: Duration = Duration::from_mins(5);

/// Instances that AWS would not terminate together with others, and when it refused.
#[derive(Debug, Default)]
pub(super) struct Alone(HashMap<InstanceId, Timestamp>);

impl Alone {
    /// AWS would not terminate it together with others.
    pub(super) fn add(&mut self, action: &Action, now: Timestamp) {
        self.0.retain(|_, since| since.until(now) < ALONE_FOR);
        if let Action::Instance(InstanceAction::TerminateInstance { id, .. }) = action {
            self.0.insert(id.clone(), now);
        }
    }

    /// Whether AWS refused this one lately.
    pub(super) fn has(&self, id: &InstanceId, now: Timestamp) -> bool {
        self.0.get(id).is_some_and(|since| since.until(now) < ALONE_FOR)
    }
}
