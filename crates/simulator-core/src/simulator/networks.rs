//! Changes of a region's networks for tests.

use super::RegionHandle;
use crate::core::error::AwsResult;
use crate::core::network::{NatMishap, NewInterface, NewLoadBalancer};
use foo_model::{InstanceId, InterfaceId, TargetGroupArn, TargetState, Targets};
use serde_json::{Value, json};

impl RegionHandle {
    /// Everything in the region's networks, as JSON.
    pub fn network(&self) -> Value {
        self.with(|region| json!(region.network)).unwrap_or_default()
    }

    /// Removes everything except zones ([`Region::empty_network`](crate::core::Region::empty_network)).
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn empty_network(&self) -> AwsResult<()> {
        self.with(crate::core::Region::empty_network)
    }

    /// Adds a network interface of another user, and returns its id.
    ///
    /// # Errors
    /// The subnet does not exist or is full.
    pub fn put_foreign_interface(&self, new: NewInterface) -> AwsResult<InterfaceId> {
        self.with(|region| region.put_foreign_interface(new))?
    }

    /// Adds a load balancer of another user, and returns its ARN, or the name of a classic one.
    ///
    /// # Errors
    /// There is no subnet, or one does not exist or is full.
    pub fn put_load_balancer(&self, new: NewLoadBalancer) -> AwsResult<String> {
        self.with(|region| region.put_load_balancer(new))?
    }

    /// Sets the health of an instance in all target groups that it is registered in; `None` lets its checks decide again.
    ///
    /// # Errors
    /// There is no such instance.
    pub fn set_target_state(&self, id: &InstanceId, state: Option<TargetState>) -> AwsResult<()> {
        self.with(|region| region.set_target_state(id, state))?
    }

    /// The health of the targets of a target group; `None` if there is no such target group.
    pub fn target_health(&self, arn: &TargetGroupArn) -> Option<Targets> {
        self.with(|region| region.target_health(arn)).ok().flatten()
    }

    /// Deletes a part of a network as another user would, even if it is in use.
    ///
    /// # Errors
    /// There is no part with this id.
    pub fn delete_as_another_user(&self, id: &str) -> AwsResult<()> {
        self.with(|region| region.delete_as_another_user(id))?
    }

    /// Replaces the rules for future NAT gateways.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn set_nat_mishaps(&self, rules: Vec<NatMishap>) -> AwsResult<()> {
        self.with(|region| region.set_nat_mishaps(rules))
    }

    /// The rules for future NAT gateways that are not used up.
    pub fn nat_mishaps(&self) -> Vec<NatMishap> {
        self.with(|region| region.nat_mishaps().to_vec()).unwrap_or_default()
    }
}
