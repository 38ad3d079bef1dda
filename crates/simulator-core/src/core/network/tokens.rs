//! Client tokens: a request with the token of an earlier one is carried out only once (EC2 Developer Guide, "Ensuring
//! idempotency").

use crate::core::error::{AwsError, AwsResult};
use foo_model::Operation;
use foo_model::network::{Change, Parts};
use std::collections::BTreeMap;

/// Requests by operation and token, with what they created.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens(BTreeMap<(Operation, String), (Change, Parts)>);

impl Tokens {
    /// What this request created when it was sent before; `None` for a new token.
    ///
    /// # Errors
    /// `IdempotentParameterMismatch` if a different request had this token.
    pub(super) fn repeated(&self, change: &Change) -> AwsResult<Option<Parts>> {
        let Some(token) = change.token() else { return Ok(None) };
        match self.0.get(&(change.operation(), token.to_owned())) {
            None => Ok(None),
            Some((former, created)) if former == change => Ok(Some(created.clone())),
            Some(_) => Err(AwsError::new(
                "IdempotentParameterMismatch",
                "The client token you have provided is associated with a resource that has different parameters.",
            )),
        }
    }

    /// Stores what a request created.
    pub(super) fn remember(&mut self, change: &Change, created: &Parts) {
        if let Some(token) = change.token() {
            self.0.insert((change.operation(), token.to_owned()), (change.clone(), created.clone()));
        }
    }
}
