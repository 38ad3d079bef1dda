//! Whatever is done in whatever order: nothing names what is not there, addresses are counted exactly, a refusal changes
//! nothing, and deletion in the order of dependencies always comes to an end.

use super::scene::{Net, net_with};
use crate::core::chance::Chance;
use crate::core::network::{NewInterface, NewLoadBalancer};
use foo_model::network::{
    Change, CidrState, Destination, DnsAttribute, EndpointChange, EndpointKind, Interface, LoadBalancerKind,
    NatState, Parts, Peer, Protocol, RouteTarget, Rule, SubnetAttribute, Tags,
};
use foo_model::{InterfaceId, Zone};
use std::collections::{BTreeMap, BTreeSet};

/// A player who does anything with what there is.
struct Player {
    net: Net,
    chance: Chance,
    /// How often each operation was carried out, and how often it was refused.
    played: BTreeMap<&'static str, (u32, u32)>,
}

fn player(seed: u64) -> Player {
    let net = net_with(|settings| settings.network_quotas.addresses = 8);
    Player { net, chance: Chance::of(seed), played: BTreeMap::new() }
}

impl Player {
    fn one<T: Clone>(&mut self, all: impl IntoIterator<Item = T>) -> Option<T> {
        let all: Vec<T> = all.into_iter().collect();
        self.chance.pick(&all).cloned()
    }

    fn some<T: Clone + Ord>(&mut self, all: impl IntoIterator<Item = T>) -> BTreeSet<T> {
        all.into_iter().filter(|_| self.chance.below(2) == 0).collect()
    }

    fn flip(&mut self) -> bool {
        self.chance.below(2) == 0
    }

    fn range(&mut self) -> ipnet::Ipv4Net {
        let third = self.chance.below(8) * 16;
        let first = if self.chance.below(8) == 0 { "100.64" } else { "10.0" };
        let prefix = if self.flip() { 20 } else { 28 };
        format!("{first}.{third}.0/{prefix}").parse().expect("a range")
    }

    fn token(&mut self) -> String {
        if self.flip() { String::new() } else { format!("t{}", self.chance.below(3)) }
    }

    fn destination(&mut self, now: &Parts) -> Destination {
        let routes = now.route_tables.values().flat_map(|table| &table.routes);
        let known = self.one(routes.map(|route| route.destination.clone()));
        let anything = Destination::V4("0.0.0.0/0".parse().expect("a range"));
        let with_ipv6 = Destination::V6("::/0".parse().expect("a range"));
        match self.chance.below(4) {
            0 => known.unwrap_or(anything),
            1 => with_ipv6,
            _ => anything,
        }
    }

    fn target(&mut self, now: &Parts) -> Option<RouteTarget> {
        match self.chance.below(3) {
            0 => self.one(now.internet_gateways.keys().cloned()).map(RouteTarget::InternetGateway),
            1 => self.one(now.nat_gateways.keys().cloned()).map(RouteTarget::NatGateway),
            _ => self.one(now.egress_only_gateways.keys().cloned()).map(RouteTarget::EgressOnlyGateway),
        }
    }

    fn rules(&mut self, now: &Parts) -> BTreeSet<Rule> {
        let peer = match self.one(now.security_groups.keys().cloned()).filter(|_| self.flip()) {
            Some(group) => Peer::Group(group),
            None => Peer::V4(self.range()),
        };
        let protocol = if self.flip() { Protocol::All } else { Protocol::Tcp(443, 443) };
        BTreeSet::from([Rule { protocol, peer, description: String::new() }])
    }

    /// A change about VPCs, subnets and gateways.
    fn outer(&mut self, now: &Parts) -> Option<Change> {
        let tags = Tags::new();
        let vpc = self.one(now.vpcs.keys().cloned());
        let subnet = self.one(now.subnets.keys().cloned());
        let gateway = self.one(now.internet_gateways.keys().cloned());
        Some(match self.chance.below(18) {
            0 => Change::CreateVpc { cidr: "10.0.0.0/16".parse().ok()?, ipv6: self.flip(), tags },
            1 => Change::DeleteVpc { vpc: vpc? },
            2 => Change::AssociateVpcCidrBlock { vpc: vpc?, cidr: "100.64.0.0/16".parse().ok()? },
            3 => Change::AssociateVpcIpv6 { vpc: vpc? },
            4 => {
                let all = now.vpcs.values().flat_map(|vpc| {
                    let v6 = vpc.ipv6.iter().map(|it| it.id.clone());
                    vpc.cidrs.iter().map(|it| it.id.clone()).chain(v6)
                });
                Change::DisassociateVpcCidrBlock { association: self.one(all)? }
            }
            5 => {
                let attribute = if self.flip() { DnsAttribute::Support } else { DnsAttribute::Hostnames };
                Change::ModifyVpcAttribute { vpc: vpc?, attribute, enabled: self.chance.below(4) > 0 }
            }
            6..=9 => {
                let vpc = now.vpcs.get(&vpc?)?;
                let ipv6 = vpc.ipv6.first().and_then(|it| it.range.subnets(64).ok()?.nth(1));
                let zone = self.one(now.zones.keys().cloned()).unwrap_or_else(|| Zone::new("nowhere"));
                let ipv6 = ipv6.filter(|_| self.flip());
                Change::CreateSubnet { vpc: vpc.id.clone(), zone, cidr: self.range(), ipv6, tags }
            }
            10 => Change::DeleteSubnet { subnet: subnet? },
            11 => {
                let attribute = if self.flip() {
                    SubnetAttribute::PublicIpOnLaunch
                } else {
                    SubnetAttribute::Ipv6OnCreation
                };
                Change::ModifySubnetAttribute { subnet: subnet?, attribute, enabled: self.flip() }
            }
            12 => Change::CreateInternetGateway { tags },
            13 => Change::AttachInternetGateway { gateway: gateway?, vpc: vpc? },
            14 => Change::DetachInternetGateway { gateway: gateway?, vpc: vpc? },
            15 => Change::DeleteInternetGateway { gateway: gateway? },
            16 => Change::CreateEgressOnlyInternetGateway { vpc: vpc?, tags, token: self.token() },
            _ => Change::DeleteEgressOnlyInternetGateway {
                gateway: self.one(now.egress_only_gateways.keys().cloned())?,
            },
        })
    }

    /// A change about addresses, NAT gateways and routes.
    fn inner(&mut self, now: &Parts) -> Option<Change> {
        let tags = Tags::new();
        let vpc = self.one(now.vpcs.keys().cloned());
        let subnet = self.one(now.subnets.keys().cloned());
        let table = self.one(now.route_tables.keys().cloned());
        let allocation = self.one(now.addresses.keys().cloned());
        let associations = now.route_tables.values().flat_map(|table| &table.associations);
        let association = self.one(associations.map(|it| it.id.clone()));
        let destination = self.destination(now);
        Some(match self.chance.below(14) {
            0 => Change::AllocateAddress { tags },
            1 => Change::ReleaseAddress { allocation: allocation? },
            2 | 3 => {
                let (subnet, allocation) = (subnet?, allocation?);
                Change::CreateNatGateway { subnet, allocation, tags, token: self.token() }
            }
            4 => Change::DeleteNatGateway { gateway: self.one(now.nat_gateways.keys().cloned())? },
            5 => Change::CreateRouteTable { vpc: vpc?, tags, token: self.token() },
            6 => Change::DeleteRouteTable { table: table? },
            7 | 8 => Change::CreateRoute { table: table?, destination, target: self.target(now)? },
            9 => {
                let replaceable =
                    |(_, route): &(_, &foo_model::network::Route)| route.target != RouteTarget::Local;
                let routes = now
                    .route_tables
                    .values()
                    .flat_map(|it| it.routes.iter().map(|route| (it.id.clone(), route)));
                let (table, route) = self.one(routes.filter(replaceable))?;
                Change::ReplaceRoute {
                    table,
                    destination: route.destination.clone(),
                    target: self.target(now)?,
                }
            }
            10 => Change::DeleteRoute { table: table?, destination },
            11 => Change::AssociateRouteTable { table: table?, subnet: subnet? },
            12 => Change::ReplaceRouteTableAssociation { association: association?, table: table? },
            _ => Change::DisassociateRouteTable { association: association? },
        })
    }

    /// A change about security groups, endpoints and interfaces.
    fn attached(&mut self, now: &Parts) -> Option<Change> {
        let tags = Tags::new();
        let vpc = self.one(now.vpcs.keys().cloned());
        let group = self.one(now.security_groups.keys().cloned());
        let endpoint = self.one(now.endpoints.keys().cloned());
        let rules = self.rules(now);
        Some(match self.chance.below(14) {
            0 => {
                let name = format!("g{}", self.chance.below(3));
                Change::CreateSecurityGroup { vpc: vpc?, name, description: "d".to_owned(), tags }
            }
            1 => Change::DeleteSecurityGroup { group: group? },
            13 => {
                let group = now.security_groups.get(&group?)?;
                let description = format!("d{}", self.chance.below(3));
                let rules = group.ingress.iter();
                let rules = rules.map(|rule| Rule { description: description.clone(), ..rule.clone() });
                Change::UpdateSecurityGroupRuleDescriptionsIngress {
                    group: group.id.clone(),
                    rules: rules.collect(),
                }
            }
            2 => Change::AuthorizeSecurityGroupIngress { group: group?, rules },
            3 => Change::AuthorizeSecurityGroupEgress { group: group?, rules },
            4 => Change::RevokeSecurityGroupIngress { group: group?, rules },
            5 => {
                let group = now.security_groups.get(&group?)?;
                let rules = if self.flip() { rules } else { group.egress.clone() };
                Change::RevokeSecurityGroupEgress { group: group.id.clone(), rules }
            }
            6 => {
                let tables = self.some(now.route_tables.keys().cloned());
                let service = "com.amazonaws.eu-central-1.s3".to_owned();
                let kind = EndpointKind::Gateway { tables };
                Change::CreateVpcEndpoint { vpc: vpc?, service, kind, tags, token: self.token() }
            }
            7 => {
                let subnets = self.some(now.subnets.keys().cloned());
                let groups = self.some(now.security_groups.keys().cloned());
                let service = "com.amazonaws.eu-central-1.sts".to_owned();
                let kind = EndpointKind::Interface { subnets, groups, private_dns: self.flip() };
                Change::CreateVpcEndpoint { vpc: vpc?, service, kind, tags, token: self.token() }
            }
            8 => Change::DeleteVpcEndpoints { endpoints: [endpoint?].into() },
            9 => {
                let change = EndpointChange {
                    add_subnets: self.some(now.subnets.keys().cloned()),
                    remove_subnets: self.some(now.subnets.keys().cloned()),
                    add_groups: self.some(now.security_groups.keys().cloned()),
                    ..EndpointChange::default()
                };
                Change::ModifyVpcEndpoint { endpoint: endpoint?, change }
            }
            10 => {
                let change = EndpointChange {
                    add_tables: self.some(now.route_tables.keys().cloned()),
                    remove_tables: self.some(now.route_tables.keys().cloned()),
                    ..EndpointChange::default()
                };
                Change::ModifyVpcEndpoint { endpoint: endpoint?, change }
            }
            11 => Change::DeleteNetworkInterface { interface: self.one(now.interfaces.keys().cloned())? },
            _ => {
                let balancer = self.one(now.load_balancers.values().cloned())?;
                Change::DeleteLoadBalancer { kind: balancer.kind, name: balancer.name, arn: balancer.arn }
            }
        })
    }

    /// Others put something there or take something away.
    fn others(&mut self, now: &Parts) {
        let Some(subnet) = self.one(now.subnets.keys().cloned()) else { return };
        let choice = self.chance.below(3);
        let name = format!("lb{}", self.chance.below(3));
        let victim = self.one(ids(now));
        let flip = self.flip();
        self.net.0.with(|region| match choice {
            0 => {
                let _ = region.put_foreign_interface(NewInterface {
                    subnet,
                    groups: [].into(),
                    description: String::new(),
                    requester_managed: false,
                    in_use: flip,
                    public_ip: None,
                    tags: Tags::new(),
                });
            }
            1 if !now.load_balancers.contains_key(&name) => {
                let _ = region.put_load_balancer(NewLoadBalancer {
                    name,
                    kind: if flip { LoadBalancerKind::Classic } else { LoadBalancerKind::Network },
                    subnets: [subnet].into(),
                    groups: [].into(),
                    internet_facing: flip,
                    deletion_protection: false,
                    target_groups: [].into(),
                    tags: Tags::new(),
                });
            }
            _ => {
                if let Some(victim) = victim {
                    let _ = region.delete_as_another_user(&victim);
                }
            }
        });
    }

    fn play(&mut self) {
        let now = self.net.now();
        let change = match self.chance.below(12) {
            0..=3 => self.outer(&now),
            4..=7 => self.inner(&now),
            8..=10 => self.attached(&now),
            _ => {
                self.others(&now);
                None
            }
        };
        if let Some(change) = change {
            let result = self.net.change(&change);
            let count = self.played.entry(change.operation().name()).or_default();
            match result {
                Ok(_) => count.0 += 1,
                Err(error) => {
                    count.1 += 1;
                    let deletes = matches!(change, Change::DeleteVpcEndpoints { .. });
                    assert!(
                        deletes || self.net.now() == now,
                        "{change:?} was refused ({error}) and changed something"
                    );
                }
            }
        }
        if self.chance.below(4) == 0 {
            self.net.wait([1, 10, 60, 120][usize::try_from(self.chance.below(4)).expect("small")]);
        }
        check(&self.net.now());
    }
}

/// Ids of everything that a user can delete.
fn ids(now: &Parts) -> Vec<String> {
    let mut ids: Vec<String> = now.subnets.keys().map(ToString::to_string).collect();
    ids.extend(now.internet_gateways.keys().map(ToString::to_string));
    ids.extend(now.nat_gateways.keys().map(ToString::to_string));
    ids.extend(now.addresses.keys().map(ToString::to_string));
    ids.extend(now.route_tables.keys().map(ToString::to_string));
    ids.extend(now.security_groups.keys().map(ToString::to_string));
    ids.extend(now.endpoints.keys().map(ToString::to_string));
    ids.extend(now.interfaces.keys().map(ToString::to_string));
    ids
}

/// The laws.
fn check(now: &Parts) {
    check_vpcs(now);
    check_subnets(now);
    check_interfaces(now);
    check_tables(now);
    check_groups(now);
    check_nat_gateways(now);
}

fn check_vpcs(now: &Parts) {
    for vpc in now.vpcs.keys() {
        let main = now.route_tables.values().filter(|table| &table.vpc == vpc && table.main).count();
        let default = |it: &&foo_model::network::SecurityGroup| &it.vpc == vpc && it.name == "default";
        let gateways = now.internet_gateways.values().filter(|it| it.vpc.as_ref() == Some(vpc)).count();
        assert_eq!((main, now.security_groups.values().filter(default).count()), (1, 1), "{vpc}");
        assert!(gateways <= 1, "{vpc}");
    }
    let known = |vpc: &foo_model::VpcId| now.vpcs.contains_key(vpc);
    assert!(now.subnets.values().all(|it| known(&it.vpc)));
    assert!(now.internet_gateways.values().all(|it| it.vpc.as_ref().is_none_or(known)));
    assert!(now.egress_only_gateways.values().all(|it| known(&it.vpc)));
    assert!(now.route_tables.values().all(|it| known(&it.vpc)));
    assert!(now.security_groups.values().all(|it| known(&it.vpc)));
    assert!(now.endpoints.values().all(|it| known(&it.vpc)));
    assert!(now.interfaces.values().all(|it| known(&it.vpc)));
}

fn check_subnets(now: &Parts) {
    for subnet in now.subnets.values() {
        let used = now.interfaces.values().filter(|it| it.subnet == subnet.id).count();
        let all = 2_u32.pow(u32::from(32 - subnet.cidr.prefix_len())) - 5;
        assert_eq!(subnet.free_addresses, all - u32::try_from(used).expect("few"), "{}", subnet.id);
        let vpc = &now.vpcs[&subnet.vpc];
        let inside = |it: &foo_model::network::CidrAssociation<ipnet::Ipv4Net>| {
            it.state == CidrState::Associated && it.range.contains(&subnet.cidr)
        };
        assert!(vpc.cidrs.iter().any(inside), "{} is in a range of its VPC", subnet.id);
        for other in now.subnets.values().filter(|it| it.vpc == subnet.vpc && it.id != subnet.id) {
            assert!(!other.cidr.contains(&subnet.cidr), "{} and {} overlap", other.id, subnet.id);
        }
    }
}

fn check_interfaces(now: &Parts) {
    let mut private = BTreeSet::new();
    for interface in now.interfaces.values() {
        let subnet = &now.subnets[&interface.subnet];
        let ip: std::net::Ipv4Addr = interface.private_ip.parse().expect("an address");
        assert!(subnet.cidr.contains(&ip), "{} is in its subnet", interface.id);
        assert!(private.insert((subnet.id.clone(), ip)), "{ip} is had once");
        assert!(interface.groups.iter().all(|group| now.security_groups.contains_key(group)));
    }
    for address in now.addresses.values() {
        let Some(interface) = &address.interface else { continue };
        let on: &Interface = &now.interfaces[interface];
        assert_eq!(on.public_ip.as_ref(), Some(&address.ip), "{}", address.id);
    }
    let endpoints = now.endpoints.values().filter_map(|it| match &it.kind {
        EndpointKind::Interface { subnets, .. } => Some((it.id.clone(), subnets.clone())),
        EndpointKind::Gateway { .. } | EndpointKind::Other(_) => None,
    });
    for (id, subnets) in endpoints {
        let text = format!("VPC Endpoint Interface {id}");
        let of = now.interfaces.values().filter(|it| it.description == text).map(|it| it.subnet.clone());
        let of: BTreeSet<_> = of.collect();
        assert!(of.is_subset(&subnets), "{id}");
    }
}

fn check_tables(now: &Parts) {
    let mut associated = BTreeSet::new();
    for table in now.route_tables.values() {
        let mut destinations = BTreeSet::new();
        for route in &table.routes {
            assert!(destinations.insert(route.destination.clone()), "one route per destination");
            let leads = match &route.target {
                RouteTarget::Local => true,
                RouteTarget::InternetGateway(id) => {
                    now.internet_gateways.get(id).is_some_and(|it| it.vpc.as_ref() == Some(&table.vpc))
                }
                RouteTarget::EgressOnlyGateway(id) => now.egress_only_gateways.contains_key(id),
                RouteTarget::NatGateway(id) => {
                    let gone = |state| matches!(state, NatState::Failed | NatState::Deleted);
                    now.nat_gateways.get(id).is_some_and(|it| !gone(it.state) && it.failure.is_none())
                }
                RouteTarget::Endpoint(id) => now.endpoints.contains_key(id),
                RouteTarget::Other(_) => false,
            };
            assert_eq!(leads, !route.blackhole, "{route:?} of {}", table.id);
        }
        for association in &table.associations {
            assert_eq!(now.subnets[&association.subnet].vpc, table.vpc);
            assert!(associated.insert(association.subnet.clone()), "one association per subnet");
        }
    }
}

fn check_groups(now: &Parts) {
    for group in now.security_groups.values() {
        for rule in group.ingress.iter().chain(&group.egress) {
            if let Peer::Group(peer) = &rule.peer {
                assert_eq!(now.security_groups[peer].vpc, group.vpc);
            }
        }
    }
}

fn check_nat_gateways(now: &Parts) {
    for gateway in now.nat_gateways.values() {
        let description = format!("Interface for NAT Gateway {}", gateway.id);
        let interfaces: Vec<&InterfaceId> =
            now.interfaces.values().filter(|it| it.description == description).map(|it| &it.id).collect();
        match gateway.state {
            NatState::Failed | NatState::Deleted => assert!(interfaces.is_empty(), "{}", gateway.id),
            NatState::Pending | NatState::Available | NatState::Deleting => assert!(interfaces.len() <= 1),
        }
        assert!(gateway.state != NatState::Failed || gateway.failure.is_some(), "{}", gateway.id);
    }
}

/// Deletes everything in the order in which AWS lets it go.
fn tear_down(net: &Net) {
    let each = |changes: Vec<Change>| {
        for change in changes {
            net.done(&change);
        }
    };
    let now = net.now();
    each(
        now.load_balancers
            .values()
            .map(|it| Change::DeleteLoadBalancer {
                kind: it.kind,
                name: it.name.clone(),
                arn: it.arn.clone(),
            })
            .collect(),
    );
    each(
        now.endpoints
            .keys()
            .map(|id| Change::DeleteVpcEndpoints { endpoints: [id.clone()].into() })
            .collect(),
    );
    let alive = now.nat_gateways.values().filter(|it| it.state != NatState::Deleted);
    each(alive.map(|it| Change::DeleteNatGateway { gateway: it.id.clone() }).collect());
    net.wait(60);
    for interface in net.now().interfaces.keys() {
        let gone = net.0.with(|region| region.delete_as_another_user(interface.as_str()));
        gone.unwrap_or_else(|error| panic!("{interface}: {error}"));
    }
    let now = net.now();
    each(now.addresses.keys().map(|id| Change::ReleaseAddress { allocation: id.clone() }).collect());
    each(now.subnets.keys().map(|id| Change::DeleteSubnet { subnet: id.clone() }).collect());
    let own = net.now().route_tables.into_values().filter(|table| !table.main);
    each(own.map(|table| Change::DeleteRouteTable { table: table.id }).collect());
    for gateway in now.internet_gateways.values() {
        if let Some(vpc) = gateway.vpc.clone() {
            net.done(&Change::DetachInternetGateway { gateway: gateway.id.clone(), vpc });
        }
        net.done(&Change::DeleteInternetGateway { gateway: gateway.id.clone() });
    }
    each(
        now.egress_only_gateways
            .keys()
            .map(|id| Change::DeleteEgressOnlyInternetGateway { gateway: id.clone() })
            .collect(),
    );
    for group in now.security_groups.values() {
        for (rules, ingress) in [(&group.ingress, true), (&group.egress, false)] {
            let (group, rules) = (group.id.clone(), rules.clone());
            if !rules.is_empty() {
                net.done(&if ingress {
                    Change::RevokeSecurityGroupIngress { group, rules }
                } else {
                    Change::RevokeSecurityGroupEgress { group, rules }
                });
            }
        }
    }
    let own = now.security_groups.values().filter(|group| group.name != "default");
    each(own.map(|group| Change::DeleteSecurityGroup { group: group.id.clone() }).collect());
    each(now.vpcs.keys().map(|id| Change::DeleteVpc { vpc: id.clone() }).collect());
    net.wait(3_600);
    let zones = net.now().zones;
    assert_eq!(net.now(), Parts { zones, ..Parts::default() }, "nothing is left");
}

#[test]
fn any_order_of_changes_keeps_the_laws_and_can_be_undone() {
    let mut played: BTreeMap<&'static str, (u32, u32)> = BTreeMap::new();
    for seed in 0..60 {
        let mut player = player(seed);
        for _ in 0..250 {
            player.play();
        }
        tear_down(&player.net);
        for (operation, (done, refused)) in player.played {
            let sum = played.entry(operation).or_default();
            *sum = (sum.0 + done, sum.1 + refused);
        }
    }
    let rarely: Vec<_> = played.iter().filter(|(_, (done, _))| *done < 5).collect();
    assert!(rarely.is_empty(), "hardly ever carried out: {rarely:?}");
    assert!(played.len() >= 35, "{} operations only: {played:?}", played.len());
}
