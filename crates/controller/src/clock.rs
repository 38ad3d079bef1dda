//! The clocks: the manager's own, as a parameter, the API server's, which dates what Kubernetes objects contain, and
//! AWS's.
//!
//! Times of each are of a type of their own. [`KubernetesClock`] and `CloudRegion::clock` convert them by the measured
//! difference.
//!
//! A plan without agreement of the clocks deletes nothing because of an age (`Observed::clocks`,
//! `Observed::aws_clock`).
//!
//! * A time of a Kubernetes object in a decision is a `KubernetesTime`, converted by `Difference::ours` where the
//!   object becomes the planner's noun (`pool/inputs/observe.rs`). If its age deletes a Machine or terminates an
//!   instance: `Facts::knows_ages` in `planner/src/situation/facts.rs`, the same in `planner/src/check/`, and the
//!   property `without_agreement_of_the_clocks_no_age_of_a_machine_is_a_reason`.
//! * A time of AWS is an `AwsTime`, dated by `cloud-adapter`, and stays one; its age is `Comparison::age` of
//!   `Observed::aws_clock`, which is `None` while the clocks do not agree. The simulator dates in `sim_cloud/`
//!   (`dated`); `tests/suite/clocks.rs` has AWS's clock ahead and behind.
//! * A machine's clock that was ahead and is set right leaves the manager's ahead, which never goes back.
//!   [`left_ahead`] is when to start the manager again rather than wait for twice the difference.

pub use foo_cloud::{Clock, SystemClock};

use foo_cloud::{Compared, TOLERATED};
use foo_model::{Agreement, Comparison, Kubernetes, KubernetesTime, Timestamp};
use std::time::Duration;
use tokio::time::Instant;

/// The API server's clock, compared with the manager's by the responses of the API server.
pub type KubernetesClock = Compared<Kubernetes>;

/// How often [`left_ahead`] compares the manager's clock with its machine's.
const COMPARED_EVERY: Duration = Duration::from_secs(10);

/// A machine's clock that was set back stays as it is for this long: whoever sets it by hand may be about to correct
/// that.
const SETTLED: Duration = Duration::from_mins(1);

/// The time now by the API server's clock, for conditions and Leases.
pub fn kube_time(clock: &KubernetesClock) -> jiff::Timestamp {
    to_kube(clock.now())
}

/// Converts a moment of the API server's clock to a Kubernetes timestamp.
pub fn to_kube(moment: KubernetesTime) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(moment.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Converts a Kubernetes timestamp to a moment of the API server's clock.
pub fn from_kube(moment: jiff::Timestamp) -> KubernetesTime {
    KubernetesTime::from_millis(moment.as_millisecond())
}

/// A moment of the manager's clock, for users who read logs, messages and debug pages.
pub fn shown(moment: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(moment.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// The API server responded to a request: compares the clocks, and logs when they begin or cease to agree.
pub(crate) fn compare(clock: &KubernetesClock, sent: Instant, headers: &http::HeaderMap) {
    let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
    let parse = |text: &str| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    let Some(date) = date.and_then(parse) else { return };
    clock.responded(sent, Instant::now(), from_kube(date));
    let Some(found) = clock.news() else { return };
    let ahead = found.difference.millis();
    if found.agreement == Agreement::Agree {
        tracing::info!(ahead_milliseconds = ahead, "the clocks of the manager and of the API server agree");
    } else {
        let (how_far, direction) = in_words(ahead);
        tracing::error!(
            ahead_milliseconds = ahead,
            "the manager's clock is {how_far} {direction} the API server's: Machines are not deleted because of their age until the clocks agree"
        );
    }
}

/// Resolves when the machine's clock was set back a minute ago and agrees with the API server's, so that only the
/// manager's is wrong: it follows at half speed, and a manager that starts now begins with the right time.
/// `ahead_of_wall` is [`SystemClock::ahead_of_wall`]; returns its last value.
pub(crate) async fn left_ahead(ahead_of_wall: impl Fn() -> Duration, clock: KubernetesClock) -> Duration {
    let mut since: Option<Instant> = None;
    loop {
        tokio::time::sleep(COMPARED_EVERY).await;
        let ahead = ahead_of_wall();
        if !only_the_managers_is_wrong(ahead, clock.found()) {
            since = None;
        } else if since.get_or_insert_with(Instant::now).elapsed() > SETTLED {
            return ahead;
        }
    }
}

fn only_the_managers_is_wrong(ahead_of_wall: Duration, found: Comparison<Kubernetes>) -> bool {
    let ahead = i64::try_from(ahead_of_wall.as_millis()).unwrap_or(i64::MAX);
    let wall_and_server = Duration::from_millis(found.difference.millis().abs_diff(ahead));
    ahead_of_wall > TOLERATED && found.agreement == Agreement::Differ && wall_and_server <= TOLERATED
}

/// A difference as users read it: it does not change with every second.
pub(crate) fn in_words(ahead: i64) -> (&'static str, &'static str) {
    const MINUTE: u64 = 60;
    let by = Duration::from_millis(ahead.unsigned_abs()).as_secs();
    let how_far = match by / MINUTE {
        0..20 => "more than 5 minutes",
        20..60 => "more than 20 minutes",
        60..1_440 => "more than 1 hour",
        _ => "more than 1 day",
    };
    (how_far, if ahead < 0 { "behind" } else { "ahead of" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn both_spellings_mean_the_same_moment() {
        let moment = KubernetesTime::from_millis(1_700_000_000_123);
        assert_eq!(from_kube(to_kube(moment)), moment);
        assert_eq!(to_kube(moment).to_string(), "2023-11-14T22:13:20.123Z");
    }

    #[tokio::test]
    async fn the_date_of_responses_is_read() {
        let noon = 784_111_777_000;
        let clock = KubernetesClock::with(Arc::new(move || Timestamp(noon + 1_800_000)));
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::DATE, http::HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
        for _ in 0..3 {
            compare(&clock, Instant::now(), &headers);
        }
        let found = clock.found();
        assert_eq!(found.agreement, Agreement::Differ);
        assert!(found.difference.millis().abs_diff(1_800_000) <= 1_000, "{found:?}");
    }

    /// The manager's clock, in minutes: ahead of its machine's, and of the API server's.
    async fn is_left_ahead(of_wall: u64, of_server: i64) -> bool {
        const NOON: i64 = 784_111_777_000;
        let began = Instant::now();
        let passed = move || i64::try_from(began.elapsed().as_millis()).unwrap();
        let clock = KubernetesClock::with(Arc::new(move || Timestamp(NOON + of_server * 60_000 + passed())));
        for _ in 0..3 {
            clock.responded(Instant::now(), Instant::now(), KubernetesTime::from_millis(NOON + passed()));
        }
        let ahead = left_ahead(|| Duration::from_mins(of_wall), clock);
        let Ok(ahead) = tokio::time::timeout(Duration::from_mins(10), ahead).await else { return false };
        assert_eq!(ahead, Duration::from_mins(of_wall));
        assert!(began.elapsed() > SETTLED, "{:?}", began.elapsed());
        true
    }

    #[tokio::test(start_paused = true)]
    async fn a_machines_clock_that_was_set_right_leaves_the_managers_ahead() {
        assert!(is_left_ahead(30, 30).await);
        assert!(is_left_ahead(30, 27).await);
        assert!(!is_left_ahead(4, 4).await, "that difference is corrected");
        assert!(!is_left_ahead(0, 30).await, "the machine's clock is wrong still");
        assert!(!is_left_ahead(30, 0).await, "the machine's clock was set to a wrong time");
        assert!(!is_left_ahead(30, 70).await, "the machine's clock is less wrong than before");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_set_back_and_forth_is_awaited() {
        let began = Instant::now();
        let clock = KubernetesClock::with(Arc::new(move || {
            Timestamp(1_800_000 + i64::try_from(began.elapsed().as_millis()).unwrap())
        }));
        for _ in 0..3 {
            clock.responded(Instant::now(), Instant::now(), KubernetesTime::from_millis(0));
        }
        let set_every_half_minute = move || {
            let odd = began.elapsed().as_secs() / 30 % 2 == 1;
            if odd { Duration::from_mins(30) } else { Duration::ZERO }
        };
        let ahead = left_ahead(set_every_half_minute, clock);
        assert!(tokio::time::timeout(Duration::from_mins(10), ahead).await.is_err());
    }

    #[test]
    fn the_message_about_a_difference_changes_rarely() {
        assert_eq!(in_words(1_900_000), ("more than 20 minutes", "ahead of"));
        assert_eq!(in_words(-301_000), ("more than 5 minutes", "behind"));
        assert_eq!(in_words(i64::MIN), ("more than 1 day", "behind"));
    }
}
