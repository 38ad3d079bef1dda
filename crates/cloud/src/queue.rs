//! A queue of messages, as Amazon SQS has them: at least once, in no order.

use crate::Result;
use async_trait::async_trait;
use foo_model::AwsTime;
use std::fmt;
use std::time::Duration;

/// Longest time that one receive waits (Amazon SQS API Reference, ReceiveMessage, WaitTimeSeconds).
pub const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// Most messages of one receive, and of one deletion (Amazon SQS API Reference, ReceiveMessage, DeleteMessageBatch).
pub const BATCH: usize = 10;
/// Maximum time after its receipt that a message can be hidden (Amazon SQS Developer Guide, "Amazon SQS
/// visibility timeout").
pub const LONGEST_HIDDEN: Duration = Duration::from_hours(12);

/// The tag that marks queues for the provider: the manager's rights are limited to queues with it.
pub const TAG_EVENTS: &str = "infrastructure.foo.com/events";

/// One queue. Each method is one API call.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Messages, at most [`BATCH`]. Waits for the first one, at most `wait` ([`LONGEST_WAIT`] or less), and
    /// hides the received ones from all readers for `hide`. Without messages the result is empty.
    async fn receive(&self, wait: Duration, hide: Duration) -> Result<Vec<Message>>;
    /// Deletes messages, at most [`BATCH`]. A message that could not be deleted becomes visible again.
    async fn delete(&self, receipts: &[Receipt]) -> Result<()>;
    /// Hides a message for this time from now on; zero makes it visible at once. `Invalid` if it is no longer
    /// hidden.
    async fn hide(&self, receipt: &Receipt, time: Duration) -> Result<()>;
}

/// A message, as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id: the same each time it is received.
    pub id: String,
    /// The handle for deleting or hiding it.
    pub receipt: Receipt,
    /// Its text.
    pub body: String,
    /// When it was sent.
    pub sent: AwsTime,
    /// How often it was received, this time included; AWS counts approximately.
    pub receives: u32,
}

/// The handle for deleting or hiding a received message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receipt(String);

impl Receipt {
    /// A receipt of that text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
