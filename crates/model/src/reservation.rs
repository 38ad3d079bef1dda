//! Capacity Reservations as EC2 describes them, and when Capacity Blocks end (EC2 User Guide, "Capacity Blocks for ML").

use crate::ids::{InstanceType, Zone};
use crate::time::AwsTime;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long before the end of a Capacity Block EC2 begins to terminate its instances (EC2 User Guide, "How Capacity Blocks work").
const INSTANCES_END_BEFORE: Duration = Duration::from_mins(30);
/// The same of an UltraServer, whose instances have to be terminated by then.
const ULTRASERVERS_END_BEFORE: Duration = Duration::from_hours(1);
/// What the instance types begin with of which EC2 documents that for UltraServers.
const OF_ULTRASERVERS: &str = "p6e-";

/// A Capacity Reservation (EC2 API Reference, CapacityReservation). How many instances it still has capacity for is left out: it
/// changes with each launch, and nothing depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundReservation {
    /// What it is.
    pub kind: ReservationKind,
    /// EC2's word for its state.
    pub state: String,
    /// Type of its instances.
    pub instance_type: InstanceType,
    /// Where they are.
    pub zone: Zone,
    /// When it starts.
    pub starts: Option<AwsTime>,
    /// When it ends. Later than before, if its owner extended it.
    pub ends: Option<AwsTime>,
}

/// What a reservation is (ReservationType).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReservationKind {
    /// An On-Demand Capacity Reservation.
    OnDemand,
    /// A Capacity Block.
    CapacityBlock,
}

/// Whether a reservation has capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReservationState {
    /// Not yet: it is scheduled, or not paid yet.
    Coming,
    /// Now.
    Active,
    /// Not now, and it may have some again: EC2 says `unavailable`, or a word that is not known.
    Unavailable,
    /// Not any more: it has ended, was cancelled, or could not be paid.
    Over,
}

impl FoundReservation {
    /// What EC2's word means (EC2 API Reference, CapacityReservation, State, and CapacityBlock, State).
    pub fn state(&self) -> ReservationState {
        match self.state.as_str() {
            "active" => ReservationState::Active,
            "scheduled" | "pending" | "payment-pending" | "assessing" | "delayed" => ReservationState::Coming,
            "expired" | "cancelled" | "cancelling" | "failed" | "payment-failed" | "unsupported" => {
                ReservationState::Over
            }
            _ => ReservationState::Unavailable,
        }
    }

    /// How long before the end of a Capacity Block EC2 begins to terminate its instances.
    pub fn terminates_before_end(&self) -> Duration {
        if self.instance_type.as_str().starts_with(OF_ULTRASERVERS) {
            ULTRASERVERS_END_BEFORE
        } else {
            INSTANCES_END_BEFORE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(state: &str, instance_type: &str) -> FoundReservation {
        FoundReservation {
            kind: ReservationKind::CapacityBlock,
            state: state.to_owned(),
            instance_type: InstanceType::new(instance_type),
            zone: Zone::new("eu-central-1a"),
            starts: None,
            ends: None,
        }
    }

    #[test]
    fn only_an_active_reservation_has_capacity_and_one_is_over_only_by_a_word_that_is_known() {
        for (state, words) in [
            (ReservationState::Active, &["active"][..]),
            (
                ReservationState::Coming,
                &["scheduled", "pending", "payment-pending", "assessing", "delayed"][..],
            ),
            (
                ReservationState::Over,
                &["expired", "cancelled", "cancelling", "failed", "payment-failed", "unsupported"][..],
            ),
            (ReservationState::Unavailable, &["unavailable", "another-word"][..]),
        ] {
            for word in words {
                assert_eq!(found(word, "p5.48xlarge").state(), state, "{word}");
            }
        }
    }

    #[test]
    fn ultraservers_end_an_hour_before_their_block_and_others_half_an_hour() {
        let minutes = |of: &str| found("active", of).terminates_before_end().as_secs() / 60;
        assert_eq!((minutes("p5.48xlarge"), minutes("p6e-gb200.36xlarge")), (30, 60));
    }
}
