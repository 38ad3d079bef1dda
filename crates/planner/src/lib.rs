//! Pure decisions about one pool: `plan(&Desired, &Observed, &Memory) -> Plan { actions, report, memory }`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: what goes in are values, what comes out are values.
//! Every decision of the provider about groups, instances and Machines is made here and nowhere else.

pub mod action;
pub mod desired;
pub mod memory;
pub mod model;
pub mod observed;
pub mod report;

pub use action::{Action, GroupSettings, NewGroup, OnlyIf};
pub use desired::{Desired, Goal};
pub use memory::Memory;
pub use observed::{Look, Observed};
pub use report::Report;

use serde::{Deserialize, Serialize};

/// What to do next, what is true, and what to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What to do, in order; the first failure ends the pass.
    pub actions: Vec<Action>,
    /// What is true and what is waited for.
    pub report: Report,
    /// What to remember until the next pass, before the outcomes of the actions are noted in it.
    pub memory: Memory,
}
