//! `foo_cloud::Queue` on the simulated SQS.

use super::SimCloud;
use super::convert::dated;
use crate::core::error::AwsResult;
use crate::core::sqs::{self, Receive};
use async_trait::async_trait;
use foo_cloud::queue::BATCH;
use foo_cloud::{AwsClock, Message, Operation, Queue, Receipt, Result};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Between two receives of a long poll.
const POLL: Duration = Duration::from_millis(100);

/// A queue of one caller in one region of a simulator.
#[derive(Clone, Debug)]
pub struct SimQueue {
    cloud: SimCloud,
    name: String,
}

impl SimQueue {
    pub(crate) fn new(cloud: SimCloud, name: &str) -> Self {
        Self { cloud, name: name.to_owned() }
    }

    /// The same; records the dates of responses in `clock`.
    #[must_use]
    pub fn noted_in(self, clock: AwsClock) -> Self {
        Self { cloud: self.cloud.noted_in(clock), ..self }
    }
}

fn shown(message: sqs::Message) -> Message {
    Message {
        id: message.id,
        receipt: Receipt::new(message.receipt.unwrap_or_default()),
        body: message.body,
        sent: dated(message.sent),
        receives: message.received,
    }
}

#[async_trait]
impl Queue for SimQueue {
    /// Waits in virtual time, and no longer than `wait` of its caller's.
    async fn receive(&self, wait: Duration, hide: Duration) -> Result<Vec<Message>> {
        let wanted = Receive { most: BATCH, visibility: Some(hide) };
        let began = Instant::now();
        let (mut received, until) = self
            .cloud
            .call(Operation::ReceiveMessage, self.name.clone(), |region| {
                Ok((region.receive_messages(&self.name, wanted)?, region.now().plus(wait)))
            })
            .await?;
        while received.is_empty() && began.elapsed() < wait {
            sleep(POLL).await;
            let world = &self.cloud.world;
            // This is still the same call, so it is neither counted nor throttled again. A deleted queue returns
            // nothing.
            let response: AwsResult<AwsResult<Option<Vec<sqs::Message>>>> =
                world.in_region(&self.cloud.region, |region| {
                    let over = region.now() >= until;
                    let messages = region.receive_messages(&self.name, wanted)?;
                    Ok((!messages.is_empty() || over).then_some(messages))
                });
            match response {
                Ok(Ok(Some(messages))) => {
                    received = messages;
                    break;
                }
                Ok(Ok(None)) => {}
                Ok(Err(_)) | Err(_) => break,
            }
        }
        Ok(received.into_iter().map(shown).collect())
    }

    async fn delete(&self, receipts: &[Receipt]) -> Result<()> {
        self.cloud
            .call(Operation::DeleteMessageBatch, self.name.clone(), |region| {
                region.queues.find(&self.name)?;
                for receipt in receipts.iter().take(BATCH) {
                    if let Err(error) = region.delete_message(&self.name, receipt.as_str()) {
                        tracing::debug!(%error, "could not delete a message");
                    }
                }
                Ok(())
            })
            .await
    }

    async fn hide(&self, receipt: &Receipt, time: Duration) -> Result<()> {
        self.cloud
            .call(Operation::ChangeMessageVisibility, self.name.clone(), |region| {
                region.change_visibility(&self.name, receipt.as_str(), time)
            })
            .await
    }
}
