//! Conversions of VPCs and simple parts between the SDK and `foo_model`.
//!
//! An unknown state or type becomes the value from which the planner concludes least; only a part without its id, its
//! VPC or its range cannot be decoded.

use crate::error::Gap;
use crate::numbers::count;
use aws_sdk_ec2::types as aws;
use foo_model::network::{
    Address, CidrAssociation, CidrState, EgressOnlyGateway, Interface, InternetGateway, NatGateway, NatState,
    Subnet, Tags, Vpc, ZoneInfo,
};
use foo_model::{AssociationId, AwsTime, VpcId};
use ipnet::{Ipv4Net, Ipv6Net};
use std::str::FromStr;

pub(super) fn tags(tags: &[aws::Tag]) -> Tags {
    let pair = |tag: &aws::Tag| Some((tag.key()?.to_owned(), tag.value().unwrap_or_default().to_owned()));
    tags.iter().filter_map(pair).collect()
}

pub(super) fn range<T: FromStr>(text: Option<&str>, field: &'static str) -> Result<T, Gap> {
    text.and_then(|text| text.parse().ok()).ok_or(Gap(field))
}

pub(super) fn vpc(vpc: &aws::Vpc) -> Result<Vpc, Gap> {
    Ok(Vpc {
        id: vpc.vpc_id().ok_or(Gap("vpcId"))?.into(),
        owner: vpc.owner_id().unwrap_or_default().to_owned(),
        cidr: range(vpc.cidr_block(), "cidrBlock")?,
        cidrs: vpc.cidr_block_association_set().iter().filter_map(v4_of_vpc).collect(),
        ipv6: vpc.ipv6_cidr_block_association_set().iter().filter_map(v6_of_vpc).collect(),
        is_default: vpc.is_default() == Some(true),
        available: vpc.state() == Some(&aws::VpcState::Available),
        dns_support: None,
        dns_hostnames: None,
        tags: tags(vpc.tags()),
    })
}

pub(super) fn v4_of_vpc(it: &aws::VpcCidrBlockAssociation) -> Option<CidrAssociation<Ipv4Net>> {
    association(it.association_id(), it.cidr_block(), state_of_vpc_range(it.cidr_block_state()))
}

/// A range that is being assigned has no addresses yet, so it is omitted until EC2 shows them.
pub(super) fn v6_of_vpc(it: &aws::VpcIpv6CidrBlockAssociation) -> Option<CidrAssociation<Ipv6Net>> {
    association(it.association_id(), it.ipv6_cidr_block(), state_of_vpc_range(it.ipv6_cidr_block_state()))
}

pub(super) fn v6_of_subnet(it: &aws::SubnetIpv6CidrBlockAssociation) -> Option<CidrAssociation<Ipv6Net>> {
    let state = it.ipv6_cidr_block_state().and_then(aws::SubnetCidrBlockState::state);
    association(it.association_id(), it.ipv6_cidr_block(), state.map(aws::SubnetCidrBlockStateCode::as_str))
}

fn state_of_vpc_range(state: Option<&aws::VpcCidrBlockState>) -> Option<&str> {
    state.and_then(aws::VpcCidrBlockState::state).map(aws::VpcCidrBlockStateCode::as_str)
}

fn association<T: FromStr>(
    id: Option<&str>,
    range: Option<&str>,
    state: Option<&str>,
) -> Option<CidrAssociation<T>> {
    let state = match state {
        Some("associated") => CidrState::Associated,
        Some("disassociating") => CidrState::Disassociating,
        Some("disassociated") => CidrState::Disassociated,
        Some("failing") => CidrState::Failing,
        Some("failed") => CidrState::Failed,
        _ => CidrState::Associating,
    };
    Some(CidrAssociation { id: AssociationId::new(id?), range: range?.parse().ok()?, state })
}

/// A subnet without an IPv4 range (`Ipv6Native`) cannot be decoded; the provider creates no such subnets.
pub(super) fn subnet(subnet: &aws::Subnet) -> Result<Subnet, Gap> {
    Ok(Subnet {
        id: subnet.subnet_id().ok_or(Gap("subnetId"))?.into(),
        vpc: subnet.vpc_id().ok_or(Gap("vpcId"))?.into(),
        zone: subnet.availability_zone().ok_or(Gap("availabilityZone"))?.into(),
        zone_id: subnet.availability_zone_id().unwrap_or_default().to_owned(),
        cidr: range(subnet.cidr_block(), "cidrBlock")?,
        ipv6: subnet.ipv6_cidr_block_association_set().iter().filter_map(v6_of_subnet).collect(),
        state: subnet.state().map(aws::SubnetState::as_str).unwrap_or_default().to_owned(),
        free_addresses: count(subnet.available_ip_address_count(), "availableIpAddressCount")?,
        public_ip_on_launch: subnet.map_public_ip_on_launch() == Some(true),
        ipv6_on_creation: subnet.assign_ipv6_address_on_creation() == Some(true),
        tags: tags(subnet.tags()),
    })
}

pub(super) fn internet_gateway(gateway: &aws::InternetGateway) -> Result<InternetGateway, Gap> {
    Ok(InternetGateway {
        id: gateway.internet_gateway_id().ok_or(Gap("internetGatewayId"))?.into(),
        vpc: attached(gateway.attachments()),
        tags: tags(gateway.tags()),
    })
}

pub(super) fn egress_only_gateway(
    gateway: &aws::EgressOnlyInternetGateway,
) -> Result<EgressOnlyGateway, Gap> {
    Ok(EgressOnlyGateway {
        id: gateway.egress_only_internet_gateway_id().ok_or(Gap("egressOnlyInternetGatewayId"))?.into(),
        vpc: attached(gateway.attachments()).ok_or(Gap("attachmentSet"))?,
        tags: tags(gateway.tags()),
    })
}

/// The VPC that a gateway is attached to; a detaching gateway counts as detached. EC2 reports an attached internet
/// gateway as `available` (EC2 API Reference, InternetGatewayAttachment).
fn attached(attachments: &[aws::InternetGatewayAttachment]) -> Option<VpcId> {
    let is_detached = |it: &aws::InternetGatewayAttachment| {
        matches!(it.state(), Some(aws::AttachmentStatus::Detaching | aws::AttachmentStatus::Detached))
    };
    attachments.iter().find(|it| !is_detached(it))?.vpc_id().map(VpcId::from)
}

pub(super) fn address(address: &aws::Address) -> Result<Address, Gap> {
    Ok(Address {
        id: address.allocation_id().ok_or(Gap("allocationId"))?.into(),
        ip: address.public_ip().unwrap_or_default().to_owned(),
        interface: address.network_interface_id().filter(|id| !id.is_empty()).map(Into::into),
        tags: tags(address.tags()),
    })
}

pub(super) fn nat_gateway(gateway: &aws::NatGateway) -> Result<NatGateway, Gap> {
    let addresses = gateway.nat_gateway_addresses().iter();
    let failure = gateway
        .failure_code()
        .map(|code| (code.to_owned(), gateway.failure_message().unwrap_or_default().to_owned()));
    Ok(NatGateway {
        id: gateway.nat_gateway_id().ok_or(Gap("natGatewayId"))?.into(),
        vpc: gateway.vpc_id().ok_or(Gap("vpcId"))?.into(),
        // A regional NAT gateway has no subnet.
        subnet: gateway.subnet_id().unwrap_or_default().into(),
        allocations: addresses.filter_map(|it| it.allocation_id().map(Into::into)).collect(),
        state: match gateway.state() {
            Some(aws::NatGatewayState::Failed) => NatState::Failed,
            Some(aws::NatGatewayState::Available) => NatState::Available,
            Some(aws::NatGatewayState::Deleting) => NatState::Deleting,
            Some(aws::NatGatewayState::Deleted) => NatState::Deleted,
            _ => NatState::Pending,
        },
        failure,
        created: gateway.create_time().and_then(|time| time.to_millis().ok()).map(AwsTime::from_millis),
        tags: tags(gateway.tags()),
    })
}

pub(super) fn interface(interface: &aws::NetworkInterface) -> Result<Interface, Gap> {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let attachment = interface.attachment();
    Ok(Interface {
        id: interface.network_interface_id().ok_or(Gap("networkInterfaceId"))?.into(),
        vpc: interface.vpc_id().ok_or(Gap("vpcId"))?.into(),
        subnet: interface.subnet_id().ok_or(Gap("subnetId"))?.into(),
        groups: interface.groups().iter().filter_map(|group| group.group_id().map(Into::into)).collect(),
        description: text(interface.description()),
        interface_type: text(interface.interface_type().map(aws::NetworkInterfaceType::as_str)),
        requester_managed: interface.requester_managed() == Some(true),
        // An interface that is being attached or detached cannot be deleted either.
        in_use: interface.status() != Some(&aws::NetworkInterfaceStatus::Available),
        instance: attachment.and_then(aws::NetworkInterfaceAttachment::instance_id).map(Into::into),
        private_ip: text(interface.private_ip_address()),
        public_ip: interface.association().and_then(|it| it.public_ip()).map(str::to_owned),
        tags: tags(interface.tag_set()),
    })
}

pub(super) fn zone(zone: &aws::AvailabilityZone) -> Result<ZoneInfo, Gap> {
    Ok(ZoneInfo {
        name: zone.zone_name().ok_or(Gap("zoneName"))?.into(),
        id: zone.zone_id().unwrap_or_default().to_owned(),
        available: zone.state() == Some(&aws::AvailabilityZoneState::Available),
        is_availability_zone: zone.zone_type() == Some("availability-zone"),
    })
}
