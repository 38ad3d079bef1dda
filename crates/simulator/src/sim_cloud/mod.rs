//! The simulated AWS behind the `foo_cloud` traits: no SDK, no HTTP, the same core, faults, throttling and counts.

mod compute;
mod convert;
mod errors;
mod groups;
mod queue;

pub use queue::SimQueue;

use crate::core::Region;
use crate::core::error::AwsResult;
use crate::faults::CallHead;
use crate::service::Service;
use crate::world::{Ending, Gate, World};
use foo_cloud::{CloudError, ErrorKind, Operation, Result, operation};
use std::sync::Arc;
use std::time::Duration;

/// A cloud of one caller in one region of a simulator.
#[derive(Clone, Debug)]
pub struct SimCloud {
    world: Arc<World>,
    region: String,
    caller: String,
}

impl SimCloud {
    pub(crate) fn new(world: Arc<World>, region: &str, caller: &str) -> Self {
        Self { world, region: region.to_owned(), caller: caller.to_owned() }
    }

    /// Who calls: fault rules can name it.
    pub fn caller(&self) -> &str {
        &self.caller
    }

    fn account_id(&self) -> String {
        self.world.account().to_owned()
    }

    fn arn(&self) -> String {
        self.world.arn_of(&self.caller)
    }

    /// One call, with everything that stands before it.
    async fn call<T>(
        &self,
        operation: Operation,
        parameters: String,
        work: impl FnOnce(&mut Region) -> AwsResult<T> + Send,
    ) -> Result<T> {
        let service = match operation.service() {
            operation::Service::AutoScaling => Service::AutoScaling,
            operation::Service::Ec2 => Service::Ec2,
            operation::Service::Sts => Service::Sts,
            operation::Service::Sqs => Service::Sqs,
        };
        let call = CallHead {
            caller: &self.caller,
            region: &self.region,
            service,
            action: operation.name(),
            parameters: &parameters,
        };
        let no_answer = |kind, text| CloudError::new(operation, kind, None, text);
        // Reads that break are asked again; only of a change nobody can tell whether it happened.
        let lost_answer = || {
            if operation.is_mutation() {
                no_answer(ErrorKind::LostAnswer, "no answer came, it may or may not have been done")
            } else {
                no_answer(ErrorKind::Unreachable, "no answer came")
            }
        };
        let (wait, ending) = match self.world.gate(&call) {
            Gate::Open(wait) => (wait, Ending::Whole),
            // Half an answer cannot be read: no caller learns more from it than from none.
            Gate::AnswerLost | Gate::Truncated => (Duration::ZERO, Ending::Lost),
            Gate::Hangs => std::future::pending().await,
            Gate::Refused(error) => return Err(errors::as_adapter(operation, &error)),
            Gate::Dropped => return Err(lost_answer()),
            Gate::Unreachable => return Err(no_answer(ErrorKind::Unreachable, "connection refused")),
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        match self.world.carry_out(&call, ending, work) {
            _ if ending != Ending::Whole => Err(lost_answer()),
            result => result.map_err(|error| errors::as_adapter(operation, &error)),
        }
    }
}
