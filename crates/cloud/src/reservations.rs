//! Capacity Reservations, shared by all pools of one set of credentials and region ([`crate::reads`]): pools that use one
//! cost one call.

use crate::reads::{Freshness, Known, SharedReads};
use crate::{Clock, Cloud};
use foo_model::{FoundReservation, Operation};
use std::fmt;
use std::sync::Arc;

/// The shared reads, one per (credentials, region).
pub struct ReservationReads {
    cloud: Arc<dyn Cloud>,
    found: SharedReads<String, Option<FoundReservation>>,
}

impl ReservationReads {
    /// Nothing was read yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, found: SharedReads::new(clock) }
    }

    /// The reservation with this id; `None` if it does not exist.
    pub async fn reservation(&self, id: &str, freshness: Freshness) -> Known<Option<FoundReservation>> {
        let key = id.to_owned();
        let call = async || self.cloud.describe_capacity_reservation(id).await;
        self.found.ask(Operation::DescribeCapacityReservations, &key, freshness, call).await
    }
}

impl fmt::Debug for ReservationReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReservationReads").finish_non_exhaustive()
    }
}
