//! When each watch last heard from the API server: a cache that is not kept up to date any more shows itself.

use crate::metrics::Watched;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A watch that heard nothing good for this long is broken. The API server sends a bookmark a minute, and ends a watch after five.
pub const SILENT_FOR_LONG: Duration = Duration::from_mins(10);

/// When each watch last heard something good. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pulses(Arc<Mutex<BTreeMap<Watched, Vec<Pulse>>>>);

/// When one watch did.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Mutex<Instant>>);

impl Pulses {
    /// That of one more watch of this kind; it begins now.
    pub(crate) fn of(&self, kind: Watched) -> Pulse {
        let pulse = Pulse(Arc::new(Mutex::new(Instant::now())));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default().push(pulse.clone());
        pulse
    }

    /// For how long the most silent watch of each kind has heard nothing good.
    pub fn silences(&self) -> BTreeMap<Watched, Duration> {
        let kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = |pulses: &Vec<Pulse>| pulses.iter().map(Pulse::silence).max().unwrap_or_default();
        kinds.iter().map(|(kind, pulses)| (*kind, longest(pulses))).collect()
    }
}

impl Pulse {
    /// A list was complete, something changed, or the API server said that nothing has.
    pub(super) fn beats(&self) {
        *self.at() = Instant::now();
    }

    /// For how long nothing good was heard.
    pub fn silence(&self) -> Duration {
        self.at().elapsed()
    }

    fn at(&self) -> MutexGuard<'_, Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
