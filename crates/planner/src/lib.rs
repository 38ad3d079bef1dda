//! Pure decisions about one pool: `plan(&Desired, &Observed, &Memory) -> Plan { actions, report, memory }`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: inputs and outputs are values. Every decision of
//! the provider about groups, instances and Machines is here and nowhere else.
//!
//! The folders, in reading order; each uses only those before it:
//!
//! * the crate `foo-model`: the nouns;
//! * `input`: [`desired`] and [`observed`], `output`: [`action`] and [`report`];
//! * [`memory`]: what earlier passes left behind, the third input;
//! * [`capacity_block`]: the desired state while the pool's Capacity Block has not started, or ends;
//! * `situation`: facts derived from the inputs; it decides nothing;
//! * `draft`: a plan while the steps add to it;
//! * `steps`: one file per question, each makes one decision;
//! * `summary`: turns the situation into conditions, and never calls the steps;
//! * `plan.rs`: the order of the questions, the table of contents;
//! * [`mod@forecast`]: what will follow from a desired state, by planning again and again against a pool in which everything
//!   succeeds.
//!
//! [`check`] verifies a plan from inputs and outputs alone.
//!
//! The functions are total: every combination of values has a plan. No randomness; time is a value in `Observed`. The
//! actions leave no choice to the code that carries them out. Outside of `steps`, only `plan.rs` calls the steps.
//!
//! # A scale-in
//!
//! 1. A user lowers `MachinePool.spec.replicas`. The watch triggers a pass over the pool.
//! 2. The planner finds more Machines than desired replicas, chooses one (`steps/victims.rs`) and plans its deletion,
//!    on condition that replicas have not been raised in the meantime (and, for an annotated Machine, that the
//!    annotation is still there).
//! 3. Cluster API drains the Node, then deletes the FooMachine. The provider's finalizer keeps the object.
//! 4. The FooMachine's deletionTimestamp means *released*. The planner terminates the instance by id (`steps/ends.rs`),
//!    and decrements desired capacity if it is above the desired replicas.
//! 5. The observer sees that the instance has left the group. The manager asks EC2 whether it is terminated, removes
//!    the finalizer, and removes the id from the list of provider ids.

pub mod capacity_block;
pub mod check;
mod draft;
pub mod forecast;
mod input;
pub mod memory;
mod output;
mod plan;
pub mod recent_targets;
mod situation;
mod steps;
mod summary;
pub mod target_health;

pub use action::{Action, Precondition};
pub use check::{Violation, violations};
pub use desired::{Desired, Goal};
pub use forecast::forecast;
pub use input::{desired, observed};
pub use memory::{Memory, WriteOutcome};
pub use observed::{LastRead, Observed};
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
    /// [`Memory::completed`].
    pub memory: Memory,
}
