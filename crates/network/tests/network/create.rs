//! Creation: how many calls and rounds, and that it is complete.

use crate::world::*;
use foo_calls::report::Status;
use foo_model::network::*;
use foo_model::*;
use foo_network::Desired;
use foo_network::desired::*;
use foo_network::report::ConditionKind;
use std::collections::BTreeSet;

/// What a network has to read like when it is done, by AWS's state alone.
pub fn assert_complete(world: &World) {
    let desired = &world.desired;
    let parts = &world.aws.parts;
    let own = |tags: &Tags| tags.get("infrastructure.foo.com/network") == Some(&desired.network_id);
    let story = || world.story();
    assert_eq!(
        parts.subnets.values().filter(|it| own(&it.tags)).count(),
        desired.subnets.len(),
        "{}",
        story()
    );
    let nats: Vec<_> =
        parts.nat_gateways.values().filter(|it| own(&it.tags) && it.state != NatState::Deleted).collect();
    let zones: BTreeSet<_> = desired.subnets.iter().map(|it| &it.zone).collect();
    let expected = match desired.nat {
        NatMode::PerZone => zones.len(),
        NatMode::Single => 1,
        NatMode::None => 0,
    };
    assert_eq!(nats.len(), expected, "NAT gateways\n{}", story());
    assert!(nats.iter().all(|it| it.state == NatState::Available));
    let addresses = parts.addresses.values().filter(|it| own(&it.tags)).count();
    assert_eq!(addresses, expected, "addresses\n{}", story());
    let groups = parts.security_groups.values().filter(|it| own(&it.tags)).count();
    assert_eq!(groups, desired.security_groups.len());
    assert_eq!(
        parts.route_tables.values().filter(|it| own(&it.tags)).count(),
        zones.len() + 1,
        "{}",
        story()
    );
    for subnet in parts.subnets.values().filter(|it| own(&it.tags)) {
        let public = subnet.tags["infrastructure.foo.com/role"].contains("public");
        let table = parts
            .route_tables
            .values()
            .find(|it| it.associations.iter().any(|it| it.subnet == subnet.id))
            .expect("a table");
        let route =
            table.routes.iter().find(|it| it.destination == Destination::V4("0.0.0.0/0".parse().unwrap()));
        match (public, desired.nat) {
            (true, _) => assert!(matches!(route.unwrap().target, RouteTarget::InternetGateway(_))),
            (false, NatMode::None) => assert_eq!(route, None),
            (false, _) => {
                let RouteTarget::NatGateway(nat) = &route.expect("a default route").target else { panic!() };
                assert_eq!(parts.nat_gateways[nat].state, NatState::Available);
            }
        }
        assert_eq!(subnet.public_ip_on_launch, public);
    }
    let vpc = parts.vpcs.values().filter(|it| own(&it.tags)).collect::<Vec<_>>();
    assert_eq!(vpc.len(), 1);
    assert_eq!((vpc[0].dns_support, vpc[0].dns_hostnames), (Some(true), Some(true)));
    assert_eq!(parts.internet_gateways.len(), 1);
}

/// Calls and rounds to create a network, and calls to delete it.
fn measure(zones: &str, nat: NatMode) -> (usize, u32, usize) {
    let mut world = World::new(Desired { nat, ..desired(zones) });
    world.settle();
    assert_complete(&world);
    let ready = world.condition(ConditionKind::NetworkReady);
    assert_eq!((ready.status, ready.reason), (Status::True, Reason::NetworkAsRequested), "{ready:?}");
    let (created, rounds) = (world.sent, world.rounds);
    world.rest();
    assert_eq!(world.sent, created, "nothing is sent to an idle network");
    world.delete();
    (created, rounds, world.sent - created)
}

#[test]
fn calls_and_rounds_of_each_mode() {
    let table = [
        // zones, mode, calls to create, rounds, calls to delete
        ("abc", NatMode::PerZone, 37, 4, 23),
        ("abc", NatMode::Single, 33, 4, 19),
        ("abc", NatMode::None, 28, 3, 17),
        ("a", NatMode::PerZone, 19, 4, 13),
    ];
    for (zones, nat, created, rounds, deleted) in table {
        let measured = measure(zones, nat);
        println!(
            "{zones} {nat:?}: create {} calls in {} rounds, delete {}",
            measured.0, measured.1, measured.2
        );
        assert_eq!(measured, (created, rounds, deleted), "{zones} {nat:?}");
    }
}

#[test]
fn the_planner_adds_a_few_seconds_to_the_slowest_part() {
    let mut world = World::new(desired("abc"));
    let start = world.aws.now;
    world.settle();
    let taken = start.until(world.aws.now);
    // 90 s is what a NAT gateway takes here, 3.7 s are 37 calls one after the other.
    assert!(taken.as_secs() < 90 + 4 + 6, "{taken:?}");
}

/// Everything that can be requested at once.
pub fn full() -> Desired {
    let mut full = desired("abc");
    full.ipv6 = true;
    full.vpc = DesiredVpc::Managed {
        cidr: "10.0.0.0/16".parse().unwrap(),
        secondary: vec!["100.64.0.0/16".parse().unwrap()],
    };
    let keys = ["private/eu-central-1a", "private/eu-central-1b"];
    full.endpoints = vec![
        endpoint("s3", DesiredEndpointKind::Gateway),
        endpoint(
            "sts",
            DesiredEndpointKind::Interface {
                subnets: keys.iter().map(ToString::to_string).collect(),
                groups: ["node".to_owned()].into(),
                private_dns: true,
            },
        ),
    ];
    full
}

/// With a range for Pods, and a subnet of it in each zone that has a private one.
pub fn with_pods(mut desired: Desired) -> Desired {
    if let DesiredVpc::Managed { secondary, .. } = &mut desired.vpc {
        *secondary = vec!["100.64.0.0/16".parse().unwrap()];
    }
    let private = desired.subnets.iter().filter(|it| it.tier == Tier::Private);
    let letters: Vec<char> = private.filter_map(|it| it.zone.as_str().chars().last()).collect();
    let pods = (0_u8..).zip(letters).map(|(index, letter)| subnet(Tier::Pods, letter, index));
    desired.subnets.extend(pods);
    desired
}

#[test]
fn dual_stack_with_endpoints_and_a_second_range() {
    let mut world = World::new(full());
    world.rest();
    assert_complete(&world);
    let parts = &world.aws.parts;
    assert_eq!(parts.vpcs.values().next().unwrap().ipv6.len(), 1, "one IPv6 range");
    assert!(parts.subnets.values().all(|it| it.ipv6.len() == 1 && it.ipv6_on_creation));
    assert_eq!(parts.egress_only_gateways.len(), 1);
    let six = Destination::V6("::/0".parse().unwrap());
    let with_six = parts.route_tables.values().filter(|it| it.routes.iter().any(|it| it.destination == six));
    assert_eq!(with_six.count(), 4);
    assert_eq!(parts.endpoints.len(), 2);
    println!("full: {} calls in {} rounds", world.sent, world.rounds);
    world.delete();
    println!("full: {} calls with deletion", world.sent);
}

#[test]
fn in_a_brought_vpc_no_subnet_is_created_before_the_existing_ones_were_read() {
    let mut world = users_vpc();
    let DesiredVpc::Existing(vpc) = world.desired.vpc.clone() else { panic!() };
    let zones_read = |world: &World| {
        world.observed.in_vpc.get(&vpc).and_then(|read| read.begun.get(&Kind::Subnet)).copied()
    };
    world.run_until("others created", |it| {
        assert!(it.aws.parts.subnets.is_empty() && zones_read(it).is_none(), "{}", it.story());
        it.aws.parts.security_groups.len() == 3
    });
    // One more comes after the read: AWS refuses the network's one, and the read is repeated.
    world.read(Kind::Subnet, &Scope::Vpc(vpc.clone()));
    let taken = Change::CreateSubnet {
        vpc: vpc.clone(),
        zone: zone('c'),
        cidr: world.desired.subnets[0].cidr,
        ipv6: None,
        tags: Tags::new(),
    };
    let before = zones_read(&world);
    let foreign = world.aws.call(&taken).subnets.into_keys().next().unwrap();
    world.run_until("zones_read again", |it| zones_read(it) > before);
    assert!(world.observed.in_vpc[&vpc].parts.subnets.contains_key(&foreign));
    let reads = zones_read(&world);
    world.desired.subnets[0].cidr = "10.0.200.0/24".parse().unwrap();
    world.run_until("complete", |it| it.condition(ConditionKind::SubnetsReady).status == Status::True);
    world.aws.advance(world.aws.now.plus(std::time::Duration::from_hours(1)));
    world.run_until("idle", |it| it.aws.parts.subnets.len() == 5);
    assert_eq!(zones_read(&world), reads, "not zones_read at again without need");
}
