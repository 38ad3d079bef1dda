//! What one process remembers of its own calls. It can be lost at any time.

use crate::action::Action;
use foo_calls::Calls;
use foo_model::Timestamp;
use foo_model::eks::Question;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is remembered about one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its calls.
    pub(crate) calls: Calls<Action>,
    /// When the looks in a row began that did not find the cluster.
    pub(crate) missing: Vec<Timestamp>,
    /// Looks that began before this moment are not believed: something changed since.
    pub(crate) distrusted: BTreeMap<Question, Timestamp>,
}

/// The effect of a call.
pub(crate) type Effect = foo_calls::Effect<Action>;

/// A call that failed, as often as it did in a row.
pub(crate) type Failure = foo_calls::Failure<Action>;

impl Memory {
    /// Looks at this that began before the moment are not believed any more.
    pub(crate) fn distrust(&mut self, question: Question, before: Timestamp) {
        let moment = self.distrusted.entry(question).or_insert(before);
        *moment = (*moment).max(before);
    }
}
