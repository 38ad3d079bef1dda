//! One clock for everybody: tokio's, which is paused and jumps, seen as a time of day.

use foo_model::Timestamp;
use foo_simulator::Simulator;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time of day. The simulator's own clock is kept at it.
///
/// While tokio's clock is paused, everything between two sleeps happens in the same instant, and it could not be told
/// whether AWS was looked at before or after it was changed. So the time of day is a millisecond later each time
/// somebody asks.
#[derive(Clone)]
pub(crate) struct Time {
    aws: Simulator,
    start: Timestamp,
    began: Instant,
    last: Arc<Mutex<Timestamp>>,
}

impl Time {
    /// The clock of this simulator.
    pub(crate) fn of(aws: &Simulator) -> Self {
        let start = aws.now();
        Self { aws: aws.clone(), start, began: Instant::now(), last: Arc::new(Mutex::new(start)) }
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.move_to(|passed, last| passed.max(last.plus(Duration::from_millis(1))))
    }

    /// Now, as Kubernetes writes it.
    pub(crate) fn kubernetes(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.now().0).unwrap()
    }

    /// Moves AWS on to the present.
    pub(crate) fn catch_up(&self) {
        self.move_to(Ord::max);
    }

    fn move_to(&self, choose: impl FnOnce(Timestamp, Timestamp) -> Timestamp) -> Timestamp {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = choose(self.start.plus(self.began.elapsed()), *last);
        self.aws.step(last.until(now));
        *last = now;
        now
    }
}
