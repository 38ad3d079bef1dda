//! The tasks beside the controllers that run for as long as the process, and how the manager notices one that
//! is stuck or ends repeatedly.
//!
//! | | `/livez` | `/readyz` | metrics |
//! |---|---|---|---|
//! | stuck: its [`Watchdog`] is overdue for more than a minute | fails, since only a restart helps | | `foo_task_overdue_seconds` |
//! | ended or aborted in the last minute, and started again | | fails | `foo_task_restarts_total` |
//!
//! A restart of the process does not help in the second case: the cause of a panic may still be there, and
//! all other tasks work.

use crate::labels::{Task, TaskLabels};
use crate::liveness::Liveness;
use crate::readiness::Readiness;
use foo_cloud::Watchdog;
use foo_cloud::initialized::{Initialized, registered};
use foo_cloud::watchdog::WeakWatchdog;
use futures::FutureExt;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Tolerance for a task that is late: on an overloaded machine everything takes longer.
const GRACE: Duration = Duration::from_mins(1);
/// Pause before a task that ended is started again; its state is kept.
const RESTART_AFTER: Duration = Duration::from_secs(5);
/// How long the manager is unready after a restart.
const UNREADY_AFTER_RESTART: Duration = Duration::from_mins(1);

/// The tasks. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    watched: Arc<Mutex<Vec<Watched>>>,
    troubled: Arc<Mutex<BTreeMap<Task, Instant>>>,
    restarts: Initialized<TaskLabels, Counter>,
}

#[derive(Debug)]
struct Watched {
    task: Task,
    what: String,
    watchdog: WeakWatchdog,
}

impl Tasks {
    /// No tasks yet; registers the count of restarts, once per process.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let help = "Tasks that the manager restarted because they ended or took too long";
        let restarts = registered(registry, "foo_task_restarts", help, Initialized::new());
        Self { restarts, ..Self::default() }
    }

    /// Adds the tasks to liveness and readiness.
    pub fn register_probes(&self, liveness: &Liveness, readiness: &Readiness) {
        let (still, well) = (self.clone(), self.clone());
        liveness.watch_over(move || still.stands_still());
        readiness.wait_for("tasks that had to be started again: none for a minute", move || well.are_well());
    }

    /// Observes from now on whether this task makes progress, for as long as the watchdog is kept. `what`
    /// distinguishes it from others of its kind.
    pub fn watch(&self, task: Task, what: &impl Display, watchdog: &Watchdog) {
        let mut watched = self.watched();
        watched.retain(|it| it.watchdog.overdue().is_some());
        watched.push(Watched { task, what: what.to_string(), watchdog: watchdog.downgrade() });
    }

    /// Runs a future that should never end, and starts it again when it does.
    pub async fn keep_up<F: Future<Output = ()>>(
        &self,
        task: Task,
        what: &impl Display,
        run: impl Fn() -> F,
    ) {
        loop {
            let ended = AssertUnwindSafe(run()).catch_unwind().await;
            self.was_restarted(task);
            tracing::error!(?task, %what, panicked = ended.is_err(), "a task ended; restarting it");
            sleep(RESTART_AFTER).await;
        }
    }

    /// The result of a piece of work, or nothing if it takes longer than its deadline. The loop pauses
    /// afterwards.
    pub async fn within<T>(
        &self,
        task: Task,
        watchdog: &Watchdog,
        deadline: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        watchdog.expects(deadline);
        let ended = timeout(deadline, work).await;
        watchdog.rests();
        if ended.is_err() {
            self.was_restarted(task);
            tracing::error!(
                ?task,
                deadline_seconds = deadline.as_secs(),
                "a task exceeded its deadline and was cancelled"
            );
        }
        ended.ok()
    }

    /// Per kind of task, how overdue its most overdue task is.
    pub fn overdue(&self) -> BTreeMap<Task, Duration> {
        let mut overdue = BTreeMap::new();
        for watched in &*self.watched() {
            let Some(by) = watched.watchdog.overdue() else { continue };
            let longest: &mut Duration = overdue.entry(watched.task).or_default();
            *longest = (*longest).max(by);
        }
        overdue
    }

    /// The tasks that are stuck for good, as text.
    pub fn stands_still(&self) -> Option<String> {
        let watched = self.watched();
        let (still, by) = watched
            .iter()
            .filter_map(|watched| Some((watched, watched.watchdog.overdue()?)))
            .find(|(_, by)| *by > GRACE)?;
        let (task, what): (&str, _) = (still.task.into(), &still.what);
        Some(format!("the task {task} ({what}) should have made progress {} s ago", by.as_secs()))
    }

    /// Whether no task was restarted recently.
    pub fn are_well(&self) -> bool {
        self.troubled().values().all(|at| at.elapsed() >= UNREADY_AFTER_RESTART)
    }

    fn was_restarted(&self, task: Task) {
        self.restarts.of(&TaskLabels { task }).inc();
        self.troubled().insert(task, Instant::now());
    }

    fn watched(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn troubled(&self) -> MutexGuard<'_, BTreeMap<Task, Instant>> {
        self.troubled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn a_stalled_task_is_named_until_it_continues_or_ends() {
        let tasks = Tasks::default();
        let (one, other) = (Watchdog::default(), Watchdog::default());
        tasks.watch(Task::Observer, &"a in b", &one);
        tasks.watch(Task::Observer, &"c in d", &other);
        one.expects(Duration::from_secs(10));
        advance(Duration::from_secs(70)).await;
        assert_eq!(tasks.stands_still(), None, "a minute late is not too late");
        advance(Duration::from_secs(1)).await;
        let words = tasks.stands_still().unwrap();
        assert_eq!(words, "the task observer (a in b) should have made progress 61 s ago");
        assert_eq!(tasks.overdue(), [(Task::Observer, Duration::from_secs(61))].into());
        one.rests();
        assert_eq!((tasks.stands_still(), tasks.are_well()), (None, true));
        one.expects(Duration::ZERO);
        advance(Duration::from_mins(2)).await;
        drop(one);
        assert_eq!(tasks.stands_still(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_is_started_again_and_counted() {
        let tasks = Tasks::default();
        let restarts = || tasks.restarts.of(&TaskLabels { task: Task::Observer }).get();
        let begun = std::sync::atomic::AtomicU32::new(0);
        let run = || async {
            match begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0 => panic!("as tests do"),
                1 => {}
                _ => std::future::pending().await,
            }
        };
        drop(timeout(Duration::from_secs(6), tasks.keep_up(Task::Observer, &"a", &run)).await);
        assert_eq!((restarts(), tasks.are_well()), (2, false));
        let kept = timeout(Duration::from_secs(70), tasks.keep_up(Task::Observer, &"a", &run));
        drop(kept.await);
        assert_eq!((restarts(), tasks.are_well()), (2, true), "the third continues");
    }

    #[tokio::test(start_paused = true)]
    async fn probes_know_of_tasks() {
        let (tasks, liveness, readiness) = (Tasks::default(), Liveness::default(), Readiness::default());
        tasks.register_probes(&liveness, &readiness);
        let watchdog = Watchdog::default();
        tasks.watch(Task::Announcements, &"receiving", &watchdog);
        assert!(liveness.wrong().is_empty() && readiness.missing().is_empty());
        watchdog.expects(Duration::ZERO);
        advance(GRACE + Duration::from_secs(1)).await;
        assert_eq!(liveness.wrong().len(), 1, "only a restart helps");
        watchdog.rests();
        tasks.was_restarted(Task::Announcements);
        assert_eq!((liveness.wrong().len(), readiness.missing().len()), (0, 1));
        advance(UNREADY_AFTER_RESTART).await;
        assert!(readiness.missing().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_never_finishes_times_out() {
        let tasks = Tasks::default();
        let watchdog = Watchdog::default();
        tasks.watch(Task::Identities, &"all", &watchdog);
        let minute = Duration::from_mins(1);
        let work = |work| tasks.within(Task::Identities, &watchdog, minute, work);
        assert_eq!(work(std::future::ready(7).boxed()).await, Some(7));
        assert!(tasks.are_well());
        assert_eq!(work(std::future::pending().boxed()).await, None);
        assert!(!tasks.are_well());
        // A blocked thread does not get even that far.
        watchdog.expects(minute);
        advance(minute * 3).await;
        assert!(tasks.stands_still().unwrap().starts_with("the task identities"));
    }
}
