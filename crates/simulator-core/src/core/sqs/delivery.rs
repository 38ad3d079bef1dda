//! EventBridge rules with queues as targets: which events reach which queue, with which losses, duplicates and
//! delays.
//!
//! EventBridge delivers at least once and in no order (EventBridge User Guide, "Event delivery"); "best effort"
//! sources lose events. The rule sets how often and how late.

use crate::core::events::CloudEvent;
use crate::core::probability::Probability;
use serde::{Deserialize, Serialize};

/// Which events go to a queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRule {
    /// Name of the queue.
    pub queue: String,
    /// Only events of these sources (`aws.ec2`); of all if empty.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Only events of these kinds; of all if empty.
    #[serde(default)]
    pub detail_types: Vec<String>,
    /// Probability that an event is lost.
    #[serde(default)]
    pub lost: Probability,
    /// Probability that an event is delivered twice, each time with its own delay.
    #[serde(default)]
    pub doubled: Probability,
    /// Shortest delay in milliseconds.
    #[serde(default)]
    pub delay_millis: u64,
    /// By how much delays differ, in milliseconds: events closer together than that can change their order.
    #[serde(default)]
    pub delay_spread_millis: u64,
}

impl EventRule {
    /// All events to a queue, at once and exactly once.
    pub fn to_queue(queue: &str) -> Self {
        Self {
            queue: queue.to_owned(),
            sources: Vec::new(),
            detail_types: Vec::new(),
            lost: Probability::NEVER,
            doubled: Probability::NEVER,
            delay_millis: 0,
            delay_spread_millis: 0,
        }
    }

    pub(in crate::core) fn takes(&self, event: &CloudEvent) -> bool {
        let among = |names: &[String], name: &str| names.is_empty() || names.iter().any(|it| it == name);
        among(&self.sources, &event.source) && among(&self.detail_types, &event.detail_type)
    }
}
