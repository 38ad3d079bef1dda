//! Pure decisions about one pool: `plan(&Desired, &Observed, &Memory) -> Plan { actions, report, memory }`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: inputs and outputs are values. Every decision of
//! the provider about groups, instances and Machines is made here and nowhere else.
//!
//! The folders, in reading order; each uses only those before it:
//!
//! * the crate `foo-model`: the nouns;
//! * `input`: [`desired`] and [`observed`], `output`: [`action`] and [`report`];
//! * [`memory`]: what earlier passes left behind, the third input;
//! * `situation`: facts derived from the inputs; it decides nothing;
//! * `draft`: a plan while the steps add to it;
//! * `steps`: one file per question, each makes one decision;
//! * `summary`: turns the situation into conditions, and never calls the steps;
//! * [`plan`]: the order of the questions, the table of contents.
//!
//! [`check`] verifies a plan from inputs and outputs alone.

pub mod check;
mod draft;
mod input;
pub mod memory;
mod output;
mod plan;
pub mod recent_targets;
mod situation;
mod steps;
mod summary;

pub use action::{Action, Precondition};
pub use check::{Violation, violations};
pub use desired::{Desired, Goal};
pub use input::{desired, observed};
pub use memory::{Memory, Outcome};
pub use observed::{Look, Observed};
pub use output::{action, report};
pub use plan::plan;
pub use report::Report;

use serde::{Deserialize, Serialize};

/// What to do next, what is true, and what to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What to do, in order. After a failure the actions that depend on the failed one are skipped, all others are carried
    /// out.
    pub actions: Vec<Action>,
    /// What is true, and what the pool waits for.
    pub report: Report,
    /// What to remember until the next pass, before the outcomes of the actions are noted in it with
    /// [`Memory::answered`].
    pub memory: Memory,
}
