//! What AWS shows, as far as it was asked.

use foo_model::Timestamp;
use foo_model::eks::{Answer, Question};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The newest answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Now.
    pub now: Timestamp,
    /// The newest answer to each question that was asked, and when its call began. It shows at least what was true then, as far as
    /// AWS's reads do.
    pub looks: BTreeMap<Question, Look>,
    /// Questions whose last call failed, after the answer in [`Self::looks`], if there is one: why.
    pub failed: BTreeMap<Question, crate::memory::Refusal>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// When the call began.
    pub begun: Timestamp,
    /// The answer.
    pub answer: Answer,
}
