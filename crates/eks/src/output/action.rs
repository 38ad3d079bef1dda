//! A call that a plan decides on.

use foo_model::eks::Change;
use serde::{Deserialize, Serialize};

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The call.
    pub change: Change,
    /// Why, for events and logs. A clause in present tense.
    pub why: String,
}
