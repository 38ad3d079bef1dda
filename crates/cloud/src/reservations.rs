//! Capacity Reservations, shared by all pools of one set of credentials and region ([`crate::reads`]): pools that use one
//! cost one call.

use crate::reads::{CloudReads, Freshness, Known};
use foo_model::{FoundReservation, Operation};

/// The shared reads, one per (credentials, region).
pub type ReservationReads = CloudReads<String, Option<FoundReservation>>;

impl ReservationReads {
    /// The reservation with this id; `None` if it does not exist.
    pub async fn reservation(&self, id: &str, freshness: Freshness) -> Known<Option<FoundReservation>> {
        let key = id.to_owned();
        let call = || self.cloud.describe_capacity_reservation(id);
        self.shared.ask(Operation::DescribeCapacityReservations, &key, freshness, call).await
    }
}
