//! What all loops of an observer share: a watchdog each, and a timeout for every call.

use crate::error::CloudError;
use crate::retry::{Jitter, RetryDelays};
use crate::watchdog::Watchdog;
use foo_model::Operation;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Timeout of an observation: longer than the SDK's own limits, including the wait for a token in a throttled
/// account. Without it one lost response would leave 100 groups unobserved for ever.
pub(super) const LONGEST_CALL: Duration = Duration::from_mins(2);

/// One for each loop.
#[derive(Debug, Default)]
pub(super) struct Watchdogs {
    pub(super) groups: Watchdog,
    pub(super) instances: Watchdog,
    pub(super) templates: Watchdog,
    pub(super) guard: Watchdog,
}

/// The result of a call, or an error after the timeout.
pub(super) async fn in_time<T>(
    operation: Operation,
    call: impl Future<Output = crate::Result<T>>,
) -> crate::Result<T> {
    let response = timeout(LONGEST_CALL, call).await;
    response.unwrap_or_else(|_elapsed| Err(CloudError::no_response(operation, LONGEST_CALL)))
}

/// The delay after that many consecutive failures. The same for the same seed.
pub(super) fn retry_delay(failures: u32, longest: Duration, seed: u64) -> Duration {
    RetryDelays { longest, jitter: Jitter::Shorter }.after(failures, seed, &())
}

/// The earlier of two moments, each of which may be missing.
pub(super) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}
