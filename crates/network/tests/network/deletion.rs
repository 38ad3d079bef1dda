//! Deletions that something stands in the way of.

use crate::faults::assert_gone;
use crate::leftovers::{brought, service_in};
use crate::world::*;
use foo_model::network::*;
use foo_model::*;
use foo_network::desired::DesiredVpc;
use foo_network::report::ConditionKind;
use std::time::Duration;

#[test]
fn what_blocks_the_deletion_after_the_first_read_is_named() {
    let mut world = World::new(desired("a"));
    world.rest();
    world.desired.being_deleted = true;
    world.run_until("read", |it| it.observed.in_vpc.values().any(|it| it.begun.len() >= 8));
    let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
    let interface = world.aws.interface(&subnet, "lambda of a user");
    world.run_until("named", |it| {
        it.condition(ConditionKind::Deleting).message.contains("(lambda of a user)")
    });
    world.aws.by_hand(|parts| drop(parts.interfaces.remove(&interface)));
    world.delete();
    assert_gone(&world);
}

#[test]
fn what_may_not_be_deleted_is_read_as_rarely_as_the_call_is_repeated() {
    let mut world = World::new(crate::create::full());
    world.rest();
    world.aws.deny(&["DeleteNatGateway", "DeleteVpcEndpoints"]);
    world.desired.being_deleted = true;
    let hour = |world: &mut World| {
        let (reads, start) = (world.aws.reads, world.aws.now);
        world.run_until("an hour", |it| it.aws.now > start.plus(Duration::from_hours(1)));
        world.aws.reads - reads
    };
    hour(&mut world);
    let reads = hour(&mut world);
    assert!(reads <= 60, "{reads} reads in an hour");
    world.aws.deny(&[]);
    world.delete();
    assert_gone(&world);
    assert!(world.aws.parts.nat_gateways.values().all(|it| it.state == NatState::Deleted));
}

#[test]
fn what_is_no_longer_requested_and_may_not_be_deleted_is_read_as_rarely() {
    let mut world = World::new(crate::create::full());
    world.rest();
    world.aws.deny(&["DeleteNatGateway", "DeleteVpcEndpoints"]);
    world.desired.endpoints.clear();
    world.desired.nat = foo_network::desired::NatMode::None;
    let start = world.aws.now;
    world.run_until("an hour", |it| it.aws.now > start.plus(Duration::from_hours(1)));
    let (reads, start) = (world.aws.reads, world.aws.now);
    world.run_until("an hour", |it| it.aws.now > start.plus(Duration::from_hours(1)));
    let reads = world.aws.reads - reads;
    assert!(reads <= 60, "{reads} reads in an hour");
    assert_eq!(world.condition(ConditionKind::NatReady).reason, Reason::AccessDenied);
}

/// A NAT gateway that the user made, and its subnet.
fn nat_of_the_user(world: &mut World, subnet: &SubnetId) -> NatGatewayId {
    let allocation = world.aws.call(&Change::AllocateAddress { tags: Tags::new() });
    let change = Change::CreateNatGateway {
        subnet: subnet.clone(),
        allocation: allocation.addresses.into_keys().next().unwrap(),
        tags: Tags::from([("Name".to_owned(), "foreign".to_owned())]),
        token: "foreign".to_owned(),
    };
    world.aws.call(&change).nat_gateways.into_keys().next().unwrap()
}

fn endpoint_of_the_user(world: &mut World, subnet: &SubnetId, token: &str) -> EndpointId {
    let vpc = world.aws.parts.subnets[subnet].vpc.clone();
    let kind =
        EndpointKind::Interface { subnets: [subnet.clone()].into(), groups: [].into(), private_dns: false };
    let service = "com.amazonaws.eu-central-1.logs".to_owned();
    let (tags, token) = (Tags::new(), token.to_owned());
    let change = Change::CreateVpcEndpoint { vpc, service, kind, tags, token };
    world.aws.call(&change).endpoints.into_keys().next().unwrap()
}

fn reported_foreign(world: &World) -> Vec<(Kind, String)> {
    let foreign = &world.report.as_ref().unwrap().foreign;
    foreign.iter().map(|it| (it.kind, it.id.clone())).collect()
}

#[test]
fn gateways_and_endpoints_of_the_user_in_our_subnets_are_named_and_stay() {
    let (mut world, foreign) = brought();
    let own = world.aws.parts.subnets.keys().find(|it| **it != foreign).unwrap().clone();
    let nat = nat_of_the_user(&mut world, &own);
    let endpoint = endpoint_of_the_user(&mut world, &own, "in own");
    let elsewhere = endpoint_of_the_user(&mut world, &foreign, "in foreign");
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    let named = [(Kind::NatGateway, nat.to_string()), (Kind::Endpoint, endpoint.to_string())];
    assert_eq!(reported_foreign(&world), named, "each once, and not the one elsewhere\n{}", world.story());
    let message = world.condition(ConditionKind::Deleting).message;
    assert!(message.contains(&format!("nat gateway {nat} (named foreign)")), "{message}");
    assert_eq!(world.aws.parts.nat_gateways[&nat].state, NatState::Available);
    let refused = world.story().matches("DependencyViolation").count();
    assert_eq!(refused, 0, "no call is sent that AWS will refuse\n{}", world.story());
    world.aws.call(&Change::DeleteNatGateway { gateway: nat });
    world.aws.call(&Change::DeleteVpcEndpoints { endpoints: [endpoint].into() });
    world.delete();
    assert_eq!(world.aws.parts.subnets.keys().collect::<Vec<_>>(), [&foreign]);
    assert!(world.aws.parts.endpoints.contains_key(&elsewhere));
}

#[test]
fn a_subnet_of_the_user_that_uses_a_table_of_the_network_keeps_it() {
    let (mut world, foreign) = brought();
    let mut tables = world.aws.parts.route_tables.values();
    let table = tables.find(|it| it.tags.contains_key("infrastructure.foo.com/role")).unwrap().id.clone();
    world.aws.call(&Change::AssociateRouteTable { table: table.clone(), subnet: foreign.clone() });
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert_eq!(reported_foreign(&world), [(Kind::Subnet, foreign.to_string())]);
    let left = &world.aws.parts.route_tables[&table].associations;
    assert_eq!(left.iter().map(|it| &it.subnet).collect::<Vec<_>>(), [&foreign], "{}", world.story());
    let association = left[0].id.clone();
    world.aws.call(&Change::DisassociateRouteTable { association });
    world.delete();
    assert!(!world.aws.parts.route_tables.contains_key(&table));
}

/// The subnet is newer than the last read of subnets, and the read of tables shows that it uses the network's.
#[test]
fn a_subnet_of_others_that_no_read_showed_yet_keeps_the_table_that_it_uses() {
    let (mut world, foreign) = brought();
    world.aws.deny(&["DeleteRouteTable"]);
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    let own = |it: &&RouteTable| it.tags.contains_key("infrastructure.foo.com/role");
    let table = world.aws.parts.route_tables.values().find(own).unwrap().id.clone();
    let DesiredVpc::Existing(vpc) = world.desired.vpc.clone() else { panic!() };
    let (zone, cidr) = (zone('c'), "10.0.251.0/24".parse().unwrap());
    let new = Change::CreateSubnet { vpc, zone, cidr, ipv6: None, tags: Tags::new() };
    let new = world.aws.call(&new).subnets.into_keys().next().unwrap();
    world.aws.call(&Change::AssociateRouteTable { table: table.clone(), subnet: new.clone() });
    world.aws.deny(&[]);
    world.sweep();
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    let left = &world.aws.parts.route_tables[&table].associations;
    assert_eq!(left.iter().map(|it| &it.subnet).collect::<Vec<_>>(), [&new], "{}", world.story());
    assert_eq!(reported_foreign(&world), [(Kind::Subnet, new.to_string())]);
    // The association outlives its subnet: then it ends.
    world.aws.by_hand(|parts| drop(parts.subnets.remove(&new)));
    world.delete();
    assert!(!world.aws.parts.route_tables.contains_key(&table), "{}", world.story());
    assert_eq!(world.aws.parts.subnets.keys().collect::<Vec<_>>(), [&foreign]);
}

/// As [`brought`], with an internet gateway of the network.
fn brought_without_gateway() -> (World, SubnetId) {
    let (mut world, foreign) = brought();
    let network = world.desired.network_id.clone();
    world.aws.by_hand(|parts| {
        for it in parts.internet_gateways.values_mut() {
            it.tags.insert("infrastructure.foo.com/network".to_owned(), network.clone());
            it.tags.insert("infrastructure.foo.com/cluster".to_owned(), "team/prod".to_owned());
            it.tags.insert("infrastructure.foo.com/role".to_owned(), "internet-gateway".to_owned());
        }
    });
    (world, foreign)
}

#[test]
fn what_keeps_the_networks_internet_gateway_attached_is_named() {
    let (mut world, foreign) = brought_without_gateway();
    let interface = world.aws.interface(&foreign, "bastion");
    world.aws.by_hand(|parts| {
        parts.interfaces.get_mut(&interface).unwrap().public_ip = Some("198.51.100.7".to_owned());
    });
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert_eq!(reported_foreign(&world), [(Kind::Interface, interface.to_string())]);
    world.aws.by_hand(|parts| parts.interfaces.clear());
    world.delete();
    assert!(world.aws.parts.internet_gateways.is_empty());
}

#[test]
fn a_load_balancer_elsewhere_that_keeps_our_internet_gateway_is_named_and_stays() {
    let (mut world, foreign) = brought_without_gateway();
    service_in(&mut world.aws, &foreign, "elbv2.k8s.aws/cluster", "web");
    service_in(&mut world.aws, &foreign, "elbv2.k8s.aws/cluster", "internal");
    world.aws.by_hand(|parts| {
        let mut interfaces = parts.interfaces.values_mut();
        let web = interfaces.find(|it| it.description.starts_with("ELB net/web/")).unwrap();
        web.public_ip = Some("198.51.100.7".to_owned());
    });
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert_eq!(reported_foreign(&world), [(Kind::LoadBalancer, "web".to_owned())], "not the internal one");
    assert_eq!(world.aws.parts.load_balancers.len(), 2, "{}", world.story());
    world.aws.by_hand(|parts| {
        parts.load_balancers.retain(|_, it| it.name != "web");
        parts.interfaces.retain(|_, it| it.public_ip.is_none());
    });
    world.delete();
    assert!(world.aws.parts.internet_gateways.is_empty());
}

#[test]
fn an_endpoint_of_another_type_in_our_subnets_is_named() {
    let (mut world, foreign) = brought();
    let own = world.aws.parts.subnets.keys().find(|it| **it != foreign).unwrap().clone();
    let [here, elsewhere] = [(&own, "here"), (&foreign, "elsewhere")].map(|(subnet, token)| {
        let endpoint = endpoint_of_the_user(&mut world, subnet, token);
        let kind = EndpointKind::Other("GatewayLoadBalancer".to_owned());
        world.aws.by_hand(|parts| parts.endpoints.get_mut(&endpoint).unwrap().kind = kind);
        endpoint
    });
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert_eq!(reported_foreign(&world), [(Kind::Endpoint, here.to_string())], "not the one elsewhere");
    world.aws.call(&Change::DeleteVpcEndpoints { endpoints: [here].into() });
    world.delete();
    assert!(world.aws.parts.endpoints.contains_key(&elsewhere));
}

/// In a VPC of the user's, whose internet gateway is not the network's: only the address is the network's.
#[test]
fn the_user_of_an_address_of_the_network_is_named() {
    let (mut world, foreign) = brought();
    let interface = world.aws.interface(&foreign, "another user's bastion");
    world.aws.by_hand(|parts| {
        parts.nat_gateways.clear();
        parts.interfaces.retain(|id, _| *id == interface);
        parts.addresses.values_mut().for_each(|it| it.interface = None);
        parts.addresses.values_mut().next().unwrap().interface = Some(interface.clone());
    });
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    let condition = world.condition(ConditionKind::Deleting);
    assert_eq!(condition.reason, Reason::ForeignResourcesInVpc, "{}", condition.message);
    assert!(condition.message.contains("(another user's bastion)"), "{}", condition.message);
    world.aws.by_hand(|parts| {
        parts.interfaces.remove(&interface);
        parts.addresses.values_mut().for_each(|it| it.interface = None);
    });
    world.delete();
    assert!(world.aws.parts.addresses.is_empty(), "{}", world.story());
}
