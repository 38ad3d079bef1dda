//! Results of AWS that are cached for a while, one per question. Callers with the same question share one call.
//!
//! No caller waits long: a call has a deadline, and so has the wait for another caller's call. A failure, a missed
//! deadline included, is cached for a while, so that an AWS that does not respond costs the deadline once and not in
//! every check.

use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long a failure is cached.
const FAILED: Duration = Duration::from_mins(1);
/// The same in front of a cache, which remembers by itself what AWS refuses: as long as [`foo_cloud::Lookups`] remember
/// a transient failure.
const FAILED_BEFORE_CACHE: Duration = Duration::from_secs(5);

/// The results of all questions of one type.
#[derive(Debug)]
pub(crate) struct Cache<Q, T> {
    slots: Mutex<HashMap<Q, Slot<T>>>,
    operation: Operation,
    /// How long a call may take, and the wait for another caller's.
    within: Duration,
    /// How long a response is valid; zero: it is asked for each time.
    serves: fn(&T) -> Duration,
    /// How long a failure is.
    failed: Duration,
}

#[derive(Debug)]
struct Slot<T> {
    /// The caller that has the lock calls AWS; the others wait for it and read.
    known: Arc<tokio::sync::Mutex<Option<Known<T>>>>,
    used: Instant,
}

#[derive(Debug)]
struct Known<T> {
    until: Instant,
    result: Result<T>,
}

impl<Q: Clone + Eq + Hash, T: Clone> Cache<Q, T> {
    /// None yet. Missed deadlines are failures of this operation.
    pub(crate) fn new(operation: Operation, within: Duration, serves: fn(&T) -> Duration) -> Self {
        Self { slots: Mutex::default(), operation, within, serves, failed: FAILED }
    }

    /// Those of a cache, which are not kept here again: what it lacks is the deadline.
    pub(crate) fn of_cache(operation: Operation, within: Duration) -> Self {
        Self { failed: FAILED_BEFORE_CACHE, ..Self::new(operation, within, |_| Duration::ZERO) }
    }

    /// The cached result, or the one that AWS returns in time.
    pub(crate) async fn get(&self, question: &Q, ask: impl Future<Output = Result<T>>) -> Result<T> {
        let late = || {
            let why = format!("no response in {:?}", self.within);
            CloudError::new(self.operation, ErrorKind::Unreachable, None, &why)
        };
        let slot = self.slot(question);
        let Ok(mut known) = timeout(self.within, slot.lock()).await else { return Err(late()) };
        if let Some(known) = known.as_ref().filter(|known| Instant::now() < known.until) {
            return known.result.clone();
        }
        let result = timeout(self.within, ask).await.unwrap_or_else(|_late| Err(late()));
        let serves = result.as_ref().map_or(self.failed, self.serves);
        let now = Instant::now();
        let until = now.checked_add(serves).unwrap_or(now);
        *known = Some(Known { until, result: result.clone() });
        result
    }

    /// A new question is the occasion to forget those without a caller for an hour, longer than any response is valid.
    fn slot(&self, question: &Q) -> Arc<tokio::sync::Mutex<Option<Known<T>>>> {
        const UNUSED: Duration = Duration::from_hours(1);
        let now = Instant::now();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if !slots.contains_key(question) {
            slots.retain(|_, slot| now.saturating_duration_since(slot.used) < UNUSED);
        }
        let slot = slots.entry(question.clone()).or_insert_with(|| Slot { known: Arc::default(), used: now });
        slot.used = now;
        Arc::clone(&slot.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const WITHIN: Duration = Duration::from_secs(2);

    fn cache() -> Cache<&'static str, u32> {
        Cache::new(Operation::GetServiceQuota, WITHIN, |_| Duration::from_mins(10))
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_callers_share_one_deadline() {
        let cache = cache();
        let calls = AtomicU32::new(0);
        let ask = async || {
            let call = async {
                calls.fetch_add(1, Ordering::Relaxed);
                std::future::pending().await
            };
            cache.get(&"a", call).await
        };
        let began = Instant::now();
        let all = futures::future::join_all((0..10).map(|_| ask())).await;
        assert!(all.iter().all(Result::is_err));
        assert_eq!((began.elapsed(), calls.load(Ordering::Relaxed)), (WITHIN, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_cached_for_a_minute_and_results_for_their_time() {
        let cache = cache();
        let late = || cache.get(&"a", std::future::pending());
        let prompt = |number| cache.get(&"a", async move { Ok(number) });
        assert!(late().await.is_err());
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(prompt(1).await.is_err());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(prompt(1).await.unwrap(), 1);
        assert_eq!(cache.get(&"b", async { Ok(2) }).await.unwrap(), 2, "another key");
        assert_eq!(prompt(3).await.unwrap(), 1);
        tokio::time::advance(Duration::from_mins(11)).await;
        assert_eq!(prompt(3).await.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn in_front_of_a_cache_only_failures_are_cached_and_briefly() {
        let cache: Cache<&str, u32> = Cache::of_cache(Operation::DescribeImages, WITHIN);
        assert_eq!(cache.get(&"a", async { Ok(1) }).await.unwrap(), 1);
        assert_eq!(cache.get(&"a", async { Ok(2) }).await.unwrap(), 2, "the cache knows better");
        assert!(cache.get(&"a", std::future::pending()).await.is_err());
        assert!(cache.get(&"a", async { Ok(3) }).await.is_err());
        tokio::time::advance(Duration::from_secs(6)).await;
        assert_eq!(cache.get(&"a", async { Ok(4) }).await.unwrap(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn keys_without_callers_are_dropped() {
        let cache = cache();
        cache.get(&"a", async { Ok(1) }).await.unwrap();
        tokio::time::advance(Duration::from_mins(61)).await;
        cache.get(&"b", async { Ok(1) }).await.unwrap();
        assert_eq!(cache.slots.lock().unwrap().keys().collect::<Vec<_>>(), [&"b"]);
    }
}
