//! A queue: its attributes, and its messages in the order in which they become visible.

use super::message::Message;
use crate::core::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One queue.
#[derive(Clone, Debug)]
pub struct Queue {
    /// ARN.
    pub arn: String,
    /// Its attributes that can be set.
    pub attributes: Attributes,
    /// When it was created.
    pub created: Timestamp,
    /// When its attributes were changed last.
    pub modified: Timestamp,
    pub(super) purged: Option<Timestamp>,
    pub(super) messages: BTreeMap<u64, Message>,
    /// Messages by the time from which they can be received, so that a receive needs no search.
    pub(super) visible: BTreeSet<(Timestamp, u64)>,
}

/// Attributes that can be set (SQS API Reference, SetQueueAttributes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// 0 to 43,200 s.
    pub visibility: Duration,
    /// 0 to 900 s.
    pub delay: Duration,
    /// 60 to 1,209,600 s.
    pub retention: Duration,
    /// 0 to 20 s.
    pub wait: Duration,
    /// 1,024 to 1,048,576 bytes.
    pub message_bytes: u64,
    /// The dead-letter queue for messages that are received too often.
    pub redrive: Option<Redrive>,
}

/// A redrive policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Redrive {
    /// ARN of the dead-letter queue.
    pub dead_letter_target_arn: String,
    /// How often a message is received before it is moved there: 1 to 1,000.
    pub max_receive_count: u32,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            visibility: Duration::from_secs(30),
            delay: Duration::ZERO,
            retention: Duration::from_hours(96),
            wait: Duration::ZERO,
            message_bytes: 1_048_576,
            redrive: None,
        }
    }
}

impl Attributes {
    /// Changes the attributes that a request contains.
    pub(super) fn change(&mut self, given: &BTreeMap<String, String>) -> AwsResult<()> {
        for (name, text) in given {
            let number = |least: u64, most: u64| match text.parse() {
                Ok(number) if (least..=most).contains(&number) => Ok(number),
                _ => Err(invalid(name)),
            };
            match name.as_str() {
                "VisibilityTimeout" => self.visibility = Duration::from_secs(number(0, 43_200)?),
                "DelaySeconds" => self.delay = Duration::from_secs(number(0, 900)?),
                "MessageRetentionPeriod" => self.retention = Duration::from_secs(number(60, 1_209_600)?),
                "ReceiveMessageWaitTimeSeconds" => self.wait = Duration::from_secs(number(0, 20)?),
                "MaximumMessageSize" => self.message_bytes = number(1_024, 1_048_576)?,
                "RedrivePolicy" if text.is_empty() => self.redrive = None,
                "RedrivePolicy" => {
                    let redrive: Redrive = serde_json::from_str(text).map_err(|_| invalid(name))?;
                    if !(1..=1_000).contains(&redrive.max_receive_count) {
                        return Err(invalid(name));
                    }
                    self.redrive = Some(redrive);
                }
                _ => return Err(AwsError::new("InvalidAttributeName", format!("Unknown Attribute {name}."))),
            }
        }
        Ok(())
    }

    pub(super) fn would_stay(&self, given: &BTreeMap<String, String>) -> AwsResult<bool> {
        let mut copy = self.clone();
        copy.change(given)?;
        Ok(&copy == self)
    }
}

fn invalid(name: &str) -> AwsError {
    AwsError::new("InvalidAttributeValue", format!("Invalid value for the parameter {name}."))
}

impl Queue {
    pub(super) fn new(arn: String, attributes: Attributes, now: Timestamp) -> Self {
        Self {
            arn,
            attributes,
            created: now,
            modified: now,
            purged: None,
            messages: BTreeMap::new(),
            visible: BTreeSet::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.messages.clear();
        self.visible.clear();
    }

    /// All attributes as GetQueueAttributes names them. The counts are exact here, AWS's are approximate.
    pub fn shown(&self, now: Timestamp) -> BTreeMap<&'static str, String> {
        let waiting = |message: &&Message| message.visible_from > now;
        let in_flight = self.messages.values().filter(waiting).filter(|it| it.receipt.is_some()).count();
        let delayed = self.messages.values().filter(waiting).count() - in_flight;
        let ready = self.messages.len() - in_flight - delayed;
        let mut shown = BTreeMap::from([
            ("QueueArn", self.arn.clone()),
            ("ApproximateNumberOfMessages", ready.to_string()),
            ("ApproximateNumberOfMessagesNotVisible", in_flight.to_string()),
            ("ApproximateNumberOfMessagesDelayed", delayed.to_string()),
            ("CreatedTimestamp", (self.created.0 / 1000).to_string()),
            ("LastModifiedTimestamp", (self.modified.0 / 1000).to_string()),
            ("VisibilityTimeout", self.attributes.visibility.as_secs().to_string()),
            ("DelaySeconds", self.attributes.delay.as_secs().to_string()),
            ("MessageRetentionPeriod", self.attributes.retention.as_secs().to_string()),
            ("ReceiveMessageWaitTimeSeconds", self.attributes.wait.as_secs().to_string()),
            ("MaximumMessageSize", self.attributes.message_bytes.to_string()),
        ]);
        if let Some(redrive) = &self.attributes.redrive {
            shown.insert("RedrivePolicy", serde_json::json!(redrive).to_string());
        }
        shown
    }
}
