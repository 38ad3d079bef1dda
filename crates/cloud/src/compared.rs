//! How far another clock is from the manager's, by the `Date` of that server's HTTP responses.
//!
//! A difference is measured against the monotonic clock and applied to the manager's clock as it is now: while that one
//! is corrected, no measurement is out of date.

use crate::Clock;
use foo_model::{Agreement, Aws, Comparison, Difference, TimeOf, Timestamp};
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Beyond this difference one of two clocks is so wrong that nothing it dates is believed: AWS refuses signatures
/// beyond it. A smaller one is corrected; clocks that NTP disciplines differ by less than a second.
pub const TOLERATED: Duration = Duration::from_mins(5);

/// A response that took longer is too imprecise about the time it was dated at.
const SLOWEST: Duration = Duration::from_secs(20);
/// The difference is the median of this many responses: up to seven wrong ones do not change it.
const KEPT: usize = 15;
/// With fewer responses the difference is unknown: of three, one may be wrong.
const LEAST: usize = 3;
/// The last responses that must not contradict the median: a clock that was just set shows there first.
const LAST: usize = 3;
/// Changes below this are the resolution of a `Date`, which is a second: the difference keeps its value.
const RESOLUTION: i64 = 1_000;

/// The comparison of the manager's clock with another one. Clones share it.
pub struct Compared<C> {
    local: Arc<dyn Clock>,
    began: Instant,
    offsets: Arc<Mutex<Offsets>>,
    theirs: PhantomData<fn() -> C>,
}

/// AWS's clock in one region, compared with the manager's by the responses to the calls of one set of credentials.
pub type AwsClock = Compared<Aws>;

#[derive(Debug, Default)]
struct Offsets {
    /// The newest responses, the latest last: their time less the time since the comparison began, in milliseconds.
    recent: VecDeque<i64>,
    /// The difference as last used.
    used: i64,
    logged: Option<Agreement>,
}

impl<C> Compared<C> {
    /// Nothing is known yet.
    pub fn with(local: Arc<dyn Clock>) -> Self {
        Self { local, began: Instant::now(), offsets: Arc::default(), theirs: PhantomData }
    }

    /// The other side dated a response to a request of this process, by a `Date`, which has whole seconds.
    #[expect(clippy::needless_pass_by_value, reason = "a moment is a number, of whatever clock")]
    pub fn responded(&self, sent: Instant, received: Instant, date: TimeOf<C>) {
        let took = received.saturating_duration_since(sent);
        if took > SLOWEST {
            return;
        }
        let between = millis(sent.saturating_duration_since(self.began).saturating_add(took / 2));
        let offset = date.millis().saturating_add(RESOLUTION / 2).saturating_sub(between);
        let mut offsets = self.lock();
        offsets.recent.push_back(offset);
        if offsets.recent.len() > KEPT {
            offsets.recent.pop_front();
        }
    }

    /// The present difference.
    pub fn found(&self) -> Comparison<C> {
        let local = self.local.now();
        let began = local.0.saturating_sub(millis(self.began.elapsed()));
        self.lock().found(began)
    }

    /// The present difference, if the clocks agree or differ and did not when this was asked last: for a log line.
    pub fn news(&self) -> Option<Comparison<C>> {
        let found = self.found();
        if found.agreement == Agreement::Unknown {
            return None;
        }
        let before = self.lock().logged.replace(found.agreement);
        (before != Some(found.agreement)).then_some(found)
    }

    /// Whether this is the same comparison: a clone.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.offsets, &other.offsets)
    }

    /// The manager's time of what the other clock dated.
    pub fn local(&self, theirs: TimeOf<C>) -> Timestamp {
        self.found().difference.local(theirs)
    }

    /// The present time by the other clock.
    pub fn now(&self) -> TimeOf<C> {
        self.found().difference.remote(self.local.now())
    }

    fn lock(&self) -> MutexGuard<'_, Offsets> {
        self.offsets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Offsets {
    /// `began`: what the manager's clock shows, less the time since the comparison began.
    fn found<C>(&mut self, began: i64) -> Comparison<C> {
        let mut sorted: Vec<i64> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).copied().filter(|_| sorted.len() >= LEAST);
        let Some(ahead) = median.map(|median| began.saturating_sub(median)) else {
            return Comparison { difference: Difference::ahead_by(self.used), agreement: Agreement::Unknown };
        };
        if ahead.abs_diff(self.used) > RESOLUTION.unsigned_abs() {
            self.used = ahead;
        }
        let tolerated = millis(TOLERATED).unsigned_abs();
        let differs = |ahead: i64| ahead.unsigned_abs() > tolerated;
        let contradicted =
            self.recent.iter().rev().take(LAST).any(|offset| differs(began.saturating_sub(*offset)));
        let agreement = match (differs(ahead), contradicted) {
            (true, _) => Agreement::Differ,
            (false, true) => Agreement::Unknown,
            (false, false) => Agreement::Agree,
        };
        Comparison { difference: Difference::ahead_by(self.used), agreement }
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl<C> Clone for Compared<C> {
    fn clone(&self) -> Self {
        let Self { local, began, offsets, theirs } = self;
        Self { local: Arc::clone(local), began: *began, offsets: Arc::clone(offsets), theirs: *theirs }
    }
}

impl<C> fmt::Debug for Compared<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compared").field("found", &self.found().difference.millis()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::Kubernetes;
    use std::sync::atomic::{AtomicI64, Ordering};

    const NOON: i64 = 1_700_000_000_000;
    const HALF_HOUR: i64 = 1_800_000;

    /// Two clocks, of which the manager's is ahead.
    struct Clocks {
        ahead: Arc<AtomicI64>,
        began: Instant,
        compared: Compared<Kubernetes>,
    }

    impl Clocks {
        fn ahead(by: i64) -> Self {
            let (ahead, began) = (Arc::new(AtomicI64::new(by)), Instant::now());
            let shift = Arc::clone(&ahead);
            let local = move || Timestamp(NOON + shift.load(Ordering::SeqCst) + millis(began.elapsed()));
            Self { ahead, began, compared: Compared::with(Arc::new(local)) }
        }

        /// A response by a clock that is that much ahead of the true one.
        async fn response(&self, wrong_by: i64) {
            let sent = Instant::now();
            tokio::time::sleep(Duration::from_millis(700)).await;
            let date = (NOON + wrong_by + millis(self.began.elapsed())) / 1_000 * 1_000;
            tokio::time::sleep(Duration::from_millis(300)).await;
            self.compared.responded(sent, Instant::now(), TimeOf::from_millis(date));
        }

        async fn offsets(&self, many: usize) {
            for _ in 0..many {
                self.response(0).await;
            }
        }

        fn agreement(&self) -> Agreement {
            self.compared.found().agreement
        }
    }

    #[tokio::test(start_paused = true)]
    async fn clocks_that_agree_have_no_difference_at_all() {
        for ahead in [-400, 0, 400] {
            let clocks = Clocks::ahead(ahead);
            assert_eq!(clocks.agreement(), Agreement::Unknown);
            clocks.offsets(3).await;
            let found = clocks.compared.found();
            assert_eq!((found.difference.millis(), found.agreement), (0, Agreement::Agree), "{ahead}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_difference_is_found_to_the_second_in_both_directions() {
        for ahead in [-HALF_HOUR, -301_500, 301_500, HALF_HOUR] {
            let clocks = Clocks::ahead(ahead);
            clocks.offsets(3).await;
            let found = clocks.compared.found();
            assert!(found.difference.millis().abs_diff(ahead) <= 1_000, "{ahead}: {found:?}");
            assert_eq!(found.agreement, Agreement::Differ);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_odd_response_changes_no_difference_but_ages_wait_for_the_next_ones() {
        let clocks = Clocks::ahead(0);
        clocks.offsets(5).await;
        clocks.response(HALF_HOUR).await;
        let found = clocks.compared.found();
        assert_eq!((found.difference.millis(), found.agreement), (0, Agreement::Unknown));
        clocks.offsets(3).await;
        assert_eq!(clocks.agreement(), Agreement::Agree);
    }

    #[tokio::test(start_paused = true)]
    async fn a_jump_of_the_managers_clock_is_known_at_once() {
        let clocks = Clocks::ahead(0);
        clocks.offsets(5).await;
        for ahead in [HALF_HOUR, -HALF_HOUR] {
            clocks.ahead.store(ahead, Ordering::SeqCst);
            let found = clocks.compared.found();
            assert!(found.difference.millis().abs_diff(ahead) <= 1_000, "{ahead}: {found:?}");
            assert_eq!(found.agreement, Agreement::Differ);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_jump_of_the_other_clock_makes_ages_wait_from_its_first_response_on() {
        let clocks = Clocks::ahead(0);
        clocks.offsets(15).await;
        clocks.response(-HALF_HOUR).await;
        assert_eq!(clocks.agreement(), Agreement::Unknown);
        for _ in 0..7 {
            clocks.response(-HALF_HOUR).await;
            assert_ne!(clocks.agreement(), Agreement::Agree);
        }
        assert_eq!(clocks.agreement(), Agreement::Differ);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_response_is_no_measurement() {
        let clocks = Clocks::ahead(0);
        clocks.offsets(2).await;
        let sent = Instant::now();
        tokio::time::sleep(Duration::from_secs(30)).await;
        clocks.compared.responded(sent, Instant::now(), TimeOf::from_millis(NOON));
        assert_eq!(clocks.agreement(), Agreement::Unknown);
    }
}
