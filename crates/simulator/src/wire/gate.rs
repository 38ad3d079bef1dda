//! What the fault rules and token buckets do to a call before it is carried out.

use crate::core::error::AwsError;
use crate::faults::CallHead;
use crate::world::{Ending, Gate, World};
use std::time::Duration;

/// Why a call is not carried out.
pub(super) enum GateRefusal {
    /// The caller gets this error.
    Response(AwsError),
    /// The connection is reset.
    Dropped,
}

impl From<AwsError> for GateRefusal {
    fn from(error: AwsError) -> Self {
        Self::Response(error)
    }
}

/// Waits in real time as long as a fault rule says (for ever, if it says that the call hangs), and returns what is to happen to
/// the response.
///
/// # Errors
/// The call is not to be carried out.
pub(super) async fn pass(world: &World, call: &CallHead<'_>) -> Result<Ending, GateRefusal> {
    let (wait, ending) = match world.gate(call) {
        Gate::Open(wait) => (wait, Ending::Complete),
        Gate::ResponseLost => (Duration::ZERO, Ending::Lost),
        Gate::Truncated => (Duration::ZERO, Ending::Truncated),
        Gate::Silence => (Duration::ZERO, Ending::Never),
        Gate::Hangs => std::future::pending().await,
        Gate::Refused(error) => return Err(error.into()),
        Gate::Dropped | Gate::Unreachable => return Err(GateRefusal::Dropped),
    };
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    Ok(ending)
}
