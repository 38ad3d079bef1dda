//! When something that failed is tried again.

use foo_model::Reason;
use std::time::Duration;

/// Exponential backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: u64,
    longest: u64,
}

impl Backoff {
    /// The delay after the first failure and the longest one, in seconds.
    pub const fn seconds(first: u64, longest: u64) -> Self {
        Self { first, longest }
    }

    /// How long to wait after the given number of failures in a row, which is at least 1.
    pub fn after(self, times: u32) -> Duration {
        let factor = 1_u64.checked_shl(times.saturating_sub(1).min(20)).unwrap_or(u64::MAX);
        Duration::from_secs(factor.saturating_mul(self.first).min(self.longest))
    }

    /// That of calls that failed for a reason which means the same in all domains.
    pub fn of(reason: Reason) -> Self {
        match reason {
            // Quotas are raised by users.
            Reason::LimitExceeded => Self::seconds(300, 1800),
            Reason::AccessDenied | Reason::CredentialsInvalid | Reason::RequestInvalid => {
                Self::seconds(10, 300)
            }
            _ => Self::seconds(2, 300),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest() {
        let delays: Vec<u64> =
            (1..=5).map(|times| Backoff::seconds(10, 100).after(times).as_secs()).collect();
        assert_eq!(delays, [10, 20, 40, 80, 100]);
        assert_eq!(Backoff::seconds(2, 300).after(u32::MAX), Duration::from_mins(5));
        assert_eq!(Backoff::seconds(2, 300).after(0), Duration::from_secs(2));
    }
}
