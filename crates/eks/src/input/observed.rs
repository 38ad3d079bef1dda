//! What AWS shows, as far as it was asked.

use foo_model::eks::{Answer, Question};
use foo_model::{Aws, Comparison, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The newest answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Now.
    pub now: Timestamp,
    /// AWS's clock, compared with the manager's.
    #[serde(default)]
    pub aws_clock: Comparison<Aws>,
    /// The newest answer to each question that was asked, and when its call began. It shows at least what was true then, as far as
    /// AWS's reads do.
    pub looks: BTreeMap<Question, Look>,
    /// Questions whose last call failed, after the answer in [`Self::looks`], if there is one. An answer takes its question out.
    pub failed: BTreeMap<Question, FailedLook>,
}

/// A question that got no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedLook {
    /// When the last call began.
    pub at: Timestamp,
    /// How many calls failed in a row, at least 1.
    pub times: u32,
    /// Why the last one failed.
    pub refusal: foo_calls::Refusal,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// When the call began.
    pub begun: Timestamp,
    /// The answer.
    pub answer: Answer,
}
