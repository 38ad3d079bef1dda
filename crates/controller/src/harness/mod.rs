//! What all controllers share, whatever they reconcile: a controller is a [`Reconciler`] and the kinds that
//! it watches.
//!
//! ```text
//! Harness::new(&context, Controller::Pool, own)     its kind: each change names an object
//!     .watches(machines, pool_of_machine)           other kinds, and the objects that a change of them names
//!     .reconciles_on(woken)                         whatever else names objects
//!     .run(reconciler, shutdown)
//! ```
//!
//! The harness does the rest, the same for all ([`attempt`] is one pass, in this order):
//!
//! * **metrics**: counts and measures each pass, how long its object waited for it, and the conditions of all objects;
//! * **debug**: records how the last pass over each object ended ([`crate::debug`]);
//! * **deadline**: aborts a pass that takes too long, including the time that it waits;
//! * **readiness**: no pass begins before the caches of all watched kinds are filled;
//! * **back-off**: an object that failed has no pass for a while, longer each time, until
//!   [`Reconciler::fingerprint`] changes;
//! * **fairness**: of the passes that call AWS, one slow account can use only its part;
//! * **requeue**: sets when the object has its next pass if nothing names it before;
//! * **errors**: writes one log line, with the object and its controller.
//!
//! Controllers that need all objects at once use [`ForAll`] instead.
//!
//! Not here: leadership. The clients in [`Context`](crate::Context) send nothing once this process does not
//! lead any more. kube's `Controller` never sees an error: its own back-off and error policy are not used.
//!
//! # Adding a controller
//!
//! A controller is a folder in `controller/src/` with a `run(context, shutdown)`, which sets up its watches and a
//! [`Reconciler`] and hands both to the [`Harness`]. `tests/suite/harness.rs` has a whole one, of ConfigMaps;
//! `control_plane/` is a real one that does not call AWS, `cluster/` one that does.
//!
//! | What the controller gives | Where |
//! |---|---|
//! | its name | a variant of `Controller` in `labels.rs` (the label of its passes and of its queue) |
//! | what it watches | a `Watch` for each kind (`Watched` in `labels.rs` has one for each kind): its own in `Harness::new`, others with `watches`, any other source with `reconciles_on` |
//! | what a pass begins with | [`Reconciler::gather`]: from the caches, no request |
//! | what ends the back-off | [`Reconciler::fingerprint`]: the generation of the spec, and of everything else that the user or Cluster API may change; nothing that the controller writes |
//! | the cloud it calls, if any | [`Reconciler::cloud`]: passes of one account leave room for those of others; with `needs_identities`, so that credentials are known when it asks for them |
//! | its conditions | [`Reconciler::conditions`], for metrics: `None` for objects that another controller reconciles |
//! | the pass | [`Reconciler::pass`]: an outcome, which shows when the next one is, or an error, which is logged and followed by a back-off. It may be dropped at any `.await` |
//!
//! It does not wait, measure, log its errors or count its failures: the harness does. It writes with `context.client`
//! and `context.clouds`, which send nothing once the lead is lost. The name of a [`ForAll`] (for instance
//! `identity/mod.rs`) is a variant of `Task` in `labels.rs`.
//!
//! `run::start` starts it; `ControllerName` in `args.rs` names it for `--controllers`, whose default it joins.
//! `xtask/src/generate/rbac/rights.rs` names it once more (`Controller`, `ALL`) and gives it its rights. `ENTRIES` in
//! `xtask/src/release/entries.rs` shows which of the released Deployments runs it: they name their controllers, so the
//! default does not reach them. The golden help and the labels in docs/operations/metrics.md list it. Its own tests are
//! about its passes: back-off, deadline, metrics, fairness and requeue are tested once, in `tests/suite/harness.rs`.
//!
//! A new kind comes first: its type in `api/src/`, in `crds()` of `api/src/lib.rs` (from which CRDs, reference and the
//! fake API server follow), its field manager and finalizer in `api/src/names.rs`; `CORE_INFRASTRUCTURE` in
//! `rights.rs`, so that Cluster API may own it; a `Place` in `model/src/reason.rs` for each condition, with a table in
//! `xtask/src/generate/conditions.template`; `deploy/policy/protection.yaml` (a test walks all kinds); then
//! `cargo xtask generate`. `tests/contract` checks every kind against Cluster API's rules.

mod attempt;
mod for_all;
mod run;

pub use crate::lanes::Urgency;
pub use for_all::{ForAll, ReconcileAll};
pub use run::Harness;

use crate::apply::Written;
use crate::clouds::CloudKey;
use crate::labels::PassResult;
use crate::queue::Action;
use crate::watch::Object;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// What differs between controllers.
pub trait Reconciler: Send + Sync + 'static {
    /// The kind whose objects have passes.
    type Object: Object;
    /// The input of a pass: the object, and what the caches contain about others.
    type Gathered: Send;
    /// See [`Reconciler::fingerprint`].
    type Fingerprint: Clone + PartialEq + Send + Sync + 'static;
    /// An error that ends a pass early.
    type Error: Error + Send;

    /// Reads the input of a pass over this object from the caches. Sends no request.
    fn gather(&self, object: Arc<Self::Object>) -> Self::Gathered;

    /// The desired state: an object that failed has a pass at once when this changes. Whatever else names the
    /// object waits for the end of its back-off, so it must not contain anything that the controller writes
    /// itself. Often `metadata.generation`.
    fn fingerprint(&self, gathered: &Self::Gathered) -> Self::Fingerprint;

    /// The cloud that the pass calls, and whether the pass can wait for a slot there. None if it calls no
    /// cloud.
    fn cloud(&self, _gathered: &Self::Gathered) -> Option<(CloudKey, Urgency)> {
        None
    }

    /// The conditions of an object, which are counted in metrics. `None` for one that another controller reconciles:
    /// its passes here do nothing. It has no `self`: the metrics outlive the controllers, and what they kept would
    /// never end.
    fn conditions(object: &Self::Object) -> Option<&[Condition]>;

    /// One pass. It may be dropped at any `.await`, and there is one per object at a time.
    fn pass(&self, gathered: Self::Gathered)
    -> impl Future<Output = Result<PassOutcome, Self::Error>> + Send;
}

/// The result of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassOutcome {
    result: PassResult,
    next: Action,
    failures: Failures,
}

/// What the result means for the record of earlier failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failures {
    /// It is cleared.
    Over,
    /// It stays as it is.
    Stand,
    /// One more failure is added.
    OneMore,
}

impl PassOutcome {
    /// There was nothing to do.
    pub const fn settled(next: Action) -> Self {
        Self { result: PassResult::Settled, next, failures: Failures::Over }
    }

    /// An action was executed.
    pub const fn worked(next: Action) -> Self {
        Self { result: PassResult::Worked, next, failures: Failures::Over }
    }

    /// There was nothing to do except to write the status.
    pub const fn wrote(written: Written, next: Action) -> Self {
        match written {
            Written::Yes => Self::worked(next),
            Written::Unchanged => Self::settled(next),
        }
    }

    /// The object was skipped.
    pub const fn skipped(next: Action) -> Self {
        Self { result: PassResult::Skipped, next, failures: Failures::Stand }
    }

    /// An error, which was reported. The object has its next pass after its back-off.
    pub const fn failed() -> Self {
        Self { result: PassResult::Failed, next: Action::await_change(), failures: Failures::OneMore }
    }

    /// The same, for a pass that could not see yet what the last failed one achieved: the number of failures
    /// stays.
    pub const fn without_news_of_failures(self) -> Self {
        Self { failures: Failures::Stand, ..self }
    }

    /// The same, with another time of the next pass.
    pub const fn again_after(self, after: Duration) -> Self {
        Self { next: Action::requeue(after), ..self }
    }

    /// The manager is shutting down.
    const fn aborted() -> Self {
        Self { result: PassResult::Aborted, next: Action::await_change(), failures: Failures::Stand }
    }
}
