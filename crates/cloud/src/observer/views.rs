//! What an observation contains, and how often groups are observed.

use foo_model::{Group, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// How often to observe. All periods are lower bounds of the time between two observations of the same group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// For groups in which no change is expected; grows with their number beyond 500 (5 pages).
    pub quiet_period: Duration,
    /// For groups with work in progress, right after a change.
    pub active_shortest: Duration,
    /// For groups with work in progress in which nothing changes; reached by doubling.
    pub active_longest: Duration,
    /// For groups whose work takes its own time; longer than the planner collects terminations, so that the
    /// observation after them is the only one.
    pub patient_period: Duration,
    /// How long after our own change the group is observed.
    pub settle: Duration,
    /// Longest pause after failures.
    pub longest_backoff: Duration,
    /// How long ids of instances are collected before they are requested together.
    pub details_window: Duration,
    /// Between two lists of all launch templates. The first one, with the latest version of each, is what idle pools
    /// need to know after a start; otherwise templates are read when a pool needs one, and the list only detects
    /// changes by others.
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

/// One observation of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The moment before the call was sent. It includes changes made before (as far as AWS is consistent); it
    /// may lack changes made after.
    pub at: Timestamp,
    /// What was observed.
    pub seen: Seen,
}

/// What an observation found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// No group of that name.
    Absent,
    /// The group; its instances are sorted by id.
    Present(Arc<Group>),
}

/// How often a group is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// No change is expected.
    Quiet,
    /// Work in progress takes its own time and needs no action when it completes.
    Patient,
    /// Our own work is in progress.
    Active,
}
