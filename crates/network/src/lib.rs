//! Pure decisions about one network: `plan(&Desired, &Observed, &Recorded, &Memory) -> Plan`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: what goes in are values, what comes out are values.
//! Every decision of the provider about VPCs and what is in them is made here and nowhere else.
//!
//! The layers, in reading order; each uses only those before it:
//!
//! * `foo_model::network`: the nouns; [`role`]: what each part is for; [`addresses`]: how ranges are carved;
//!   [`region`]: zones to choose from, names of services;
//! * `input`: [`desired`], [`observed`], [`recorded`] and [`memory`], `output`: [`action`] and [`report`];
//! * `situation`: what is the case; nothing is decided there;
//! * `draft`: a plan being written;
//! * `steps`: one file per question, each decides on one thing;
//! * `summary`: turns both into conditions and resources;
//! * `plan.rs`: the order of the questions, the table of contents.
//!
//! [`violations`] judges a plan from inputs and outputs alone, without having made it.
//!
//! How a pass goes: look (what [`Report::looks`] asked for) → [`plan`](fn@plan) → [`violations`] → publish [`Plan::record`] and the
//! report → [`Memory::sent`], send *all* actions (none waits for another of the same plan; at the same time, if there is
//! room) and [`Memory::answered`] for each → plan again at once while there were actions, without another look: the memory
//! knows what the answers said. Otherwise wait for [`Report::looks`] and [`Report::again_at`].
//!
//! `foo_controller::cluster::managed` gathers the inputs and sends the actions; the tests have a small simulated AWS of
//! their own, `tests/network/aws`.
//!
//! # Where to make a change
//!
//! A new field of a managed network: its part in `api/src/cluster/` with its CEL rule (`edits.rs`: what is immutable);
//! `Desired` in `input/desired.rs`, filled by `controller/src/cluster/managed/desired/`; a step here;
//! `docs/concepts/networks.md`; cases in `tests/e2e/tests/admission/networks.rs` and `edits.rs`.
//!
//! A new kind of resource (as a pattern, search for `EgressOnly` and `egress_only`):
//!
//! * `Kind` (and `OF_A_NETWORK`), `Parts` and `Change` in `model/src/network/`; `Role` in `role.rs`. Lists and macros
//!   compile without it.
//! * Here: both lists in `situation/part.rs`, `wanted.rs` and `effects.rs` beside it; a file in `steps/`, its place in
//!   `plan.rs` and in `steps/delete.rs`; `check.rs`; `summary.rs`. Drift is `Draft::content` and `Draft::fix`; tags
//!   follow from the role.
//! * `act`, `record` and `looks` in `controller/src/cluster/managed/`; `cloud-adapter/src/networks/`.
//! * `Operation` in `foo-cloud`, its `Guard` in `xtask/src/generate/iam/guards.rs`, the statements in `networks.rs`
//!   beside it.
//! * `simulator/src`: `core/network/`, `wire/ec2/network/`, `sim_cloud/networks.rs`, `core/ec2/tags.rs`,
//!   `iam/networks.rs`.
//! * `tests/network/aws`, `testbed/src/world/network.rs`; `docs/concepts/networks.md`, `docs/operations/aws.md`.

pub mod addresses;
mod check;
mod draft;
mod guardduty;
mod hash;
mod input;
mod output;
mod plan;
pub mod region;
pub mod role;
mod situation;
mod steps;
mod summary;
mod tags;
mod timing;

pub use action::Action;
pub use check::{Violation, violations};
pub use desired::Desired;
pub use input::{desired, memory, observed, recorded};
pub use memory::{Answer, Memory, Refusal};
pub use observed::{Look, Observed};
pub use output::{action, report};
pub use plan::plan;
pub use recorded::Recorded;
pub use report::Report;
pub use role::Role;
pub use situation::installations;

use serde::{Deserialize, Serialize};

/// What to do next, what is true, and what to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What to send. None waits for another one: they may be sent in any order or at the same time. A failure of one says
    /// nothing about the others.
    pub actions: Vec<Action>,
    /// What is true and what is waited for.
    pub report: Report,
    /// What the status must say *before* any of the actions is sent: ids, and what is about to be created. If the write fails,
    /// nothing is sent, and the memory of before this plan is kept.
    pub record: Recorded,
    /// What to remember until the next pass, before the answers are noted in it.
    pub memory: Memory,
}

impl Plan {
    /// The same plan if none of its actions is sent: what it was about to create is no intent, which would be waited for as if its
    /// answer were lost. `before` is the record that it was made from.
    #[must_use]
    pub fn not_sent(mut self, before: &Recorded) -> Self {
        self.record.intents.retain(|role, intent| before.intents.get(role) == Some(intent));
        self.memory.records(&self.record);
        self
    }
}
