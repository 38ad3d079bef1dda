//! How long things are waited for, with the arguments for the values.

use foo_model::Reason;
use std::time::Duration;

/// After the answer to a change, looks may still show what was before. A look that begins later than this is believed. EKS documents
/// no limit; Terraform's provider and ACK see seconds.
pub(crate) const LAG: Duration = Duration::from_secs(15);

/// A cluster that was just created may not be found for this long.
pub(crate) const UNSEEN: Duration = Duration::from_mins(2);

/// Between looks at what EKS is working on, all questions together.
pub(crate) const WAITING: Duration = Duration::from_secs(30);

/// Between looks at a cluster that nothing happens to, all questions together.
pub(crate) const REST: Duration = Duration::from_mins(5);

/// A look at rest that begins this long after its place in the period is on time.
pub(crate) const ON_TIME: Duration = Duration::from_secs(10);

/// Between the looks that do not find a cluster which existed; it is gone after three (the count of Terraform's provider).
pub(crate) const CONFIRM: Duration = Duration::from_secs(5);

/// How many looks in a row must not find it.
pub(crate) const GONE: usize = 3;

/// IAM shows a new role, or a new trust policy, to EKS after this at the latest (the limit of Terraform's provider).
pub(crate) const PROPAGATION: Duration = Duration::from_mins(2);

/// Between tries while a role may not have propagated.
pub(crate) const PROPAGATION_RETRY: Duration = Duration::from_secs(10);

/// Between refreshes of upgrade insights that block, and looks at them: by itself EKS refreshes them once a day.
pub(crate) const INSIGHTS: Duration = Duration::from_mins(15);

/// Between looks at what a person has to create first, and at the offers of versions.
pub(crate) const MISSING: Duration = Duration::from_mins(5);

/// How far the clocks of EKS and of IAM differ at most, and that of EKS from AWS's other services, which ours is compared with: an
/// update that EKS says began this much before our call still counts as
/// begun by it, and a role that is this much younger than its access entry may be the one that the entry was made for.
pub(crate) const SKEW: Duration = Duration::from_mins(2);

/// How long to wait after the given number of refusals in a row, which is at least 1.
pub(crate) fn retry_after(times: u32, reason: Reason) -> Duration {
    let (first, most) = match reason {
        Reason::LimitExceeded => (300, 1800),
        Reason::ResourceInUse | Reason::AlreadyExists => (15, 300),
        Reason::AccessDenied | Reason::CredentialsInvalid | Reason::RequestInvalid => (10, 300),
        _ => (2, 300),
    };
    doubled(times, first, most)
}

/// How long after the given number of failed calls in a row a question is asked again.
pub(crate) fn ask_again_after(times: u32) -> Duration {
    doubled(times, 5, 300)
}

/// How long after the given number of failures in EKS in a row a creation or update is tried again.
pub(crate) fn try_again_after(times: u32) -> Duration {
    doubled(times, 60, 3600)
}

fn doubled(times: u32, first: u64, most: u64) -> Duration {
    let factor = 1_u64.checked_shl(times.saturating_sub(1).min(20)).unwrap_or(u64::MAX);
    Duration::from_secs(factor.saturating_mul(first).min(most))
}
