//! Changes of networks that complete a while after a call.

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
