//! One result per question, the newest; one call at a time for each.

use super::known::{Freshness, Known, ReadResult};
use crate::error::CloudError;
use crate::retry::{Jitter, RetryDelays};
use crate::{Clock, Result};
use foo_model::{Operation, Timestamp};
use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Deadline of a call: longer than the SDK's own limits for one attempt.
const LONGEST_CALL: Duration = Duration::from_secs(45);
/// Maximum time that a caller waits for a result, by its own call or another's.
const LONGEST_WAIT: Duration = Duration::from_secs(90);
/// A result that no caller requested in this time is dropped.
const UNUSED: Duration = Duration::from_hours(1);
/// After failures a read is retried after at most this long: a missing permission is granted by a user who waits.
const DELAYS: RetryDelays = RetryDelays { longest: Duration::from_mins(1), jitter: Jitter::Shorter };

/// The results of all questions of one type.
pub(crate) struct SharedReads<Q, T> {
    slots: Mutex<HashMap<Q, Slot<T>>>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct Slot<T> {
    /// The caller that has this lock calls AWS; the other callers wait for it and take the result.
    turn: Arc<tokio::sync::Mutex<()>>,
    used: Instant,
    last_read: Option<ReadResult<T>>,
    failed: Option<Failed>,
}

/// The last failure, if no read has succeeded since.
#[derive(Clone, Debug)]
struct Failed {
    began: Timestamp,
    /// When the question may be asked again.
    until: Instant,
    /// How many there were in a row.
    times: u32,
    error: CloudError,
}

impl<Q: Clone + Eq + Hash, T> SharedReads<Q, T> {
    /// None yet; times are those of this clock.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { slots: Mutex::default(), clock }
    }

    /// A result that is new enough, of another caller's call or a new one; otherwise the last one and why there is no
    /// newer. The operation is the one of `call`.
    pub(crate) async fn ask<F: Future<Output = Result<T>>>(
        &self,
        operation: Operation,
        question: &Q,
        freshness: Freshness,
        call: impl FnOnce() -> F,
    ) -> Known<T> {
        let no_response = |within| CloudError::no_response(operation, within);
        let in_time = || async {
            let result = tokio::time::timeout(LONGEST_CALL, call()).await;
            result.unwrap_or_else(|_elapsed| Err(no_response(LONGEST_CALL)))
        };
        let known = tokio::time::timeout(LONGEST_WAIT, self.get(question, freshness, in_time)).await;
        known.unwrap_or_else(|_elapsed| Known {
            last_read: self.last(question),
            failure: Some(no_response(LONGEST_WAIT)),
        })
    }

    async fn get<F: Future<Output = Result<T>>>(
        &self,
        question: &Q,
        freshness: Freshness,
        ask: impl FnOnce() -> F,
    ) -> Known<T> {
        let asked = self.clock.now();
        let earliest = freshness.earliest(asked);
        let turn = match self.known(question, earliest, asked) {
            Ok(known) => return known,
            Err(turn) => turn,
        };
        let _turn = turn.lock().await;
        if let Ok(known) = self.known(question, earliest, asked) {
            return known;
        }
        let began = self.clock.now();
        let result = ask().await;
        self.note(question, began, result)
    }

    /// The newest result, however old.
    pub(crate) fn last(&self, question: &Q) -> Option<ReadResult<T>> {
        self.lock().get(question)?.last_read.clone()
    }

    /// What is known without a call, or whose turn must be waited for.
    fn known(
        &self,
        question: &Q,
        earliest: Timestamp,
        asked: Timestamp,
    ) -> Result<Known<T>, Arc<tokio::sync::Mutex<()>>> {
        let now = Instant::now();
        let mut slots = self.lock();
        if !slots.contains_key(question) {
            slots.retain(|_, slot| now.saturating_duration_since(slot.used) < UNUSED);
        }
        let slot = slots.entry(question.clone()).or_insert_with(|| Slot::unasked(now));
        slot.used = now;
        if let Some(last_read) = slot.last_read.as_ref().filter(|last_read| last_read.began >= earliest) {
            return Ok(Known { last_read: Some(last_read.clone()), failure: None });
        }
        match &slot.failed {
            // Callers that waited for a call that failed share its failure; no caller retries before the pause ends.
            Some(failed) if failed.began >= asked || now < failed.until => {
                Ok(Known { last_read: slot.last_read.clone(), failure: Some(failed.error.clone()) })
            }
            Some(_) | None => Err(Arc::clone(&slot.turn)),
        }
    }

    fn note(&self, question: &Q, began: Timestamp, result: Result<T>) -> Known<T> {
        let now = Instant::now();
        let mut slots = self.lock();
        let slot = slots.entry(question.clone()).or_insert_with(|| Slot::unasked(now));
        match result {
            Ok(value) => {
                let last_read = ReadResult { began, value: Arc::new(value) };
                // A slot that was dropped while its question was on the way may have been filled again by others.
                if slot.last_read.as_ref().is_none_or(|last| last.began <= began) {
                    slot.last_read = Some(last_read.clone());
                    slot.failed = None;
                }
                Known { last_read: Some(last_read), failure: None }
            }
            Err(error) => {
                let times = slot.failed.as_ref().map_or(1, |failed| failed.times.saturating_add(1));
                let until = now.checked_add(DELAYS.after(times, 0, &())).unwrap_or(now);
                slot.failed = Some(Failed { began, until, times, error: error.clone() });
                Known { last_read: slot.last_read.clone(), failure: Some(error) }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Q, Slot<T>>> {
        // Nothing in here panics half way through a change, so a poisoned lock guards sound data.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Slot<T> {
    fn unasked(now: Instant) -> Self {
        Self { turn: Arc::default(), used: now, last_read: None, failed: None }
    }
}
