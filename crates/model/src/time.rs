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

    /// How long before `later` this moment lies; zero if it does not.
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }
}

/// The clock of the management cluster's API server. It dates what Kubernetes objects contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kubernetes {}

/// A moment by another clock than the manager's, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOf<C> {
    millis: i64,
    clock: PhantomData<C>,
}

/// A moment by the API server's clock.
pub type KubernetesTime = TimeOf<Kubernetes>;

impl<C> TimeOf<C> {
    /// That many milliseconds after the Unix epoch.
    pub fn from_millis(millis: i64) -> Self {
        Self { millis, clock: PhantomData }
    }

    /// Milliseconds since the Unix epoch.
    pub fn millis(&self) -> i64 {
        self.millis
    }
}

/// By how much the manager's clock is ahead of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<C> {
    ahead: i64,
    clock: PhantomData<C>,
}

impl<C> Difference<C> {
    /// The manager's clock is ahead by that many milliseconds; negative if it is behind.
    pub fn ahead_by(millis: i64) -> Self {
        Self { ahead: millis, clock: PhantomData }
    }

    /// Milliseconds by which the manager's clock is ahead; negative if it is behind.
    pub fn millis(&self) -> i64 {
        self.ahead
    }

    /// When the manager's clock shows what the other clock dated.
    #[expect(clippy::needless_pass_by_value, reason = "a moment is a number, of whatever clock")]
    pub fn ours(&self, theirs: TimeOf<C>) -> Timestamp {
        Timestamp(theirs.millis.saturating_add(self.ahead))
    }

    /// What the other clock shows at a moment of the manager's.
    pub fn theirs(&self, ours: Timestamp) -> TimeOf<C> {
        TimeOf::from_millis(ours.0.saturating_sub(self.ahead))
    }
}

/// Whether the manager's clock and the API server's agree, so that ages of Kubernetes objects are facts.
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
