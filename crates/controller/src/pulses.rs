//! When each watch last received something valid from the API server: reveals a cache that is not updated any more.

use crate::labels::Watched;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A watch that received nothing valid for this long is broken, and so are the lists that replace it. The API server
/// sends a bookmark each minute and ends a watch after five.
pub const LONGEST_SILENCE: Duration = Duration::from_mins(10);

/// When each watch last received something valid. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pulses(Arc<Mutex<BTreeMap<Watched, Vec<Pulse>>>>);

/// The same of one watch.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Mutex<Instant>>);

impl Pulses {
    /// Adds a watch of this kind, which begins now.
    pub(crate) fn of(&self, kind: Watched) -> Pulse {
        let pulse = Pulse(Arc::new(Mutex::new(Instant::now())));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default().push(pulse.clone());
        pulse
    }

    /// Per kind, how long the watch with the oldest pulse has received nothing valid.
    pub fn silences(&self) -> BTreeMap<Watched, Duration> {
        let kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = |pulses: &Vec<Pulse>| pulses.iter().map(Pulse::silence).max().unwrap_or_default();
        kinds.iter().map(|(kind, pulses)| (*kind, longest(pulses))).collect()
    }
}

impl Pulse {
    /// A list was complete, an object changed, or a bookmark arrived.
    pub(super) fn beats(&self) {
        *self.at() = Instant::now();
    }

    /// How long this watch has received nothing valid.
    pub fn silence(&self) -> Duration {
        self.at().elapsed()
    }

    fn at(&self) -> MutexGuard<'_, Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
