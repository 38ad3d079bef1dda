//! Changes of networks that complete a while after a call.

use crate::core::region::Region;
use foo_model::{AssociationId, EndpointId, NatGatewayId, SubnetId, VpcId};

/// A change that completes at a scheduled time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// pending → available.
    VpcAvailable(VpcId),
    /// associating → associated.
    RangeAssociated(VpcId, AssociationId),
    /// disassociating → removed.
    RangeGone(VpcId, AssociationId),
    /// pending → available.
    SubnetAvailable(SubnetId),
    /// associating → associated.
    SubnetRangeAssociated(SubnetId, AssociationId),
    /// pending → available.
    NatGatewayAvailable(NatGatewayId),
    /// pending → failed, with code and message.
    NatGatewayFailed(NatGatewayId, String, String),
    /// deleting → deleted.
    NatGatewayDeleted(NatGatewayId),
    /// EC2 stops showing a deleted or failed NAT gateway.
    NatGatewayForgotten(NatGatewayId),
    /// pending → available.
    EndpointAvailable(EndpointId),
    /// deleting → removed.
    EndpointDeleted(EndpointId),
    /// AWS removes the interfaces of a deleted load balancer, which have this description.
    BalancerGone(String),
}

impl Region {
    /// Completes a change. Does nothing if the part was removed meanwhile.
    pub(crate) fn complete_step(&mut self, step: Step) {
        match step {
            Step::VpcAvailable(id) => self.vpc_available(&id),
            Step::RangeAssociated(vpc, id) => self.range_associated(&vpc, &id),
            Step::RangeGone(vpc, id) => self.range_gone(&vpc, &id),
            Step::SubnetAvailable(id) => self.subnet_available(&id),
            Step::SubnetRangeAssociated(subnet, id) => self.subnet_range_associated(&subnet, &id),
            Step::NatGatewayAvailable(id) => self.nat_gateway_available(&id),
            Step::NatGatewayFailed(id, code, message) => self.nat_gateway_failed(&id, code, message),
            Step::NatGatewayDeleted(id) => self.nat_gateway_deleted(&id),
            Step::NatGatewayForgotten(id) => drop(self.network.remove::<foo_model::network::NatGateway>(&id)),
            Step::EndpointAvailable(id) => self.endpoint_available(&id),
            Step::EndpointDeleted(id) => self.endpoint_deleted(&id),
            Step::BalancerGone(description) => self.balancer_gone(&description),
        }
    }
}
