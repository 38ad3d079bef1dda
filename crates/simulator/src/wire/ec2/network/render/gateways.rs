//! Internet gateways, egress-only gateways, NAT gateways, addresses.

use super::derived;
use crate::core::region::Region;
use crate::core::time::iso_millis;
use crate::wire::ec2::tags;
use crate::wire::xml::Xml;
use foo_model::network::{Address, EgressOnlyGateway, Interface, InternetGateway, NatGateway, NatState};
use foo_model::{Timestamp, VpcId};

/// The inside of an `InternetGateway`.
pub(in crate::wire::ec2::network) fn write_internet(
    xml: &mut Xml,
    gateway: &InternetGateway,
    region: &Region,
) {
    xml.text("internetGatewayId", gateway.id.as_str());
    xml.text("ownerId", &region.account);
    // An attached internet gateway is `available` (EC2 API Reference, InternetGatewayAttachment).
    write_attachments(xml, gateway.vpc.iter(), "available");
    tags::write(xml, &gateway.tags);
}

/// The inside of an `EgressOnlyInternetGateway`.
pub(in crate::wire::ec2::network) fn write_egress_only(xml: &mut Xml, gateway: &EgressOnlyGateway) {
    xml.text("egressOnlyInternetGatewayId", gateway.id.as_str());
    write_attachments(xml, [&gateway.vpc], "attached");
    tags::write(xml, &gateway.tags);
}

fn write_attachments<'a>(xml: &mut Xml, vpcs: impl IntoIterator<Item = &'a VpcId>, state: &str) {
    xml.list("attachmentSet", "item", vpcs, |xml, vpc| {
        xml.text("vpcId", vpc.as_str());
        xml.text("state", state);
    });
}

/// The inside of an `Address`.
pub(in crate::wire::ec2::network) fn write_address(xml: &mut Xml, address: &Address, region: &Region) {
    xml.text("publicIp", &address.ip);
    xml.text("allocationId", address.id.as_str());
    xml.text("domain", "vpc");
    xml.text("publicIpv4Pool", "amazon");
    xml.text("networkBorderGroup", &region.name);
    if let Some(id) = &address.interface {
        xml.text("associationId", association(address));
        xml.text("networkInterfaceId", id.as_str());
        xml.text("networkInterfaceOwnerId", &region.account);
        let interface = region.network.get::<Interface>(id);
        xml.optional("privateIpAddress", interface.map(|interface| &interface.private_ip));
        xml.optional("instanceId", interface.and_then(|interface| interface.instance.as_ref()));
    }
    tags::write(xml, &address.tags);
}

/// The response of AllocateAddress.
pub(in crate::wire::ec2::network) fn write_allocated(xml: &mut Xml, address: &Address, region: &Region) {
    xml.text("publicIp", &address.ip);
    xml.text("allocationId", address.id.as_str());
    xml.text("domain", "vpc");
    xml.text("publicIpv4Pool", "amazon");
    xml.text("networkBorderGroup", &region.name);
}

/// Id of the association of an address with its interface.
pub(in crate::wire::ec2::network) fn association(address: &Address) -> String {
    derived("eipassoc", address.id.as_str())
}

/// The inside of a `NatGateway`.
pub(in crate::wire::ec2::network) fn write_nat(xml: &mut Xml, gateway: &NatGateway, region: &Region) {
    xml.text("natGatewayId", gateway.id.as_str());
    xml.text("vpcId", gateway.vpc.as_str());
    xml.text("subnetId", gateway.subnet.as_str());
    xml.text("state", nat_state(gateway));
    xml.text("connectivityType", "public");
    xml.text("availabilityMode", "zonal");
    xml.optional("createTime", gateway.created.map(|at| iso_millis(Timestamp(at.millis()))));
    if let Some((code, message)) = &gateway.failure {
        xml.text("failureCode", code);
        xml.text("failureMessage", message);
    }
    let interface = interface_of(gateway, region);
    xml.list("natGatewayAddressSet", "item", &gateway.allocations, |xml, id| {
        xml.text("allocationId", id.as_str());
        xml.text("isPrimary", "true");
        let address = region.network.get::<Address>(id);
        if let Some(interface) = interface {
            xml.text("networkInterfaceId", interface.id.as_str());
            xml.text("privateIp", &interface.private_ip);
            xml.optional("publicIp", address.map(|address| &address.ip));
            xml.optional("associationId", address.map(association));
        }
        xml.text("status", if interface.is_some() { "succeeded" } else { address_status(gateway.state) });
    });
    tags::write(xml, &gateway.tags);
}

pub(in crate::wire::ec2::network) fn nat_state(gateway: &NatGateway) -> &'static str {
    gateway.state.into()
}

/// The interface of a NAT gateway, found by its description.
fn interface_of<'a>(gateway: &NatGateway, region: &'a Region) -> Option<&'a Interface> {
    let wanted = format!("Interface for NAT Gateway {}", gateway.id);
    region.network.all::<Interface>().find(|interface| interface.description == wanted)
}

fn address_status(state: NatState) -> &'static str {
    match state {
        NatState::Pending => "associating",
        NatState::Failed => "failed",
        NatState::Available | NatState::Deleting | NatState::Deleted => "disassociating",
    }
}
