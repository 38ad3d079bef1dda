//! When the API server last refused a request of the controllers because of its load: passes that fail then are
//! repeated sooner afterwards ([`crate::backoff`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A pass that fails within this time after a refusal may have failed because of it.
const RECENT: Duration = Duration::from_mins(1);

/// The last response with 429. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overload(Arc<Mutex<Option<Instant>>>);

impl Overload {
    /// The API server refused a request now.
    pub(crate) fn refused(&self) {
        *self.last() = Some(Instant::now());
    }

    /// Whether it refused one within the last minute.
    pub(crate) fn is_recent(&self) -> bool {
        self.last().is_some_and(|last| last.elapsed() < RECENT)
    }

    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_recent_for_a_minute() {
        let overload = Overload::default();
        assert!(!overload.is_recent());
        overload.refused();
        tokio::time::sleep(RECENT / 2).await;
        assert!(overload.is_recent());
        tokio::time::sleep(RECENT / 2).await;
        assert!(!overload.is_recent());
    }
}
