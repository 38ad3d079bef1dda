//! One call, and what differs between domains about calls.

use crate::backoff::Backoff;
use crate::outcome::Refusal;
use foo_model::Reason;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;

/// Plain data, which is compared, and shown on the debug pages.
pub trait Value: Clone + Debug + Eq + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Clone + Debug + Eq + Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {}

/// One call, complete in itself.
pub trait Action: Value {
    /// What a successful response contains: what was created or changed.
    type Response: Value + Default;
    /// What the status reports before the call is sent.
    type Record: Value;

    /// For how long after a response reads may still show what was before. A read that begins later than this is
    /// believed.
    const LAG: Duration;

    /// AWS's name of the call.
    fn operation(&self) -> &'static str;

    /// Whether it repeats an earlier call: failures in a row are counted by this, and no plan sends both.
    fn repeats(&self, earlier: &Self) -> bool;

    /// Whether the refusal means that what the call is for is already the case.
    fn is_done_already(&self, _refusal: &Refusal) -> bool {
        false
    }

    /// When a call is repeated that was refused because AWS is busy with what it is about; `None` for any other reason.
    fn busy(reason: Reason) -> Option<Backoff>;
}

/// Adds a call to a plan, unless the plan has it already; whether it was added.
pub fn add<A: Action>(actions: &mut Vec<A>, action: A) -> bool {
    let is_new = !actions.iter().any(|it| action.repeats(it));
    if is_new {
        actions.push(action);
    }
    is_new
}
