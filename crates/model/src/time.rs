//! Time as the planner sees it: a parameter, never a clock.
//!
//! [`Timestamp`] is the time of the manager's own clock. What another clock dated is a [`TimeOf`] that clock: it can be compared with
//! times of the same clock only, and becomes a [`Timestamp`] by the measured [`Difference`]. So an age is never the difference of times
//! of two clocks.

use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::time::Duration;

/// A moment by the manager's own clock, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This moment plus `duration`.
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This moment less `duration`.
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// `10:35 UTC`.
    pub fn time_of_day(self) -> String {
        let minutes = self.0.div_euclid(60_000);
        format!("{:02}:{:02} UTC", minutes.div_euclid(60).rem_euclid(24), minutes.rem_euclid(60))
    }

    /// `2026-11-29 10:35 UTC`.
    pub fn to_the_minute(self) -> String {
        let (year, month, day) = date(self.0.div_euclid(86_400_000));
        format!("{year:04}-{month:02}-{day:02} {}", self.time_of_day())
    }

    /// How long before `later` this moment lies; zero if it does not.
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }
}

/// Year, month and day of a day since the Unix epoch, in the Gregorian calendar (H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`).
fn date(days: i64) -> (i64, i64, i64) {
    // Days since the first of March of year 0; an era is 400 years.
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The clock of the management cluster's API server. It dates what Kubernetes objects contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kubernetes;

/// The clock of AWS in one region. It dates what AWS's responses contain. Its services have clocks of
/// their own, which differ by seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aws;

/// A moment by another clock than the manager's, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct TimeOf<C> {
    millis: i64,
    clock: PhantomData<C>,
}

/// A moment by the API server's clock.
pub type KubernetesTime = TimeOf<Kubernetes>;

/// A moment by AWS's clock.
pub type AwsTime = TimeOf<Aws>;

impl<C> TimeOf<C> {
    /// That many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self { millis, clock: PhantomData }
    }

    /// Milliseconds since the Unix epoch.
    pub fn millis(&self) -> i64 {
        self.millis
    }

    /// This moment plus `duration`.
    #[must_use]
    pub fn plus(&self, duration: Duration) -> Self {
        Self::from_millis(Timestamp(self.millis).plus(duration).0)
    }

    /// How long before `later`, by the same clock, this moment lies; zero if it does not.
    #[expect(clippy::needless_pass_by_value, reason = "a moment is a number, of whatever clock")]
    pub fn until(&self, later: Self) -> Duration {
        Timestamp(self.millis).until(Timestamp(later.millis))
    }
}

/// By how much the manager's clock is ahead of another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct Difference<C> {
    ahead: i64,
    clock: PhantomData<C>,
}

impl<C> Difference<C> {
    /// The manager's clock is ahead by that many milliseconds; negative if it is behind.
    pub const fn ahead_by(millis: i64) -> Self {
        Self { ahead: millis, clock: PhantomData }
    }

    /// Milliseconds by which the manager's clock is ahead; negative if it is behind.
    pub fn millis(&self) -> i64 {
        self.ahead
    }

    /// When the manager's clock shows what the other clock dated.
    #[expect(clippy::needless_pass_by_value, reason = "a moment is a number, of whatever clock")]
    pub fn local(&self, remote: TimeOf<C>) -> Timestamp {
        Timestamp(remote.millis.saturating_add(self.ahead))
    }

    /// What the other clock shows at a moment of the manager's.
    pub fn remote(&self, local: Timestamp) -> TimeOf<C> {
        TimeOf::from_millis(local.0.saturating_sub(self.ahead))
    }
}

/// What a comparison of the manager's clock with another one has found. Without measurement the default: no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Comparison<C> {
    /// The difference; while it is unknown the last one, or zero.
    pub difference: Difference<C>,
    /// Whether the clocks agree.
    pub agreement: Agreement,
}

impl<C> Comparison<C> {
    /// How old what the other clock dated is at a moment of the manager's; zero if it lies ahead. `None` while the clocks do not agree:
    /// then no age is known well enough to delete or end anything because of it.
    #[expect(clippy::needless_pass_by_value, reason = "a moment is a number, of whatever clock")]
    pub fn age(&self, theirs: TimeOf<C>, now: Timestamp) -> Option<Duration> {
        self.agreement.proves_ages().then(|| theirs.until(self.difference.remote(now)))
    }

    /// When the manager's clock shows what the other clock dated.
    pub fn local(&self, remote: TimeOf<C>) -> Timestamp {
        self.difference.local(remote)
    }

    /// What the other clock shows at a moment of the manager's.
    pub fn remote(&self, local: Timestamp) -> TimeOf<C> {
        self.difference.remote(local)
    }
}

/// Whether the manager's clock and another one agree, so that ages of what that one dated are facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Agreement {
    /// The difference is measured and small.
    #[default]
    Agree,
    /// The difference has not been measured yet, or the last measurements contradict each other.
    Unknown,
    /// The difference is measured and so large that one of the clocks is wrong. Which one is unknown.
    Differ,
}

impl Agreement {
    /// Whether an age may be the reason for a deletion.
    pub fn proves_ages(self) -> bool {
        self == Self::Agree
    }
}

/// A whole number of seconds, as Kubernetes and AWS fields count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub u32);

impl std::fmt::Display for Seconds {
    /// `900 s`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s", self.0)
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        Self::from_secs(u64::from(seconds.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp(1_700_000_000_000);
    const HALF_HOUR: i64 = 1_800_000;

    #[test]
    fn a_moment_is_shown_with_its_date() {
        let shown = |seconds: i64| Timestamp(seconds * 1_000).to_the_minute();
        assert_eq!(shown(0), "1970-01-01 00:00 UTC");
        assert_eq!(shown(-1), "1969-12-31 23:59 UTC");
        assert_eq!(shown(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(shown(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(shown(951_868_800), "2000-03-01 00:00 UTC");
        assert_eq!(shown(1_700_000_000), "2023-11-14 22:13 UTC");
        assert_eq!(shown(1_772_323_199), "2026-02-28 23:59 UTC");
        assert_eq!(shown(1_772_323_200), "2026-03-01 00:00 UTC");
        assert_eq!(shown(4_107_542_400), "2100-03-01 00:00 UTC");
    }

    #[test]
    fn an_age_is_measured_by_the_clock_that_dated_it() {
        for ahead in [-200_000, 0, 200_000] {
            let difference = Difference::<Aws>::ahead_by(ahead);
            let compared = Comparison { difference, agreement: Agreement::Agree };
            let made = AwsTime::from_millis(NOON.0 - ahead - 60_000);
            assert_eq!(compared.age(made, NOON), Some(Duration::from_mins(1)), "{ahead}");
            assert_eq!(compared.local(made), NOON.minus(Duration::from_mins(1)));
            assert_eq!(compared.remote(compared.local(made)), made);
        }
    }

    #[test]
    fn without_agreement_there_is_no_age() {
        for agreement in [Agreement::Unknown, Agreement::Differ] {
            let compared = Comparison { difference: Difference::<Aws>::ahead_by(HALF_HOUR), agreement };
            assert_eq!(compared.age(AwsTime::from_millis(0), NOON), None);
        }
    }
}
