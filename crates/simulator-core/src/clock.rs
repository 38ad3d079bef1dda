//! The virtual clock: it runs at a multiple of real time, or only advances on request.

use foo_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// 2026-01-01T00:00:00Z: where a stepped clock starts, so that runs can be compared.
pub const STEPPED_START: Timestamp = Timestamp(1_767_225_600_000);

/// How virtual time passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Pace {
    /// It runs at `factor` times real time.
    Scaled {
        /// Virtual seconds per real second.
        factor: f64,
    },
    /// It only advances on request.
    Stepped,
}

/// A clock with its present virtual time.
#[derive(Clone, Debug)]
pub struct Clock {
    pace: Pace,
    base: Timestamp,
    since: Instant,
    /// How much time passed at once for callers, too.
    passed: Duration,
}

impl Clock {
    pub(crate) fn new(pace: Pace, start: Timestamp) -> Self {
        Self { pace, base: start, since: Instant::now(), passed: Duration::ZERO }
    }

    /// Virtual time.
    pub fn now(&self) -> Timestamp {
        match self.pace {
            Pace::Stepped => self.base,
            Pace::Scaled { factor } => self.base.plus(scaled(self.since.elapsed(), factor)),
        }
    }

    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }

    /// The date of AWS's responses and of the check of signatures: the callers' time, however virtual time passes.
    pub(crate) fn real(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)).plus(self.passed)
    }

    /// Advances virtual time.
    pub(crate) fn step(&mut self, by: Duration) {
        self.base = self.base.plus(by);
    }

    /// Advances virtual time and that of callers.
    pub(crate) fn pass(&mut self, by: Duration) {
        self.step(by);
        self.passed = self.passed.saturating_add(by);
    }

    /// Stops the clock at the present moment, so that a copy can continue from it later.
    pub(crate) fn pause(&mut self) {
        self.base = self.now();
        self.since = Instant::now();
    }

    /// Continues a stopped clock from the moment at which it was stopped.
    pub(crate) fn resume(&mut self) {
        self.since = Instant::now();
    }

    /// Changes how time passes from now on.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        self.pause();
        self.pace = pace;
    }
}

/// With an invalid factor (negative, not a number, too large) no time passes.
fn scaled(real: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(real.as_secs_f64() * factor).unwrap_or(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepped_clock_moves_only_by_hand() {
        let mut clock = Clock::new(Pace::Stepped, STEPPED_START);
        assert_eq!(clock.now(), STEPPED_START);
        clock.step(Duration::from_secs(5));
        assert_eq!(clock.now(), Timestamp(STEPPED_START.0 + 5_000));
    }

    #[test]
    fn a_scaled_clock_runs_faster_and_can_be_moved_too() {
        let mut clock = Clock::new(Pace::Scaled { factor: 1000.0 }, STEPPED_START);
        std::thread::sleep(Duration::from_millis(5));
        assert!(clock.now() >= STEPPED_START.plus(Duration::from_secs(5)));
        clock.step(Duration::from_hours(1));
        assert!(clock.now() >= STEPPED_START.plus(Duration::from_hours(1)));
    }

    #[test]
    fn callers_have_real_time_until_it_is_advanced_with_virtual_time() {
        let mut clock = Clock::new(Pace::Stepped, STEPPED_START);
        let before = clock.real();
        clock.step(Duration::from_hours(5));
        assert!((0..60_000).contains(&(clock.real().0 - before.0)));
        clock.pass(Duration::from_hours(1));
        assert!((3_600_000..3_660_000).contains(&(clock.real().0 - before.0)));
        assert_eq!(clock.now(), STEPPED_START.plus(Duration::from_hours(6)));
    }
}
