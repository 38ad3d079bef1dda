//! The wall clock, as a parameter.

use foo_model::Timestamp;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The present time. Sleeping is tokio's business, so that tests can pause it.
pub trait Clock: Send + Sync {
    /// The present time.
    fn now(&self) -> Timestamp;
}

/// A wall clock that is this far ahead was wrong before, or the machine slept: this clock jumps to it.
/// Catching up would take as long again.
const BELIEVED_AT_ONCE: Duration = Duration::from_hours(24);

/// The machine's clock, made steady: it never runs backwards and never jumps by less than a day.
///
/// The order of events follows from comparing times of this clock, and durations from their differences. A
/// wall clock that is set back would make everything seem older than it is; one that is set forward would end
/// every deadline at once. So this clock runs with the monotonic clock and follows the wall clock as a slewed
/// clock does: at half the pace while the wall clock is behind, at double the pace while it is ahead. It
/// corrects a step of a minute in one or two minutes. Only if the wall clock is ahead by more than a day it
/// jumps.
///
/// Clones are the same clock.
#[derive(Clone, Debug)]
pub struct SystemClock(Arc<Mutex<Steady>>);

impl SystemClock {
    /// A clock that starts at the machine's time.
    pub fn start() -> Self {
        Self(Arc::new(Mutex::new(Steady { shown: wall(), at: Instant::now() })))
    }

    /// How far this clock is ahead of the machine's, which was set back: it takes twice that time until both
    /// agree. 0 while it is behind.
    pub fn ahead_of_wall(&self) -> Duration {
        self.steady().ahead(wall(), Instant::now())
    }

    fn steady(&self) -> MutexGuard<'_, Steady> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let shown = self.steady().follow(wall(), Instant::now());
        Timestamp(i64::try_from(shown.as_millis()).unwrap_or(i64::MAX))
    }
}

fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The last returned time since the epoch, and when it was returned.
#[derive(Debug)]
struct Steady {
    shown: Duration,
    at: Instant,
}

impl Steady {
    fn follow(&mut self, wall: Duration, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.at);
        let slowest = self.shown.saturating_add(passed / 2);
        let fastest = self.shown.saturating_add(passed.saturating_mul(2));
        let far_ahead = wall > fastest.saturating_add(BELIEVED_AT_ONCE);
        self.shown = if far_ahead { wall } else { wall.clamp(slowest, fastest) };
        self.at = self.at.max(now);
        self.shown
    }

    fn ahead(&mut self, wall: Duration, now: Instant) -> Duration {
        self.follow(wall, now).saturating_sub(wall)
    }
}

impl<F: Fn() -> Timestamp + Send + Sync> Clock for F {
    fn now(&self) -> Timestamp {
        self()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);
    const NOON: Duration = Duration::from_secs(1_700_000_000);

    /// A clock that has shown noon, and the moment it did.
    fn steady() -> (Steady, Instant) {
        let at = Instant::now();
        (Steady { shown: NOON, at }, at)
    }

    #[test]
    fn with_a_wall_clock_that_runs_it_shows_the_wall_clocks_time() {
        let (mut clock, start) = steady();
        for passed in [0, 1, 5, 5, 60_000, 3_600_000].map(Duration::from_millis) {
            assert_eq!(clock.follow(NOON + passed, start + passed), NOON + passed);
        }
    }

    #[test]
    fn set_back_it_runs_more_slowly_until_the_wall_clock_has_caught_up() {
        let (mut clock, start) = steady();
        let mut last = NOON;
        for second in 1..=200 {
            let passed = Duration::from_secs(second);
            let wall = NOON.saturating_sub(MINUTE) + passed;
            let shown = clock.follow(wall, start + passed);
            assert!(shown > last, "after {second} s");
            last = shown;
            if second >= 120 {
                assert_eq!(shown, wall);
            }
        }
    }

    #[test]
    fn set_back_it_is_ahead_of_the_wall_clock_by_what_is_left_of_the_step() {
        let (mut clock, start) = steady();
        let back = MINUTE * 30;
        for minute in 0..=60 {
            let passed = MINUTE * minute;
            let ahead = clock.ahead(NOON.saturating_sub(back) + passed, start + passed);
            assert_eq!(ahead, back.saturating_sub(passed / 2), "after {minute} min");
        }
        // Set forward it is behind, which is no lead.
        let passed = MINUTE * 61;
        assert_eq!(clock.ahead(NOON + back + passed, start + passed), Duration::ZERO);
    }

    #[test]
    fn set_forward_by_an_hour_it_expires_deadlines_at_most_twice_as_fast() {
        let (mut clock, start) = steady();
        let hour = MINUTE * 60;
        for second in 1..=3_700 {
            let passed = Duration::from_secs(second);
            let shown = clock.follow(NOON + hour + passed, start + passed);
            assert!(shown <= NOON + passed * 2, "after {second} s");
            if second >= 3_600 {
                assert_eq!(shown, NOON + hour + passed);
            }
        }
    }

    #[test]
    fn a_wall_clock_that_was_days_behind_is_trusted_once_it_is_right() {
        let (mut clock, start) = steady();
        let right = NOON + MINUTE * 60 * 24 * 365;
        assert_eq!(clock.follow(right, start + MINUTE), right);
    }

    #[test]
    fn whatever_the_wall_clock_does_time_never_runs_backwards() {
        let (mut clock, start) = steady();
        let (mut last, mut seed) = (NOON, 7_u64);
        for step in 0..10_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let wall = Duration::from_millis(NOON.as_secs() * 1_000 - 200_000_000 + (seed >> 36));
            let shown = clock.follow(wall, start + Duration::from_millis(step));
            assert!(shown >= last);
            last = shown;
        }
    }
}
