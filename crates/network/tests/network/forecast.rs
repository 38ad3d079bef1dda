//! What a forecast says is what then happens.

use crate::create::full;
use crate::endpoints::sts;
use crate::leftovers::group_of_eks;
use crate::life::settled;
use crate::world::*;
use foo_model::Reason;
use foo_model::network::{Destination, NatState, Parts, Quotas, RouteTarget};
use foo_network::desired::*;
use foo_network::forecast::{End, Forecast, NAT, Read, remaining};
use foo_network::report::ConditionKind;
use foo_network::{Desired, forecast};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Reads that a forecast may ask for, at most.
const READS: usize = 60;

/// The forecast, once everything that it asks for is read.
fn foresee(world: &mut World) -> Forecast {
    let mut observed = world.observed.clone();
    foo_calls::testing::Aws::observe(&world.aws, &mut observed);
    for _ in 0..READS {
        let (record, memory) = (&world.process.record, &world.process.memory);
        let foreseen = forecast(&world.desired, &observed, record, memory);
        let End::Unknown(reads) = &foreseen.end else { return foreseen };
        for one in reads {
            match one {
                Read::Parts(kind, scope) => read(&mut world.aws, &mut observed, *kind, scope),
                Read::Quotas => observed.quotas = Some(Quotas::default()),
            }
        }
    }
    panic!("more is read again and again")
}

/// How often each operation is called.
fn counted<'c>(operations: impl Iterator<Item = &'c str>) -> BTreeMap<&'c str, usize> {
    let mut counts = BTreeMap::new();
    for operation in operations {
        *counts.entry(operation).or_default() += 1;
    }
    counts
}

/// Foresees, lets it happen, and compares.
fn comes_true(world: &mut World) -> Forecast {
    let foreseen = foresee(world);
    assert_eq!(foreseen.end, End::Settled, "{:#?}", remaining(&foreseen.report).collect::<Vec<_>>());
    let before = world.aws.calls.len();
    world.rest();
    let sent = counted(world.aws.calls[before..].iter().map(|change| change.operation().name()));
    let expected = counted(foreseen.steps.iter().map(|step| step.action.change.operation().name()));
    assert_eq!(expected, sent, "{}", world.story());
    let after = foresee(world);
    assert_eq!(after.steps, [], "nothing is left");
    assert_eq!(settings(&foreseen.then, &foreseen.now), settings(&after.now, &foreseen.now));
    foreseen
}

/// What users decide of the parts that were there before.
fn settings(parts: &Parts, before: &Parts) -> Vec<String> {
    let vpcs = parts.vpcs.values().filter(|it| before.vpcs.contains_key(&it.id));
    let vpcs = vpcs.map(|it| format!("{:?}", (&it.id, it.dns_support, it.dns_hostnames, &it.tags)));
    let subnets = parts.subnets.values().filter(|it| before.subnets.contains_key(&it.id));
    let subnets =
        subnets.map(|it| format!("{:?}", (&it.id, it.public_ip_on_launch, it.ipv6_on_creation, &it.tags)));
    let groups = parts.security_groups.values().filter(|it| before.security_groups.contains_key(&it.id));
    let groups = groups.map(|it| format!("{:?}", (&it.id, &it.ingress, &it.egress, &it.tags)));
    let tables = parts.route_tables.values().filter(|it| before.route_tables.contains_key(&it.id));
    let tables = tables.map(|it| {
        // Those of the VPC itself and of endpoints are EC2's own.
        let chosen =
            it.routes.iter().filter(|it| !matches!(it.target, RouteTarget::Local | RouteTarget::Endpoint(_)));
        let destinations: BTreeSet<&Destination> = chosen.map(|it| &it.destination).collect();
        format!("{:?}", (&it.id, destinations, it.associations.len(), &it.tags))
    });
    vpcs.chain(subnets).chain(groups).chain(tables).collect()
}

#[test]
fn a_new_network() {
    let foreseen = comes_true(&mut World::new(desired("abc")));
    assert!(foreseen.takes >= NAT, "{:?}", foreseen.takes);
    assert_eq!(foreseen.steps[0].action.change.operation().name(), "CreateVpc");
    comes_true(&mut World::new(full()));
}

#[test]
fn a_network_in_a_vpc_of_the_user() {
    let mut world = users_vpc();
    world.aws.by_hand(|parts| parts.vpcs.values_mut().for_each(|vpc| vpc.dns_hostnames = Some(true)));
    let foreseen = comes_true(&mut world);
    let operations: Vec<_> = foreseen.steps.iter().map(|it| it.action.change.operation().name()).collect();
    assert!(!operations.contains(&"CreateVpc") && operations.contains(&"CreateSubnet"), "{operations:?}");
}

#[test]
fn the_connection_with_the_cluster_security_group_of_eks() {
    let mut world = settled(desired("a"));
    let eks = group_of_eks(&mut world, "prod");
    for connection in [Connection::With(eks), Connection::Separate] {
        world.desired.connection = connection;
        let foreseen = comes_true(&mut world);
        assert_eq!(foreseen.steps.len(), 2, "{:#?}", foreseen.steps);
    }
}

#[test]
fn edits_of_all_parts() {
    let mut world = settled(desired("ab"));
    for nat in [NatMode::Single, NatMode::None, NatMode::PerZone] {
        world.desired.nat = nat;
        comes_true(&mut world);
    }
    world.desired = desired("abc");
    comes_true(&mut world);
    world.desired.ipv6 = true;
    comes_true(&mut world);
    world.desired.endpoints =
        vec![endpoint("s3", DesiredEndpointKind::Gateway), sts(&["private/eu-central-1a"])];
    comes_true(&mut world);
    world.desired.security_groups[0].ingress.push(rule(GroupPeer::V4("10.0.0.0/8".parse().unwrap()), 22));
    world.desired.tags.insert("team".to_owned(), "blue".to_owned());
    comes_true(&mut world);
    world.desired.endpoints.clear();
    world.desired.security_groups[0].ingress.pop();
    world.desired.tags.clear();
    comes_true(&mut world);
}

#[test]
fn a_gateway_that_is_being_created_is_waited_for() {
    let mut world = World::new(desired("a"));
    let pending = |it: &World| it.aws.parts.nat_gateways.values().any(|it| it.state == NatState::Pending);
    world.run_until("the NAT gateway is begun", pending);
    let foreseen = comes_true(&mut world);
    let created =
        foreseen.steps.iter().filter(|it| it.action.change.operation().name() == "CreateNatGateway");
    assert_eq!(created.count(), 0);
}

#[test]
fn what_a_quota_has_no_room_for_is_what_remains() {
    let mut world = World::new(desired("abc"));
    world.observed.quotas = Some(Quotas { addresses: Some((2, 0)), ..Quotas::default() });
    let foreseen = foresee(&mut world);
    assert_eq!((foreseen.end, foreseen.steps.len(), foreseen.takes), (End::Waiting, 0, Duration::ZERO));
    let ready = remaining(&foreseen.report).find(|it| it.kind == ConditionKind::NetworkReady).unwrap();
    assert_eq!(ready.reason, Reason::LimitExceeded, "{ready:?}");
}

#[test]
fn nothing_is_foreseen_of_what_is_paused() {
    let mut world = settled(desired("a"));
    world.desired.nat = NatMode::None;
    world.desired.paused = true;
    let foreseen = foresee(&mut world);
    assert_eq!((foreseen.end, foreseen.steps.len()), (End::Settled, 0));
}

fn networks() -> impl Strategy<Value = Desired> {
    let nat = proptest::sample::select(vec![NatMode::PerZone, NatMode::Single, NatMode::None]);
    let zones = proptest::sample::select(vec!["a", "ab", "abc"]);
    (nat, zones, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(nat, zones, ipv6, s3, tagged)| {
        let mut desired = Desired { nat, ipv6, ..desired(zones) };
        if s3 {
            desired.endpoints.push(endpoint("s3", DesiredEndpointKind::Gateway));
        }
        if tagged {
            desired.tags.clear();
        }
        desired
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_changed(first in networks(), then in networks(), begun in 0_usize..40) {
        let mut world = World::new(Desired { subnets: desired("a").subnets, ..first });
        world.thorough = false;
        // The edit may come in the middle of the creation.
        for _ in 0..400 {
            if world.sent >= begun || (!world.pass() && !world.wait()) {
                break;
            }
        }
        // Ranges of IPv6 are never taken away.
        let ipv6 = world.desired.ipv6 || then.ipv6;
        world.desired = Desired { ipv6, ..then };
        comes_true(&mut world);
    }
}
