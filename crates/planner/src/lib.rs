//! Pure decisions about one pool: `plan(&Desired, &Observed, &Memory) -> Plan { actions, report, memory }`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: what goes in are values, what comes out are values.
//! Every decision of the provider about groups, instances and Machines is made here and nowhere else.
//!
//! Reading order: [`plan`] is the table of contents; `situation` says what is the case; `steps` has one file per
//! question; `summary` turns the situation into conditions, and never asks the steps; [`check`] judges a plan without having made it.

pub mod action;
pub mod check;
pub mod desired;
mod draft;
pub mod memory;
pub mod model;
pub mod names;
pub mod observed;
mod plan;
pub mod report;
mod situation;
mod steps;
mod summary;
pub mod wishes;

pub use action::{Action, GroupSettings, NewGroup, OnlyIf};
pub use check::{Violation, violations};
pub use desired::{Desired, Goal};
pub use memory::{Memory, Outcome};
pub use names::{QUARANTINE_ANNOTATION, ROLLOUT_PAUSED_ANNOTATION, machine_name};
pub use observed::{Look, Observed};
pub use plan::plan;
pub use report::Report;

use serde::{Deserialize, Serialize};

/// What to do next, what is true, and what to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What to do, in order. After a failure the actions that depend on the failed one are skipped, all others are carried
    /// out.
    pub actions: Vec<Action>,
    /// What is true and what is waited for.
    pub report: Report,
    /// What to remember until the next pass, before the outcomes of the actions are noted in it with
    /// [`Memory::note`].
    pub memory: Memory,
}
