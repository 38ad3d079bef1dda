//! One SQS queue.

use crate::AwsSettings;
use crate::clients::Clients;
use crate::connect::{self, ConnectError};
use crate::error::{self, Gap};
use async_trait::async_trait;
use aws_sdk_sqs::types as aws;
use foo_cloud::queue::BATCH;
use foo_cloud::{Message, Operation, Queue, Receipt, Result};
use foo_model::AwsTime;
use std::time::Duration;

/// One queue, with the credentials of one identity.
#[derive(Clone, Debug)]
pub struct AwsQueue {
    clients: Clients<aws_sdk_sqs::Client>,
    url: String,
}

impl AwsQueue {
    /// Prepares clients for the queue with that URL; makes no call yet. The region must be the queue's.
    pub async fn connect(settings: AwsSettings, url: &str) -> Result<Self, ConnectError> {
        Ok(Self { clients: connect::connect_queue(settings, url).await?, url: url.to_owned() })
    }
}

#[async_trait]
impl Queue for AwsQueue {
    async fn receive(&self, wait: Duration, hide: Duration) -> Result<Vec<Message>> {
        const OPERATION: Operation = Operation::ReceiveMessage;
        let response = self
            .clients
            .once
            .receive_message()
            .queue_url(&self.url)
            .max_number_of_messages(i32::try_from(BATCH).unwrap_or(1))
            .wait_time_seconds(seconds(wait))
            .visibility_timeout(seconds(hide))
            .message_system_attribute_names(aws::MessageSystemAttributeName::SentTimestamp)
            .message_system_attribute_names(aws::MessageSystemAttributeName::ApproximateReceiveCount)
            .send()
            .await
            .map_err(|failed| error::of(OPERATION, &failed))?;
        // A message without the required fields is delivered again; the others are processed now.
        Ok(response.messages.unwrap_or_default().into_iter().filter_map(message).collect())
    }

    async fn delete(&self, receipts: &[Receipt]) -> Result<()> {
        const OPERATION: Operation = Operation::DeleteMessageBatch;
        if receipts.is_empty() {
            return Ok(());
        }
        let entries = receipts.iter().take(BATCH).enumerate().map(|(number, receipt)| {
            let entry = aws::DeleteMessageBatchRequestEntry::builder();
            entry.id(number.to_string()).receipt_handle(receipt.as_str()).build()
        });
        let entries: Vec<_> =
            entries.collect::<Result<_, _>>().map_err(|_| Gap("entry").during(OPERATION))?;
        let call = self.clients.repeating.delete_message_batch().queue_url(&self.url);
        let response =
            call.set_entries(Some(entries)).send().await.map_err(|failed| error::of(OPERATION, &failed))?;
        for failed in response.failed() {
            tracing::debug!(code = failed.code(), message = failed.message(), "could not delete a message");
        }
        Ok(())
    }

    async fn hide(&self, receipt: &Receipt, time: Duration) -> Result<()> {
        self.clients
            .repeating
            .change_message_visibility()
            .queue_url(&self.url)
            .receipt_handle(receipt.as_str())
            .visibility_timeout(seconds(time))
            .send()
            .await
            .map(drop)
            .map_err(|failed| error::of(Operation::ChangeMessageVisibility, &failed))
    }
}

fn message(message: aws::Message) -> Option<Message> {
    let attributes = message.attributes.unwrap_or_default();
    let number = |name: &aws::MessageSystemAttributeName| attributes.get(name)?.parse::<i64>().ok();
    let receives = number(&aws::MessageSystemAttributeName::ApproximateReceiveCount);
    Some(Message {
        id: message.message_id.unwrap_or_default(),
        receipt: Receipt::new(message.receipt_handle?),
        body: message.body.unwrap_or_default(),
        sent: AwsTime::from_millis(number(&aws::MessageSystemAttributeName::SentTimestamp)?),
        receives: receives.and_then(|it| u32::try_from(it).ok()).unwrap_or(1),
    })
}

/// Whole seconds, the unit of SQS.
fn seconds(time: Duration) -> i32 {
    i32::try_from(time.as_secs()).unwrap_or(i32::MAX)
}
