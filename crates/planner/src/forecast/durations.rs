//! How long a forecast assumes that things take.

use std::time::Duration;

/// How long things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durations {
    /// From the launch of an instance until its Node is Ready.
    pub launch: Duration,
    /// From the deletion of a Machine until its Node is drained.
    pub drain: Duration,
    /// From the termination of an instance until it has left the group.
    pub termination: Duration,
}
