//! When a manager that starts reads what only confirms the state of an idle pool. Which reads these are, the planner decides.

use foo_cloud::retry::spread;
use foo_model::Timestamp;
use foo_model::hook::DESCRIBE_HOOK_AFTER;
use std::time::Duration;

/// The mean pause between two such reads: slow enough for other calls of the account.
const EVERY: Duration = Duration::from_secs(2);

/// The moment for the pool with this uid, of this many pools. One read is of one group, so the pools share the time after the start.
/// With more than 10,800 pools the pauses are shorter: each pool is read within [`DESCRIBE_HOOK_AFTER`], as at other times. Each
/// start has another order, so that no pool is always the last one of a manager that starts again and again.
pub(super) fn confirmed_from(started: Timestamp, pools: usize, uid: Option<&str>) -> Timestamp {
    let pools = u32::try_from(pools).unwrap_or(u32::MAX);
    let window = EVERY.saturating_mul(pools).min(DESCRIBE_HOOK_AFTER);
    started.plus(spread(window, &(started, uid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_700_000_000_000);

    /// How long after the start the last pool is read, in seconds.
    fn last_of(pools: usize) -> u64 {
        let uids = (0..pools).map(|pool| format!("uid-{pool}"));
        let after = uids.map(|uid| START.until(confirmed_from(START, pools, Some(uid.as_str()))));
        after.max().unwrap_or_default().as_secs()
    }

    #[test]
    fn pools_share_the_time_after_a_start_up_to_the_time_in_which_hooks_are_read_again() {
        assert!(last_of(1) < 2);
        assert!((150..200).contains(&last_of(100)), "{}", last_of(100));
        let longest = DESCRIBE_HOOK_AFTER.as_secs();
        assert!((longest / 2..longest).contains(&last_of(20_000)), "{}", last_of(20_000));
    }

    #[test]
    fn each_start_has_another_order() {
        let after = |started: Timestamp| started.until(confirmed_from(started, 1_000, Some("uid")));
        assert_ne!(after(START), after(START.plus(Duration::from_mins(1))));
    }
}
