//! Parts of networks that a test puts into a region, without AWS's validation.

use super::pool::AddressPool;
use super::state::Network;
use foo_model::network::{
    CidrAssociation, CidrState, Destination, Peer, Protocol, Route, RouteTable, RouteTarget, Rule,
    SecurityGroup, Subnet, Tags, Vpc,
};
use foo_model::{AssociationId, RouteTableId, SecurityGroupId, SubnetId, VpcId, Zone};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// A VPC that a test puts into a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VpcSpec {
    /// Its id.
    pub id: VpcId,
    /// Its address range.
    pub cidr: Ipv4Net,
    /// Whether it is the region's default VPC.
    pub is_default: bool,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// A subnet that a test puts into a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubnetSpec {
    /// Its id.
    pub id: SubnetId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its zone.
    pub zone: Zone,
    /// First address of its range.
    pub base: Ipv4Addr,
    /// Length of the network prefix, 16–28.
    pub prefix: u8,
    /// MapPublicIpOnLaunch.
    pub public: bool,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// A security group that a test puts into a region. It allows no inbound and all outbound traffic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroupSpec {
    /// Its id.
    pub id: SecurityGroupId,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// A rule for all traffic to or from a peer.
fn all_traffic(peer: Peer) -> Rule {
    Rule { protocol: Protocol::All, peer, description: String::new() }
}

/// The outbound rules of a new security group: all traffic, with IPv6 if the VPC has it (EC2 API Reference,
/// CreateSecurityGroup; VPC User Guide, "Security group rules").
pub(super) fn all_traffic_out(ipv6: bool) -> BTreeSet<Rule> {
    let mut rules = BTreeSet::from([all_traffic(Peer::V4(Ipv4Net::default()))]);
    if ipv6 {
        rules.insert(all_traffic(Peer::V6(ipnet::Ipv6Net::default())));
    }
    rules
}

/// The default group of a VPC (VPC User Guide, "Default security groups for your VPCs").
pub(super) fn default_group(id: SecurityGroupId, vpc: VpcId, ipv6: bool) -> SecurityGroup {
    SecurityGroup {
        ingress: BTreeSet::from([all_traffic(Peer::Group(id.clone()))]),
        egress: all_traffic_out(ipv6),
        id,
        vpc,
        name: "default".to_owned(),
        description: "default VPC security group".to_owned(),
        tags: Tags::new(),
    }
}

/// The local routes for the ranges of a VPC; they cannot be deleted.
pub(super) fn local_routes(vpc: &Vpc) -> Vec<Route> {
    let associated = |state: CidrState| matches!(state, CidrState::Associated | CidrState::Associating);
    let v4 = vpc.cidrs.iter().filter(|it| associated(it.state)).map(|it| Destination::V4(it.range));
    let v6 = vpc.ipv6.iter().filter(|it| associated(it.state)).map(|it| Destination::V6(it.range));
    let local = |destination| Route { destination, target: RouteTarget::Local, blackhole: false };
    v4.chain(v6).map(local).collect()
}

impl Network {
    /// Adds a VPC or replaces one. A new one gets a main route table and a default security group, whose ids follow its own.
    pub(crate) fn put_vpc(&mut self, spec: VpcSpec, owner: &str) {
        let digits: String = spec.id.as_str().chars().skip("vpc-".len() + 2).collect();
        let cidr = spec.cidr.trunc();
        let first = AssociationId::new(format!("vpc-cidr-assoc-0d{digits}"));
        let vpc = Vpc {
            id: spec.id.clone(),
            owner: owner.to_owned(),
            cidr,
            cidrs: vec![CidrAssociation { id: first, range: cidr, state: CidrState::Associated }],
            ipv6: Vec::new(),
            is_default: spec.is_default,
            available: true,
            dns_support: Some(true),
            dns_hostnames: Some(true),
            tags: spec.tags,
        };
        if self.default_group(vpc.id.as_str()).is_none() {
            let id = SecurityGroupId::new(format!("sg-0d{digits}"));
            self.put(default_group(id, vpc.id.clone(), false));
        }
        if !self.main_associations.contains_key(&vpc.id) {
            self.main_associations.insert(vpc.id.clone(), AssociationId::new(format!("rtbassoc-0d{digits}")));
            self.put(RouteTable {
                id: RouteTableId::new(format!("rtb-0d{digits}")),
                vpc: vpc.id.clone(),
                main: true,
                routes: local_routes(&vpc),
                associations: Vec::new(),
                tags: Tags::new(),
            });
        }
        self.put(vpc);
    }

    /// Adds a subnet or replaces one; it keeps its assigned addresses if its range stays.
    pub(crate) fn put_subnet(&mut self, spec: SubnetSpec) {
        let cidr = Ipv4Net::new(spec.base, spec.prefix.min(32)).unwrap_or_default().trunc();
        let zone_id = self.zones.entry(spec.zone.clone()).or_insert_with(|| format!("{}-id", spec.zone));
        let zone_id = zone_id.clone();
        if self.subnets.get(&spec.id).is_none_or(|former| former.cidr != cidr) {
            self.pools.insert(spec.id.clone(), AddressPool::new(cidr));
        }
        let free_addresses = self.pools.get(&spec.id).map_or(0, AddressPool::free);
        self.put(Subnet {
            id: spec.id,
            vpc: spec.vpc,
            zone: spec.zone,
            zone_id,
            cidr,
            ipv6: Vec::new(),
            state: "available".to_owned(),
            free_addresses,
            public_ip_on_launch: spec.public,
            ipv6_on_creation: false,
            tags: spec.tags,
        });
    }

    /// Adds a security group or replaces one.
    pub(crate) fn put_security_group(&mut self, spec: SecurityGroupSpec) {
        self.put(SecurityGroup {
            id: spec.id,
            vpc: spec.vpc,
            name: spec.name,
            description: spec.description,
            ingress: BTreeSet::new(),
            egress: all_traffic_out(false),
            tags: spec.tags,
        });
    }

    /// The security group of instances that name none (VPC User Guide, "Default security groups for your VPCs").
    pub(crate) fn default_group(&self, vpc: &str) -> Option<SecurityGroupId> {
        let default = |group: &&SecurityGroup| group.vpc.as_str() == vpc && group.name == "default";
        self.all::<SecurityGroup>().find(default).map(|group| group.id.clone())
    }
}
