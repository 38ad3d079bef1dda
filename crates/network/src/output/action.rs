//! What to send.

use crate::recorded::Recorded;
use crate::role::Role;
use crate::timing;
use foo_calls::{Backoff, Refusal};
use foo_model::Reason;
use foo_model::network::{Change, Parts};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One call, complete in itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The part that it creates, changes or deletes. For what has none of our roles (left-overs of the workload
    /// cluster, several parts at once) the VPC.
    pub role: Role,
    /// The call.
    pub change: Change,
    /// Why, for events and logs. A clause in present tense.
    pub why: String,
}

impl foo_calls::Action for Action {
    type Response = Parts;
    type Record = Recorded;

    const LAG: Duration = timing::LAG;

    fn operation(&self) -> &'static str {
        self.change.operation().name()
    }

    /// The same change, with the same token: the token of a creation belongs to the attempt, which stays the same until
    /// it is known what became of it.
    fn repeats(&self, earlier: &Self) -> bool {
        self.change == earlier.change
    }

    /// Whether the one thing that the call is about is as it is to be already.
    fn is_done_already(&self, refusal: &Refusal) -> bool {
        let code = refusal.code.as_deref().unwrap_or_default();
        match &self.change {
            Change::AuthorizeSecurityGroupIngress { rules, .. }
            | Change::AuthorizeSecurityGroupEgress { rules, .. } => {
                rules.len() == 1 && code == "InvalidPermission.Duplicate"
            }
            Change::RevokeSecurityGroupIngress { rules, .. }
            | Change::RevokeSecurityGroupEgress { rules, .. } => {
                rules.len() == 1 && code == "InvalidPermission.NotFound"
            }
            Change::DeleteRoute { .. } => code == "InvalidRoute.NotFound",
            Change::DetachInternetGateway { .. } => code == "Gateway.NotAttached",
            _ => false,
        }
    }

    /// What still uses a part is deleted first, which takes AWS a while.
    fn busy(reason: Reason) -> Option<Backoff> {
        (reason == Reason::ResourceInUse).then_some(Backoff::seconds(30, 300))
    }
}
