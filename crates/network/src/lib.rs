//! Pure decisions about one network: `plan(&Desired, &Observed, &Recorded, &Memory) -> Plan`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: what goes in are values, what comes out are values. Every
//! decision of the provider about VPCs and what is in them is here and nowhere else.
//!
//! The layers, in reading order; each uses only those before it:
//!
//! * `foo_model::network`: the nouns; [`role`]: what each part is for; [`addresses`]: how ranges are carved;
//!   [`region`]: zones to choose from, names of services;
//! * `input`: [`desired`], [`observed`] and [`recorded`], [`memory`], `output`: [`action`] and [`report`];
//! * `situation`: what is the case; nothing is decided there;
//! * `draft`: a plan being written;
//! * `steps`: one file per question, each decides on one thing;
//! * `summary`: turns both into conditions and resources;
//! * `plan.rs`: the order of the questions, the table of contents.
//!
//! [`forecast()`] foresees what follows from a desired network: plan after plan, against an EC2 in which everything succeeds.
//!
//! [`violations`] judges a plan from inputs and outputs alone, without having made it.
//!
//! A pass reads what [`Report::reads`] asked for, and carries the plan out as [`foo_calls::Process`] describes. While
//! there were actions it plans again at once, without another read: the memory knows what the responses said. Otherwise
//! it waits for [`Report::reads`] and [`Report::again_at`].
//!
//! `foo_controller::cluster::managed` gathers the inputs and sends the actions; the tests send them to the simulator.
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
//! * `act` in `controller/src/cluster/managed/`, `record` and `reads` in `controller/src/cluster/network_state/`;
//!   `cloud-adapter/src/networks/`.
//! * `Operation` in `foo-cloud`, its `Guard` in `xtask/src/generate/iam/guards.rs`, the statements in `networks.rs`
//!   beside it.
//! * `simulator-core/src`: `core/network/`, `sim_cloud/networks.rs`, `core/ec2/tags.rs`; `simulator/src`:
//!   `wire/ec2/network/`, `asks/networks.rs`.
//! * `read` in `tests/network/world.rs`, `testbed/src/world/network.rs`; `docs/concepts/networks.md`,
//!   `docs/operations/aws.md`.

pub mod addresses;
mod check;
mod draft;
pub mod forecast;
mod guardduty;
mod hash;
mod input;
pub mod memory;
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
pub use check::violations;
pub use desired::Desired;
pub use forecast::forecast;
pub use input::{desired, observed, recorded};
pub use memory::Memory;
pub use observed::{KindReads, Observed};
pub use output::{action, report};
pub use plan::plan;
pub use recorded::Recorded;
pub use report::Report;
pub use role::Role;
pub use situation::{installations, nat_zones};

use foo_calls::{Calls, Domain, Violation};

/// What to do next, what is true, and what to remember.
pub type Plan = foo_calls::Plan<Network>;

/// The domain of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network;

impl Domain for Network {
    type Action = Action;
    type Desired = Desired;
    type Observed = Observed;
    type Memory = Memory;
    type Report = Report;

    fn plan(desired: &Desired, observed: &Observed, recorded: &Recorded, memory: &Memory) -> Plan {
        plan(desired, observed, recorded, memory)
    }

    fn violations(
        desired: &Desired,
        observed: &Observed,
        recorded: &Recorded,
        memory: &Memory,
        plan: &Plan,
    ) -> Vec<Violation> {
        violations(desired, observed, recorded, memory, plan)
    }

    /// The intents of this plan are left out. What reads showed stays recorded.
    fn not_sent(mut plan: Plan, recorded: &Recorded, _memory: &Memory) -> Plan {
        plan.record.intents.retain(|role, intent| recorded.intents.get(role) == Some(intent));
        plan.memory.calls.record = Some(plan.record.clone());
        plan
    }

    fn calls(memory: &mut Memory) -> &mut Calls<Action> {
        &mut memory.calls
    }
}
