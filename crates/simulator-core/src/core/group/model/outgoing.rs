//! Members that are replaced first and terminated then.

use serde::Serialize;

/// Why a member is terminated as soon as its replacement is in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Outgoing {
    /// A spot instance with a rebalance recommendation.
    AtRisk,
    /// Its zone has too many members.
    Unbalanced,
    /// It was found unhealthy.
    Unhealthy,
    /// After a change of the purchase mix the group has too much of its market.
    Remixed,
    /// It has reached MaxInstanceLifetime.
    Expired,
    /// An instance refresh replaces it.
    Refreshed,
}

impl Outgoing {
    /// The end of an activity's cause.
    pub(in crate::core) fn cause(self) -> &'static str {
        match self {
            Self::AtRisk => "an EC2 instance rebalance recommendation",
            Self::Unbalanced => {
                "a difference between desired and actual capacity, to balance the zones of the group"
            }
            Self::Unhealthy => "a health check that found it unhealthy",
            Self::Remixed => "a change of the group's purchase options",
            Self::Expired => "its maximum instance lifetime",
            Self::Refreshed => "an instance refresh",
        }
    }
}
