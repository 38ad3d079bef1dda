//! A queue of messages, as Amazon SQS has them: at least once, in no order.

use crate::Result;
use async_trait::async_trait;
use foo_model::Timestamp;
use std::fmt;
use std::time::Duration;

/// Longest time that one receive waits (Amazon SQS API Reference, ReceiveMessage, WaitTimeSeconds).
pub const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// Most messages of one receive, and of one deletion (Amazon SQS API Reference, ReceiveMessage, DeleteMessageBatch).
pub const BATCH: usize = 10;
/// How long after its receipt a message can be hidden at the most (Amazon SQS Developer Guide, "Amazon SQS visibility
/// timeout").
pub const LONGEST_HIDDEN: Duration = Duration::from_hours(12);

/// The tag that marks queues for us: the manager's rights are narrowed to what carries it.
pub const TAG_EVENTS: &str = "infrastructure.foo.com/events";

/// One queue. Each method is one API call.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Messages, at most [`BATCH`]. Waits for the first one, at most `wait` ([`LONGEST_WAIT`] or less), and hides what it
    /// gives out from everybody for `hide`. Without messages the answer is empty.
    async fn receive(&self, wait: Duration, hide: Duration) -> Result<Vec<Message>>;
    /// Deletes messages, at most [`BATCH`]. What could not be deleted comes again.
    async fn delete(&self, receipts: &[Receipt]) -> Result<()>;
    /// Hides a message for so long from now on; zero shows it to everybody at once. `Invalid` if it is hidden no more.
    async fn hide(&self, receipt: &Receipt, time: Duration) -> Result<()>;
}

/// A message, as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id: the same each time it is received.
    pub id: String,
    /// What this receipt is deleted or hidden by.
    pub receipt: Receipt,
    /// Its text.
    pub body: String,
    /// When it was sent.
    pub sent: Timestamp,
    /// How often it was received, this time included; AWS counts approximately.
    pub receives: u32,
}

/// What a receipt of a message is deleted or hidden by.
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
