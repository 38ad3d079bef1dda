//! The simulated EC2 behind the trait of networks.

use super::SimCloud;
use async_trait::async_trait;
use foo_cloud::{CloudError, ErrorKind, Networks, Operation, Result};
use foo_model::network::{Change, Kind, Parts, Quotas, Scope};

#[async_trait]
impl Networks for SimCloud {
    async fn describe_network(&self, kind: Kind, _: &Scope) -> Result<Parts> {
        Err(unwritten(kind.into()))
    }
    async fn change_network(&self, change: &Change) -> Result<Parts> {
        Err(unwritten(change.into()))
    }
    async fn quotas(&self) -> Result<Quotas> {
        Err(unwritten(Operation::GetServiceQuota))
    }
}

fn unwritten(operation: Operation) -> CloudError {
    CloudError::new(operation, ErrorKind::Internal, None, "not written yet")
}
