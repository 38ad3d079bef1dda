//! Route tables.

use crate::core::region::Region;
use crate::wire::ec2::tags;
use crate::wire::xml::Xml;
use foo_model::AssociationId;
use foo_model::network::{Destination, Route, RouteTable, RouteTarget};

/// The inside of a `RouteTable`.
pub(in crate::wire::ec2::network) fn write(xml: &mut Xml, table: &RouteTable, region: &Region) {
    xml.text("routeTableId", table.id.as_str());
    xml.text("vpcId", table.vpc.as_str());
    xml.text("ownerId", &region.account);
    xml.list("routeSet", "item", &table.routes, write_route);
    xml.within("associationSet", |xml| {
        if let Some(id) = main_association(table, region) {
            write_association(xml, id.as_str(), table, None);
        }
        for association in &table.associations {
            write_association(xml, association.id.as_str(), table, Some(association.subnet.as_str()));
        }
    });
    xml.texts("propagatingVgwSet", "item", [""; 0]);
    tags::write(xml, &table.tags);
}

/// The association of a main table with its VPC.
pub(in crate::wire::ec2::network) fn main_association<'a>(
    table: &RouteTable,
    region: &'a Region,
) -> Option<&'a AssociationId> {
    region.network.main_associations.get(&table.vpc).filter(|_| table.main)
}

fn write_association(xml: &mut Xml, id: &str, table: &RouteTable, subnet: Option<&str>) {
    xml.within("item", |xml| {
        xml.text("routeTableAssociationId", id);
        xml.text("routeTableId", table.id.as_str());
        xml.optional("subnetId", subnet);
        xml.value("main", subnet.is_none());
        write_associated(xml);
    });
}

/// The state of an association.
pub(in crate::wire::ec2::network) fn write_associated(xml: &mut Xml) {
    xml.within("associationState", |xml| xml.text("state", "associated"));
}

fn write_route(xml: &mut Xml, route: &Route) {
    let (name, value) = destination(&route.destination);
    xml.text(name, value);
    let (name, value) = target(&route.target);
    xml.text(name, value);
    xml.text("origin", origin(route));
    xml.text("state", state(route));
}

/// Name and value of a route's destination.
pub(in crate::wire::ec2::network) fn destination(destination: &Destination) -> (&'static str, String) {
    match destination {
        Destination::V4(range) => ("destinationCidrBlock", range.to_string()),
        Destination::V6(range) => ("destinationIpv6CidrBlock", range.to_string()),
        Destination::Prefixes(list) => ("destinationPrefixListId", list.to_string()),
    }
}

/// Name and value of a route's target.
pub(in crate::wire::ec2::network) fn target(target: &RouteTarget) -> (&'static str, &str) {
    match target {
        RouteTarget::Local => ("gatewayId", "local"),
        RouteTarget::InternetGateway(id) => ("gatewayId", id.as_str()),
        RouteTarget::EgressOnlyGateway(id) => ("egressOnlyInternetGatewayId", id.as_str()),
        RouteTarget::NatGateway(id) => ("natGatewayId", id.as_str()),
        // Gateway endpoints are shown as gateways (VPC User Guide, "Gateway endpoints").
        RouteTarget::Endpoint(id) => ("gatewayId", id.as_str()),
        RouteTarget::Other(id) => (other_target(id), id),
    }
}

fn other_target(id: &str) -> &'static str {
    match id.split('-').next().unwrap_or_default() {
        "tgw" => "transitGatewayId",
        "pcx" => "vpcPeeringConnectionId",
        "eni" => "networkInterfaceId",
        "i" => "instanceId",
        _ => "gatewayId",
    }
}

pub(in crate::wire::ec2::network) fn origin(route: &Route) -> &'static str {
    if route.target == RouteTarget::Local { "CreateRouteTable" } else { "CreateRoute" }
}

pub(in crate::wire::ec2::network) fn state(route: &Route) -> &'static str {
    if route.blackhole { "blackhole" } else { "active" }
}

/// The values of a table's routes for a filter about a member of routes.
pub(in crate::wire::ec2::network) fn route_values(table: &RouteTable, filter: &str) -> Vec<String> {
    let said = |member: &str, value: &str| (kebab(member) == filter).then(|| value.to_owned());
    let of_route = |route: &Route| {
        let (place, range) = destination(&route.destination);
        let (way, id) = target(&route.target);
        [said(place, &range), said(way, id)]
    };
    table.routes.iter().flat_map(of_route).flatten().collect()
}

/// `natGatewayId` → `nat-gateway-id`.
fn kebab(member: &str) -> String {
    let letter =
        |c: char| if c.is_ascii_uppercase() { format!("-{}", c.to_ascii_lowercase()) } else { c.to_string() };
    member.chars().map(letter).collect()
}
