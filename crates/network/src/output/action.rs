//! What to send.

use crate::role::Role;
use foo_model::network::Change;
use serde::{Deserialize, Serialize};

/// One call, complete in itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The part that it creates, changes or deletes. For what has none of our roles (left-overs of the workload cluster, several
    /// parts at once) the VPC.
    pub role: Role,
    /// The call.
    pub change: Change,
    /// Why, for events and logs. A clause in present tense.
    pub why: String,
}
