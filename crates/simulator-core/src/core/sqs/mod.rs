//! Standard queues (SQS API Reference, SQS Developer Guide). No FIFO queues, no message attributes.

pub mod delivery;
mod message;
mod messages;
mod queue;

pub use message::Message;
pub use messages::Receive;
pub use queue::{Attributes, Queue, Redrive};

use super::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a name cannot be used again after its queue was deleted, and how long a purge takes.
const PAUSE: Duration = Duration::from_mins(1);

/// The queues of a region.
#[derive(Clone, Debug, Default)]
pub struct Queues {
    pub(crate) by_name: BTreeMap<String, Queue>,
    /// Names of deleted queues, and when they were deleted.
    deleted: BTreeMap<String, Timestamp>,
    /// How many messages were sent.
    sent: u64,
}

impl Queues {
    /// A queue.
    ///
    /// # Errors
    /// `QueueDoesNotExist`.
    pub fn find(&self, name: &str) -> AwsResult<&Queue> {
        self.by_name.get(name).ok_or_else(no_queue)
    }

    /// Names of all queues.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    pub(crate) fn find_mut(&mut self, name: &str) -> AwsResult<&mut Queue> {
        self.by_name.get_mut(name).ok_or_else(no_queue)
    }
}

impl Queues {
    /// CreateQueue. With the name and attributes of an existing queue it returns that queue.
    pub(super) fn create(
        &mut self,
        name: &str,
        given: &BTreeMap<String, String>,
        arn: String,
        now: Timestamp,
    ) -> AwsResult<()> {
        let fits = (1..=80).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !fits {
            return Err(AwsError::invalid_value(
                "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
            ));
        }
        let mut attributes = Attributes::default();
        attributes.change(given)?;
        if let Some(queue) = self.by_name.get(name) {
            if queue.attributes.would_stay(given)? {
                return Ok(());
            }
            return Err(AwsError::new(
                "QueueNameExists",
                "A queue already exists with the same name and a different value for an attribute.",
            ));
        }
        if self.deleted.get(name).is_some_and(|deleted| now < deleted.plus(PAUSE)) {
            return Err(AwsError::new(
                "QueueDeletedRecently",
                "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
            ));
        }
        self.deleted.remove(name);
        self.by_name.insert(name.to_owned(), Queue::new(arn, attributes, now));
        Ok(())
    }

    /// SetQueueAttributes. Other attributes stay.
    pub(super) fn set_attributes(
        &mut self,
        name: &str,
        given: &BTreeMap<String, String>,
        now: Timestamp,
    ) -> AwsResult<()> {
        let queue = self.find_mut(name)?;
        let mut attributes = queue.attributes.clone();
        attributes.change(given)?;
        queue.attributes = attributes;
        queue.modified = now;
        Ok(())
    }

    /// DeleteQueue, with all its messages.
    pub(super) fn delete(&mut self, name: &str, now: Timestamp) -> AwsResult<()> {
        self.by_name.remove(name).ok_or_else(no_queue)?;
        self.deleted.insert(name.to_owned(), now);
        Ok(())
    }

    /// PurgeQueue, at most once a minute.
    pub(super) fn purge(&mut self, name: &str, now: Timestamp) -> AwsResult<()> {
        let queue = self.find_mut(name)?;
        if queue.purged.is_some_and(|purged| now < purged.plus(PAUSE)) {
            return Err(AwsError::new(
                "PurgeQueueInProgress",
                format!("Only one PurgeQueue operation on {name} is allowed every 60 seconds."),
            ));
        }
        queue.purged = Some(now);
        queue.clear();
        Ok(())
    }
}

fn no_queue() -> AwsError {
    AwsError::new("QueueDoesNotExist", "The specified queue does not exist.")
}
