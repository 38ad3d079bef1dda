//! VPCs, subnets, and their ranges.

use super::arn;
use crate::core::region::Region;
use crate::wire::ec2::tags;
use crate::wire::xml::Xml;
use foo_model::network::{CidrAssociation, CidrState, Subnet, Vpc};
use ipnet::{Ipv4Net, Ipv6Net};

/// The DHCP options of every VPC: the region's default ones.
const DHCP_OPTIONS: &str = "dopt-0a000000000000001";

/// The inside of a `Vpc`.
pub(in crate::wire::ec2::network) fn write_vpc(xml: &mut Xml, vpc: &Vpc, region: &Region) {
    xml.text("vpcId", vpc.id.as_str());
    xml.text("ownerId", &vpc.owner);
    xml.text("state", vpc_state(vpc));
    xml.value("cidrBlock", vpc.cidr);
    xml.list("cidrBlockAssociationSet", "item", &vpc.cidrs, write_v4);
    xml.list("ipv6CidrBlockAssociationSet", "item", &vpc.ipv6, |xml, range| {
        write_v6(xml, range);
        xml.text("networkBorderGroup", &region.name);
        xml.text("ipv6Pool", "Amazon");
        xml.text("ipv6AddressAttribute", "public");
        xml.text("ipSource", "amazon");
    });
    xml.text("dhcpOptionsId", DHCP_OPTIONS);
    xml.text("instanceTenancy", "default");
    xml.value("isDefault", vpc.is_default);
    tags::write(xml, &vpc.tags);
}

pub(in crate::wire::ec2::network) fn vpc_state(vpc: &Vpc) -> &'static str {
    if vpc.available { "available" } else { "pending" }
}

/// The inside of a `Subnet`.
pub(in crate::wire::ec2::network) fn write_subnet(xml: &mut Xml, subnet: &Subnet, region: &Region) {
    xml.text("subnetId", subnet.id.as_str());
    xml.value("subnetArn", arn(region, "subnet", subnet.id.as_str()));
    xml.text("state", &subnet.state);
    xml.text("ownerId", &region.account);
    xml.text("vpcId", subnet.vpc.as_str());
    xml.value("cidrBlock", subnet.cidr);
    xml.list("ipv6CidrBlockAssociationSet", "item", &subnet.ipv6, write_v6);
    xml.value("availableIpAddressCount", subnet.free_addresses);
    xml.text("availabilityZone", subnet.zone.as_str());
    xml.text("availabilityZoneId", &subnet.zone_id);
    xml.text("defaultForAz", "false");
    xml.value("mapPublicIpOnLaunch", subnet.public_ip_on_launch);
    xml.value("assignIpv6AddressOnCreation", subnet.ipv6_on_creation);
    xml.text("enableDns64", "false");
    xml.text("ipv6Native", "false");
    tags::write(xml, &subnet.tags);
}

/// The inside of a `VpcCidrBlockAssociation`.
pub(in crate::wire::ec2::network) fn write_v4(xml: &mut Xml, association: &CidrAssociation<Ipv4Net>) {
    xml.text("associationId", association.id.as_str());
    xml.value("cidrBlock", association.range);
    xml.within("cidrBlockState", |xml| xml.text("state", range_state(association.state)));
}

/// The inside of a `VpcIpv6CidrBlockAssociation` or `SubnetIpv6CidrBlockAssociation`.
pub(in crate::wire::ec2::network) fn write_v6(xml: &mut Xml, association: &CidrAssociation<Ipv6Net>) {
    xml.text("associationId", association.id.as_str());
    xml.value("ipv6CidrBlock", association.range);
    xml.within("ipv6CidrBlockState", |xml| xml.text("state", range_state(association.state)));
}

pub(in crate::wire::ec2::network) fn range_state(state: CidrState) -> &'static str {
    match state {
        CidrState::Associating => "associating",
        CidrState::Associated => "associated",
        CidrState::Disassociating => "disassociating",
        CidrState::Disassociated => "disassociated",
        CidrState::Failing => "failing",
        CidrState::Failed => "failed",
    }
}
