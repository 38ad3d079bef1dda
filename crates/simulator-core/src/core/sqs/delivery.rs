//! EventBridge rules with queues as targets: which events reach which queue, with which losses, duplicates and
//! delays.
//!
//! EventBridge delivers at least once and in no order (EventBridge User Guide, "Event delivery"); "best effort"
//! sources lose events. The rule sets how often and how late.

use crate::core::due::Event;
use crate::core::error::AwsResult;
use crate::core::events::CloudEvent;
use crate::core::probability::Probability;
use crate::core::region::Region;
use serde::{Deserialize, Serialize};
use std::time::Duration;

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

    fn takes(&self, event: &CloudEvent) -> bool {
        let among = |names: &[String], name: &str| names.is_empty() || names.iter().any(|it| it == name);
        among(&self.sources, &event.source) && among(&self.detail_types, &event.detail_type)
    }
}

impl Region {
    /// Replaces all event rules. Events in delivery still arrive; of all others only those after this call are
    /// delivered.
    ///
    /// # Errors
    /// `QueueDoesNotExist`.
    pub fn set_event_rules(&mut self, rules: Vec<EventRule>) -> AwsResult<()> {
        for rule in &rules {
            self.queues.find(&rule.queue)?;
        }
        self.route_events();
        self.event_rules = rules;
        Ok(())
    }

    /// The event rules in force.
    pub fn event_rules(&self) -> &[EventRule] {
        &self.event_rules
    }

    /// Schedules the delivery of events since the last call.
    pub(crate) fn route_events(&mut self) {
        let fresh: Vec<CloudEvent> = self.events.after(self.routed).cloned().collect();
        let Some(last) = fresh.last() else { return };
        self.routed = last.sequence;
        for event in fresh {
            for at in 0..self.event_rules.len() {
                self.route(&event, at);
            }
        }
    }

    fn route(&mut self, event: &CloudEvent, at: usize) {
        let Some(rule) = self.event_rules.get(at).filter(|rule| rule.takes(event)) else { return };
        if rule.lost.occurs(&mut self.delivery_chance) {
            return;
        }
        let copies = if rule.doubled.occurs(&mut self.delivery_chance) { 2 } else { 1 };
        let body = event.to_json(&self.account, &self.name).to_string();
        for _ in 0..copies {
            let spread = self.delivery_chance.below(rule.delay_spread_millis.saturating_add(1));
            let delay = Duration::from_millis(rule.delay_millis.saturating_add(spread));
            self.due.at(event.time.plus(delay), Event::Delivered(rule.queue.clone(), body.clone()));
        }
    }

    /// Adds an event to a queue. It is lost if the queue was deleted meanwhile.
    pub(crate) fn deliver(&mut self, queue: &str, body: String) {
        if let Err(error) = self.send_message(queue, body, None) {
            tracing::debug!(%error, queue, "could not deliver an event");
        }
    }
}
