//! What a look finds, and how often there is one.

use foo_model::{Group, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// How often to look. All periods are lower bounds of the time between two looks at the same group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// For groups in which nothing is expected to happen; grows with their number beyond 500 (5 pages).
    pub quiet_period: Duration,
    /// For groups with work in flight, right after a change.
    pub active_shortest: Duration,
    /// For groups with work in flight in which nothing changes; reached by doubling.
    pub active_longest: Duration,
    /// For groups in which things end in their own time; longer than the planner gathers ends, so that the look that follows
    /// them is the only one.
    pub patient_period: Duration,
    /// How long after a change of ours AWS is asked whether it took effect.
    pub settle: Duration,
    /// Longest pause after failures.
    pub longest_backoff: Duration,
    /// How long ids of instances are collected before they are asked for together.
    pub details_window: Duration,
    /// Between two looks at all launch templates, and before the first: they are read when a pool needs one, and the
    /// list only finds what others change behind our back.
    pub templates_period: Duration,
    /// The tag key that marks our launch templates.
    pub template_tag: String,
    /// Spreads the retries of several managers; any number.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            quiet_period: Duration::from_secs(30),
            active_shortest: Duration::from_secs(2),
            active_longest: Duration::from_secs(10),
            patient_period: Duration::from_secs(20),
            settle: Duration::from_secs(1),
            longest_backoff: Duration::from_mins(1),
            details_window: Duration::from_millis(75),
            templates_period: Duration::from_hours(1),
            template_tag: "infrastructure.foo.com/pool".to_owned(),
            seed: 0,
        }
    }
}

/// One look at a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// When it was taken: the moment before the call was sent. A change made before it is in it (as far as AWS is
    /// consistent); a change made after it may not be.
    pub at: Timestamp,
    /// What was there.
    pub seen: Seen,
}

/// What a look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// No group of that name.
    Absent,
    /// The group; its instances are sorted by id.
    Present(Arc<Group>),
}

/// How closely a group is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Nothing is expected to happen.
    Quiet,
    /// Something ends in its own time, and nothing is to be done when it does.
    Patient,
    /// Something of ours is in flight.
    Active,
}
