//! Internet gateways and egress-only internet gateways.

use super::calls::{done, field, part, received, tagged};
use crate::networks::shapes;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::network::{EgressOnlyGateway, Parts, Tags};
use foo_model::{EgressOnlyGatewayId, InternetGatewayId, VpcId};

pub(super) async fn create_internet(client: &Client, tags: &Tags) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateInternetGateway;
    let call = client.create_internet_gateway();
    let call = call.set_tag_specifications(tagged(aws::ResourceType::InternetGateway, tags));
    let response = received(OPERATION, call.send().await)?;
    let gateway = part(OPERATION, response.internet_gateway(), "internetGateway", shapes::internet_gateway)?;
    Ok(Parts { internet_gateways: [(gateway.id.clone(), gateway)].into(), ..Parts::default() })
}

pub(super) async fn attach(client: &Client, gateway: &InternetGatewayId, vpc: &VpcId) -> Result<Parts> {
    let call = client.attach_internet_gateway().internet_gateway_id(gateway.as_str()).vpc_id(vpc.as_str());
    done(Operation::AttachInternetGateway, call.send().await)
}

pub(super) async fn detach(client: &Client, gateway: &InternetGatewayId, vpc: &VpcId) -> Result<Parts> {
    let call = client.detach_internet_gateway().internet_gateway_id(gateway.as_str()).vpc_id(vpc.as_str());
    done(Operation::DetachInternetGateway, call.send().await)
}

pub(super) async fn delete_internet(client: &Client, gateway: &InternetGatewayId) -> Result<Parts> {
    let call = client.delete_internet_gateway().internet_gateway_id(gateway.as_str());
    done(Operation::DeleteInternetGateway, call.send().await)
}

pub(super) async fn create_egress_only(
    client: &Client,
    vpc: &VpcId,
    tags: &Tags,
    token: &str,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateEgressOnlyInternetGateway;
    let call = client
        .create_egress_only_internet_gateway()
        .vpc_id(vpc.as_str())
        .client_token(token)
        .set_tag_specifications(tagged(aws::ResourceType::EgressOnlyInternetGateway, tags));
    let response = received(OPERATION, call.send().await)?;
    let made = field(OPERATION, response.egress_only_internet_gateway(), "egressOnlyInternetGateway")?;
    let id = field(OPERATION, made.egress_only_internet_gateway_id(), "egressOnlyInternetGatewayId")?;
    // It may not be attached yet.
    let gateway = EgressOnlyGateway { id: id.into(), vpc: vpc.clone(), tags: shapes::tags(made.tags()) };
    Ok(Parts { egress_only_gateways: [(gateway.id.clone(), gateway)].into(), ..Parts::default() })
}

pub(super) async fn delete_egress_only(client: &Client, gateway: &EgressOnlyGatewayId) -> Result<Parts> {
    let call = client.delete_egress_only_internet_gateway();
    let call = call.egress_only_internet_gateway_id(gateway.as_str());
    done(Operation::DeleteEgressOnlyInternetGateway, call.send().await)
}
