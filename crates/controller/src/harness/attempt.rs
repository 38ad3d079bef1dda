//! One pass over one object, from its turn in the queue to the time of its next one.

use super::{Failures, PassOutcome, Reconciler, Urgency};
use crate::backoff::Backoff;
use crate::clouds::CloudKey;
use crate::context::Context;
use crate::debug;
use crate::labels::{Controller, PassResult};
use crate::lanes::{Lanes, Room};
use crate::passes;
use crate::queue::Action;
use crate::watch::{Filled, WatchEnded};
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;

/// An object that waits in line for a slot is named when one is free; if it misses that, it tries again after
/// this time.
const IN_LINE: Duration = Duration::from_secs(30);
/// Pause after the wait for caches timed out: the object's fingerprint is not known yet.
const AFTER_WAITING: Duration = Duration::from_secs(10);

type Ref<R> = ObjectRef<<R as Reconciler>::Object>;

/// The passes of one controller.
pub(super) struct Attempts<R: Reconciler> {
    pub(super) controller: Controller,
    pub(super) context: Context,
    pub(super) reconciler: Arc<R>,
    /// The requirements before the first pass.
    pub(super) needs: Needs,
    pub(super) backoff: Backoff<Ref<R>, R::Fingerprint>,
    pub(super) lanes: Lanes<Ref<R>>,
}

/// A requirement before the first pass: an object that a cache does not contain yet would seem to be one that
/// does not exist.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) filled: Vec<Filled>,
    pub(super) identities: bool,
}

impl<R: Reconciler> Attempts<R> {
    /// One pass, and when the object has the next one.
    pub(super) async fn attempt(&self, object: Arc<R::Object>) -> Action {
        let key = ObjectRef::from_obj(object.as_ref());
        let measured = self.context.metrics.pass_starts(self.controller);
        let id = measured.id();
        let named = passes::named(key.namespace.as_deref(), &key.name);
        let span = passes::span(self.controller, &named, id);
        let is_ours = R::conditions(&object).is_some();
        let (next, result, error) = self.tried(&key, object).instrument(span.clone()).await;
        passes::ends(&span, result);
        measured.ends(result);
        self.context.metrics.failing().ended(self.controller, &key, result);
        if is_ours && result != PassResult::Skipped {
            let at = self.context.clock.now();
            let key = debug::Key::named(self.controller, key.namespace.as_deref(), &key.name);
            self.context.debug.passed(key, debug::Pass { id, at, result, error, next: next.after() });
        }
        next
    }

    /// The pass, when the object has the next one, and what went wrong. An object that waits for its back-off shows the pass
    /// that failed.
    async fn tried(&self, key: &Ref<R>, object: Arc<R::Object>) -> (Action, PassResult, Option<String>) {
        let deadline = self.context.settings.last_deadline();
        let mut tried = None;
        match passes::within(deadline, self.pass(key, object, &mut tried)).await {
            Some(Ok(outcome)) => {
                let (next, result) = self.settle(key, tried, outcome);
                (next, result, None)
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "the reconcile failed");
                let (next, result) = self.settle(key, tried, PassOutcome::failed());
                (next, result, Some(error.to_string()))
            }
            None => {
                let (next, _failed) = self.settle(key, tried, PassOutcome::failed());
                (next, PassResult::GivenUp, Some(format!("it took longer than {} s", deadline.as_secs())))
            }
        }
    }

    /// Waits for the caches, then does the pass unless the object has to wait; records the fingerprint in
    /// `tried`.
    async fn pass(
        &self,
        key: &Ref<R>,
        object: Arc<R::Object>,
        tried: &mut Option<R::Fingerprint>,
    ) -> Result<PassOutcome, R::Error> {
        if self.wait_for_needs().await.is_err() {
            return Ok(PassOutcome::aborted());
        }
        let gathered = self.reconciler.gather(object);
        let fingerprint = tried.insert(self.reconciler.fingerprint(&gathered));
        if let Some(left) = self.backoff.remaining(key, fingerprint, Instant::now()) {
            return Ok(PassOutcome::skipped(Action::requeue(left)));
        }
        let _room = match self.reconciler.cloud(&gathered).map(|cloud| self.room(key, cloud)) {
            Some(None) => return Ok(PassOutcome::skipped(Action::requeue(IN_LINE))),
            Some(room) => room,
            None => None,
        };
        self.reconciler.pass(gathered).await
    }

    async fn wait_for_needs(&self) -> Result<(), WatchEnded> {
        for filled in &self.needs.filled {
            filled.wait().await?;
        }
        if self.needs.identities {
            self.context.identities.wait_until_known().await;
        }
        Ok(())
    }

    fn room(&self, key: &Ref<R>, (cloud, urgency): (CloudKey, Urgency)) -> Option<Room<Ref<R>>> {
        self.lanes.enter(&cloud, key, urgency, self.context.clouds.in_use())
    }

    fn settle(
        &self,
        key: &Ref<R>,
        tried: Option<R::Fingerprint>,
        outcome: PassOutcome,
    ) -> (Action, PassResult) {
        let next = match (outcome.failures, tried) {
            (Failures::Over, _) => {
                self.backoff.succeeded(key);
                outcome.next
            }
            (Failures::Stand, _) => outcome.next,
            (Failures::OneMore, None) => Action::requeue(AFTER_WAITING),
            (Failures::OneMore, Some(fingerprint)) => {
                let now = Instant::now();
                Action::requeue(if self.context.metrics.overload().is_recent() {
                    self.backoff.failed_under_load(key, fingerprint, now)
                } else {
                    self.backoff.failed(key, fingerprint, now)
                })
            }
        };
        (next, outcome.result)
    }
}
