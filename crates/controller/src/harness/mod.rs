//! What every controller has, whatever it reconciles: a controller is a [`Reconciler`] and what it watches.
//!
//! ```text
//! Harness::new(&context, Controller::Pool, own)     its kind: each change names an object
//!     .watches(machines, pool_of_machine)           other kinds, and whom a change of theirs names
//!     .reconciles_on(woken)                         whatever else names objects
//!     .run(reconciler, shutdown)
//! ```
//!
//! The harness does the rest, for all the same ([`attempt`] is one pass, in this order):
//!
//! * **metrics**: each pass is counted and measured, how long its object waited for it is, too;
//! * **deadline**: a pass that takes too long is given up, waiting included;
//! * **readiness**: no pass begins before the caches of all kinds that are watched are filled;
//! * **back-off**: an object that failed is left alone, longer each time, until [`Reconciler::fingerprint`] changes;
//! * **fairness**: of the passes that call AWS, one account that is slow holds up no more than its part;
//! * **requeue**: when the object has its next pass, if nothing names it before;
//! * **errors**: one log line, with the object and its controller.
//!
//! What cannot be judged object by object has [`ForAll`] instead.
//!
//! Not here: who leads. The clients in [`Context`](crate::Context) send nothing once this process does not lead any more. No
//! errors as values of kube's `Controller`: its own back-off and error policy have nothing to do.

mod attempt;
mod for_all;
mod run;

pub use crate::lanes::Urgency;
pub use for_all::{ForAll, ReconcileAll};
pub use run::Harness;

use crate::apply::Written;
use crate::clouds::CloudKey;
use crate::metrics::PassResult;
use crate::queue::Action;
use crate::watch::Object;
use std::error::Error;
use std::sync::Arc;

/// What only the controller itself knows.
pub trait Reconciler: Send + Sync + 'static {
    /// The kind whose objects have passes.
    type Object: Object;
    /// What a pass begins with: the object, and what the caches know of others.
    type Gathered: Send;
    /// See [`Reconciler::fingerprint`].
    type Fingerprint: Clone + PartialEq + Send + Sync + 'static;
    /// What ends a pass before its end.
    type Error: Error + Send;

    /// What a pass over this object begins with, from the caches. Asks nobody.
    fn gather(&self, object: Arc<Self::Object>) -> Self::Gathered;

    /// What was asked for: an object that failed has a pass at once when this changes. Whatever else names the object waits for
    /// the end of its back-off, so what the controller writes itself must not be in here. Often: `metadata.generation`.
    fn fingerprint(&self, gathered: &Self::Gathered) -> Self::Fingerprint;

    /// The cloud that the pass calls, and whether it can wait for its turn there. None if it calls none.
    fn cloud(&self, _gathered: &Self::Gathered) -> Option<(CloudKey, Urgency)> {
        None
    }

    /// One pass. It may be dropped at any `.await`, and there is one per object at a time.
    fn pass(&self, gathered: Self::Gathered) -> impl Future<Output = Result<Outcome, Self::Error>> + Send;
}

/// What a pass comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    result: PassResult,
    next: Action,
    failures: Failures,
}

/// What a pass says of earlier failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failures {
    /// They are over.
    Over,
    /// They stand as they are.
    Stand,
    /// There is one more.
    OneMore,
}

impl Outcome {
    /// Nothing was to be done.
    pub const fn settled(next: Action) -> Self {
        Self { result: PassResult::Settled, next, failures: Failures::Over }
    }

    /// Something was done.
    pub const fn worked(next: Action) -> Self {
        Self { result: PassResult::Worked, next, failures: Failures::Over }
    }

    /// Nothing was to be done but to write this.
    pub const fn wrote(written: Written, next: Action) -> Self {
        match written {
            Written::Yes => Self::worked(next),
            Written::Unchanged => Self::settled(next),
        }
    }

    /// The object was left alone.
    pub const fn skipped(next: Action) -> Self {
        Self { result: PassResult::Skipped, next, failures: Failures::Stand }
    }

    /// Something failed, and was told of. The object has its next pass after its back-off.
    pub const fn failed() -> Self {
        Self { result: PassResult::Failed, next: Action::await_change(), failures: Failures::OneMore }
    }

    /// The same, of a pass that could not see yet what came of the last failed one: the next failure counts on.
    pub const fn without_news_of_failures(self) -> Self {
        Self { failures: Failures::Stand, ..self }
    }

    /// The manager is shutting down.
    const fn aborted() -> Self {
        Self { result: PassResult::Aborted, next: Action::await_change(), failures: Failures::Stand }
    }
}
