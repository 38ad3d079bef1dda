//! The health of targets, shared by all pools of one set of credentials and region ([`crate::reads`]): pools behind one
//! target group cost one call.

use crate::reads::{CloudReads, Freshness, Known};
use foo_model::{Operation, TargetGroupArn, Targets};

/// The shared reads, one per (credentials, region).
pub type TargetReads = CloudReads<TargetGroupArn, Targets>;

impl TargetReads {
    /// The targets of a target group. A target group that does not exist is an error (`NotFound`).
    pub async fn health(&self, arn: &TargetGroupArn, freshness: Freshness) -> Known<Targets> {
        let call = || self.cloud.describe_target_health(arn);
        self.shared.ask(Operation::DescribeTargetHealth, arn, freshness, call).await
    }
}
