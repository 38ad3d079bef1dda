//! Elastic IP addresses, and the NAT gateways that use them.

use super::calls::{done, field, part, received, tagged};
use crate::networks::shapes;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::network::{Address, Parts, Tags};
use foo_model::{AllocationId, NatGatewayId, SubnetId};

/// The response does not repeat the tags.
pub(super) async fn allocate(client: &Client, tags: &Tags) -> Result<Parts> {
    const OPERATION: Operation = Operation::AllocateAddress;
    let call = client.allocate_address().domain(aws::DomainType::Vpc);
    let call = call.set_tag_specifications(tagged(aws::ResourceType::ElasticIp, tags));
    let response = received(OPERATION, call.send().await)?;
    let address = Address {
        id: field(OPERATION, response.allocation_id(), "allocationId")?.into(),
        ip: response.public_ip().unwrap_or_default().to_owned(),
        interface: None,
        tags: Tags::new(),
    };
    Ok(Parts { addresses: [(address.id.clone(), address)].into(), ..Parts::default() })
}

pub(super) async fn release(client: &Client, allocation: &AllocationId) -> Result<Parts> {
    let call = client.release_address().allocation_id(allocation.as_str());
    done(Operation::ReleaseAddress, call.send().await)
}

pub(super) async fn create_nat(
    client: &Client,
    subnet: &SubnetId,
    allocation: &AllocationId,
    tags: &Tags,
    token: &str,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateNatGateway;
    let call = client
        .create_nat_gateway()
        .subnet_id(subnet.as_str())
        .allocation_id(allocation.as_str())
        .client_token(token)
        .set_tag_specifications(tagged(aws::ResourceType::Natgateway, tags));
    let response = received(OPERATION, call.send().await)?;
    let gateway = part(OPERATION, response.nat_gateway(), "natGateway", shapes::nat_gateway)?;
    Ok(Parts { nat_gateways: [(gateway.id.clone(), gateway)].into(), ..Parts::default() })
}

pub(super) async fn delete_nat(client: &Client, gateway: &NatGatewayId) -> Result<Parts> {
    let call = client.delete_nat_gateway().nat_gateway_id(gateway.as_str());
    done(Operation::DeleteNatGateway, call.send().await)
}
