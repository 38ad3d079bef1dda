//! A controller whose pass is over all objects at once: for decisions that need all of them.

use crate::context::Context;
use crate::labels::{Controller, PassResult, Task};
use crate::passes::{self, PassId};
use crate::watch::{Filled, Object, Watch};
use foo_cloud::Watchdog;
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt, StreamExt, stream};
use std::fmt;
use std::time::Duration;
use tokio::time::sleep;
use tracing::Instrument;

/// Pause after a pass that was aborted.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// What differs between such controllers.
pub trait ReconcileAll: Send {
    /// One pass, with this id, over everything. If a part of it failed, returns when it is repeated even if nothing has changed. If it
    /// is dropped at an `.await` because it took too long, what it learned so far stays.
    fn reconcile_all(&mut self, pass: PassId) -> impl Future<Output = Option<Duration>> + Send;
}

/// Such a controller before it runs.
#[must_use]
pub struct ForAll {
    context: Context,
    controller: Controller,
    task: Task,
    needs: Vec<Filled>,
    changes: SelectAll<BoxStream<'static, ()>>,
}

impl ForAll {
    /// A controller that runs as this task. Its passes are counted under its name.
    pub fn new(context: &Context, controller: Controller, task: Task) -> Self {
        Self { context: context.clone(), controller, task, needs: Vec::new(), changes: SelectAll::new() }
    }

    /// A kind that must have been listed before the first pass.
    pub fn needs<K: Object>(mut self, watch: Watch<K>) -> Self {
        self.needs.push(watch.filled.clone());
        self.watches(watch)
    }

    /// A kind whose changes, and whose first list, trigger a pass.
    pub fn watches<K: Object>(mut self, watch: Watch<K>) -> Self {
        self.changes.push(watch.changes.map(drop).boxed());
        // There may be no objects of this kind, and then no change shows that it has been listed.
        let filled = async move {
            let _ended = watch.filled.wait().await;
        };
        self.changes.push(stream::once(filled).boxed());
        self
    }

    /// Runs until `shutdown` resolves.
    pub async fn run(mut self, mut reconciler: impl ReconcileAll, shutdown: impl Future<Output = ()> + Send) {
        let (tasks, watchdog) = (self.context.metrics.tasks(), Watchdog::default());
        tasks.watch(self.task, &"pass over all objects", &watchdog);
        let deadline = self.context.settings.last_deadline();
        let mut shutdown = std::pin::pin!(shutdown);
        let mut again = None;
        loop {
            tokio::select! {
                () = &mut shutdown => return,
                change = self.changes.next() => if change.is_none() { return },
                () = pause(again) => {}
            }
            // Many changes at once, as in the first list, trigger one pass.
            while self.changes.next().now_or_never().flatten().is_some() {}
            if self.needs.iter().all(Filled::now) {
                let measured = self.context.metrics.pass_starts(self.controller);
                let id = measured.id();
                let span = passes::span(self.controller, "all", id);
                let pass = tasks.within(self.task, &watchdog, deadline, reconciler.reconcile_all(id));
                let ended = pass.instrument(span.clone()).await;
                let result = match &ended {
                    Some(None) => PassResult::Settled,
                    Some(Some(_)) => PassResult::Failed,
                    None => PassResult::GivenUp,
                };
                passes::ends(&span, result);
                measured.ends(result);
                self.context.metrics.failing().ended(self.controller, &"all", result);
                again = ended.unwrap_or(Some(TRY_AGAIN));
            }
        }
    }
}

async fn pause(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => std::future::pending().await,
    }
}

impl fmt::Debug for ForAll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForAll").field("task", &self.task).finish_non_exhaustive()
    }
}
