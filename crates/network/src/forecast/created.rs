//! What EC2 returns for a creation or an association that succeeds.

use crate::desired::Desired;
use foo_model::network::{
    Address, Change, CidrAssociation, CidrState, EgressOnlyGateway, Endpoint, EndpointKind, EndpointState,
    InternetGateway, NatGateway, NatState, Parts, Peer, Protocol, RouteTable, Rule, SecurityGroup, Subnet,
    TableAssociation, Tags, Vpc,
};
use foo_model::{AssociationId, RouteTableId, SubnetId, VpcId};
use ipnet::{Ipv4Net, Ipv6Net};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

/// A /56 of addresses that are for documentation (RFC 3849).
const PREFIX: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0);

/// The parts in the response. `id` is new; `present` is what exists.
pub(super) fn created(change: &Change, id: &str, desired: &Desired, present: &Parts) -> Parts {
    let mut parts = Parts::default();
    match change.clone() {
        Change::CreateVpc { cidr, ipv6: _, tags } => {
            let vpc = Vpc {
                id: id.into(),
                owner: desired.account.clone().unwrap_or_default(),
                cidr,
                cidrs: vec![associated(id, cidr)],
                ipv6: Vec::new(),
                is_default: false,
                available: true,
                dns_support: None,
                dns_hostnames: None,
                tags,
            };
            parts.vpcs.insert(vpc.id.clone(), vpc);
        }
        Change::AssociateVpcCidrBlock { vpc, cidr } => {
            add_to_vpc(&mut parts, &vpc, present, |it| it.cidrs.push(associated(id, cidr)));
        }
        Change::AssociateVpcIpv6 { vpc } => add_to_vpc(&mut parts, &vpc, present, |_| {}),
        Change::CreateSubnet { vpc, zone, cidr, ipv6, tags } => {
            let subnet = Subnet {
                id: id.into(),
                vpc,
                zone,
                zone_id: String::new(),
                cidr,
                ipv6: ipv6.map(|range| associated(id, range)).into_iter().collect(),
                state: "available".to_owned(),
                // EC2 keeps five of each subnet (VPC User Guide, "Subnet CIDR blocks").
                free_addresses: (1_u32 << (32 - u32::from(cidr.prefix_len()).clamp(1, 32))).saturating_sub(5),
                public_ip_on_launch: false,
                ipv6_on_creation: false,
                tags,
            };
            parts.subnets.insert(subnet.id.clone(), subnet);
        }
        Change::CreateInternetGateway { tags } => {
            let gateway = InternetGateway { id: id.into(), vpc: None, tags };
            parts.internet_gateways.insert(gateway.id.clone(), gateway);
        }
        Change::CreateEgressOnlyInternetGateway { vpc, tags, token: _ } => {
            let gateway = EgressOnlyGateway { id: id.into(), vpc, tags };
            parts.egress_only_gateways.insert(gateway.id.clone(), gateway);
        }
        Change::AllocateAddress { tags } => {
            let address = Address { id: id.into(), ip: String::new(), interface: None, tags };
            parts.addresses.insert(address.id.clone(), address);
        }
        Change::CreateNatGateway { subnet, allocation, tags, token: _ } => {
            let nat = NatGateway {
                id: id.into(),
                vpc: vpc_of(&subnet, present),
                subnet,
                allocations: BTreeSet::from([allocation]),
                state: NatState::Pending,
                failure: None,
                created: None,
                tags,
            };
            parts.nat_gateways.insert(nat.id.clone(), nat);
        }
        Change::CreateRouteTable { vpc, tags, token: _ } => {
            let table = table(id, vpc, Vec::new(), tags);
            parts.route_tables.insert(table.id.clone(), table);
        }
        Change::AssociateRouteTable { table: of, subnet } => {
            associate(&mut parts, of, Some(TableAssociation { id: AssociationId::new(id), subnet }), present);
        }
        Change::ReplaceRouteTableAssociation { association, table: of } => {
            let mut all = present.route_tables.values().flat_map(|it| &it.associations);
            let former = all.find(|it| it.id == association);
            let new =
                former.map(|it| TableAssociation { id: AssociationId::new(id), subnet: it.subnet.clone() });
            associate(&mut parts, of, new, present);
        }
        Change::CreateSecurityGroup { vpc, name, description, tags } => {
            let (ingress, egress) = (BTreeSet::new(), lets_everything_out(&vpc, present));
            let group = SecurityGroup { id: id.into(), vpc, name, description, ingress, egress, tags };
            parts.security_groups.insert(group.id.clone(), group);
        }
        Change::CreateVpcEndpoint { vpc, service, kind, tags, token: _ } => {
            let state = match kind {
                EndpointKind::Gateway { .. } => EndpointState::Available,
                EndpointKind::Interface { .. } | EndpointKind::Other(_) => EndpointState::Pending,
            };
            let endpoint = Endpoint { id: id.into(), vpc, service, kind, state, failure: None, tags };
            parts.endpoints.insert(endpoint.id.clone(), endpoint);
        }
        _ => {}
    }
    parts
}

/// The egress rules of a new group (VPC User Guide, "Security group rules").
fn lets_everything_out(vpc: &VpcId, present: &Parts) -> BTreeSet<Rule> {
    let has_ipv6 = present.vpcs.get(vpc).is_some_and(|vpc| !vpc.ipv6.is_empty());
    let peers =
        [Peer::V4(Ipv4Net::default())].into_iter().chain(has_ipv6.then(|| Peer::V6(Ipv6Net::default())));
    peers.map(|peer| Rule { protocol: Protocol::All, peer, description: String::new() }).collect()
}

fn associated<T>(id: &str, range: T) -> CidrAssociation<T> {
    CidrAssociation { id: AssociationId::new(format!("{id}-range")), range, state: CidrState::Associated }
}

/// Amazon's range of a VPC.
pub(super) fn amazons(id: &str) -> CidrAssociation<Ipv6Net> {
    // 56 is a length of IPv6 prefixes.
    associated(id, Ipv6Net::new_assert(PREFIX, 56))
}

fn add_to_vpc(parts: &mut Parts, id: &VpcId, present: &Parts, add: impl FnOnce(&mut Vpc)) {
    let Some(mut vpc) = present.vpcs.get(id).cloned() else { return };
    add(&mut vpc);
    parts.vpcs.insert(id.clone(), vpc);
}

/// A route table with an association, if there is one.
fn associate(parts: &mut Parts, of: RouteTableId, association: Option<TableAssociation>, present: &Parts) {
    let vpc = present.route_tables.get(&of).map_or_else(|| VpcId::new(""), |it| it.vpc.clone());
    let table = table(of.as_str(), vpc, association.into_iter().collect(), BTreeMap::new());
    parts.route_tables.insert(of, table);
}

fn vpc_of(subnet: &SubnetId, present: &Parts) -> VpcId {
    present.subnets.get(subnet).map_or_else(|| VpcId::new(""), |it| it.vpc.clone())
}

fn table(id: &str, vpc: VpcId, associations: Vec<TableAssociation>, tags: Tags) -> RouteTable {
    RouteTable { id: id.into(), vpc, main: false, routes: Vec::new(), associations, tags }
}
