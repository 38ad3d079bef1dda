//! What AWS shows, as far as it was read.

use foo_model::eks::{Query, QueryResult};
use foo_model::{Agreement, Aws, Comparison, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The newest responses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Now.
    pub now: Timestamp,
    /// Whether the manager's clock and the API server's agree. Without agreement no maintenance window is open.
    #[serde(default)]
    pub clocks: Agreement,
    /// AWS's clock, compared with the manager's.
    #[serde(default)]
    pub aws_clock: Comparison<Aws>,
    /// The newest result of each query that was sent, and when its call began. It shows at least what was true then, as far as
    /// AWS's reads do.
    pub reads: BTreeMap<Query, CompletedRead>,
    /// Queries whose last call failed, after the result in [`Self::reads`], if there is one. A response removes its query.
    pub failed: BTreeMap<Query, FailedRead>,
}

/// A query that got no response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRead {
    /// When the last call began.
    pub at: Timestamp,
    /// How many calls failed in a row, at least 1.
    pub times: u32,
    /// Why the last one failed.
    pub refusal: foo_calls::Refusal,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedRead {
    /// When the call began.
    pub begun: Timestamp,
    /// The response.
    pub response: QueryResult,
}
