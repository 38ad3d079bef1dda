//! One clock for all components: tokio's, which is paused and jumps, seen as a time of day.

use foo_model::Timestamp;
use foo_simulator_core::Simulator;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How far a clock is from the true one, in milliseconds. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Shift(Arc<Mutex<Change>>);

/// From when on, from where, and to where it moves.
#[derive(Default)]
struct Change {
    since: Option<Instant>,
    from: i64,
    to: i64,
}

impl Shift {
    /// The clock is ahead by that much, and was so from the beginning.
    pub(crate) fn starts(&self, ahead: i64) {
        *self.change() = Change { since: None, from: ahead, to: ahead };
    }

    /// An administrator sets the machine's clock. The manager's follows as [`foo_cloud::SystemClock`] does: forward at
    /// double the pace, back at half of it.
    pub(crate) fn moves_to(&self, ahead: i64) {
        let from = self.ahead();
        *self.change() = Change { since: Some(Instant::now()), from, to: ahead };
    }

    /// What the clock shows at this moment.
    pub(crate) fn of(&self, now: Timestamp) -> Timestamp {
        Timestamp(now.0 + self.ahead())
    }

    fn ahead(&self) -> i64 {
        let change = self.change();
        let Some(since) = change.since else { return change.to };
        let passed = i64::try_from(since.elapsed().as_millis()).unwrap();
        if change.to < change.from {
            (change.from - passed / 2).max(change.to)
        } else {
            (change.from + passed).min(change.to)
        }
    }

    fn change(&self) -> std::sync::MutexGuard<'_, Change> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time of day. The simulator's own clock is kept at it.
///
/// While tokio's clock is paused, everything between two sleeps happens in the same instant, and it could not be
/// determined whether AWS was read before or after it was changed. So the time of day is a millisecond later each time
/// a component asks.
#[derive(Clone)]
pub(crate) struct Time {
    aws: Simulator,
    start: Timestamp,
    began: Instant,
    /// How much time passed for everything but AWS.
    skipped: Arc<Mutex<Duration>>,
    last: Arc<Mutex<Timestamp>>,
}

impl Time {
    /// The clock of this simulator.
    pub(crate) fn of(aws: &Simulator) -> Self {
        let start = aws.now();
        Self {
            aws: aws.clone(),
            start,
            began: Instant::now(),
            skipped: Arc::default(),
            last: Arc::new(Mutex::new(start)),
        }
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.move_to(|passed, last| passed.max(last.plus(Duration::from_millis(1))))
    }

    /// Now, as Kubernetes writes it.
    pub(crate) fn kubernetes(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.now().0).unwrap()
    }

    /// The clocks of everything but AWS are set forward.
    pub(crate) fn leaves_aws_behind(&self, by: Duration) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *self.skipped.lock().unwrap_or_else(PoisonError::into_inner) += by;
        *last = last.plus(by);
    }

    /// Moves AWS on to the present.
    pub(crate) fn catch_up(&self) {
        self.move_to(Ord::max);
    }

    fn move_to(&self, choose: impl FnOnce(Timestamp, Timestamp) -> Timestamp) -> Timestamp {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = *self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        let now = choose(self.start.plus(self.began.elapsed()).plus(skipped), *last);
        self.aws.step(last.until(now));
        *last = now;
        now
    }
}
