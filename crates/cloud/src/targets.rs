//! The health of targets, shared by all pools of one set of credentials and region ([`crate::reads`]): pools behind one
//! target group cost one call.

use crate::reads::{Freshness, Known, SharedReads};
use crate::{Clock, Cloud};
use foo_model::{Operation, TargetGroupArn, Targets};
use std::fmt;
use std::sync::Arc;

/// The shared reads, one per (credentials, region).
pub struct TargetReads {
    cloud: Arc<dyn Cloud>,
    health: SharedReads<TargetGroupArn, Targets>,
}

impl TargetReads {
    /// Nothing was read yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, health: SharedReads::new(clock) }
    }

    /// The targets of a target group. A target group that does not exist is an error (`NotFound`).
    pub async fn health(&self, arn: &TargetGroupArn, freshness: Freshness) -> Known<Targets> {
        let call = async || self.cloud.describe_target_health(arn).await;
        self.health.ask(Operation::DescribeTargetHealth, arn, freshness, call).await
    }
}

impl fmt::Debug for TargetReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TargetReads").finish_non_exhaustive()
    }
}
