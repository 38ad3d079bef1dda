//! How often API servers of workload clusters are asked.

use std::time::Duration;

/// Retry interval for an API server that cannot be used.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(30);
/// Interval between checks of an API server that responds.
const READ_AGAIN: Duration = Duration::from_mins(1);
/// Each FooControlPlane adds this much to the interval: at most five checks per second.
const EACH: Duration = Duration::from_millis(200);

/// Interval between checks of an API server that responds. Upgrades of pools depend on the result, and
/// Cluster API uses it as the state of the control plane; many FooControlPlanes share a limit of requests
/// per second.
pub(super) fn healthy_period(control_planes: usize, sync_period: Duration) -> Duration {
    let count = u32::try_from(control_planes).unwrap_or(u32::MAX);
    EACH.saturating_mul(count).max(READ_AGAIN).min(sync_period.max(READ_AGAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_healthy_api_server_is_probed_every_minute_unless_there_are_very_many() {
        let sync = Duration::from_mins(10);
        assert_eq!(healthy_period(1, sync), READ_AGAIN);
        assert_eq!(healthy_period(300, sync), READ_AGAIN);
        assert_eq!(healthy_period(1000, sync), Duration::from_secs(200));
        assert_eq!(healthy_period(100_000, sync), sync);
    }
}
