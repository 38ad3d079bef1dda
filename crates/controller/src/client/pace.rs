//! How many writes the controllers send at the same time: as many as the API server responds in time; and when
//! nothing is sent at all, because the API server asked to wait.
//!
//! A slow API server gets fewer writes instead of more, because each write that waits there takes time from all
//! others, the renewal of the Lease among them. The number of reads is not limited here: caches have to fill.
//!
//! All requests wait for the `Retry-After` of a response to any of them. The API server limits concurrency by priority
//! level (Kubernetes documentation, "API Priority and Fairness"). The requests of the controllers are all in that of
//! ServiceAccounts unless an administrator adds FlowSchemas, and which level a request will be in is unknown before
//! the response.

use http::StatusCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Writes at the same time while the API server is fast: two for each of a controller's default concurrent passes.
const MOST: f64 = 32.0;
/// Writes at the same time before an API server that responds late: the manager continues, and one write that hangs
/// stops nothing.
const FEWEST: f64 = 2.0;
/// A healthy API server completes a write within a fraction of this; its own limit is a minute.
const SLOW: Duration = Duration::from_secs(2);
/// How much room a write that got a response in time adds, divided by the room: one more write after as many responses.
const MORE: f64 = 1.0;

/// Room for writes. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    state: Arc<Mutex<State>>,
    freed: Arc<Notify>,
}

#[derive(Debug)]
struct State {
    room: f64,
    under_way: u32,
    /// When the room was halved last: responses to requests that were sent before add nothing.
    halved: Option<Instant>,
    /// The API server asked to wait until then, with reads and writes.
    not_before: Option<Instant>,
}

/// A write under way. Dropping it frees room for another one.
#[derive(Debug)]
pub(super) struct Turn {
    pace: Pace,
    sent: Instant,
}

impl Default for Pace {
    fn default() -> Self {
        let state = State { room: MOST, under_way: 0, halved: None, not_before: None };
        Self { state: Arc::new(Mutex::new(state)), freed: Arc::default() }
    }
}

impl Pace {
    /// Waits for room.
    pub(super) async fn turn(&self) -> Turn {
        loop {
            let freed = self.freed.notified();
            let next = self.lock().take(Instant::now());
            match next {
                Next::Now => return Turn { pace: self.clone(), sent: Instant::now() },
                Next::At(moment) => {
                    tokio::pin!(freed);
                    tokio::select! {
                        () = freed => {}
                        () = sleep_until(moment) => {}
                    }
                }
                Next::Later => freed.await,
            }
        }
    }

    /// Waits as long as the API server asked to: all that a request waits for that is no write.
    pub(super) async fn accepts(&self) {
        loop {
            let until = self.lock().waits_until(Instant::now());
            match until {
                Some(moment) => sleep_until(moment).await,
                None => return,
            }
        }
    }

    /// The API server asked, in a response to any request, to wait for this long.
    pub(super) fn is_to_wait(&self, retry_after: Option<Duration>) {
        self.lock().is_to_wait(Instant::now(), retry_after);
    }

    /// How many writes may be under way at present.
    pub(super) fn room(&self) -> f64 {
        self.lock().room
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When a write may be sent.
enum Next {
    Now,
    At(Instant),
    /// After another one.
    Later,
}

impl State {
    fn take(&mut self, now: Instant) -> Next {
        if let Some(moment) = self.waits_until(now) {
            return Next::At(moment);
        }
        if f64::from(self.under_way) + 1.0 > self.room {
            return Next::Later;
        }
        self.under_way += 1;
        Next::Now
    }

    fn waits_until(&self, now: Instant) -> Option<Instant> {
        self.not_before.filter(|moment| *moment > now)
    }

    fn is_to_wait(&mut self, now: Instant, retry_after: Option<Duration>) {
        if let Some(until) = retry_after.and_then(|wait| now.checked_add(wait.min(LONGEST_WAIT))) {
            self.not_before = self.not_before.max(Some(until));
        }
    }

    fn completed(&mut self, sent: Instant, now: Instant, overloaded: bool) {
        if overloaded || now.saturating_duration_since(sent) > SLOW {
            if self.halved.is_none_or(|halved| sent >= halved) {
                self.room = (self.room / 2.0).max(FEWEST);
                self.halved = Some(now);
            }
        } else {
            self.room = (self.room + MORE / self.room).min(MOST);
        }
    }
}

impl Turn {
    /// The API server responded with this status, or not at all; `retry_after` is what it asked to wait.
    pub(super) fn completed(&self, status: Option<StatusCode>, retry_after: Option<Duration>) {
        let overloaded = status.is_none_or(|status| {
            matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
            )
        });
        let now = Instant::now();
        let mut state = self.pace.lock();
        state.completed(self.sent, now, overloaded);
        state.is_to_wait(now, retry_after);
    }
}

/// The longest wait that the API server may ask for: what it asks for at most while a priority level is full
/// (`dropped_requests_tracker.go` of k8s.io/apiserver; it begins with one second).
const LONGEST_WAIT: Duration = Duration::from_secs(32);

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.pace.lock();
        state.under_way = state.under_way.saturating_sub(1);
        drop(state);
        // More than one may have room now; each that does not waits again.
        self.pace.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Sends `many` writes at once to a server that responds to each after this time; the most that were under way
    /// together among the last half, and how long all took.
    async fn sends(pace: &Pace, many: u32, takes: Duration, status: StatusCode) -> (u32, Duration) {
        let (under_way, most, began) =
            (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)), Instant::now());
        let mut writes = tokio::task::JoinSet::new();
        let done = Arc::new(AtomicU32::new(0));
        for _ in 0..many {
            let (pace, under_way, most, done) =
                (pace.clone(), Arc::clone(&under_way), Arc::clone(&most), Arc::clone(&done));
            writes.spawn(async move {
                let turn = pace.turn().await;
                let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                if done.load(Ordering::SeqCst) >= many / 2 {
                    most.fetch_max(now, Ordering::SeqCst);
                }
                tokio::time::sleep(takes).await;
                turn.completed(Some(status), None);
                under_way.fetch_sub(1, Ordering::SeqCst);
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        while writes.join_next().await.is_some() {}
        (most.load(Ordering::SeqCst), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_fast_api_server_gets_the_full_rate() {
        let (most, took) = sends(&Pace::default(), 640, Duration::from_millis(50), StatusCode::OK).await;
        assert_eq!(most, 32);
        assert_eq!(took, Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_api_server_gets_few_writes_at_a_time_and_finally_all() {
        let pace = Pace::default();
        let (most, _) = sends(&pace, 200, Duration::from_secs(5), StatusCode::OK).await;
        assert!(most <= 4, "{most} at a time");
        sends(&pace, 2_000, Duration::from_millis(50), StatusCode::OK).await;
        assert!(pace.room() > 31.0, "it recovers: {}", pace.room());
    }

    #[tokio::test(start_paused = true)]
    async fn overload_errors_and_slow_responses_reduce_the_rate_and_other_errors_do_not() {
        for (status, few) in [(504, true), (429, true), (503, true), (409, false), (404, false), (500, false)]
        {
            let pace = Pace::default();
            sends(&pace, 300, Duration::from_millis(50), StatusCode::from_u16(status).unwrap()).await;
            assert_eq!(pace.room() <= FEWEST, few, "{status}: {}", pace.room());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retry_after_is_honoured() {
        let (pace, began) = (Pace::default(), Instant::now());
        pace.turn().await.completed(Some(StatusCode::TOO_MANY_REQUESTS), Some(Duration::from_secs(3)));
        drop(pace.turn().await);
        assert_eq!(began.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_api_server_asks_of_one_request_holds_for_reads_and_writes_up_to_half_a_minute() {
        let (pace, began) = (Pace::default(), Instant::now());
        pace.accepts().await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        pace.is_to_wait(Some(Duration::from_secs(8)));
        pace.is_to_wait(Some(Duration::from_secs(2)));
        pace.is_to_wait(None);
        pace.accepts().await;
        drop(pace.turn().await);
        assert_eq!(began.elapsed(), Duration::from_secs(8), "the longest wait counts");
        pace.is_to_wait(Some(Duration::from_hours(1)));
        pace.accepts().await;
        assert_eq!(began.elapsed(), Duration::from_secs(8) + LONGEST_WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn the_full_rate_is_back_two_minutes_after_an_hour_of_refusals() {
        let pace = Pace::default();
        sends(&pace, 400, Duration::from_secs(18), StatusCode::TOO_MANY_REQUESTS).await;
        assert!(pace.room() <= FEWEST, "{}", pace.room());
        let (_, took) = sends(&pace, 1_000, Duration::from_millis(100), StatusCode::OK).await;
        assert!(pace.room() > 31.0 && took < Duration::from_mins(2), "{} after {took:?}", pace.room());
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_is_dropped_makes_room() {
        let pace = Pace::default();
        let turns = futures::future::join_all((0..32).map(|_| pace.turn())).await;
        let waiting = tokio::spawn({
            let pace = pace.clone();
            async move { drop(pace.turn().await) }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!waiting.is_finished());
        drop(turns);
        waiting.await.unwrap();
    }
}
