//! Changes of a region's networks for tests.

use super::RegionHandle;
use crate::core::error::AwsResult;
use crate::core::network::{NatMishap, NewInterface, NewLoadBalancer};
use foo_model::{
    InstanceId, InterfaceId, LatticeTargetGroupArn, TargetGroupArn, TargetState, Targets, TrafficSource,
};
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

    /// Adds a target group of VPC Lattice of another user, and returns its ARN.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn put_lattice_target_group(&self) -> AwsResult<LatticeTargetGroupArn> {
        self.with(crate::core::Region::put_lattice_target_group)
    }

    /// Sets the health of an instance behind all traffic sources that it is registered with; `None` lets its checks decide again.
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

    /// The health of the instances behind a traffic source; `None` if there is no such traffic source.
    pub fn source_health(&self, source: &TrafficSource) -> Option<Targets> {
        self.with(|region| region.source_health(source)).ok().flatten()
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
