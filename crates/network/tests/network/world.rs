//! A manager of one network against the simulated AWS.

use crate::aws::Aws;
pub use foo_calls::testing::Fault;
use foo_calls::{Outcome, testing};
use foo_model::network::*;
use foo_model::*;
use foo_network::desired::*;
use foo_network::observed::{ById, DnsAttributes};
use foo_network::*;
use std::collections::BTreeMap;
use std::time::Duration;

pub type World = testing::World<Aws>;

impl testing::Aws for Aws {
    type Domain = Network;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn advance(&mut self, to: Timestamp) {
        Self::advance(self, to);
    }

    fn send(&mut self, action: &Action) -> Outcome<Parts> {
        Self::send(self, &action.change)
    }

    fn observe(&self, observed: &mut Observed) {
        observed.now = self.now;
    }

    fn read(&mut self, report: &Report, observed: &mut Observed) {
        let now = self.now;
        for request in report.reads.iter().filter(|it| it.from <= now) {
            read(self, observed, request.kind, &request.scope);
        }
    }

    fn next(report: &Report) -> Option<Timestamp> {
        report.reads.iter().map(|it| it.from).chain(report.again_at).min()
    }

    fn is_settled(report: &Report) -> bool {
        report.settled
    }

    fn restarted(desired: &mut Desired, observed: &mut Observed) {
        let (zones, quotas) = (observed.zones.take(), observed.quotas.take());
        *observed = Observed { zones, quotas, ..Observed::default() };
        desired.begun_before = true;
    }

    fn moved(desired: &mut Desired) {
        desired.uid.push('m');
    }
}

pub fn zone(letter: char) -> Zone {
    Zone::new(format!("eu-central-1{letter}"))
}

pub fn subnet(tier: Tier, letter: char, index: u8) -> DesiredSubnet {
    let name: &str = tier.into();
    let (network, third) = match tier {
        Tier::Public => ("10.0", index),
        Tier::Private => ("10.0", 128 + index),
        Tier::Pods => ("100.64", index),
    };
    DesiredSubnet {
        key: format!("{name}/{}", zone(letter)),
        tier,
        zone: zone(letter),
        cidr: format!("{network}.{third}.0/24").parse().unwrap(),
        ipv6_index: (tier != Tier::Pods).then_some(third),
        public_ip_on_launch: tier == Tier::Public,
        tags: Tags::new(),
    }
}

pub fn rule(peer: GroupPeer, port: u16) -> GroupRule {
    GroupRule { protocol: Protocol::Tcp(port, port), peer, description: String::new() }
}

pub fn everything() -> GroupRule {
    GroupRule {
        protocol: Protocol::All,
        peer: GroupPeer::V4("0.0.0.0/0".parse().unwrap()),
        description: String::new(),
    }
}

/// Three zones, a NAT gateway in each, two security groups that name each other.
pub fn desired(zones: &str) -> Desired {
    let mut subnets = Vec::new();
    for (index, letter) in (0_u8..).zip(zones.chars()) {
        subnets.push(subnet(Tier::Public, letter, index));
        subnets.push(subnet(Tier::Private, letter, index));
    }
    let group = |name: &str, other: &str| DesiredGroup {
        name: name.to_owned(),
        is_for_nodes: name == "node",
        ingress: vec![
            rule(GroupPeer::Group(other.to_owned()), 443),
            GroupRule {
                protocol: Protocol::All,
                peer: GroupPeer::Group(name.to_owned()),
                description: "self".into(),
            },
        ],
        tags: Tags::new(),
        egress: vec![everything()],
        own_egress: vec![],
    };
    Desired {
        network_id: "11111111-2222-3333-4444-555555555555".to_owned(),
        uid: "11111111-2222-3333-4444-555555555555".to_owned(),
        begun_before: false,
        cluster: "team/prod".to_owned(),
        kubernetes_cluster: Some("prod".to_owned()),
        installation: "here".to_owned(),
        adopt_from: None,
        account: Some("123456789012".to_owned()),
        vpc: DesiredVpc::Managed { cidr: "10.0.0.0/16".parse().unwrap(), secondary: vec![] },
        ipv6: false,
        subnets,
        nat: NatMode::PerZone,
        endpoints: vec![],
        security_groups: vec![group("node", "controlPlane"), group("controlPlane", "node")],
        connection: Connection::Separate,
        tags: Tags::from([("team".to_owned(), "red".to_owned())]),
        drift: DriftPolicy::Enforce,
        deletion: DeletionPolicy::Delete,
        leftovers: Leftovers::Wait,
        being_deleted: false,
        paused: false,
    }
}

pub fn endpoint(name: &str, kind: DesiredEndpointKind) -> DesiredEndpoint {
    DesiredEndpoint { name: name.to_owned(), service: format!("com.amazonaws.eu-central-1.{name}"), kind }
}

/// A VPC of the user, with an internet gateway.
pub fn users_vpc() -> World {
    let mut world = World::new(desired("ab"));
    let response = world.aws.call(&Change::CreateVpc {
        cidr: "10.0.0.0/16".parse().unwrap(),
        ipv6: false,
        tags: Tags::new(),
    });
    let vpc = response.vpcs.into_keys().next().unwrap();
    let response = world.aws.call(&Change::CreateInternetGateway { tags: Tags::new() });
    let gateway = response.internet_gateways.into_keys().next().unwrap();
    world.aws.call(&Change::AttachInternetGateway { gateway, vpc: vpc.clone() });
    world.desired.vpc = DesiredVpc::Existing(vpc);
    world
}

/// A read of one kind, and what is known after it.
pub fn read(aws: &mut Aws, observed: &mut Observed, kind: Kind, scope: &Scope) {
    let (now, parts) = (aws.now, aws.read(kind, scope));
    if kind == Kind::VpcAttributes {
        for vpc in parts.vpcs.into_values() {
            let (support, hostnames) = (vpc.dns_support == Some(true), vpc.dns_hostnames == Some(true));
            observed.attributes.insert(vpc.id, DnsAttributes { begun: now, support, hostnames });
        }
        return;
    }
    let into = match scope {
        Scope::TagKey(_) => {
            observed.tagged.begun.insert(kind, now);
            &mut observed.tagged.parts
        }
        Scope::Vpc(vpc) => {
            let read = observed.in_vpc.entry(vpc.clone()).or_default();
            read.begun.insert(kind, now);
            &mut read.parts
        }
        Scope::Ids(ids) => {
            let ById { begun, parts } = &mut observed.by_id;
            let begun = begun.entry(kind).or_default();
            begun.extend(ids.iter().map(|id| (id.clone(), now)));
            parts
        }
        Scope::Tag(..) => panic!("not asked for"),
    };
    match kind {
        Kind::Vpc => see(&mut into.vpcs, parts.vpcs, scope),
        Kind::Subnet => see(&mut into.subnets, parts.subnets, scope),
        Kind::InternetGateway => see(&mut into.internet_gateways, parts.internet_gateways, scope),
        Kind::EgressOnlyGateway => see(&mut into.egress_only_gateways, parts.egress_only_gateways, scope),
        Kind::Address => see(&mut into.addresses, parts.addresses, scope),
        Kind::NatGateway => see(&mut into.nat_gateways, parts.nat_gateways, scope),
        Kind::RouteTable => see(&mut into.route_tables, parts.route_tables, scope),
        Kind::SecurityGroup => see(&mut into.security_groups, parts.security_groups, scope),
        Kind::Endpoint => see(&mut into.endpoints, parts.endpoints, scope),
        Kind::Interface => see(&mut into.interfaces, parts.interfaces, scope),
        Kind::LoadBalancer => see(&mut into.load_balancers, parts.load_balancers, scope),
        Kind::TargetGroup => see(&mut into.target_groups, parts.target_groups, scope),
        Kind::VpcAttributes | Kind::Zone => {}
    }
}

/// A read shows all parts of its scope: one by ids says nothing about other ids.
fn see<K: Ord + ToString, P>(known: &mut BTreeMap<K, P>, parts: BTreeMap<K, P>, scope: &Scope) {
    match scope {
        Scope::Ids(ids) => known.retain(|id, _| !ids.contains(&id.to_string())),
        Scope::TagKey(_) | Scope::Tag(..) | Scope::Vpc(_) => known.clear(),
    }
    known.extend(parts);
}

/// What only networks do.
pub trait NetworkWorld: Sized {
    fn new(desired: Desired) -> Self;

    /// A read of one kind.
    fn read(&mut self, kind: Kind, scope: &Scope);

    /// A whole sweep, as the observer does every five minutes.
    fn sweep(&mut self);

    /// Settles, a sweep later still.
    fn rest(&mut self);

    /// The network is deleted, until nothing of it is left.
    fn delete(&mut self);
}

impl NetworkWorld for World {
    fn new(desired: Desired) -> Self {
        let info =
            |name: Zone| ZoneInfo { name, id: String::new(), available: true, is_availability_zone: true };
        let zones = "abcdef".chars().map(|letter| (zone(letter), info(zone(letter)))).collect();
        let observed =
            Observed { zones: Some(zones), quotas: Some(Quotas::default()), ..Observed::default() };
        Self::of(Aws::new(), desired, observed)
    }

    fn read(&mut self, kind: Kind, scope: &Scope) {
        read(&mut self.aws, &mut self.observed, kind, scope);
    }

    fn sweep(&mut self) {
        for kind in Kind::OF_A_NETWORK {
            self.read(kind, &Scope::TagKey("infrastructure.foo.com/network".to_owned()));
        }
    }

    fn rest(&mut self) {
        self.settle();
        for _ in 0..2 {
            self.aws.advance(self.now().plus(Duration::from_mins(5)));
            self.sweep();
            self.settle();
        }
    }

    fn delete(&mut self) {
        self.desired.being_deleted = true;
        self.run_until_deleted();
    }
}
