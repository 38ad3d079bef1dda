//! VPCs and their ranges.

use super::calls::{done, part, received, tagged};
use crate::networks::shapes;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::network::{DnsAttribute, Parts, Tags, Vpc};
use foo_model::{AssociationId, VpcId};
use ipnet::Ipv4Net;

pub(super) async fn create(client: &Client, cidr: Ipv4Net, ipv6: bool, tags: &Tags) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateVpc;
    let call = client
        .create_vpc()
        .cidr_block(cidr.to_string())
        .set_amazon_provided_ipv6_cidr_block(ipv6.then_some(true))
        .set_tag_specifications(tagged(aws::ResourceType::Vpc, tags));
    let response = received(OPERATION, call.send().await)?;
    Ok(one(part(OPERATION, response.vpc(), "vpc", shapes::vpc)?))
}

pub(super) async fn modify(
    client: &Client,
    vpc: &VpcId,
    attribute: DnsAttribute,
    enabled: bool,
) -> Result<Parts> {
    let value = aws::AttributeBooleanValue::builder().value(enabled).build();
    let call = client.modify_vpc_attribute().vpc_id(vpc.as_str());
    let call = match attribute {
        DnsAttribute::Support => call.enable_dns_support(value),
        DnsAttribute::Hostnames => call.enable_dns_hostnames(value),
    };
    done(Operation::ModifyVpcAttribute, call.send().await)
}

/// Adds an IPv4 range, or an Amazon-provided IPv6 range.
pub(super) async fn associate(client: &Client, vpc: &VpcId, cidr: Option<Ipv4Net>) -> Result<Parts> {
    const OPERATION: Operation = Operation::AssociateVpcCidrBlock;
    let call = client.associate_vpc_cidr_block().vpc_id(vpc.as_str());
    let call = match cidr {
        Some(cidr) => call.cidr_block(cidr.to_string()),
        None => call.amazon_provided_ipv6_cidr_block(true),
    };
    let response = received(OPERATION, call.send().await)?;
    let v4 = response.cidr_block_association().and_then(shapes::v4_of_vpc);
    // Amazon chooses the IPv6 range later, so the response does not contain it.
    let v6 = response.ipv6_cidr_block_association().and_then(shapes::v6_of_vpc);
    Ok(one(Vpc { cidrs: v4.into_iter().collect(), ipv6: v6.into_iter().collect(), ..nothing_but(vpc) }))
}

pub(super) async fn disassociate(client: &Client, association: &AssociationId) -> Result<Parts> {
    let call = client.disassociate_vpc_cidr_block().association_id(association.as_str());
    done(Operation::DisassociateVpcCidrBlock, call.send().await)
}

pub(super) async fn delete(client: &Client, vpc: &VpcId) -> Result<Parts> {
    done(Operation::DeleteVpc, client.delete_vpc().vpc_id(vpc.as_str()).send().await)
}

fn one(vpc: Vpc) -> Parts {
    Parts { vpcs: [(vpc.id.clone(), vpc)].into(), ..Parts::default() }
}

/// A VPC of which a response contains only the id.
fn nothing_but(id: &VpcId) -> Vpc {
    Vpc {
        id: id.clone(),
        owner: String::new(),
        cidr: Ipv4Net::default(),
        cidrs: Vec::new(),
        ipv6: Vec::new(),
        is_default: false,
        available: false,
        dns_support: None,
        dns_hostnames: None,
        tags: Tags::new(),
    }
}
