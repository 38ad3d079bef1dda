//! What became of a call.

use foo_calls::{Action, Outcome, Refusal};
use foo_cloud::CloudError;

/// A call, and what became of it.
pub(crate) struct Sent<A: Action> {
    pub(crate) action: A,
    pub(crate) result: Result<A::Response, CloudError>,
}

/// The outcome of a call, in the planners' noun.
pub(super) fn outcome_of<R: Clone>(result: &Result<R, CloudError>) -> Outcome<R> {
    match result {
        Ok(response) => Outcome::Done(response.clone()),
        Err(error) if error.may_have_happened() => Outcome::Lost(refusal(error)),
        Err(error) => Outcome::Refused(refusal(error)),
    }
}

/// The failure of a call, in the planners' noun.
pub(crate) fn refusal(error: &CloudError) -> Refusal {
    Refusal { reason: error.kind.into(), code: error.code.clone(), message: error.to_string() }
}
