//! How long things are waited for, with the arguments for the values.

use foo_model::Timestamp;
use std::time::Duration;

/// After the answer to a change, looks may still show what was before (EC2 Developer Guide, "Eventual consistency": usually
/// seconds). A look that begins later than this is believed.
pub(crate) const LAG: Duration = Duration::from_secs(30);

/// A creation whose answer was lost did not happen if looks show nothing for this long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// An id that AWS answered exists for this long even if no look ever showed it.
pub(crate) const UNSEEN: Duration = Duration::from_mins(5);

/// A part that looks showed before and do not show any more is gone if a look by its id, at least this much later, does not
/// show it either.
pub(crate) const CONFIRM: Duration = Duration::from_secs(30);

/// Between looks at what AWS is working on.
pub(crate) const WORKING: Duration = Duration::from_secs(5);

/// Between looks at what stands in the way of a deletion: with the rarer ones below at most two calls a minute.
pub(crate) const WAITING: Duration = Duration::from_mins(1);

/// Between looks at load balancers, groups and the rest while something stands in the way of a deletion. Most of what stands in
/// the way has an interface, and those are looked at more often.
pub(crate) const WAITING_LONG: Duration = Duration::from_mins(10);

/// Between looks at the attributes of a VPC, which nothing but a person changes: two calls for each VPC.
pub(crate) const ATTRIBUTES: Duration = Duration::from_mins(30);

/// Between looks at the user's VPC and its internet gateway, which only the looks of this network show.
pub(crate) const USERS: Duration = Duration::from_mins(15);

/// Between two tries to begin a network that a quota has no room for.
pub(crate) const QUOTA: Duration = Duration::from_mins(5);

/// The later of two moments, one of which may not be known.
pub(crate) fn later(a: Timestamp, b: Option<Timestamp>) -> Timestamp {
    b.map_or(a, |b| a.max(b))
}
