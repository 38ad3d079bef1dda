//! What a handler of a blocking hook returns: continue, or wait.

use std::time::Duration;

/// What a handler of a blocking hook returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Continue.
    Proceed,
    /// Wait: call again after this time, rounded up to whole seconds, at least one.
    RetryIn(Duration, Why),
}

/// Why core has to wait. Shown in a condition of the Cluster, so it is a fixed sentence about the state of things:
/// neither times nor counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why(String);

impl<T: Into<String>> From<T> for Why {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Decision {
    /// Wait, with a message that names what for.
    pub fn retry_in(after: Duration, why: impl Into<Why>) -> Self {
        Self::RetryIn(after, why.into())
    }

    /// Seconds and message, as they stand in a response.
    pub(crate) fn into_wire(self) -> (i32, String) {
        match self {
            Self::Proceed => (0, String::new()),
            Self::RetryIn(after, Why(why)) => {
                let seconds = after.as_secs().saturating_add(u64::from(after.subsec_nanos() > 0));
                (i32::try_from(seconds.max(1)).unwrap_or(i32::MAX), why)
            }
        }
    }
}
