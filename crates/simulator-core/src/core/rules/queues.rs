//! Calls of SQS, and the delivery of events to queues.

use crate::core::due::Event;
use crate::core::error::AwsResult;
use crate::core::events::CloudEvent;
use crate::core::region::Region;
use crate::core::sqs::delivery::EventRule;
use crate::core::sqs::{Message, Receive};
use std::collections::BTreeMap;
use std::time::Duration;

impl Region {
    /// CreateQueue. With the name and attributes of an existing queue it returns that queue.
    ///
    /// # Errors
    /// SQS's codes.
    pub fn create_queue(&mut self, name: &str, given: &BTreeMap<String, String>) -> AwsResult<()> {
        let arn = format!("arn:aws:sqs:{}:{}:{name}", self.name, self.account);
        self.queues.create(name, given, arn, self.now)
    }

    /// SetQueueAttributes. Other attributes stay.
    ///
    /// # Errors
    /// SQS's codes.
    pub fn set_queue_attributes(&mut self, name: &str, given: &BTreeMap<String, String>) -> AwsResult<()> {
        self.queues.set_attributes(name, given, self.now)
    }

    /// DeleteQueue, with all its messages.
    ///
    /// # Errors
    /// `QueueDoesNotExist`.
    pub fn delete_queue(&mut self, name: &str) -> AwsResult<()> {
        self.queues.delete(name, self.now)
    }

    /// PurgeQueue, at most once a minute.
    ///
    /// # Errors
    /// `QueueDoesNotExist`, `PurgeQueueInProgress`.
    pub fn purge_queue(&mut self, name: &str) -> AwsResult<()> {
        self.queues.purge(name, self.now)
    }

    /// SendMessage: 1 byte up to the queue's MaximumMessageSize.
    ///
    /// # Errors
    /// SQS's codes.
    pub fn send_message(&mut self, queue: &str, body: String, delay: Option<Duration>) -> AwsResult<Message> {
        self.queues.send(queue, (body, delay), &mut self.chance, self.now)
    }

    /// ReceiveMessage, without waiting.
    ///
    /// # Errors
    /// `QueueDoesNotExist`.
    pub fn receive_messages(&mut self, name: &str, wanted: Receive) -> AwsResult<Vec<Message>> {
        self.queues.receive(name, wanted, &mut self.chance, self.now)
    }

    /// DeleteMessage. An older handle than the latest one deletes nothing and is not an error.
    ///
    /// # Errors
    /// SQS's codes.
    pub fn delete_message(&mut self, queue: &str, receipt: &str) -> AwsResult<()> {
        self.queues.delete_message(queue, receipt)
    }

    /// ChangeMessageVisibility: 0 to 43,200 s from now.
    ///
    /// # Errors
    /// SQS's codes.
    pub fn change_visibility(&mut self, queue: &str, receipt: &str, visibility: Duration) -> AwsResult<()> {
        self.queues.change_visibility(queue, receipt, visibility, self.now)
    }

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
