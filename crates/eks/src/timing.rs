//! How long things are waited for, with the arguments for the values.

use foo_calls::Backoff;
use std::time::Duration;

/// After the response to a change, reads may still show what was before. A read that begins later than this is believed. EKS documents
/// no limit; Terraform's provider and ACK see seconds.
pub(crate) const LAG: Duration = Duration::from_secs(15);

/// A cluster that was just created may not be found for this long.
pub(crate) const UNSEEN: Duration = Duration::from_mins(2);

/// Between reads of what EKS is working on, all queries together.
pub(crate) const WAITING: Duration = Duration::from_secs(30);

/// Between reads of a cluster that nothing happens to, all queries together.
pub(crate) const REST: Duration = Duration::from_mins(5);

/// An idle read that begins this long after its place in the period is on time.
pub(crate) const ON_TIME: Duration = Duration::from_secs(10);

/// Between the reads that do not find a cluster which existed; it is gone after three (the count of Terraform's provider).
pub(crate) const CONFIRM: Duration = Duration::from_secs(5);

/// How many reads in a row must not find it.
pub(crate) const GONE: usize = 3;

/// IAM shows a new role, or a new trust policy, to EKS after this at the latest (the limit of Terraform's provider).
pub(crate) const PROPAGATION: Duration = Duration::from_mins(2);

/// Between tries while a role may not have propagated.
pub(crate) const PROPAGATION_RETRY: Duration = Duration::from_secs(10);

/// Between refreshes of upgrade insights that block, and reads of them: by itself EKS refreshes them once a day.
pub(crate) const INSIGHTS: Duration = Duration::from_mins(15);

/// Between reads of what a user has to create first, and of the offers of versions.
pub(crate) const MISSING: Duration = Duration::from_mins(5);

/// How far the clocks of EKS and of IAM differ at most, and that of EKS from AWS's other services, which the local clock is compared with: an
/// update that EKS says began this much before our call still counts as
/// begun by it, and a role that is this much younger than its access entry may be the one that the entry was created for.
pub(crate) const SKEW: Duration = Duration::from_mins(2);

/// Between calls that ask a query and fail.
pub(crate) const ASK_AGAIN: Backoff = Backoff::seconds(5, 300);

/// Between a failure in EKS and the next creation or update.
pub(crate) const TRY_AGAIN: Backoff = Backoff::seconds(60, 3600);
