//! The events of a region in EventBridge's form (Auto Scaling User Guide, "Amazon EC2 Auto Scaling event reference";
//! EC2 User Guide, "State change events for your instances").
//!
//! The core only records them. Event rules decide which queues receive them, and when.

use super::chance::Chance;
use super::time::iso_seconds;
use foo_model::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Events that are kept for reading.
pub const EVENTS_KEPT: usize = 4_096;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CloudEvent {
    /// Its number in the region, rising by one.
    pub sequence: u64,
    /// Its id.
    pub id: String,
    /// `aws.autoscaling`, `aws.ec2`, or the source of an event that a test published.
    pub source: Cow<'static, str>,
    /// EventBridge's name for its kind.
    pub detail_type: String,
    /// When it happened.
    pub time: Timestamp,
    /// ARNs of the resources concerned.
    pub resources: Vec<String>,
    /// The fields that depend on the kind of event.
    pub detail: Value,
}

impl CloudEvent {
    /// The event as a target of an EventBridge rule receives it.
    pub fn to_json(&self, account: &str, region: &str) -> Value {
        json!({
            "version": "0",
            "id": self.id,
            "detail-type": self.detail_type,
            "source": self.source,
            "account": account,
            "time": iso_seconds(self.time),
            "region": region,
            "resources": self.resources,
            "detail": self.detail,
        })
    }
}

/// The latest events of a region.
#[derive(Clone, Debug)]
pub(crate) struct EventLog {
    events: VecDeque<CloudEvent>,
    next: u64,
    ids: Chance,
}

impl EventLog {
    pub(crate) fn new(seed: u64, region: &str) -> Self {
        Self { events: VecDeque::new(), next: 1, ids: Chance::new(seed, &format!("events of {region}")) }
    }

    pub(super) fn add(
        &mut self,
        source: impl Into<Cow<'static, str>>,
        detail_type: &str,
        time: Timestamp,
        resources: Vec<String>,
        detail: Value,
    ) {
        if self.events.len() == EVENTS_KEPT {
            self.events.pop_front();
        }
        self.events.push_back(CloudEvent {
            sequence: self.next,
            id: self.ids.uuid(),
            source: source.into(),
            detail_type: detail_type.to_owned(),
            time,
            resources,
            detail,
        });
        self.next += 1;
    }

    /// The events with a higher number, oldest first.
    pub(crate) fn after(&self, sequence: u64) -> impl Iterator<Item = &CloudEvent> {
        self.events.range(self.events.partition_point(|event| event.sequence <= sequence)..)
    }
}
