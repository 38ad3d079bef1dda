//! What happens to networks by itself, a while after a call.

use crate::core::region::Region;
use foo_model::{AssociationId, EndpointId, NatGatewayId, SubnetId, VpcId};

/// Something that happens at its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// pending → available.
    VpcAvailable(VpcId),
    /// associating → associated.
    RangeAssociated(VpcId, AssociationId),
    /// disassociating → gone.
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
    /// Shown no longer.
    NatGatewayForgotten(NatGatewayId),
    /// pending → available.
    EndpointAvailable(EndpointId),
    /// deleting → gone.
    EndpointDeleted(EndpointId),
    /// The interfaces of a load balancer that was deleted go, by its description.
    BalancerGone(String),
}

impl Region {
    /// Lets a step happen. What is gone meanwhile takes none.
    pub(crate) fn take_network_step(&mut self, step: Step) {
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
