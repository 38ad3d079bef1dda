//! A step of a story: its world, its progress, its outcome.

use super::reporter::Reporter;
use crate::World;
use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};

/// Interval between progress reports of a wait.
const PROGRESS_PERIOD: Duration = Duration::from_secs(5);

/// Waits, and reports progress at that interval.
pub(super) async fn with_progress<T>(
    reporter: &dyn Reporter,
    what: &str,
    waiting: impl Future<Output = T>,
) -> T {
    let started = Instant::now();
    let mut waiting = Box::pin(waiting);
    loop {
        match tokio::time::timeout(PROGRESS_PERIOD, &mut waiting).await {
            Ok(done) => return done,
            Err(_) => reporter.waiting_for(what, started.elapsed()),
        }
    }
}

/// A step that is running.
pub(super) struct Step<'v> {
    titles: &'static [&'static str],
    reporter: &'v dyn Reporter,
    /// Counted from 0.
    index: usize,
    title: &'static str,
    since: Instant,
}

impl<'v> Step<'v> {
    /// Starts the first of the steps with these titles.
    pub(super) fn first(titles: &'static [&'static str], reporter: &'v dyn Reporter) -> Self {
        Self::begins(titles, reporter, 0)
    }

    fn begins(titles: &'static [&'static str], reporter: &'v dyn Reporter, index: usize) -> Self {
        let title = titles.get(index).copied().unwrap_or_default();
        reporter.step_started(index + 1, title);
        Self { titles, reporter, index, title, since: Instant::now() }
    }

    /// The step is over; the next one begins.
    pub(super) fn then(self, outcome: Result<()>) -> Result<Self> {
        let (titles, reporter, next) = (self.titles, self.reporter, self.index + 1);
        self.ends(outcome)?;
        Ok(Self::begins(titles, reporter, next))
    }

    /// The last step is over.
    pub(super) fn ends(self, outcome: Result<()>) -> Result<()> {
        let Self { reporter, title, since, .. } = self;
        let number = self.index + 1;
        outcome.with_context(|| {
            format!("step {number} ({title}), after {:.0} s", since.elapsed().as_secs_f32())
        })?;
        reporter.step_passed(number, title, since.elapsed());
        Ok(())
    }
}

/// What all steps use.
pub(super) struct Env<'s> {
    pub(super) world: &'s World,
    pub(super) reporter: &'s dyn Reporter,
}

impl Env<'_> {
    pub(super) fn info(&self, text: &str) {
        self.reporter.info(text);
    }

    pub(super) async fn waiting_for<T>(
        &self,
        what: &str,
        waiting: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        with_progress(self.reporter, what, waiting).await
    }

    /// What kubectl prints in a namespace.
    pub(super) async fn prints(&self, namespace: &str, arguments: &[&str]) -> Result<()> {
        let all = arguments.iter().copied().chain(["--namespace", namespace]);
        let printed = self.world.api().kubectl(all).await?;
        self.reporter.prints(&format!("kubectl {}", arguments.join(" ")), &printed);
        Ok(())
    }
}
