//! A watchdog over a loop that runs as long as the process: the loop announces by when it makes progress in any case,
//! and another task notices if it did not. It ends nothing.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// Kept by the loop. Clones are the same watchdog.
#[derive(Clone, Debug, Default)]
pub struct Watchdog(Arc<Mutex<Option<Instant>>>);

/// Kept by the task that checks. It does not keep the watchdog alive.
#[derive(Clone, Debug)]
pub struct WeakWatchdog(Weak<Mutex<Option<Instant>>>);

impl Watchdog {
    /// The loop turns again within this time; everything that it waits for until then has its own timeout.
    pub fn expects(&self, within: Duration) {
        self.set(Instant::now().checked_add(within));
    }

    /// The loop turns again at this moment, or when something happens; without a moment it waits for what may
    /// never happen.
    pub fn expects_at(&self, moment: Option<Instant>) {
        self.set(moment);
    }

    /// The loop waits for what may never happen.
    pub fn rests(&self) {
        self.set(None);
    }

    /// The handle of the task that checks.
    pub fn downgrade(&self) -> WeakWatchdog {
        WeakWatchdog(Arc::downgrade(&self.0))
    }

    fn set(&self, until: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

impl WeakWatchdog {
    /// How long ago the loop should have turned; `None` if the loop no longer exists.
    pub fn overdue(&self) -> Option<Duration> {
        let watchdog = self.0.upgrade()?;
        let until = *watchdog.lock().unwrap_or_else(PoisonError::into_inner);
        Some(until.map_or(Duration::ZERO, |until| Instant::now().saturating_duration_since(until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_loop_without_progress_is_overdue_and_an_idle_one_is_not() {
        let watchdog = Watchdog::default();
        let seen = watchdog.downgrade();
        tokio::time::advance(Duration::from_hours(1)).await;
        assert_eq!(seen.overdue(), Some(Duration::ZERO), "it has announced nothing yet");
        watchdog.expects(Duration::from_secs(10));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(seen.overdue(), Some(Duration::ZERO));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(seen.overdue(), Some(Duration::from_secs(5)));
        watchdog.rests();
        assert_eq!(seen.overdue(), Some(Duration::ZERO));
        drop(watchdog);
        assert_eq!(seen.overdue(), None);
    }
}
