//! What prevents the deletion of a part, and AWS's refusals.

use super::state::Network;
use crate::core::error::AwsError;
use foo_model::network::{
    EgressOnlyGateway, Endpoint, EndpointState, Interface, InternetGateway, NatGateway, NatState, Peer,
    RouteTable, SecurityGroup, Subnet,
};
use foo_model::{SecurityGroupId, SubnetId, VpcId};
use std::fmt::Display;

/// EC2's refusal to delete a part that is in use.
pub(super) fn has_dependencies(what: &str, id: impl Display) -> AwsError {
    AwsError::new("DependencyViolation", format!("The {what} '{id}' has dependencies and cannot be deleted."))
}

/// Whether a VPC contains anything besides its main route table and default security group (VPC User Guide, "Delete
/// your VPC"). Target groups do not count.
pub(super) fn vpc_in_use(network: &Network, id: &VpcId) -> bool {
    let nat = |it: &NatGateway| !matches!(it.state, NatState::Deleted | NatState::Failed);
    let endpoint = |it: &Endpoint| it.state != EndpointState::Deleted;
    network.of_vpc::<Subnet>(id).next().is_some()
        || network.of_vpc::<InternetGateway>(id).next().is_some()
        || network.of_vpc::<EgressOnlyGateway>(id).next().is_some()
        || network.of_vpc::<NatGateway>(id).any(nat)
        || network.of_vpc::<Endpoint>(id).any(endpoint)
        || network.of_vpc::<Interface>(id).next().is_some()
        || network.of_vpc::<RouteTable>(id).any(|table| !table.main)
        || network.of_vpc::<SecurityGroup>(id).any(|group| group.name != "default")
}

/// Whether a subnet contains a network interface, of any owner (VPC User Guide, "Delete a subnet").
pub(super) fn subnet_in_use(network: &Network, id: &SubnetId) -> bool {
    network.all::<Interface>().any(|interface| &interface.subnet == id)
}

/// Whether a network interface has a security group, or a rule of another group names it (EC2 API Reference,
/// DeleteSecurityGroup).
pub(super) fn group_in_use(network: &Network, id: &SecurityGroupId) -> bool {
    let names = |group: &SecurityGroup| {
        let mut rules = group.ingress.iter().chain(&group.egress);
        &group.id != id && rules.any(|rule| rule.peer == Peer::Group(id.clone()))
    };
    network.all::<Interface>().any(|interface| interface.groups.contains(id))
        || network.all::<SecurityGroup>().any(names)
}

/// Whether a public address is mapped to something in a VPC.
pub(super) fn has_public_addresses(network: &Network, id: &VpcId) -> bool {
    network.of_vpc::<Interface>(id).any(|interface| interface.public_ip.is_some())
}
