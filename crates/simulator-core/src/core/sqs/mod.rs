//! Standard queues (SQS API Reference, SQS Developer Guide). No FIFO queues, no message attributes.

pub mod delivery;
mod message;
mod messages;
mod queue;

pub use message::Message;
pub use messages::Receive;
pub use queue::{Attributes, Queue, Redrive};

use super::error::{AwsError, AwsResult};
use super::region::Region;
use foo_model::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a name cannot be used again after its queue was deleted, and how long a purge takes.
const PAUSE: Duration = Duration::from_mins(1);

/// The queues of a region.
#[derive(Clone, Debug, Default)]
pub struct Queues {
    pub(crate) by_name: BTreeMap<String, Queue>,
    deleted: BTreeMap<String, Timestamp>,
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

impl Region {
    /// CreateQueue. With the name and attributes of an existing queue it returns that queue.
    pub fn create_queue(&mut self, name: &str, given: &BTreeMap<String, String>) -> AwsResult<()> {
        let fits = (1..=80).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !fits {
            return Err(AwsError::invalid_value(
                "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
            ));
        }
        let mut attributes = Attributes::default();
        attributes.change(given)?;
        if let Some(queue) = self.queues.by_name.get(name) {
            if queue.attributes.would_stay(given)? {
                return Ok(());
            }
            return Err(AwsError::new(
                "QueueNameExists",
                "A queue already exists with the same name and a different value for an attribute.",
            ));
        }
        let now = self.now;
        if self.queues.deleted.get(name).is_some_and(|deleted| now < deleted.plus(PAUSE)) {
            return Err(AwsError::new(
                "QueueDeletedRecently",
                "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
            ));
        }
        self.queues.deleted.remove(name);
        let arn = format!("arn:aws:sqs:{}:{}:{name}", self.name, self.account);
        self.queues.by_name.insert(name.to_owned(), Queue::new(arn, attributes, now));
        Ok(())
    }

    /// SetQueueAttributes. Other attributes stay.
    pub fn set_queue_attributes(&mut self, name: &str, given: &BTreeMap<String, String>) -> AwsResult<()> {
        let now = self.now;
        let queue = self.queues.find_mut(name)?;
        let mut attributes = queue.attributes.clone();
        attributes.change(given)?;
        queue.attributes = attributes;
        queue.modified = now;
        Ok(())
    }

    /// DeleteQueue, with all its messages.
    pub fn delete_queue(&mut self, name: &str) -> AwsResult<()> {
        self.queues.by_name.remove(name).ok_or_else(no_queue)?;
        self.queues.deleted.insert(name.to_owned(), self.now);
        Ok(())
    }

    /// PurgeQueue, at most once a minute.
    pub fn purge_queue(&mut self, name: &str) -> AwsResult<()> {
        let now = self.now;
        let queue = self.queues.find_mut(name)?;
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
