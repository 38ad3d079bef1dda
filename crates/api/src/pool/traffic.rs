//! What load balancers mean for a pool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the provider makes of the health of instances in `targetGroups`. Elastic Load Balancing announces no change of it, so
/// the provider reads it: one call per target group and minute, every 15 seconds while an instance is not healthy. The health
/// in `classicLoadBalancers` and `vpcLatticeTargetGroups` counts nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetHealth {
    /// Whether an instance counts as available in roll-outs and replacements only if it is healthy in every target group.
    /// An instance that its load balancers do not check counts as healthy: no load balancer uses the target group or the
    /// zone, or health checks are off. Default: true.
    #[serde(default = "yes")]
    pub required_for_availability: bool,
    /// Whether the provider replaces a Machine whose instance a target group reports as unhealthy: drained, and within the
    /// limits of `remediation`. Default: true.
    #[serde(default = "yes")]
    pub replace_unhealthy: bool,
    /// How many seconds after the creation of its Machine an instance may be unhealthy before it is replaced. Range: 0 to
    /// 86400. Default: 300, as in the console of Auto Scaling.
    #[serde(default = "five_minutes")]
    #[schemars(range(min = 0, max = 86400))]
    pub grace_period_seconds: i32,
}

impl Default for TargetHealth {
    fn default() -> Self {
        Self {
            required_for_availability: true,
            replace_unhealthy: true,
            grace_period_seconds: five_minutes(),
        }
    }
}

fn yes() -> bool {
    true
}

fn five_minutes() -> i32 {
    300
}
