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

pub use foo_cloud::{Clock, SystemClock};

use foo_cloud::Compared;
use foo_model::{Agreement, Kubernetes, KubernetesTime, Timestamp};
use std::time::Duration;
use tokio::time::Instant;

/// The API server's clock, compared with the manager's by the responses of the API server.
pub type KubernetesClock = Compared<Kubernetes>;

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
    clock.answered(sent, Instant::now(), from_kube(date));
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

    #[test]
    fn the_message_about_a_difference_changes_rarely() {
        assert_eq!(in_words(1_900_000), ("more than 20 minutes", "ahead of"));
        assert_eq!(in_words(-301_000), ("more than 5 minutes", "behind"));
        assert_eq!(in_words(i64::MIN), ("more than 1 day", "behind"));
    }
}
