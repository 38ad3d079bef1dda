//! Messages: send, receive, hide for a while, delete, move to a dead-letter queue.

use super::Queues;
use super::message::Message;
use super::queue::Queue;
use crate::core::chance::Chance;
use crate::core::error::{AwsError, AwsResult};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_model::Timestamp;
use std::time::Duration;

/// Parameters of ReceiveMessage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    /// 1 to 10 messages.
    pub most: usize,
    /// Visibility timeout; the queue's attribute if absent.
    pub visibility: Option<Duration>,
}

impl Queue {
    fn insert(&mut self, serial: u64, message: Message) {
        self.visible.insert((message.visible_from, serial));
        self.messages.insert(serial, message);
    }

    fn take(&mut self, serial: u64) -> Option<Message> {
        let message = self.messages.remove(&serial)?;
        self.visible.remove(&(message.visible_from, serial));
        Some(message)
    }

    /// Deletes messages older than the retention period; messages are stored in the order they were sent.
    fn expire(&mut self, now: Timestamp) {
        while let Some((serial, message)) = self.messages.first_key_value() {
            if message.sent.plus(self.attributes.retention) > now {
                return;
            }
            let serial = *serial;
            drop(self.take(serial));
        }
    }

    /// The number of the message whose latest receipt handle this is. An older handle identifies no message, and is
    /// not an error (API Reference, DeleteMessage).
    fn message_with(&self, receipt: &str) -> AwsResult<Option<u64>> {
        let decoded = STANDARD.decode(receipt).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let serial = decoded
            .as_deref()
            .and_then(|text| text.split_once(':'))
            .and_then(|(serial, _)| serial.parse::<u64>().ok())
            .ok_or_else(|| {
                AwsError::new("ReceiptHandleIsInvalid", "The input receipt handle is invalid.").status(404)
            })?;
        let current = self.messages.get(&serial).and_then(|message| message.receipt.as_deref());
        Ok((current == Some(receipt)).then_some(serial))
    }
}

impl Queues {
    /// SendMessage: 1 byte up to the queue's MaximumMessageSize.
    pub(in crate::core) fn send(
        &mut self,
        queue: &str,
        (body, delay): (String, Option<Duration>),
        ids: &mut Chance,
        now: Timestamp,
    ) -> AwsResult<Message> {
        let attributes = self.find(queue)?.attributes.clone();
        if body.is_empty() {
            return Err(AwsError::new(
                "MissingParameter",
                "The request must contain the parameter MessageBody.",
            ));
        }
        if u64::try_from(body.len()).is_ok_and(|bytes| bytes > attributes.message_bytes) {
            let most = attributes.message_bytes;
            return Err(AwsError::invalid_value(format!(
                "One or more parameters are invalid. Reason: Message must be shorter than {most} bytes."
            )));
        }
        let message = Message {
            id: ids.uuid(),
            body,
            sent: now,
            received: 0,
            first_received: None,
            receipt: None,
            visible_from: now.plus(delay.unwrap_or(attributes.delay)),
        };
        self.sent += 1;
        let serial = self.sent;
        self.find_mut(queue)?.insert(serial, message.clone());
        Ok(message)
    }

    /// ReceiveMessage, without waiting.
    pub(in crate::core) fn receive(
        &mut self,
        name: &str,
        wanted: Receive,
        ids: &mut Chance,
        now: Timestamp,
    ) -> AwsResult<Vec<Message>> {
        self.find_mut(name)?.expire(now);
        let mut received = Vec::new();
        while received.len() < wanted.most {
            let queue = self.find_mut(name)?;
            let Some((_, serial)) = queue.visible.first().copied().filter(|(from, _)| *from <= now) else {
                break;
            };
            let Some(mut message) = queue.take(serial) else { break };
            let visibility = wanted.visibility.unwrap_or(queue.attributes.visibility);
            if let Some(redrive) = queue.attributes.redrive.clone()
                && message.received >= redrive.max_receive_count
                && let Some(aside) =
                    self.by_name.values_mut().find(|queue| queue.arn == redrive.dead_letter_target_arn)
            {
                // "the expiration of a message is always based on its original enqueue timestamp"; the receive count
                // continues.
                message.receipt = None;
                message.visible_from = now;
                aside.insert(serial, message);
                continue;
            }
            let handle = format!("{serial}:{}", ids.uuid());
            message.received = message.received.saturating_add(1);
            message.first_received.get_or_insert(now);
            message.receipt = Some(STANDARD.encode(handle));
            message.visible_from = now.plus(visibility);
            received.push(message.clone());
            // A visibility timeout of 0 makes it visible at once, but one call does not receive it twice.
            if visibility.is_zero() {
                message.visible_from = now.plus(Duration::from_millis(1));
            }
            self.find_mut(name)?.insert(serial, message);
        }
        Ok(received)
    }

    /// DeleteMessage. An older handle than the latest one deletes nothing and is not an error.
    pub(in crate::core) fn delete_message(&mut self, queue: &str, receipt: &str) -> AwsResult<()> {
        let queue = self.find_mut(queue)?;
        if let Some(serial) = queue.message_with(receipt)? {
            drop(queue.take(serial));
        }
        Ok(())
    }

    /// ChangeMessageVisibility: 0 to 43,200 s from now.
    pub(in crate::core) fn change_visibility(
        &mut self,
        queue: &str,
        receipt: &str,
        visibility: Duration,
        now: Timestamp,
    ) -> AwsResult<()> {
        let queue = self.find_mut(queue)?;
        let in_flight = queue
            .message_with(receipt)?
            .filter(|serial| queue.messages.get(serial).is_some_and(|message| message.visible_from > now));
        let Some((serial, mut message)) = in_flight.and_then(|serial| Some((serial, queue.take(serial)?)))
        else {
            return Err(AwsError::new("MessageNotInflight", "The specified message isn't in flight."));
        };
        message.visible_from = now.plus(visibility);
        queue.insert(serial, message);
        Ok(())
    }
}
