//! How long to wait before the next attempt: 1 s after the first failure, doubled by each further one, with
//! jitter.
//!
//! A delay follows from the number of consecutive failures. The caller counts them, per object and request,
//! page of a sweep, or queue. Nothing here sleeps, and there is no random number: the same seed and key give
//! the same delays.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// The delay after the first failure.
const FIRST: Duration = Duration::from_secs(1);

/// Delays that double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryDelays {
    /// The longest delay, before jitter.
    pub longest: Duration,
    /// How much each delay differs from its nominal length.
    pub jitter: Jitter,
}

/// How much a delay differs from its nominal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Not at all: for single tasks.
    None,
    /// Between 80 % and 120 % of it.
    Around,
    /// More than half of it, and never longer: for callers that guarantee an attempt within the longest
    /// delay.
    Shorter,
}

impl RetryDelays {
    /// The delay after that many consecutive failures, the first being 1. `seed` and `key` choose the jitter.
    pub fn after(self, failures: u32, seed: u64, key: &impl Hash) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let doubled = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.jitter.of(FIRST.saturating_mul(doubled).min(self.longest), seed, failures, key)
    }
}

impl Jitter {
    fn of(self, nominal: Duration, seed: u64, attempt: u32, key: &impl Hash) -> Duration {
        let thousandths = match self {
            Self::None => return nominal,
            Self::Around => 800_u32.saturating_add(below(401, seed, attempt, key)),
            Self::Shorter => 501_u32.saturating_add(below(500, seed, attempt, key)),
        };
        nominal.saturating_mul(thousandths) / 1000
    }
}

/// `period` ± 20 %, the same for the same key: repetitions at fixed intervals are spread over time, and stay
/// spread.
pub fn jittered(period: Duration, key: &impl Hash) -> Duration {
    Jitter::Around.of(period, 0, 0, key)
}

/// A moment within `window`, at the same part of it for the same key: what many do once is spread over the window.
pub fn spread(window: Duration, key: &impl Hash) -> Duration {
    const PARTS: u32 = 1_000_000;
    window.saturating_mul(below(PARTS, 0, 0, key)) / PARTS
}

/// A number below `limit`.
fn below(limit: u32, seed: u64, attempt: u32, key: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    (seed, attempt).hash(&mut hasher);
    key.hash(&mut hasher);
    u32::try_from(hasher.finish() % u64::from(limit)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays double and stay within these thousandths of their nominal length.
    fn check(jitter: Jitter, thousandths: std::ops::RangeInclusive<u32>) {
        let longest = Duration::from_mins(1);
        let delays = RetryDelays { longest, jitter };
        for seed in 0..50 {
            for failures in 1..40 {
                let nominal = longest.min(Duration::from_secs(1 << (failures - 1).min(16)));
                let delay = delays.after(failures, seed, &"key");
                let within = nominal * *thousandths.start() / 1000..=nominal * *thousandths.end() / 1000;
                assert!(within.contains(&delay), "{failures} failures: {delay:?}");
                assert_eq!(delay, delays.after(failures, seed, &"key"), "a run can be repeated");
            }
        }
    }

    #[test]
    fn delays_double_and_stay_within_their_limits() {
        check(Jitter::None, 1000..=1000);
        check(Jitter::Around, 800..=1200);
        check(Jitter::Shorter, 501..=1000);
    }

    #[test]
    fn different_keys_and_seeds_have_different_delays() {
        let delays = RetryDelays { longest: Duration::from_mins(5), jitter: Jitter::Around };
        let by_key: std::collections::BTreeSet<_> = (0..50).map(|key| delays.after(9, 7, &key)).collect();
        let by_seed: std::collections::BTreeSet<_> =
            (0..50).map(|seed| delays.after(9, seed, &"key")).collect();
        assert!(by_key.len() > 30 && by_seed.len() > 30, "{} {}", by_key.len(), by_seed.len());
    }

    #[test]
    fn a_window_is_used_as_a_whole_by_many_and_an_empty_one_by_none() {
        let at = |window: u64, key: u32| spread(Duration::from_secs(window), &key);
        let moments: Vec<Duration> = (0..100).map(|key| at(200, key)).collect();
        let within =
            |from: u64, to: u64| moments.iter().filter(|it| (from..to).contains(&it.as_secs())).count();
        let quarters = [within(0, 50), within(50, 100), within(100, 150), within(150, 200)];
        assert!(
            quarters.iter().all(|many| *many > 10) && quarters.iter().sum::<usize>() == 100,
            "{quarters:?}"
        );
        assert_eq!(
            (at(0, 1), at(400, 1)),
            (Duration::ZERO, at(200, 1) * 2),
            "the part of the window is the same"
        );
    }

    #[test]
    fn different_objects_repeat_at_different_periods() {
        let seconds = Duration::from_secs;
        let periods: std::collections::BTreeSet<_> = (0..50).map(|n| jittered(seconds(600), &n)).collect();
        assert!(periods.len() > 30, "{}", periods.len());
        assert!(periods.iter().all(|period| *period >= seconds(480) && *period <= seconds(720)));
    }
}
