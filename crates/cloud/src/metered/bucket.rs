//! A token bucket that slows down when AWS throttles calls.
//!
//! governor's buckets have a fixed rate. This one counts in sixteenths: at full rate a call costs 16 of them,
//! at a quarter of the rate 64. That changes rate and burst together and leaves governor's arithmetic
//! unchanged.

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

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
/// The rate recovers by one sixteenth in this time, so half the rate is back 40 s after the last refusal.
const RECOVERY_STEP: Duration = Duration::from_secs(5);

/// A token bucket.
#[derive(Debug)]
pub(super) struct Tokens {
    limiter: RateLimiter<NotKeyed, InMemoryState, TokioClock, StateInformationMiddleware>,
    burst_units: u32,
    per_second: u32,
    pace: Mutex<Pace>,
    /// Number of calls that wait for a token.
    waiting: AtomicU32,
    /// The holder gets the next token: first come, first served.
    turn: tokio::sync::Mutex<()>,
}

/// The state of the bucket after taking a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// Tokens left at the present rate.
    pub(super) left: u32,
    /// Present rate in percent of the configured one.
    pub(super) rate_percent: u32,
}

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
            waiting: AtomicU32::new(0),
            turn: tokio::sync::Mutex::new(()),
        }
    }

    /// Waits for a token, in the order of the calls.
    pub(super) async fn take(&self) -> Taken {
        let _waits = Waits::begins(&self.waiting);
        let _turn = self.turn.lock().await;
        loop {
            let share = self.pace().share(Instant::now());
            // A bucket that is smaller than the price would never give a token: then the price is all it has.
            let price = FULL.saturating_mul(FULL).checked_div(share).unwrap_or(FULL).min(self.burst_units);
            let Some(price) = NonZeroU32::new(price) else { return Taken { left: 0, rate_percent: 100 } };
            match self.limiter.check_n(price) {
                Ok(Ok(state)) => {
                    let left = state.remaining_burst_capacity().checked_div(price.get()).unwrap_or(0);
                    return Taken {
                        left,
                        rate_percent: share.saturating_mul(100).checked_div(FULL).unwrap_or(100),
                    };
                }
                Ok(Err(not_yet)) => {
                    // At least a millisecond, the resolution of the timer: a shorter sleep would return at
                    // once.
                    let wait = not_yet.wait_time_from(TokioClock.now()).max(Duration::from_millis(1));
                    tokio::time::sleep(wait).await;
                }
                Err(_larger_than_the_burst) => return Taken { left: 0, rate_percent: 100 },
            }
        }
    }

    /// How long until all waiting calls have their tokens, at the present rate.
    pub(super) fn backlog(&self) -> Duration {
        let waiting = self.waiting.load(Ordering::Relaxed);
        let price = FULL.checked_div(self.pace().share(Instant::now())).unwrap_or(FULL);
        Duration::from_secs(1).saturating_mul(waiting.saturating_mul(price)) / self.per_second
    }

    /// Halves the rate, which recovers by itself.
    pub(super) fn slow_down(&self) {
        self.pace().halve(Instant::now());
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a waiting call, however its wait ends.
struct Waits<'a>(&'a AtomicU32);

impl<'a> Waits<'a> {
    fn begins(waiting: &'a AtomicU32) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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

    async fn time_for(tokens: &Tokens, calls: u32) -> Duration {
        let start = Instant::now();
        for _ in 0..calls {
            tokens.take().await;
        }
        start.elapsed()
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
        assert_eq!(tokens.take().await, Taken { left: 9, rate_percent: 100 });
    }

    #[tokio::test(start_paused = true)]
    async fn the_backlog_is_what_waiting_callers_will_take() {
        let tokens = Tokens::new(Rate { per_second: 2, burst: 1 });
        assert_eq!(tokens.backlog(), Duration::ZERO);
        tokens.take().await;
        let mut waits: Vec<_> = (0..6).map(|_| Box::pin(tokens.take())).collect();
        for wait in &mut waits {
            assert!(futures::poll!(wait).is_pending());
        }
        assert_eq!(tokens.backlog(), Duration::from_secs(3));
        drop(waits);
        assert_eq!(tokens.backlog(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn storms_never_stop_a_bucket() {
        let tokens = Tokens::new(Rate { per_second: 10, burst: 50 });
        for _ in 0..20 {
            tokens.slow_down();
            tokio::time::sleep(ONE_STORM).await;
        }
        assert!(tokens.take().await.rate_percent >= 6);
    }
}
