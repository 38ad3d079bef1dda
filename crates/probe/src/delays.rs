//! Times of a delay that was measured several times. A single time shows little of a service of many machines.

use std::fmt;
use std::time::Duration;

/// At least one time, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Distribution(Vec<Duration>);

impl Distribution {
    /// `None` without times.
    pub(crate) fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        (!times.is_empty()).then_some(Self(times))
    }

    /// The smallest time that this percentage of all times do not exceed (nearest rank).
    fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).or_else(|| self.0.last()).copied().unwrap_or_default()
    }

    /// The longest time.
    pub(crate) fn longest(&self) -> Duration {
        self.percentile(100)
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |percent| self.percentile(percent).as_millis();
        let (shortest, median, most, longest) = (millis(0), millis(50), millis(90), millis(100));
        let count = self.0.len();
        write!(f, "min {shortest} ms, median {median} ms, p90 {most} ms, max {longest} ms of {count}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let millis = |times: &[u64]| times.iter().copied().map(Duration::from_millis).collect();
        let ten = Distribution::of(millis(&[90, 10, 30, 20, 50, 40, 70, 60, 100, 80])).unwrap();
        assert_eq!(ten.to_string(), "min 10 ms, median 50 ms, p90 90 ms, max 100 ms of 10");
        let one = Distribution::of(millis(&[7])).unwrap();
        assert_eq!(one.to_string(), "min 7 ms, median 7 ms, p90 7 ms, max 7 ms of 1");
        assert_eq!(Distribution::of(Vec::new()), None);
    }
}
