//! A controller whose pass is over all objects at once: for what cannot be judged object by object.

use crate::context::Context;
use crate::metrics::Task;
use crate::watch::{Filled, Object, Watch};
use foo_cloud::Watchdog;
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt, StreamExt, stream};
use std::fmt;
use std::time::Duration;
use tokio::time::sleep;

/// After a pass that was given up.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// What only the controller itself knows.
pub trait ReconcileAll: Send {
    /// One pass over everything, and how soon there is another though nothing has changed. When it is dropped at an `.await`,
    /// because it took too long, what it learned so far stays.
    fn reconcile_all(&mut self) -> impl Future<Output = Option<Duration>> + Send;
}

/// Such a controller, which does not run yet.
#[must_use]
pub struct ForAll {
    context: Context,
    task: Task,
    needs: Vec<Filled>,
    changes: SelectAll<BoxStream<'static, ()>>,
}

impl ForAll {
    /// The one that runs as this task.
    pub fn new(context: &Context, task: Task) -> Self {
        Self { context: context.clone(), task, needs: Vec::new(), changes: SelectAll::new() }
    }

    /// A kind that must have been read before the first pass.
    pub fn needs<K: Object>(mut self, watch: Watch<K>) -> Self {
        self.needs.push(watch.filled.clone());
        self.watches(watch)
    }

    /// A kind whose changes, and whose being read for the first time, are a reason for a pass.
    pub fn watches<K: Object>(mut self, watch: Watch<K>) -> Self {
        self.changes.push(watch.changes.map(drop).boxed());
        // There may be none of its objects, and then no change tells that it has been read.
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
            // Many changes at once, as in the first list, are one reason for a pass.
            while self.changes.next().now_or_never().flatten().is_some() {}
            if self.needs.iter().all(Filled::now) {
                let pass = tasks.within(self.task, &watchdog, deadline, reconciler.reconcile_all());
                again = pass.await.unwrap_or(Some(TRY_AGAIN));
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
