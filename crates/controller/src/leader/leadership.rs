//! Whether this process leads right now, for all code that is about to change something.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// A leadership that expires unless it is extended in time. Clones share it.
#[derive(Clone, Debug)]
pub struct Leadership {
    start: Instant,
    /// Milliseconds since `start`.
    until: Arc<AtomicU64>,
}

impl Leadership {
    /// Not leading; moments count from `start`.
    pub(crate) fn none(start: Instant) -> Self {
        Self { start, until: Arc::new(AtomicU64::new(0)) }
    }

    /// Always leads: for a manager without election, which runs as a single replica.
    pub fn always() -> Self {
        Self { start: Instant::now(), until: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Whether this process leads now. A call that is sent while it does ends before another replica leads,
    /// as long as it takes less time than the difference between lease duration and renew deadline.
    pub fn holds(&self) -> bool {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        now < self.until.load(Ordering::Acquire)
    }

    pub(super) fn ends_at(&self, until: Option<Duration>) {
        let until = until.map_or(0, |until| u64::try_from(until.as_millis()).unwrap_or(0));
        self.until.store(until, Ordering::Release);
    }
}
