//! Where the steps of a story take place, and how they are told.

use super::voice::Voice;
use crate::World;
use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};

/// How often somebody who waits is told so.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits, and reports it now and then.
pub(super) async fn patiently<T>(voice: &dyn Voice, what: &str, waiting: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let mut waiting = Box::pin(waiting);
    loop {
        match tokio::time::timeout(PATIENCE, &mut waiting).await {
            Ok(done) => return done,
            Err(_) => voice.waits(what, started.elapsed()),
        }
    }
}

/// A step that is being played.
pub(super) struct Step<'v> {
    titles: &'static [&'static str],
    voice: &'v dyn Voice,
    /// Counted from 0.
    index: usize,
    title: &'static str,
    since: Instant,
}

impl<'v> Step<'v> {
    /// The first of the steps with these titles begins.
    pub(super) fn first(titles: &'static [&'static str], voice: &'v dyn Voice) -> Self {
        Self::begins(titles, voice, 0)
    }

    fn begins(titles: &'static [&'static str], voice: &'v dyn Voice, index: usize) -> Self {
        let title = titles.get(index).copied().unwrap_or_default();
        voice.step_begins(index + 1, title);
        Self { titles, voice, index, title, since: Instant::now() }
    }

    /// The step is over; the next one begins.
    pub(super) fn then(self, played: Result<()>) -> Result<Self> {
        let (titles, voice, next) = (self.titles, self.voice, self.index + 1);
        self.ends(played)?;
        Ok(Self::begins(titles, voice, next))
    }

    /// The last step is over.
    pub(super) fn ends(self, played: Result<()>) -> Result<()> {
        let Self { voice, title, since, .. } = self;
        let number = self.index + 1;
        played.with_context(|| {
            format!("step {number} ({title}), after {:.0} s", since.elapsed().as_secs_f32())
        })?;
        voice.step_held(number, title, since.elapsed());
        Ok(())
    }
}

/// Where the steps take place.
pub(super) struct Scene<'s> {
    pub(super) world: &'s World,
    pub(super) voice: &'s dyn Voice,
}

impl Scene<'_> {
    pub(super) fn says(&self, text: &str) {
        self.voice.says(text);
    }

    pub(super) async fn waits<T>(&self, what: &str, waiting: impl Future<Output = Result<T>>) -> Result<T> {
        patiently(self.voice, what, waiting).await
    }

    /// What kubectl prints in a namespace.
    pub(super) async fn shows(&self, namespace: &str, arguments: &[&str]) -> Result<()> {
        let all = arguments.iter().copied().chain(["--namespace", namespace]);
        let printed = self.world.api().kubectl(all).await?;
        self.voice.shows(&format!("kubectl {}", arguments.join(" ")), &printed);
        Ok(())
    }
}
