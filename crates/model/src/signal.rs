//! What AWS announces about an instance before it does anything.

use super::time::AwsTime;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Between two rounds of replacements because of recommendations. A replacement can be recommended to go as well, again and
/// again while a type is in demand; this bounds what that costs a pool. New instances are in service well before.
pub const COOLDOWN: Duration = Duration::from_mins(10);

/// How long a recommendation is worth following. AWS does not take one back; an instance that survived an hour is no more
/// at risk than its replacement would be.
pub const ADVICE_VALID_FOR: Duration = Duration::from_hours(1);

/// One announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// Of what.
    pub kind: SignalKind,
    /// When AWS made it.
    pub at: AwsTime,
}

/// What is announced, the more urgent the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SignalKind {
    /// AWS takes it out of a warm pool and terminates it, and waits for the provider's lifecycle hook (Auto Scaling User Guide, "Amazon
    /// EC2 Auto Scaling event reference": `Origin` is `WarmPool`). It never was a Node.
    LeavesWarmPool,
    /// A spot instance is more likely than others to be interrupted; maybe nothing follows (EC2 User Guide, "EC2 instance
    /// rebalance recommendations").
    Rebalance,
    /// Its host is to be retired: AWS stops or ends the instance days from now (EC2 User Guide, "Scheduled events for
    /// your instances").
    Retirement,
    /// A spot instance is interrupted in two minutes (EC2 User Guide, "Spot Instance interruption notices").
    Interruption,
}

impl Signal {
    /// The one of two that counts: the more urgent one, and of equals the older.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self.kind.cmp(&other.kind) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Equal => Self { at: self.at.min(other.at), ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_urgent_signal_counts_and_of_equals_the_older() {
        let signal = |kind, at| Signal { kind, at: AwsTime::from_millis(at) };
        let advice = signal(SignalKind::Rebalance, 1);
        let notice = signal(SignalKind::Interruption, 5);
        assert_eq!((advice.or(notice), notice.or(advice)), (notice, notice));
        assert_eq!(signal(SignalKind::Rebalance, 9).or(advice), advice);
    }
}
