//! The one way in which the benchmark waits. It never waits silently: every wait prints its progress, has a deadline,
//! and notices when a manager ends.
//!
//! A manager that ends by itself is started again once, as Kubernetes would do it, and the run has a note of it, with its
//! exit code and the last lines of its log. When it ends a second time, the run ends with that.

use crate::progress::{Pace, Progress, count};
use crate::record::Recorder;
use anyhow::{Error, Result, ensure};
use foo_testbed::world::{Manager, Pool, PoolView};
use foo_testbed::{Probe, World, on_this_machine, wait_until};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two lines of progress.
const REPORT: Duration = Duration::from_secs(15);
/// How often managers are watched.
const POLL: Duration = Duration::from_secs(1);
/// How much longer than planned a rest may take.
const SLACK: Duration = Duration::from_mins(1);

/// What one read found.
#[derive(Debug)]
pub(crate) enum Step<T> {
    /// What the wait is for.
    Done(T),
    /// Not yet, but this much of it.
    NotYet(Progress),
}

impl Step<()> {
    /// Done if that holds.
    pub(crate) fn when(done: bool, progress: impl FnOnce() -> Progress) -> Self {
        if done { Self::Done(()) } else { Self::NotYet(progress()) }
    }
}

/// The managers that run during waits, and whether they were started again.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    managers: Vec<&'a Manager>,
    recorder: &'a Recorder,
    /// Logs of those that were started again.
    restarted: Mutex<BTreeSet<PathBuf>>,
}

impl<'a> Watch<'a> {
    /// The managers of a world.
    pub(crate) fn over(world: &'a World, recorder: &'a Recorder) -> Self {
        let managers = vec![world.manager(), world.control_plane_manager(), world.bootstrap_manager()];
        Self { managers, recorder, restarted: Mutex::default() }
    }

    /// None: before there is a world.
    pub(crate) fn without_managers(recorder: &'a Recorder) -> Self {
        Self { managers: Vec::new(), recorder, restarted: Mutex::default() }
    }

    /// And one more.
    pub(crate) fn and(mut self, replica: &'a Manager) -> Self {
        self.managers.push(replica);
        self
    }

    /// Waits until a read is done. An error of a read is one more way of "not yet", as in [`wait_until`].
    pub(crate) async fn until<T>(
        &self,
        what: &str,
        deadline: Duration,
        mut read: impl AsyncFnMut() -> Result<Step<T>>,
    ) -> Result<T> {
        let board = Board::new(what, on_this_machine(deadline));
        let reading = wait_until(what, deadline, async || {
            Ok(match read().await? {
                Step::Done(found) => Probe::Done(found),
                Step::NotYet(progress) => {
                    let seen = progress.seen.clone();
                    board.note(progress);
                    Probe::NotYet(seen)
                }
            })
        });
        tokio::select! {
            found = reading => found,
            error = self.supervise(&board) => Err(error),
        }
    }

    /// Another wait, with a deadline of its own, which takes at most about this time. Of its progress only the time is
    /// known.
    pub(crate) async fn during<T>(
        &self,
        what: &str,
        deadline: Duration,
        waiting: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let board = Board::new(what, on_this_machine(deadline));
        tokio::select! {
            found = waiting => found,
            error = self.supervise(&board) => Err(error),
        }
    }

    /// Lets this time pass.
    pub(crate) async fn rest(&self, what: &str, time: Duration) -> Result<()> {
        let began = Instant::now();
        let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        self.until(what, time + SLACK, async || {
            let passed = began.elapsed();
            let progress = || Progress::between(0, seconds(time), seconds(passed), "seconds".to_owned());
            Ok(Step::when(passed >= time, progress))
        })
        .await
    }

    /// Waits until a pool has become what is wanted. `observe` gets every read.
    pub(crate) async fn pool(
        &self,
        pool: &Pool<'_>,
        change: &Change<'_>,
        mut observe: impl FnMut(&PoolView),
    ) -> Result<()> {
        let what = format!("pool {}: {}", pool.name().pool, change.what);
        self.until(&what, change.deadline, async || {
            let view = pool.view().await?;
            observe(&view);
            Ok(Step::when((change.is_done)(&view), || {
                Progress::between(change.from, change.to, (change.count)(&view), summary(&view))
            }))
        })
        .await
    }

    /// Waits until a pool of `from` instances has settled at `to`.
    pub(crate) async fn settles(
        &self,
        pool: &Pool<'_>,
        from: u32,
        to: u32,
        deadline: Duration,
        observe: impl FnMut(&PoolView),
    ) -> Result<()> {
        let (what, all) = (format!("to settle at {to}"), usize::try_from(to)?);
        let is_done = |view: &PoolView| view.is_settled_at(all);
        // On the way up a Machine counts when it runs, on the way down until it is deleted.
        let counted =
            |view: &PoolView| count(if to >= from { view.good().count() } else { view.machines.len() });
        let change = Change { what: &what, from, to, deadline, count: &counted, is_done: &is_done };
        self.pool(pool, &change, observe).await
    }

    /// Prints how a wait advances, and starts managers that end. Returns why the run cannot continue.
    async fn supervise(&self, board: &Board) -> Error {
        loop {
            tokio::time::sleep(POLL).await;
            if let Err(error) = self.revive().await {
                return error.context(board.line());
            }
            board.report();
        }
    }

    async fn revive(&self) -> Result<()> {
        for manager in &self.managers {
            let Some(end) = manager.end() else { continue };
            let log = manager.log().to_owned();
            ensure!(!locked(&self.restarted).contains(&log), "{end}\nIt was started again once before.");
            self.recorder.note(&format!("{end}\nIt is started again, once."));
            manager.start().await?;
            // Only now: a wait that ends meanwhile cancels the start, and the next one tries again.
            locked(&self.restarted).insert(log);
        }
        Ok(())
    }
}

/// How a pool is to change.
pub(crate) struct Change<'a> {
    /// What is waited for.
    pub(crate) what: &'a str,
    /// What is counted, before.
    pub(crate) from: u32,
    /// And after.
    pub(crate) to: u32,
    /// When the wait ends with an error.
    pub(crate) deadline: Duration,
    /// What is counted now.
    pub(crate) count: &'a dyn Fn(&PoolView) -> u32,
    /// Whether the pool is as wanted.
    pub(crate) is_done: &'a dyn Fn(&PoolView) -> bool,
}

/// A pool in one line.
fn summary(view: &PoolView) -> String {
    let (machines, good, deleting) = (view.machines.len(), view.good().count(), view.deleting().count());
    let reason = view.condition("Ready").map(|(status, reason, _)| format!("Ready={status} {reason}"));
    let drain =
        view.deleting().map(|machine| machine.deletion_message().trim()).find(|text| !text.is_empty());
    let drain = drain.map(|text| format!(", a drain: {}", text.lines().next().unwrap_or_default()));
    format!(
        "{machines} Machines, {good} run, {deleting} are being deleted, {}{}",
        reason.unwrap_or_else(|| "Ready not reported for the current spec".to_owned()),
        drain.unwrap_or_default()
    )
}

/// Where a wait notes its progress, and what has been printed of it.
#[derive(Debug)]
struct Board {
    began: Instant,
    pace: Mutex<Pace>,
    reported: Mutex<Duration>,
}

impl Board {
    fn new(what: &str, deadline: Duration) -> Self {
        let pace = Mutex::new(Pace::new(what, deadline));
        Self { began: Instant::now(), pace, reported: Mutex::default() }
    }

    fn note(&self, progress: Progress) {
        locked(&self.pace).note(self.began.elapsed(), progress);
    }

    fn line(&self) -> String {
        locked(&self.pace).line(self.began.elapsed())
    }

    /// Prints a line if the last one is some time ago.
    fn report(&self) {
        if self.is_due(self.began.elapsed()) {
            println!("  … {}", self.line());
        }
    }

    /// Whether a line is due so long after the begin. Then it counts as printed.
    fn is_due(&self, now: Duration) -> bool {
        let mut reported = locked(&self.reported);
        let is_due = now.saturating_sub(*reported) >= REPORT;
        if is_due {
            *reported = now;
        }
        is_due
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[tokio::test]
    async fn a_wait_ends_with_what_it_found_or_after_its_deadline_with_what_it_saw() {
        let recorder = Recorder::begin(Path::new("target/debug/foo-manager"));
        let watch = Watch::without_managers(&recorder);
        let found = watch.until("rain", Duration::from_secs(5), async || Ok(Step::Done(7))).await;
        assert_eq!(found.unwrap(), 7);
        let never = watch.until::<()>("rain", Duration::from_millis(50), async || {
            Ok(Step::NotYet(Progress::between(0, 9, 3, "the sun shines".to_owned())))
        });
        let error = never.await.unwrap_err().to_string();
        assert!(error.contains("rain") && error.contains("the sun shines"), "{error}");
    }

    #[test]
    fn progress_is_due_every_15_seconds() {
        let board = Board::new("rain", Duration::from_mins(1));
        let due = [14, 15, 20, 29, 30, 46].map(|seconds| board.is_due(Duration::from_secs(seconds)));
        assert_eq!(due, [false, true, false, false, true, true]);
    }
}
