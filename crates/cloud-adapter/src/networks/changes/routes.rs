//! Route tables, routes, and the subnets that use a table.

use super::calls::{done, field, never, part, received, tagged};
use crate::networks::routes as shapes;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::network::{Destination, Parts, RouteTable, RouteTarget, TableAssociation, Tags};
use foo_model::{AssociationId, RouteTableId, SubnetId, VpcId};

pub(super) async fn create_table(client: &Client, vpc: &VpcId, tags: &Tags, token: &str) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateRouteTable;
    let call = client
        .create_route_table()
        .vpc_id(vpc.as_str())
        .client_token(token)
        .set_tag_specifications(tagged(aws::ResourceType::RouteTable, tags));
    let response = received(OPERATION, call.send().await)?;
    Ok(one(part(OPERATION, response.route_table(), "routeTable", shapes::route_table)?))
}

/// Adds the destination of a route to a call, whose SDK builders share these methods but no trait.
macro_rules! with_destination {
    ($call:expr, $destination:expr) => {{
        let destination = shapes::destination($destination);
        $call
            .set_destination_cidr_block(destination.v4)
            .set_destination_ipv6_cidr_block(destination.v6)
            .set_destination_prefix_list_id(destination.prefixes)
    }};
}

/// Adds destination and target of a route to a call.
macro_rules! with_route {
    ($operation:expr, $call:expr, $destination:expr, $target:expr) => {{
        let target = parameters($operation, $target)?;
        with_destination!($call, $destination)
            .set_gateway_id(target.gateway)
            .set_nat_gateway_id(target.nat)
            .set_egress_only_internet_gateway_id(target.egress_only)
    }};
}

pub(super) async fn create(
    client: &Client,
    table: &RouteTableId,
    destination: &Destination,
    target: &RouteTarget,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateRoute;
    let call = client.create_route().route_table_id(table.as_str());
    done(OPERATION, with_route!(OPERATION, call, destination, target).send().await)
}

pub(super) async fn replace(
    client: &Client,
    table: &RouteTableId,
    destination: &Destination,
    target: &RouteTarget,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::ReplaceRoute;
    let call = client.replace_route().route_table_id(table.as_str());
    done(OPERATION, with_route!(OPERATION, call, destination, target).send().await)
}

fn parameters(operation: Operation, target: &RouteTarget) -> Result<shapes::TargetParameters> {
    let refused = || never(operation, "the provider creates routes to gateways only");
    shapes::target_parameters(target).ok_or_else(refused)
}

pub(super) async fn delete(
    client: &Client,
    table: &RouteTableId,
    destination: &Destination,
) -> Result<Parts> {
    let call = client.delete_route().route_table_id(table.as_str());
    done(Operation::DeleteRoute, with_destination!(call, destination).send().await)
}

pub(super) async fn associate(client: &Client, table: &RouteTableId, subnet: &SubnetId) -> Result<Parts> {
    const OPERATION: Operation = Operation::AssociateRouteTable;
    let call = client.associate_route_table().route_table_id(table.as_str()).subnet_id(subnet.as_str());
    let response = received(OPERATION, call.send().await)?;
    let id = field(OPERATION, response.association_id(), "associationId")?.into();
    Ok(one(with_association(table, TableAssociation { id, subnet: subnet.clone() })))
}

/// The response does not contain the subnet, so that of the association is empty.
pub(super) async fn replace_association(
    client: &Client,
    association: &AssociationId,
    table: &RouteTableId,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::ReplaceRouteTableAssociation;
    let call = client.replace_route_table_association().association_id(association.as_str());
    let response = received(OPERATION, call.route_table_id(table.as_str()).send().await)?;
    let id = field(OPERATION, response.new_association_id(), "newAssociationId")?.into();
    Ok(one(with_association(table, TableAssociation { id, subnet: SubnetId::new("") })))
}

pub(super) async fn disassociate(client: &Client, association: &AssociationId) -> Result<Parts> {
    let call = client.disassociate_route_table().association_id(association.as_str());
    done(Operation::DisassociateRouteTable, call.send().await)
}

pub(super) async fn delete_table(client: &Client, table: &RouteTableId) -> Result<Parts> {
    let call = client.delete_route_table().route_table_id(table.as_str());
    done(Operation::DeleteRouteTable, call.send().await)
}

fn one(table: RouteTable) -> Parts {
    Parts { route_tables: [(table.id.clone(), table)].into(), ..Parts::default() }
}

/// A table with nothing but the association that a response contains.
fn with_association(id: &RouteTableId, association: TableAssociation) -> RouteTable {
    RouteTable {
        id: id.clone(),
        vpc: VpcId::new(""),
        main: false,
        routes: Vec::new(),
        associations: vec![association],
        tags: Tags::new(),
    }
}
