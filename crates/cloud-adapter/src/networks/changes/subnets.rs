//! Subnets.

use super::calls::{done, part, received, tagged};
use crate::networks::shapes;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::network::{Parts, Subnet, SubnetAttribute, Tags};
use foo_model::{SubnetId, VpcId, Zone};
use ipnet::{Ipv4Net, Ipv6Net};

pub(super) async fn create(
    client: &Client,
    vpc: &VpcId,
    zone: &Zone,
    (cidr, ipv6): (Ipv4Net, Option<Ipv6Net>),
    tags: &Tags,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateSubnet;
    let call = client
        .create_subnet()
        .vpc_id(vpc.as_str())
        .availability_zone(zone.as_str())
        .cidr_block(cidr.to_string())
        .set_ipv6_cidr_block(ipv6.map(|range| range.to_string()))
        .set_tag_specifications(tagged(aws::ResourceType::Subnet, tags));
    let response = received(OPERATION, call.send().await)?;
    Ok(one(part(OPERATION, response.subnet(), "subnet", shapes::subnet)?))
}

pub(super) async fn modify(
    client: &Client,
    subnet: &SubnetId,
    attribute: SubnetAttribute,
    enabled: bool,
) -> Result<Parts> {
    let value = aws::AttributeBooleanValue::builder().value(enabled).build();
    let call = client.modify_subnet_attribute().subnet_id(subnet.as_str());
    let call = match attribute {
        SubnetAttribute::PublicIpOnLaunch => call.map_public_ip_on_launch(value),
        SubnetAttribute::Ipv6OnCreation => call.assign_ipv6_address_on_creation(value),
    };
    done(Operation::ModifySubnetAttribute, call.send().await)
}

pub(super) async fn associate(client: &Client, subnet: &SubnetId, ipv6: Ipv6Net) -> Result<Parts> {
    let call = client.associate_subnet_cidr_block().subnet_id(subnet.as_str());
    let call = call.ipv6_cidr_block(ipv6.to_string());
    let response = received(Operation::AssociateSubnetCidrBlock, call.send().await)?;
    let range = response.ipv6_cidr_block_association().and_then(shapes::v6_of_subnet);
    Ok(one(Subnet { ipv6: range.into_iter().collect(), ..nothing_but(subnet) }))
}

pub(super) async fn delete(client: &Client, subnet: &SubnetId) -> Result<Parts> {
    done(Operation::DeleteSubnet, client.delete_subnet().subnet_id(subnet.as_str()).send().await)
}

fn one(subnet: Subnet) -> Parts {
    Parts { subnets: [(subnet.id.clone(), subnet)].into(), ..Parts::default() }
}

/// A subnet of which a response contains only the id.
fn nothing_but(id: &SubnetId) -> Subnet {
    Subnet {
        id: id.clone(),
        vpc: VpcId::new(""),
        zone: Zone::new(""),
        zone_id: String::new(),
        cidr: Ipv4Net::default(),
        ipv6: Vec::new(),
        state: String::new(),
        free_addresses: 0,
        public_ip_on_launch: false,
        ipv6_on_creation: false,
        tags: Tags::new(),
    }
}
