//! Network interfaces.

use super::endpoints::write_group;
use super::{derived, truth};
use crate::core::region::Region;
use crate::wire::ec2::tags;
use crate::wire::xml::Xml;
use foo_model::network::{Address, Interface, Subnet};

/// The inside of a `NetworkInterface`.
pub(in crate::wire::ec2::network) fn write(xml: &mut Xml, interface: &Interface, region: &Region) {
    xml.text("networkInterfaceId", interface.id.as_str());
    xml.text("subnetId", interface.subnet.as_str());
    xml.text("vpcId", interface.vpc.as_str());
    if let Some(subnet) = region.network.get::<Subnet>(&interface.subnet) {
        xml.text("availabilityZone", subnet.zone.as_str());
        xml.text("availabilityZoneId", &subnet.zone_id);
    }
    xml.text("description", &interface.description);
    xml.text("ownerId", &region.account);
    xml.value("requesterManaged", interface.requester_managed);
    xml.text("status", status(interface));
    xml.text("interfaceType", &interface.interface_type);
    xml.text("privateIpAddress", &interface.private_ip);
    xml.text("sourceDestCheck", truth(interface.interface_type != "nat_gateway"));
    xml.list("groupSet", "item", &interface.groups, |xml, id| write_group(xml, id, region));
    if interface.in_use {
        xml.within("attachment", |xml| write_attachment(xml, interface, region));
    }
    write_association(xml, interface, region);
    xml.list("privateIpAddressesSet", "item", [interface], |xml, interface| {
        xml.text("privateIpAddress", &interface.private_ip);
        xml.text("primary", "true");
        write_association(xml, interface, region);
    });
    tags::write(xml, &interface.tags);
}

fn write_attachment(xml: &mut Xml, interface: &Interface, region: &Region) {
    xml.text("attachmentId", derived("eni-attach", interface.id.as_str()));
    xml.text("deviceIndex", if interface.instance.is_some() { "0" } else { "1" });
    xml.text("status", "attached");
    xml.optional("instanceId", interface.instance.as_ref());
    let owner = if interface.instance.is_some() { &region.account } else { "amazon-aws" };
    xml.text("instanceOwnerId", owner);
    xml.value("deleteOnTermination", interface.instance.is_some());
}

fn write_association(xml: &mut Xml, interface: &Interface, region: &Region) {
    let Some(public) = &interface.public_ip else { return };
    let address = address_of(interface, region);
    xml.within("association", |xml| {
        xml.text("publicIp", public);
        // Addresses that were not allocated belong to Amazon.
        xml.text("ipOwnerId", if address.is_some() { &region.account } else { "amazon" });
        if let Some(address) = address {
            xml.text("allocationId", address.id.as_str());
            xml.text("associationId", super::gateways::association(address));
        }
    });
}

/// The Elastic IP address of an interface.
pub(in crate::wire::ec2::network) fn address_of<'a>(
    interface: &Interface,
    region: &'a Region,
) -> Option<&'a Address> {
    region.network.all::<Address>().find(|address| address.interface.as_ref() == Some(&interface.id))
}

pub(in crate::wire::ec2::network) fn status(interface: &Interface) -> &'static str {
    if interface.in_use { "in-use" } else { "available" }
}
