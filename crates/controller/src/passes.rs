//! Passes under way, each of which ends in time.
//!
//! A pass has a deadline, which includes the wait for caches. A pass that misses it is aborted: it is logged
//! as an error and counted, and its object is tried again after a pause. A pass that cannot be aborted
//! because it blocks a thread fails `/livez` ([`Underway::overdue`]): only a restart helps.

use crate::labels::{Controller, PassResult};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tracing::Span;
use tracing::field::Empty;

/// How much longer than its deadline a pass may be under way: on an overloaded machine, aborting it takes
/// time, too.
const GRACE: Duration = Duration::from_mins(1);

/// The passes under way. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Underway(Arc<Mutex<Passes>>);

#[derive(Debug)]
struct Passes {
    /// Random.
    process: u32,
    last: u64,
    begun: BTreeMap<u64, (Controller, Instant)>,
}

impl Default for Passes {
    fn default() -> Self {
        // std seeds its hashes at random.
        let random = RandomState::new().build_hasher().finish();
        let process = u32::try_from(random >> u32::BITS).unwrap_or_default();
        Self { process, last: 0, begun: BTreeMap::new() }
    }
}

/// The objects whose last pass failed. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Failing(Arc<Mutex<BTreeMap<(Controller, String), Instant>>>);

impl Failing {
    /// Records how a pass over an object ended.
    pub fn ended(&self, controller: Controller, object: &impl Display, result: PassResult) {
        let key = (controller, object.to_string());
        match result {
            PassResult::Failed | PassResult::GivenUp => {
                self.lock().entry(key).or_insert_with(Instant::now);
            }
            PassResult::Settled | PassResult::Worked => drop(self.lock().remove(&key)),
            PassResult::Skipped | PassResult::Aborted => {}
        }
    }

    /// The object was deleted.
    pub fn forget(&self, controller: Controller, object: &impl Display) {
        self.lock().remove(&(controller, object.to_string()));
    }

    /// Per controller, the longest time since passes over an object began to fail.
    pub fn longest(&self) -> BTreeMap<Controller, Duration> {
        let mut longest = BTreeMap::new();
        for ((controller, _), since) in &*self.lock() {
            let lasts: &mut Duration = longest.entry(*controller).or_default();
            *lasts = (*lasts).max(since.elapsed());
        }
        longest
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Controller, String), Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Identifies a pass, of this process and, as far as its random beginning does, of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassId {
    process: u32,
    number: u64,
}

impl Display for PassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}-{}", self.process, self.number)
    }
}

impl Underway {
    /// Records that a pass begins.
    pub fn begins(&self, controller: Controller) -> PassId {
        let mut passes = self.lock();
        passes.last = passes.last.saturating_add(1);
        let id = passes.last;
        passes.begun.insert(id, (controller, Instant::now()));
        PassId { process: passes.process, number: id }
    }

    /// Records that it has ended.
    pub fn ends(&self, pass: PassId) {
        self.lock().begun.remove(&pass.number);
    }

    /// Per controller, how long its oldest pass has been under way.
    pub fn longest(&self) -> BTreeMap<Controller, Duration> {
        let mut longest = BTreeMap::new();
        for (controller, begun) in self.lock().begun.values() {
            let lasts: &mut Duration = longest.entry(*controller).or_default();
            *lasts = (*lasts).max(begun.elapsed());
        }
        longest
    }

    /// The passes that should have been aborted long ago, as text.
    pub fn overdue(&self, deadline: Duration) -> Option<String> {
        let longest = self.longest();
        let (controller, lasts) =
            longest.into_iter().find(|(_, lasts)| *lasts > deadline.saturating_add(GRACE))?;
        let name: &str = controller.into();
        Some(format!(
            "a pass of the {name} controller has been under way for {} s and cannot be cancelled",
            lasts.as_secs()
        ))
    }

    fn lock(&self) -> MutexGuard<'_, Passes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What every line of a pass has: controller, object, id. Its result is for traces: there are no lines after it.
pub fn span(controller: Controller, object: &str, pass: PassId) -> Span {
    let controller: &str = controller.into();
    tracing::error_span!("pass", controller, object, %pass, result = Empty, otel.status_code = Empty)
}

/// An object as log lines name it: `<namespace>/<name>`.
pub fn named(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

/// The result of a pass, or nothing if it takes longer than its deadline.
pub async fn within<T>(deadline: Duration, pass: impl Future<Output = T>) -> Option<T> {
    let ended = tokio::time::timeout(deadline, pass).await;
    if ended.is_err() {
        let deadline_seconds = deadline.as_secs();
        tracing::error!(deadline_seconds, "the reconcile exceeded its deadline and was cancelled");
    }
    ended.ok()
}

/// Records how a pass ended.
pub fn ends(span: &Span, result: PassResult) {
    let name: &str = result.into();
    span.record("result", name);
    if matches!(result, PassResult::Failed | PassResult::GivenUp) {
        span.record("otel.status_code", "ERROR");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_object_fails_since_the_first_of_its_failures_in_a_row() {
        let (failing, minute) = (Failing::default(), Duration::from_mins(1));
        let longest = || failing.longest().get(&Controller::Eks).copied();
        failing.ended(Controller::Eks, &"a", PassResult::Settled);
        assert_eq!(longest(), None);
        for result in [PassResult::Failed, PassResult::Skipped, PassResult::GivenUp] {
            failing.ended(Controller::Eks, &"a", result);
            tokio::time::sleep(minute).await;
        }
        assert_eq!(longest(), Some(3 * minute));
        failing.ended(Controller::Eks, &"a", PassResult::Worked);
        assert_eq!(longest(), None);
        failing.ended(Controller::Eks, &"a", PassResult::Failed);
        failing.forget(Controller::Eks, &"a");
        assert_eq!(longest(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_outlives_its_deadline_by_far_is_known() {
        let underway = Underway::default();
        let deadline = Duration::from_mins(4);
        let pass = underway.begins(Controller::Cluster);
        tokio::time::advance(deadline).await;
        let short = underway.begins(Controller::Pool);
        assert_eq!(
            underway.longest(),
            [(Controller::Pool, Duration::ZERO), (Controller::Cluster, deadline)].into()
        );
        assert_eq!(underway.overdue(deadline), None, "it is being cancelled");
        tokio::time::advance(GRACE + Duration::from_secs(1)).await;
        let words = underway.overdue(deadline).unwrap();
        assert!(words.starts_with("a pass of the cluster controller"), "{words}");
        underway.ends(pass);
        assert_eq!(underway.overdue(deadline), None);
        underway.ends(short);
        assert!(underway.longest().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_has_its_deadline() {
        assert_eq!(within(Duration::from_secs(1), async { 7 }).await, Some(7));
        assert_eq!(within(Duration::from_secs(1), std::future::pending::<()>()).await, None);
    }
}
