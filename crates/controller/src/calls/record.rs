//! Times in the record in a status.
//!
//! They are the API server's: a record is read by the next manager, whose clock may be another. They have seconds:
//! rounded up, so that nothing seems to have happened before it did.

use crate::clock::from_kube;
use foo_model::{Difference, Kubernetes, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// How far the manager's clock is from the API server's.
pub(crate) type Clock = Difference<Kubernetes>;

/// That moment, or up to a second later.
pub(crate) fn time(clock: Clock, moment: Timestamp) -> Time {
    let seconds = clock.remote(moment).millis().saturating_add(999).div_euclid(1000);
    Time(jiff::Timestamp::from_second(seconds).unwrap_or_default())
}

/// The moment of the manager's clock.
pub(crate) fn timestamp(clock: Clock, time: &Time) -> Timestamp {
    clock.local(from_kube(time.0))
}
