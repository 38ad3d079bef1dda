//! The kinds that a controller watches, and the loop that gives objects their passes.

use super::Reconciler;
use super::attempt::{Attempts, Needs};
use crate::backoff::Backoff;
use crate::context::Context;
use crate::debug;
use crate::labels::{Controller, Watched};
use crate::lanes::Lanes;
use crate::queue::Queue;
use crate::responders::{Foresees, Subject};
use crate::watch::{Object, Watch};
use futures::{Stream, StreamExt};
use kube::runtime::controller::{Config, Controller as KubeController, Error};
use kube_runtime::reflector::{ObjectRef, Store};
use std::convert::Infallible;
use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

/// A controller before it runs.
#[must_use]
pub struct Harness<K: Object> {
    name: Controller,
    context: Context,
    queue: Queue,
    needs: Needs,
    config: Config,
    kube: KubeController<K>,
    kind: Watched,
    objects: Store<K>,
}

impl<K: Object> Harness<K> {
    /// The controller of that name for the objects in this watch.
    pub fn new(context: &Context, name: Controller, own: Watch<K>) -> Self {
        let queue = context.metrics.queue(name);
        Self {
            name,
            kind: own.kind,
            objects: own.store.clone(),
            config: Config::default().concurrency(context.settings.concurrency),
            needs: Needs { filled: vec![own.filled], identities: false },
            kube: KubeController::for_stream(queue.changed(own.changes), own.store),
            queue,
            context: context.clone(),
        }
    }

    /// Watches another kind: `names` returns the objects that have a pass when an object of this kind has
    /// changed. No pass begins before its cache is filled.
    pub fn watches<O: Object, I>(
        mut self,
        other: Watch<O>,
        names: impl Fn(O) -> I + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator<Item = ObjectRef<K>> + 'static,
    {
        self.needs.filled.push(other.filled.clone());
        self.is_woken_by(other, names)
    }

    /// Watches another kind that no pass reads from its cache: passes do not wait for it.
    pub fn is_woken_by<O: Object, I>(
        mut self,
        other: Watch<O>,
        names: impl Fn(O) -> I + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator<Item = ObjectRef<K>> + 'static,
    {
        self.kube = self.kube.watches_stream(other.changes, self.queue.named_by(names));
        self
    }

    /// Adds a stream of objects that have a pass for other reasons.
    pub fn reconciles_on(mut self, names: impl Stream<Item = ObjectRef<K>> + Send + 'static) -> Self {
        self.kube = self.kube.reconcile_on(self.queue.named(names));
        self
    }

    /// The controller responds to FooPlans about this, once the caches are filled that its passes need: those of all kinds
    /// [watched](Self::watches) so far.
    pub(crate) fn foresees<F: Foresees + 'static>(self, subject: Subject, controller: &Arc<F>) -> Self {
        self.context.plans.add(subject, controller, self.needs.filled.clone());
        self
    }

    /// No pass begins before identities are resolved, or the wait for them has timed out.
    pub fn needs_identities(mut self) -> Self {
        self.needs.identities = true;
        self
    }

    /// Changes of an object within this time of one another cause one pass.
    pub fn debounce(mut self, pause: Duration) -> Self {
        self.config = self.config.debounce(pause);
        self
    }

    /// Runs until `shutdown` resolves; passes under way are completed.
    pub async fn run<R: Reconciler<Object = K>>(
        self,
        reconciler: Arc<R>,
        shutdown: impl Future<Output = ()> + Send + Sync + 'static,
    ) {
        let settings = &self.context.settings;
        let clock = self.context.kubernetes_clock.clone();
        self.context.metrics.census().adds(self.kind, clock, self.objects, R::conditions);
        let attempts = Arc::new(Attempts {
            controller: self.name,
            reconciler,
            needs: self.needs,
            backoff: Backoff::new(settings.seed),
            lanes: Lanes::new(settings.concurrency.into()),
            context: self.context,
        });
        let (turns, deleted) = (self.queue.clone(), (self.queue.clone(), Arc::clone(&attempts)));
        self.kube
            .with_config(self.config)
            .reconcile_on(self.queue.named(attempts.lanes.freed()))
            .graceful_shutdown_on(shutdown)
            .run(
                move |object, attempts: Arc<Attempts<R>>| {
                    let turns = turns.clone();
                    async move {
                        let key = ObjectRef::from_obj(object.as_ref());
                        Ok::<_, Infallible>(turns.turn(key, attempts.attempt(object)).await)
                    }
                },
                |_object, impossible: &Infallible, _attempts| match *impossible {},
                attempts,
            )
            .for_each(move |ended| {
                if let Err(Error::ObjectNotFound(object)) = &ended {
                    let mut key = ObjectRef::new(&object.name);
                    key.namespace.clone_from(&object.namespace);
                    deleted.0.is_gone(&key);
                    deleted.1.backoff.succeeded(&key);
                    let name = debug::Key::named(deleted.1.controller, key.namespace.as_deref(), &key.name);
                    deleted.1.context.debug.forget(&name);
                    deleted.1.context.metrics.failing().forget(deleted.1.controller, &key);
                }
                if let Err(error) = ended {
                    // An object that was deleted before its turn needs no report.
                    tracing::debug!(%error, "the controller could not start a reconcile");
                }
                ready(())
            })
            .await;
    }
}

impl<K: Object> fmt::Debug for Harness<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness").field("name", &self.name).finish_non_exhaustive()
    }
}
