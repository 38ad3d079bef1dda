//! What tests do to the networks of a region.

use super::RegionHandle;
use crate::core::error::AwsResult;
use crate::core::network::{NatMishap, NewInterface, NewLoadBalancer};
use foo_model::InterfaceId;
use serde_json::{Value, json};

impl RegionHandle {
    /// Everything in the region's networks, as JSON.
    pub fn network(&self) -> Value {
        self.with(|region| json!(region.network)).unwrap_or_default()
    }

    /// Takes everything but zones away ([`Region::empty_network`](crate::core::Region::empty_network)).
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn empty_network(&self) -> AwsResult<()> {
        self.with(crate::core::Region::empty_network)
    }

    /// Somebody makes a network interface, and this is its id.
    ///
    /// # Errors
    /// The subnet does not exist or is full.
    pub fn put_stranger_interface(&self, new: NewInterface) -> AwsResult<InterfaceId> {
        self.with(|region| region.put_stranger_interface(new))?
    }

    /// Somebody makes a load balancer, and this is its ARN, or the name of a classic one.
    ///
    /// # Errors
    /// There is no subnet, or one does not exist or is full.
    pub fn put_load_balancer(&self, new: NewLoadBalancer) -> AwsResult<String> {
        self.with(|region| region.put_load_balancer(new))?
    }

    /// Somebody deletes a part of a network by hand, whatever uses it.
    ///
    /// # Errors
    /// There is no part of this id.
    pub fn delete_behind_back(&self, id: &str) -> AwsResult<()> {
        self.with(|region| region.delete_behind_back(id))?
    }

    /// Replaces the rules for coming NAT gateways.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn set_nat_mishaps(&self, rules: Vec<NatMishap>) -> AwsResult<()> {
        self.with(|region| region.set_nat_mishaps(rules))
    }

    /// The rules for coming NAT gateways, as far as they are not used up.
    pub fn nat_mishaps(&self) -> Vec<NatMishap> {
        self.with(|region| region.nat_mishaps().to_vec()).unwrap_or_default()
    }
}
