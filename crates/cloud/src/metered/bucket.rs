//! A token bucket that slows down when AWS throttles calls, and serves the most urgent calls first ([`super::line`]).
//!
//! governor's buckets have a fixed rate. This one counts in sixteenths: at full rate a call costs 16 of them,
//! at a quarter of the rate 64. That changes rate and burst together and leaves governor's arithmetic
//! unchanged.

use super::line::Line;
use foo_model::operation::Priority;
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A limit: sustained calls per second, and calls at once after a pause. Zero counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Calls per second.
    pub per_second: u32,
    /// Calls at once. Below 16, a throttled bucket slows down to `1/burst` of its rate only.
    pub burst: u32,
}

/// The share of the configured rate at which a bucket runs, in sixteenths.
const FULL: u32 = 16;
/// A bucket never becomes slower than this; 1/16 of 10 calls a second is still one call in 1.6 s.
const SLOWEST: u32 = 1;
/// When AWS starts to throttle, it refuses all calls in flight: together they slow the bucket down once.
const ONE_STORM: Duration = Duration::from_secs(1);
/// The rate recovers by one sixteenth in this time: from the slowest rate to the full one in 75 s after the last refusal.
const RECOVERY_STEP: Duration = Duration::from_secs(5);

/// A token bucket.
#[derive(Debug)]
pub(super) struct Tokens {
    limiter: RateLimiter<NotKeyed, InMemoryState, TokioClock, StateInformationMiddleware>,
    burst_units: u32,
    per_second: u32,
    pace: Mutex<Pace>,
    line: Line,
}

/// The state of the bucket after taking a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// Tokens left at the present rate.
    pub(super) left: u32,
    /// Present rate in percent of the configured one.
    pub(super) rate_percent: u32,
}

/// There is no token: when to try again.
#[derive(Clone, Copy, Debug)]
struct NotYet(Duration);

impl Tokens {
    pub(super) fn new(rate: Rate) -> Self {
        let units = |calls: u32| NonZeroU32::new(calls.saturating_mul(FULL)).unwrap_or(NonZeroU32::MIN);
        let burst = units(rate.burst.max(1));
        let quota = Quota::per_second(units(rate.per_second.max(1))).allow_burst(burst);
        Self {
            limiter: RateLimiter::direct_with_clock(quota, TokioClock).with_middleware(),
            burst_units: burst.get(),
            per_second: rate.per_second.max(1),
            pace: Mutex::new(Pace::full()),
            line: Line::default(),
        }
    }

    /// Waits for a token, behind more urgent calls and earlier ones that are as urgent.
    pub(super) async fn take(&self, priority: Priority) -> Taken {
        let place = self.line.join(priority);
        loop {
            match place.in_turn(|| self.take_now()) {
                Some(Ok(taken)) => return taken,
                // A more urgent call may begin to wait, or this one be notified without need: it tries again.
                Some(Err(NotYet(wait))) => {
                    let _due_or_notified = timeout(wait, place.is_notified()).await;
                }
                None => place.is_notified().await,
            }
        }
    }

    /// Takes a token, if there is one.
    fn take_now(&self) -> Result<Taken, NotYet> {
        let share = self.pace().share(Instant::now());
        // A bucket that is smaller than the price would never give a token: then the price is all it has.
        let price = FULL.saturating_mul(FULL).checked_div(share).unwrap_or(FULL).min(self.burst_units);
        let price = NonZeroU32::new(price).unwrap_or(NonZeroU32::MIN);
        let left = match self.limiter.check_n(price) {
            Ok(Ok(state)) => state.remaining_burst_capacity().checked_div(price.get()).unwrap_or(0),
            Ok(Err(not_yet)) => {
                // At least a millisecond, the resolution of the timer: a shorter sleep would return at once.
                let wait = not_yet.wait_time_from(TokioClock.now()).max(Duration::from_millis(1));
                return Err(NotYet(wait));
            }
            Err(_larger_than_the_burst) => 0,
        };
        let rate_percent = share.saturating_mul(100).checked_div(FULL).unwrap_or(100);
        Ok(Taken { left, rate_percent })
    }

    /// How long until all waiting calls that are at least as urgent have their tokens, at the present rate.
    pub(super) fn backlog(&self, priority: Priority) -> Duration {
        let price = FULL.checked_div(self.pace().share(Instant::now())).unwrap_or(FULL);
        let calls = self.line.ahead_of(priority).saturating_mul(price);
        Duration::from_secs(1).saturating_mul(calls) / self.per_second
    }

    /// Halves the rate, which recovers by itself.
    pub(super) fn slow_down(&self) {
        self.pace().halve(Instant::now());
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Halved by each burst of refusals, recovering step by step afterwards.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Sixteenths right after the last burst of refusals.
    share: u32,
    /// The time of that burst.
    since: Option<Instant>,
}

impl Pace {
    fn full() -> Self {
        Self { share: FULL, since: None }
    }

    fn share(&self, now: Instant) -> u32 {
        let Some(since) = self.since else { return FULL };
        let steps = now.saturating_duration_since(since).as_secs() / RECOVERY_STEP.as_secs();
        self.share.saturating_add(u32::try_from(steps).unwrap_or(FULL)).min(FULL)
    }

    fn halve(&mut self, now: Instant) {
        if self.since.is_some_and(|since| now.saturating_duration_since(since) < ONE_STORM) {
            return;
        }
        self.share = (self.share(now) / 2).max(SLOWEST);
        self.since = Some(now);
    }
}

/// tokio's clock, so that tests with paused time do not wait.
#[derive(Clone, Copy, Debug, Default)]
struct TokioClock;

impl Clock for TokioClock {
    type Instant = std::time::Instant;

    fn now(&self) -> Self::Instant {
        Instant::now().into_std()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use strum::IntoEnumIterator;

    async fn time_for(tokens: &Tokens, calls: u32) -> Duration {
        let start = Instant::now();
        for _ in 0..calls {
            tokens.take(Priority::Read).await;
        }
        start.elapsed()
    }

    /// Throttled until it is as slow as it becomes.
    async fn storm(tokens: &Tokens) {
        for _ in 0..20 {
            tokens.slow_down();
            tokio::time::sleep(ONE_STORM).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_burst_is_free_and_the_rest_comes_at_the_rate() {
        let tokens = Tokens::new(Rate { per_second: 10, burst: 50 });
        assert_eq!(time_for(&tokens, 50).await, Duration::ZERO);
        let took = time_for(&tokens, 100).await;
        assert!((9_900..=10_200).contains(&took.as_millis()), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn throttling_halves_the_rate_and_it_recovers() {
        let tokens = Tokens::new(Rate { per_second: 10, burst: 10 });
        time_for(&tokens, 10).await;
        tokens.slow_down();
        tokens.slow_down(); // the same storm
        let took = time_for(&tokens, 10).await;
        assert!((1_700..=2_200).contains(&took.as_millis()), "{took:?}");
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(tokens.take(Priority::Read).await, Taken { left: 9, rate_percent: 100 });
    }

    #[tokio::test(start_paused = true)]
    async fn the_full_rate_is_back_two_minutes_after_the_last_refusal() {
        let tokens = Tokens::new(Rate { per_second: 10, burst: 50 });
        storm(&tokens).await;
        assert_eq!(tokens.take(Priority::Read).await.rate_percent, 6);
        tokio::time::sleep(Duration::from_mins(2)).await;
        assert_eq!(tokens.take(Priority::Read).await.rate_percent, 100);
    }

    #[tokio::test(start_paused = true)]
    async fn the_backlog_is_what_waiting_callers_will_take() {
        let tokens = Tokens::new(Rate { per_second: 2, burst: 1 });
        assert_eq!(tokens.backlog(Priority::Read), Duration::ZERO);
        tokens.take(Priority::Read).await;
        let mut waits: Vec<_> = (0..6).map(|_| Box::pin(tokens.take(Priority::Launch))).collect();
        for wait in &mut waits {
            assert!(futures::poll!(wait).is_pending());
        }
        assert_eq!(tokens.backlog(Priority::Read), Duration::from_secs(3));
        assert_eq!(tokens.backlog(Priority::Termination), Duration::ZERO, "launches do not delay it");
        drop(waits);
        assert_eq!(tokens.backlog(Priority::Read), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn storms_never_stop_a_bucket() {
        let tokens = Tokens::new(Rate { per_second: 10, burst: 50 });
        storm(&tokens).await;
        assert!(tokens.take(Priority::Read).await.rate_percent >= 6);
    }

    /// Calls that wait for the same bucket, each a task of its own, that began in this order; and the order in which they
    /// were sent.
    async fn sent(tokens: &Arc<Tokens>, waiting: Vec<Priority>) -> Vec<Priority> {
        let (sends, mut sent) = tokio::sync::mpsc::unbounded_channel();
        for priority in waiting {
            let (tokens, sends) = (Arc::clone(tokens), sends.clone());
            tokio::spawn(async move {
                tokens.take(priority).await;
                sends.send(priority).unwrap();
            });
        }
        drop(sends);
        let mut order = Vec::new();
        while let Some(priority) = sent.recv().await {
            order.push(priority);
        }
        order
    }

    #[tokio::test(start_paused = true)]
    async fn terminations_come_before_launches_and_launches_before_reads() {
        use Priority::{Hook, Launch, Read, Settings, Termination};
        let tokens = Arc::new(Tokens::new(Rate { per_second: 10, burst: 1 }));
        tokens.take(Read).await;
        let order = sent(&tokens, Priority::iter().rev().collect()).await;
        assert_eq!(
            order,
            [Hook, Termination, Launch, Read, Settings],
            "the fourth token is the oldest call's"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_urgent_call_overtakes_calls_that_wait_already() {
        let tokens = Arc::new(Tokens::new(Rate { per_second: 1, burst: 1 }));
        tokens.take(Priority::Read).await;
        let reads = tokio::spawn({
            let tokens = Arc::clone(&tokens);
            async move { sent(&tokens, vec![Priority::Read; 30]).await }
        });
        tokio::time::sleep(Duration::from_millis(4_500)).await;
        let began = Instant::now();
        tokens.take(Priority::Hook).await;
        assert!(began.elapsed() <= Duration::from_secs(1), "{:?}", began.elapsed());
        assert_eq!(reads.await.unwrap().len(), 30);
    }

    /// For an hour AWS throttles calls, and more launches are requested than there are tokens.
    #[tokio::test(start_paused = true)]
    async fn heartbeats_are_never_late_and_reads_never_starve_in_an_hour_of_throttling() {
        let tokens = Arc::new(Tokens::new(Rate { per_second: 10, burst: 50 }));
        let end = Instant::now() + Duration::from_hours(1);
        let refusals = tokio::spawn({
            let tokens = Arc::clone(&tokens);
            async move {
                while Instant::now() < end {
                    tokens.slow_down();
                    tokio::time::sleep(ONE_STORM).await;
                }
            }
        });
        let repeats = |priority| tokio::spawn(repeated(Arc::clone(&tokens), priority, end));
        let launches: Vec<_> = (0..40).map(|_| repeats(Priority::Launch)).collect();
        let (heartbeat, read) = (repeats(Priority::Hook), repeats(Priority::Read));
        let (heartbeat, read) = (heartbeat.await.unwrap(), read.await.unwrap());
        assert!(heartbeat < Duration::from_secs(10), "{heartbeat:?}");
        // 41 calls may have waited longer: one in four tokens, each of which takes 1.6 s.
        assert!(read < Duration::from_secs(42 * 4 * 2), "{read:?}");
        for launch in launches {
            launch.await.unwrap();
        }
        refusals.await.unwrap();
    }

    /// The longest wait of a call that is sent every ten seconds until the end.
    async fn repeated(tokens: Arc<Tokens>, priority: Priority, end: Instant) -> Duration {
        let mut longest = Duration::ZERO;
        while Instant::now() < end {
            let began = Instant::now();
            tokens.take(priority).await;
            longest = longest.max(began.elapsed());
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        longest
    }
}
