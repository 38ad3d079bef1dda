//! The wall clock, as a parameter, and its two formats: the planner's milliseconds and Kubernetes'
//! timestamps.

pub use foo_cloud::{Clock, SystemClock};

use foo_model::Timestamp;

/// The time now, for conditions and Leases.
pub fn kube_time(clock: &dyn Clock) -> jiff::Timestamp {
    to_kube(clock.now())
}

/// Converts a moment to a Kubernetes timestamp.
pub fn to_kube(moment: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(moment.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Converts a moment to the planner's milliseconds.
pub fn from_kube(moment: jiff::Timestamp) -> Timestamp {
    Timestamp(moment.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_mean_the_same_moment() {
        let moment = Timestamp(1_700_000_000_123);
        assert_eq!(from_kube(to_kube(moment)), moment);
        assert_eq!(to_kube(moment).to_string(), "2023-11-14T22:13:20.123Z");
    }
}
