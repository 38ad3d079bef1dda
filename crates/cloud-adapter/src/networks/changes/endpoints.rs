//! VPC endpoints.

use super::calls::{done, never, part, received, tagged};
use crate::error;
use crate::networks::endpoints as shapes;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use foo_model::network::{EndpointChange, EndpointKind, Parts, Tags};
use foo_model::{EndpointId, VpcId};
use std::collections::BTreeSet;
use std::fmt::Display;

pub(super) async fn create(
    client: &Client,
    (vpc, service): (&VpcId, &str),
    kind: &EndpointKind,
    tags: &Tags,
    token: &str,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateVpcEndpoint;
    let call = client
        .create_vpc_endpoint()
        .vpc_id(vpc.as_str())
        .service_name(service)
        .client_token(token)
        .set_tag_specifications(tagged(aws::ResourceType::VpcEndpoint, tags));
    let call = match kind {
        EndpointKind::Gateway { tables } => {
            call.vpc_endpoint_type(aws::VpcEndpointType::Gateway).set_route_table_ids(list(tables))
        }
        EndpointKind::Interface { subnets, groups, private_dns } => call
            .vpc_endpoint_type(aws::VpcEndpointType::Interface)
            .set_subnet_ids(list(subnets))
            .set_security_group_ids(list(groups))
            .private_dns_enabled(*private_dns),
        EndpointKind::Other(_) => return Err(never(OPERATION, "only gateways and interfaces are made")),
    };
    let response = received(OPERATION, call.send().await)?;
    let endpoint = part(OPERATION, response.vpc_endpoint(), "vpcEndpoint", shapes::endpoint)?;
    Ok(Parts { endpoints: [(endpoint.id.clone(), endpoint)].into(), ..Parts::default() })
}

pub(super) async fn modify(client: &Client, endpoint: &EndpointId, change: &EndpointChange) -> Result<Parts> {
    let call = client
        .modify_vpc_endpoint()
        .vpc_endpoint_id(endpoint.as_str())
        .set_add_route_table_ids(list(&change.add_tables))
        .set_remove_route_table_ids(list(&change.remove_tables))
        .set_add_subnet_ids(list(&change.add_subnets))
        .set_remove_subnet_ids(list(&change.remove_subnets))
        .set_add_security_group_ids(list(&change.add_groups))
        .set_remove_security_group_ids(list(&change.remove_groups))
        .set_private_dns_enabled(change.private_dns);
    done(Operation::ModifyVpcEndpoint, call.send().await)
}

/// EC2 reports success, and lists in the response the endpoints that it did not delete: then the change fails.
/// Endpoints that do not exist are no failure, unless none of them exists.
pub(super) async fn delete(client: &Client, endpoints: &BTreeSet<EndpointId>) -> Result<Parts> {
    const OPERATION: Operation = Operation::DeleteVpcEndpoints;
    let call = client.delete_vpc_endpoints().set_vpc_endpoint_ids(list(endpoints));
    let response = received(OPERATION, call.send().await)?;
    let refusals: Vec<CloudError> = response.unsuccessful().iter().map(refusal).collect();
    let all_are_gone = !refusals.is_empty() && refusals.len() >= endpoints.len();
    let worst = refusals.iter().find(|error| error.kind != ErrorKind::NotFound);
    match worst.or_else(|| refusals.first().filter(|_| all_are_gone)) {
        Some(error) => Err(error.clone()),
        None => Ok(Parts::default()),
    }
}

fn refusal(item: &aws::UnsuccessfulItem) -> CloudError {
    let id = item.resource_id().unwrap_or_default();
    let code = item.error().and_then(aws::UnsuccessfulItemError::code);
    let message = item.error().and_then(aws::UnsuccessfulItemError::message).unwrap_or_default();
    error::of_item(Operation::DeleteVpcEndpoints, code, &format!("{id}: {message}"))
}

/// A list for EC2; none instead of an empty list.
fn list<T: Display>(ids: &BTreeSet<T>) -> Option<Vec<String>> {
    Some(ids.iter().map(ToString::to_string).collect()).filter(|ids: &Vec<String>| !ids.is_empty())
}
