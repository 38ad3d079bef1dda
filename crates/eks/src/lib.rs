//! Pure decisions about one EKS cluster: `plan(&Desired, &Observed, &Recorded, &Memory) -> Plan`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: what goes in are values, what comes out are values. Every
//! decision of the provider about EKS is here and nowhere else.
//!
//! The layers, in reading order; each uses only those before it:
//!
//! * `foo_model::eks`: the nouns;
//! * `input`: [`desired`], [`observed`] and [`recorded`], [`memory`], `output`: [`action`] and [`report`];
//! * `situation`: what is the case; nothing is decided there;
//! * `draft`: a plan being written;
//! * `steps`: one file per question, each decides on one thing;
//! * `summary`: turns both into conditions;
//! * `plan.rs`: the order of the questions, the table of contents.
//!
//! [`forecast()`] foresees what follows from a desired cluster: plan after plan, against an EKS in which everything succeeds.
//!
//! [`violations`] judges a plan from inputs and outputs alone, without having made it.
//!
//! A pass reads what [`Report::reads`] asked for, and carries the plan out as [`foo_calls::Process`] describes. While
//! there were actions it plans again at once. Otherwise it waits for [`Report::reads`] and [`Report::again_at`].
//!
//! EKS allows one update of a cluster at a time, and so does a plan. `foo_controller::control_plane::eks` gathers the
//! inputs and sends the actions; the tests send them to the simulator.
//!
//! # Where to make a change
//!
//! A new field of a control plane: `api/src/control_plane/eks.rs` with its CEL rule (`edits.rs`: what is immutable);
//! `Desired` in `input/desired.rs`, filled by `controller/src/control_plane/eks/desired/`; a step here; `docs/eks.md`.
//!
//! A new option of an add-on is a field of `AddonSettings` in `model/src/eks/addon.rs`, which is what is requested, sent
//! and shown. Nothing compiles until each of these has it:
//!
//! * `desired/addons.rs` of the controller, from `Addon` in `api/src/control_plane/eks.rs` (`api/src/in_aws/rows.rs` if
//!   it names something in AWS, else `nothing.rs` beside it for a text;
//!   `deploy/clusterctl/clusterclass-foo-eks.yaml` has the variable `addons`, which a test compares with the CRD);
//! * `AddonSettings::updated` beside it, and `steps/addon.rs`: what an update sends, and what differs;
//! * `cloud-adapter/src/eks/changes/addons.rs` (sends) and `shapes.rs` (reads), with a case in
//!   `cloud-adapter/tests/wire/eks.rs`;
//! * `simulator/src/wire/eks/addons.rs` (reads and shows); what EKS refuses is in `simulator-core/src/core/rules/eks/addons.rs`.
//!
//! * for plans `control_plane/eks/plans/fields.rs` and `in_aws.rs` of the controller.
//!
//! An option that EKS takes but does not show is no part of it: it stands beside `conflicts` in `NewAddon`
//! (`model/src/eks/change.rs`) and `DesiredAddon`.
//!
//! Tests: `tests/eks/addons.rs`, `tests/e2e/tests/admission/eks.rs`.

mod check;
mod draft;
pub mod forecast;
mod hash;
mod input;
pub mod memory;
mod output;
mod plan;
mod refusals;
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
pub use observed::{CompletedRead, FailedRead, Observed};
pub use output::{action, report};
pub use plan::plan;
pub use recorded::Recorded;
pub use report::Report;
pub use steps::delete::UNCONFIRMED;
pub use steps::releases::canonical_configuration;

use foo_calls::{Calls, Domain, Violation};

/// What to do next, what is true, and what to remember.
pub type Plan = foo_calls::Plan<Eks>;

/// The domain of EKS clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eks;

impl Domain for Eks {
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

    /// Record and memory stay as they were: counts and tokens of updates are recorded with their decision.
    fn not_sent(mut plan: Plan, recorded: &Recorded, memory: &Memory) -> Plan {
        plan.actions.clear();
        plan.record.clone_from(recorded);
        plan.memory.clone_from(memory);
        plan
    }

    fn calls(memory: &mut Memory) -> &mut Calls<Action> {
        &mut memory.calls
    }
}
