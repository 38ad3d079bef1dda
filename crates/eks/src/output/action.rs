//! A call that a plan decides on.

use crate::recorded::Recorded;
use crate::timing;
use foo_calls::Backoff;
use foo_model::Reason;
use foo_model::eks::{Change, Changed};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The call.
    pub change: Change,
    /// Its client request token, if the operation takes one.
    pub token: Option<String>,
    /// Why, for events and logs. A clause in present tense.
    pub why: String,
}

impl foo_calls::Action for Action {
    type Response = Changed;
    type Record = Recorded;

    const LAG: Duration = timing::LAG;

    fn operation(&self) -> &'static str {
        self.change.operation().name()
    }

    /// The same change with whatever token: EKS repeats its earlier response to a token that it knows, so a repetition
    /// has another one.
    fn repeats(&self, earlier: &Self) -> bool {
        self.change == earlier.change
    }

    /// EKS changes one thing at a time, and says that it exists, or is in use, until the change before is over.
    fn busy(reason: Reason) -> Option<Backoff> {
        matches!(reason, Reason::ResourceInUse | Reason::AlreadyExists).then_some(Backoff::seconds(15, 300))
    }
}
