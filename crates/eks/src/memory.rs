//! What one process remembers of its own calls. It can be lost at any time.

use crate::action::Action;
use foo_calls::Calls;
use foo_model::Timestamp;
use foo_model::eks::Query;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is remembered about one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its calls.
    pub(crate) calls: Calls<Action>,
    /// When the reads in a row began that did not find the cluster.
    pub(crate) missing: Vec<Timestamp>,
    /// Reads that began before this moment are not believed: something changed since.
    pub(crate) distrusted: BTreeMap<Query, Timestamp>,
}

/// The effect of a call.
pub(crate) type Effect = foo_calls::Effect<Action>;

/// A call that failed, as often as it did in a row.
pub(crate) type Failure = foo_calls::Failure<Action>;

impl Memory {
    /// Reads of this that began before the moment are not believed any more.
    pub(crate) fn distrust(&mut self, query: Query, before: Timestamp) {
        let moment = self.distrusted.entry(query).or_insert(before);
        *moment = (*moment).max(before);
    }
}
