//! The networks of a region as the page shows them: each VPC with everything in it.

use crate::core::Region;
use crate::core::network::part::Part;
use crate::simulator::RegionHandle;
use foo_model::VpcId;
use foo_model::network::{
    Address, Destination, EgressOnlyGateway, Endpoint, EndpointState, Interface, InternetGateway,
    LoadBalancer, NatGateway, NatState, Route, RouteTable, RouteTarget, SecurityGroup, Subnet, Tags,
    TargetGroup, Vpc,
};
use serde_json::{Value, json};

/// All VPCs of a region, and its Elastic IP addresses, as they are now.
pub(crate) fn networks(region: &RegionHandle) -> Value {
    region
        .with(|region| {
            let vpcs: Vec<Value> = region.network.all::<Vpc>().map(|vpc| of_vpc(region, vpc)).collect();
            let addresses: Vec<Value> = region
                .network
                .all::<Address>()
                .map(|it| json!({ "id": it.id, "ip": it.ip, "interface": it.interface }))
                .collect();
            json!({ "vpcs": vpcs, "addresses": addresses, "clusters": super::clusters::clusters(region) })
        })
        .unwrap_or_else(|_| json!({ "vpcs": [], "addresses": [], "clusters": [] }))
}

fn of_vpc(region: &Region, vpc: &Vpc) -> Value {
    let ranges: Vec<String> = vpc
        .cidrs
        .iter()
        .map(|it| it.range.to_string())
        .chain(vpc.ipv6.iter().map(|it| it.range.to_string()))
        .collect();
    json!({
        "id": vpc.id,
        "name": name(&vpc.tags),
        "ranges": ranges,
        "state": if vpc.available { "available" } else { "pending" },
        "default": vpc.is_default,
        "subnets": parts(region, &vpc.id, |it: &Subnet| subnet(region, it)),
        "gateways": gateways(region, &vpc.id),
        "nat": parts(region, &vpc.id, nat_gateway),
        "tables": parts(region, &vpc.id, table),
        "groups": parts(region, &vpc.id, |it: &SecurityGroup| json!({
            "id": it.id, "name": name(&it.tags), "group": it.name, "in": it.ingress.len(), "out": it.egress.len(),
        })),
        "endpoints": parts(region, &vpc.id, endpoint),
        "balancers": balancers(region, &vpc.id),
        "interfaces": others(region, &vpc.id),
    })
}

/// The parts of one kind in a VPC.
fn parts<T: Part>(region: &Region, vpc: &VpcId, show: impl Fn(&T) -> Value) -> Vec<Value> {
    region.network.all::<T>().filter(|part| part.vpc() == Some(vpc)).map(show).collect()
}

fn name(tags: &Tags) -> Option<&String> {
    tags.get("Name")
}

fn subnet(region: &Region, subnet: &Subnet) -> Value {
    let uses = |table: &&RouteTable| table.associations.iter().any(|it| it.subnet == subnet.id);
    json!({
        "id": subnet.id,
        "name": name(&subnet.tags),
        "zone": subnet.zone,
        "range": subnet.cidr,
        "free": subnet.free_addresses,
        "state": subnet.state,
        "table": region.network.all::<RouteTable>().find(uses).map(|table| &table.id),
        "trouble": subnet.state != "available" && subnet.state != "pending",
    })
}

fn gateways(region: &Region, vpc: &VpcId) -> Vec<Value> {
    let internet = parts(region, vpc, |it: &InternetGateway| json!({ "id": it.id, "name": name(&it.tags) }));
    let egress_only =
        parts(region, vpc, |it: &EgressOnlyGateway| json!({ "id": it.id, "name": name(&it.tags) }));
    [internet, egress_only].concat()
}

fn nat_gateway(gateway: &NatGateway) -> Value {
    let state: &'static str = gateway.state.into();
    json!({
        "id": gateway.id,
        "name": name(&gateway.tags),
        "subnet": gateway.subnet,
        "state": state,
        "failure": gateway.failure.as_ref().map(|(code, message)| format!("{code}: {message}")),
        "trouble": gateway.state == NatState::Failed,
    })
}

fn table(table: &RouteTable) -> Value {
    let routes: Vec<String> = table.routes.iter().map(route).collect();
    json!({
        "id": table.id,
        "name": name(&table.tags),
        "main": table.main,
        "routes": routes,
        "trouble": table.routes.iter().any(|route| route.blackhole),
    })
}

/// `0.0.0.0/0 → nat-0…`
fn route(route: &Route) -> String {
    let destination = match &route.destination {
        Destination::V4(range) => range.to_string(),
        Destination::V6(range) => range.to_string(),
        Destination::Prefixes(list) => list.to_string(),
    };
    let target = match &route.target {
        RouteTarget::Local => "local",
        RouteTarget::InternetGateway(id) => id.as_str(),
        RouteTarget::EgressOnlyGateway(id) => id.as_str(),
        RouteTarget::NatGateway(id) => id.as_str(),
        RouteTarget::Endpoint(id) => id.as_str(),
        RouteTarget::Other(id) => id,
    };
    format!("{destination} → {target}{}", if route.blackhole { " (blackhole)" } else { "" })
}

fn endpoint(endpoint: &Endpoint) -> Value {
    let state: &'static str = endpoint.state.into();
    let failed =
        matches!(endpoint.state, EndpointState::Failed | EndpointState::Rejected | EndpointState::Expired);
    json!({
        "id": endpoint.id,
        "name": name(&endpoint.tags),
        "service": endpoint.service,
        "state": state,
        "trouble": failed,
    })
}

fn balancers(region: &Region, vpc: &VpcId) -> Vec<Value> {
    let balancers = parts(region, vpc, |it: &LoadBalancer| {
        let kind: &'static str = it.kind.into();
        json!({ "id": it.name, "kind": format!("{kind} load balancer") })
    });
    let groups = parts(region, vpc, |it: &TargetGroup| json!({ "id": it.name, "kind": "target group" }));
    [balancers, groups].concat()
}

/// The interfaces that do not belong to an instance: of NAT gateways, endpoints, load balancers and other users.
fn others(region: &Region, vpc: &VpcId) -> Vec<Value> {
    region
        .network
        .all::<Interface>()
        .filter(|it| it.vpc == *vpc && it.instance.is_none())
        .map(|it| json!({ "id": it.id, "subnet": it.subnet, "description": it.description }))
        .collect()
}
