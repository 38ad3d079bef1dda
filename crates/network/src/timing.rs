//! How long things are waited for, with the arguments for the values.

use foo_model::Timestamp;
use std::time::Duration;

/// After the response to a change, reads may still show what was before (EC2 Developer Guide, "Eventual consistency": usually
/// seconds). A read that begins later than this is believed.
pub(crate) const LAG: Duration = Duration::from_secs(30);

/// A creation whose response was lost did not happen if reads show nothing for this long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// An id that AWS returned exists for this long even if no read ever showed it.
pub(crate) const UNSEEN: Duration = Duration::from_mins(5);

/// A part that reads showed before and do not show any more is gone if a read by its id, at least this much later, does not
/// show it either.
pub(crate) const CONFIRM: Duration = Duration::from_secs(30);

/// Between reads of what AWS is working on.
pub(crate) const WORKING: Duration = Duration::from_secs(5);

/// Between reads of what stands in the way of a deletion: with the rarer ones below at most two calls a minute.
pub(crate) const WAITING: Duration = Duration::from_mins(1);

/// Between reads of load balancers, groups and the rest while something stands in the way of a deletion. Most of what stands in
/// the way has an interface, and those are read more often.
pub(crate) const WAITING_LONG: Duration = Duration::from_mins(10);

/// Between reads of the attributes of a VPC, which only users change: two calls for each VPC.
pub(crate) const ATTRIBUTES: Duration = Duration::from_mins(30);

/// Between reads of the user's VPC and its internet gateway, which only the reads of this network show.
pub(crate) const USERS: Duration = Duration::from_mins(15);

/// Between two tries to begin a network that a quota has no room for.
pub(crate) const QUOTA: Duration = Duration::from_mins(5);

/// The later of two moments, one of which may not be known.
pub(crate) fn later(a: Timestamp, b: Option<Timestamp>) -> Timestamp {
    b.map_or(a, |b| a.max(b))
}
