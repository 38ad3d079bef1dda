//! How long an object has no pass after failures.
//!
//! kube has no per-object back-off (kube-rs#1916), and its scheduler keeps the *earliest* requested time, so
//! any watch event, including our own status write, would cut a long pause short. Here the pause is recorded
//! per object, and the harness checks [`Backoff::remaining`] before each pass.
//!
//! Time is a parameter; nothing here sleeps.

pub use foo_cloud::retry::jittered;

use foo_cloud::retry::{Jitter, RetryDelays};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A permanently failing create makes at most two calls a minute from its sixth attempt on.
const DELAYS: RetryDelays = RetryDelays { longest: Duration::from_mins(5), jitter: Jitter::Around };
/// While the API server refuses requests because of its load. Its `Retry-After` limits how much the manager sends
/// then ([`crate::client`]), so that a longer pause would only delay the recovery: all objects have a pass within two
/// minutes.
const UNDER_LOAD: RetryDelays = RetryDelays { longest: Duration::from_mins(1), ..DELAYS };
/// Entries that were not used for this long belong to deleted objects.
const FORGET_AFTER: Duration = Duration::from_hours(1);

/// Failures and pauses per object. `Fingerprint` identifies the inputs of the pass that failed: the object's
/// generation, or more where other objects are inputs, too.
#[derive(Debug)]
pub struct Backoff<Key, Fingerprint> {
    seed: u64,
    state: Mutex<State<Key, Fingerprint>>,
}

#[derive(Debug)]
struct State<Key, Fingerprint> {
    entries: HashMap<Key, Entry<Fingerprint>>,
    swept: Option<Instant>,
}

#[derive(Debug)]
struct Entry<Fingerprint> {
    failures: u32,
    fingerprint: Fingerprint,
    not_before: Instant,
}

impl<Key: Eq + Hash + Clone, Fingerprint: PartialEq> Backoff<Key, Fingerprint> {
    /// Nothing has failed yet. `seed` spreads the pauses of several managers; any number.
    pub fn new(seed: u64) -> Self {
        Self { seed, state: Mutex::new(State { entries: HashMap::new(), swept: None }) }
    }

    /// How much longer the object has to wait; `None` when it may have its pass. With other inputs it may
    /// have one at once: the change may fix the failure.
    pub fn remaining(&self, key: &Key, fingerprint: &Fingerprint, now: Instant) -> Option<Duration> {
        let state = self.lock();
        let entry = state.entries.get(key)?;
        if entry.fingerprint != *fingerprint {
            return None;
        }
        entry.not_before.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// A pass over the object failed. Returns how long it waits from now on (1 s doubling to 5 min, ± 20 %).
    pub fn failed(&self, key: &Key, fingerprint: Fingerprint, now: Instant) -> Duration {
        self.pauses(DELAYS, key, fingerprint, now)
    }

    /// The same while the API server refuses requests because of its load: it waits for a minute at most (± 20 %).
    pub fn failed_under_load(&self, key: &Key, fingerprint: Fingerprint, now: Instant) -> Duration {
        self.pauses(UNDER_LOAD, key, fingerprint, now)
    }

    fn pauses(&self, delays: RetryDelays, key: &Key, fingerprint: Fingerprint, now: Instant) -> Duration {
        let mut state = self.lock();
        state.sweep(now);
        let before = state.entries.get(key).filter(|entry| entry.fingerprint == fingerprint);
        let failures = before.map_or(0, |entry| entry.failures).saturating_add(1);
        let pause = delays.after(failures, self.seed, key);
        let not_before = now.checked_add(pause).unwrap_or(now);
        state.entries.insert(key.clone(), Entry { failures, fingerprint, not_before });
        pause
    }

    /// A pass over the object succeeded: the next failure counts as the first.
    pub fn succeeded(&self, key: &Key) {
        self.lock().entries.remove(key);
    }

    /// Number of objects with failures.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether no object has failed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, State<Key, Fingerprint>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Key: Eq + Hash, Fingerprint> State<Key, Fingerprint> {
    /// Drops entries of objects that have not failed for a long time: they were deleted, or recovered.
    fn sweep(&mut self, now: Instant) {
        let due = self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= FORGET_AFTER);
        if due {
            self.entries.retain(|_, entry| now.saturating_duration_since(entry.not_before) < FORGET_AFTER);
            self.swept = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn pauses_double_from_a_second_to_five_minutes() {
        let backoff = Backoff::new(7);
        let now = Instant::now();
        let pauses: Vec<_> = (0..12).map(|_| backoff.failed(&"pool", Some(1), now)).collect();
        for (at, pause) in pauses.iter().enumerate() {
            let nominal = seconds(1 << at.min(9)).min(DELAYS.longest);
            assert!(*pause >= nominal * 8 / 10 && *pause <= nominal * 12 / 10, "{at}: {pause:?}");
        }
        assert!(pauses[5] >= seconds(25), "two calls a minute from the sixth attempt on");
    }

    #[test]
    fn under_load_pauses_end_after_a_minute() {
        let backoff = Backoff::new(7);
        let now = Instant::now();
        let pauses = (0..12).map(|_| backoff.failed_under_load(&"pool", Some(1), now));
        assert!(pauses.max().unwrap() <= seconds(72));
        assert!(backoff.failed(&"pool", Some(1), now) >= seconds(240), "the failures count nevertheless");
    }

    #[test]
    fn only_time_shortens_a_backoff() {
        let backoff = Backoff::new(7);
        let start = Instant::now();
        let pause = backoff.failed(&"pool", Some(1), start);
        assert_eq!(backoff.remaining(&"pool", &Some(1), start), Some(pause));
        assert!(backoff.remaining(&"pool", &Some(1), start + pause / 2).is_some());
        assert_eq!(backoff.remaining(&"pool", &Some(1), start + pause), None);
        assert_eq!(backoff.remaining(&"other", &Some(1), start), None);
    }

    #[test]
    fn new_inputs_are_tried_at_once_and_reset_the_backoff() {
        let backoff = Backoff::new(7);
        let now = Instant::now();
        for _ in 0..8 {
            backoff.failed(&"pool", Some(1), now);
        }
        assert_eq!(backoff.remaining(&"pool", &Some(2), now), None);
        assert!(backoff.failed(&"pool", Some(2), now) < seconds(2));
    }

    #[test]
    fn success_resets_the_backoff() {
        let backoff = Backoff::new(7);
        let now = Instant::now();
        for _ in 0..8 {
            backoff.failed(&"pool", Some(1), now);
        }
        backoff.succeeded(&"pool");
        assert_eq!(backoff.remaining(&"pool", &Some(1), now), None);
        assert!(backoff.failed(&"pool", Some(1), now) < seconds(2));
    }

    #[test]
    fn deleted_objects_are_forgotten() {
        let backoff = Backoff::new(7);
        let now = Instant::now();
        backoff.failed(&"gone", Some(1), now);
        backoff.failed(&"here", Some(1), now + seconds(7200));
        assert_eq!(backoff.len(), 1);
    }
}
