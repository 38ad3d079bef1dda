//! The settings of the parts of a network, as EC2 shows them and as a FooPlan shows what differs.
//!
//! Not here: IPv6 ranges, which EC2 assigns, and what only AWS decides.

use crate::plans::fields::{Resource, Resources, fields};
use foo_model::names::TAG_ROLE;
use foo_model::network::{
    Address, Destination, EgressOnlyGateway, Endpoint, EndpointKind, InternetGateway, NatGateway, Parts,
    Peer, Protocol, Route, RouteTable, RouteTarget, Rule, SecurityGroup, Subnet, Vpc,
};
use foo_network::forecast::PLANNED;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Display;

/// What exists, with its settings.
pub(super) fn resources(parts: &Parts) -> Resources {
    let Parts {
        vpcs,
        subnets,
        internet_gateways,
        egress_only_gateways,
        addresses,
        nat_gateways,
        route_tables,
        security_groups,
        endpoints,
        // Not parts of a network.
        interfaces: _,
        load_balancers: _,
        target_groups: _,
        zones: _,
    } = parts;
    let all = vpcs.values().map(vpc);
    let all = all.chain(subnets.values().map(subnet));
    let all = all.chain(internet_gateways.values().map(internet_gateway));
    let all = all.chain(egress_only_gateways.values().map(egress_only_gateway));
    let all = all.chain(addresses.values().map(address));
    let all = all.chain(nat_gateways.values().map(nat_gateway));
    let all = all.chain(route_tables.values().map(route_table));
    let all = all.chain(security_groups.values().map(security_group));
    let all = all.chain(endpoints.values().map(endpoint));
    all.map(|(id, settings)| {
        (id.clone(), Resource { name: named(&id, &settings), settings: fields(&settings) })
    })
    .collect()
}

/// The role of a part, as calls name it, and its id. The id alone identifies it: its role is a tag, which may be missing.
fn named(id: &str, settings: &Value) -> String {
    match settings.get("tags").and_then(|tags| tags.get(TAG_ROLE)?.as_str()) {
        Some(role) => format!("{role} {id}"),
        None => id.to_owned(),
    }
}

/// An id; that of a part that does not exist yet is invented.
fn id(id: &impl Display) -> String {
    let id = id.to_string();
    if id.starts_with(PLANNED) { "a new one".to_owned() } else { id }
}

fn ids<'i, T: Display + 'i>(all: impl IntoIterator<Item = &'i T>) -> BTreeSet<String> {
    all.into_iter().map(id).collect()
}

fn vpc(shown: &Vpc) -> (String, Value) {
    let Vpc {
        id,
        owner: _,
        cidr: _,
        cidrs,
        ipv6: _,
        is_default: _,
        available: _,
        dns_support,
        dns_hostnames,
        tags,
    } = shown;
    let ranges: BTreeSet<String> = cidrs.iter().map(|it| it.range.to_string()).collect();
    let settings = json!({
        "cidrs": ranges,
        "enable_dns_support": dns_support,
        "enable_dns_hostnames": dns_hostnames,
        "tags": tags,
    });
    (id.to_string(), settings)
}

fn subnet(shown: &Subnet) -> (String, Value) {
    let Subnet {
        id,
        vpc: _,
        zone: _,
        zone_id: _,
        cidr: _,
        ipv6: _,
        state: _,
        free_addresses: _,
        public_ip_on_launch,
        ipv6_on_creation,
        tags,
    } = shown;
    let settings = json!({
        "map_public_ip_on_launch": public_ip_on_launch,
        "assign_ipv6_address_on_creation": ipv6_on_creation,
        "tags": tags,
    });
    (id.to_string(), settings)
}

fn internet_gateway(shown: &InternetGateway) -> (String, Value) {
    let InternetGateway { id, vpc, tags } = shown;
    (id.to_string(), json!({ "vpc": vpc.as_ref().map(self::id), "tags": tags }))
}

fn egress_only_gateway(shown: &EgressOnlyGateway) -> (String, Value) {
    let EgressOnlyGateway { id, vpc: _, tags } = shown;
    (id.to_string(), json!({ "tags": tags }))
}

fn address(shown: &Address) -> (String, Value) {
    let Address { id, ip: _, interface: _, tags } = shown;
    (id.to_string(), json!({ "tags": tags }))
}

fn nat_gateway(shown: &NatGateway) -> (String, Value) {
    let NatGateway { id, vpc: _, subnet: _, allocations: _, state: _, failure: _, created: _, tags } = shown;
    (id.to_string(), json!({ "tags": tags }))
}

fn route_table(shown: &RouteTable) -> (String, Value) {
    let RouteTable { id, vpc: _, main: _, routes, associations, tags } = shown;
    // Those of the VPC itself and of endpoints are EC2's own.
    let is_chosen = |it: &&Route| !matches!(it.target, RouteTarget::Local | RouteTarget::Endpoint(_));
    let routes: Map<String, Value> = routes.iter().filter(is_chosen).map(route).collect();
    let settings = json!({
        "routes": routes,
        "associations": ids(associations.iter().map(|it| &it.subnet)),
        "tags": tags,
    });
    (id.to_string(), settings)
}

fn route(shown: &Route) -> (String, Value) {
    let Route { destination, target, blackhole } = shown;
    let destination = match destination {
        Destination::V4(range) => range.to_string(),
        Destination::V6(range) => range.to_string(),
        Destination::Prefixes(list) => list.to_string(),
    };
    let target = match target {
        RouteTarget::Local => "local".to_owned(),
        RouteTarget::InternetGateway(gateway) => id(gateway),
        RouteTarget::EgressOnlyGateway(gateway) => id(gateway),
        RouteTarget::NatGateway(gateway) => id(gateway),
        RouteTarget::Endpoint(endpoint) => id(endpoint),
        RouteTarget::Other(text) => text.clone(),
    };
    (destination, Value::from(if *blackhole { format!("{target} (blackhole)") } else { target }))
}

fn security_group(shown: &SecurityGroup) -> (String, Value) {
    let SecurityGroup { id, vpc: _, name: _, description: _, ingress, egress, tags } = shown;
    let settings = json!({ "ingress": rules(ingress), "egress": rules(egress), "tags": tags });
    (id.to_string(), settings)
}

/// The description of each rule: to EC2 rules that differ only in it are one.
fn rules(shown: &BTreeSet<Rule>) -> Map<String, Value> {
    shown.iter().map(rule).collect()
}

fn rule(shown: &Rule) -> (String, Value) {
    let Rule { protocol, peer, description } = shown;
    let protocol = match *protocol {
        Protocol::All => "all".to_owned(),
        Protocol::Tcp(from, to) => format!("tcp {}", ports(from.into(), to.into())),
        Protocol::Udp(from, to) => format!("udp {}", ports(from.into(), to.into())),
        Protocol::Icmp => "icmp".to_owned(),
        Protocol::Icmpv6 => "icmpv6".to_owned(),
        Protocol::Other(number, None) => format!("protocol {number}"),
        Protocol::Other(number, Some((from, to))) => format!("protocol {number} {}", ports(from, to)),
    };
    let peer = match peer {
        Peer::V4(range) => range.to_string(),
        Peer::V6(range) => range.to_string(),
        Peer::Group(group) => id(group),
        Peer::Prefixes(list) => list.to_string(),
    };
    let description = if description.is_empty() { "no description" } else { description };
    (format!("{protocol} {peer}"), json!(description))
}

fn ports(from: i32, to: i32) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

fn endpoint(shown: &Endpoint) -> (String, Value) {
    let Endpoint { id, vpc: _, service: _, kind, state: _, failure: _, tags } = shown;
    let settings = match kind {
        EndpointKind::Gateway { tables } => json!({ "tables": ids(tables), "tags": tags }),
        EndpointKind::Interface { subnets, groups, private_dns } => json!({
            "subnets": ids(subnets),
            "security_groups": ids(groups),
            "private_dns": private_dns,
            "tags": tags,
        }),
        EndpointKind::Other(_) => json!({ "tags": tags }),
    };
    (id.to_string(), settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::SecurityGroupId;

    #[test]
    fn a_part_is_the_same_without_the_tag_of_its_role() {
        let of = |role: Option<&str>| {
            let tags = role.map(|role| (TAG_ROLE.to_owned(), role.to_owned())).into_iter().collect();
            let gateway = EgressOnlyGateway { id: "eigw-1".into(), vpc: "vpc-1".into(), tags };
            let parts =
                Parts { egress_only_gateways: [("eigw-1".into(), gateway)].into(), ..Parts::default() };
            resources(&parts)
        };
        let differing = crate::plans::fields::in_aws(&of(None), &of(Some("egress")));
        assert_eq!(differing.len(), 1, "{differing:?}");
        assert_eq!(differing[0].resource, "egress eigw-1");
    }

    #[test]
    fn a_rule_is_a_field_with_its_description() {
        let v4 = |range: &str| Peer::V4(range.parse().unwrap());
        let new = Peer::Group(SecurityGroupId::new(format!("{PLANNED}7")));
        let all = [
            (Protocol::Tcp(443, 443), v4("10.0.0.0/8"), "tcp 443 10.0.0.0/8"),
            (Protocol::Udp(1, 65_535), new, "udp 1-65535 a new one"),
            (Protocol::All, Peer::V6("::/0".parse().unwrap()), "all ::/0"),
            (Protocol::Icmp, Peer::Prefixes("pl-1".into()), "icmp pl-1"),
            (Protocol::Other(50, None), Peer::Group("sg-1".into()), "protocol 50 sg-1"),
            (Protocol::Other(1, Some((8, -1))), v4("0.0.0.0/0"), "protocol 1 8--1 0.0.0.0/0"),
        ];
        for (protocol, peer, expected) in all {
            let shown = rule(&Rule { protocol, peer, description: "why".to_owned() });
            assert_eq!(shown, (expected.to_owned(), json!("why")));
        }
        let bare = Rule { protocol: Protocol::All, peer: v4("10.0.0.0/8"), description: String::new() };
        assert_eq!(rule(&bare), ("all 10.0.0.0/8".to_owned(), json!("no description")));
    }

    #[test]
    fn a_route_is_a_field_with_its_target() {
        let route = |target, blackhole| {
            let destination = Destination::V4("0.0.0.0/0".parse().unwrap());
            super::route(&Route { destination, target, blackhole }).1
        };
        assert_eq!(route(RouteTarget::NatGateway("nat-1".into()), true), json!("nat-1 (blackhole)"));
        assert_eq!(route(RouteTarget::NatGateway(format!("{PLANNED}3").into()), false), json!("a new one"));
        assert_eq!(route(RouteTarget::Other("tgw-1".to_owned()), false), json!("tgw-1"));
    }
}
