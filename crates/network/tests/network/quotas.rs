//! Quotas: those that AWS's responses show, and those that only its refusals show.

use crate::create::assert_complete;
use crate::life::settled;
use crate::world::*;
use foo_model::network::*;
use foo_model::*;
use foo_network::report::ConditionKind;
use std::time::Duration;

#[test]
fn a_quota_stops_a_network_before_it_is_begun() {
    let mut world = World::new(desired("abc"));
    world.observed.quotas = Some(Quotas { addresses: Some((5, 3)), ..Quotas::default() });
    world.pass();
    world.wait();
    world.pass();
    let nat = world.condition(ConditionKind::NatReady);
    assert_eq!((nat.reason, world.sent), (Reason::LimitExceeded, 0));
    assert!(
        nat.message.contains("3 more Elastic IP addresses are needed; there are 3 and the quota is 5"),
        "{nat:?}"
    );
    assert!(nat.message.contains("every 5 minutes"), "{nat:?}");
    world.observed.quotas = Some(Quotas { addresses: Some((6, 3)), ..Quotas::default() });
    world.settle();
}

#[test]
fn a_quota_that_has_no_room_for_another_zone_is_named_before_and_keeps_the_rest_going() {
    let mut world = settled(desired("ab"));
    world.desired = desired("abc");
    world.observed.quotas = Some(Quotas { addresses: Some((2, 2)), ..Quotas::default() });
    world.run_until("the rest", |it| it.aws.parts.subnets.len() == 6 && it.aws.parts.route_tables.len() == 5);
    let nat = world.condition(ConditionKind::NatReady);
    assert_eq!(nat.reason, Reason::LimitExceeded);
    let needed = "1 more Elastic IP addresses are needed; there are 2 and the quota is 2";
    assert!(nat.message.contains(needed), "{nat:?}");
    let asked = world.aws.calls.iter().filter(|it| matches!(it, Change::AllocateAddress { .. })).count();
    assert_eq!(asked, 2, "AWS is not asked for what it will refuse\n{}", world.story());
    assert!(world.report.as_ref().unwrap().wants_quotas);
    // What needs no more continues.
    world.desired.tags = Tags::from([("cost".to_owned(), "blue".to_owned())]);
    world.run_until("tagged", |it| it.aws.parts.vpcs.values().all(|it| it.tags.contains_key("cost")));
    world.observed.quotas = Some(Quotas { addresses: Some((3, 2)), ..Quotas::default() });
    world.rest();
    assert_complete(&world);
}

#[test]
fn quotas_are_asked_for_before_an_edit_that_needs_more_and_only_then() {
    let mut world = settled(desired("ab"));
    world.observed.quotas = None;
    world.desired.tags = Tags::new();
    world.rest();
    assert!(!world.report.as_ref().unwrap().wants_quotas);
    world.desired = desired("abc");
    world.run_until("asked", |it| it.report.as_ref().is_some_and(|it| it.wants_quotas));
    let asked = world.aws.calls.iter().filter(|it| matches!(it, Change::AllocateAddress { .. })).count();
    assert_eq!(asked, 2);
    let full = [(zone('c'), 5)].into();
    world.observed.quotas = Some(Quotas { nat_gateways: Some((5, full)), ..Quotas::default() });
    world.run_until("named", |it| it.condition(ConditionKind::NatReady).reason == Reason::LimitExceeded);
    assert_eq!(world.aws.parts.nat_gateways.len(), 2);
    world.observed.quotas = Some(Quotas::default());
    world.rest();
    assert_complete(&world);
}

#[test]
fn no_address_is_allocated_for_a_gateway_that_a_quota_has_no_room_for() {
    let mut world = settled(desired("ab"));
    world.desired = desired("abc");
    let full = [(zone('c'), 5)].into();
    world.observed.quotas = Some(Quotas { nat_gateways: Some((5, full)), ..Quotas::default() });
    world.run_until("the rest", |it| it.aws.parts.subnets.len() == 6 && it.aws.parts.route_tables.len() == 5);
    let until = world.aws.now.plus(Duration::from_mins(20));
    world.run_until("later", |it| it.aws.now > until);
    assert_eq!(world.aws.parts.addresses.len(), 2, "{}", world.story());
    let nat = world.condition(ConditionKind::NatReady);
    assert_eq!(nat.reason, Reason::LimitExceeded, "{nat:?}");
    world.observed.quotas = Some(Quotas::default());
    world.rest();
    assert_complete(&world);
}

#[test]
fn a_quota_that_only_aws_knows_stops_nothing_else() {
    let mut world = World::new(desired("abc"));
    world.aws.set_address_quota(2);
    world.run_until("two gateways", |it| {
        it.aws.parts.nat_gateways.values().filter(|it| it.state == NatState::Available).count() == 2
    });
    let calls = world.sent;
    let until = world.aws.now.plus(Duration::from_mins(20));
    world.run_until("later", |it| it.aws.now > until);
    assert!(world.sent - calls <= 8, "{}", world.story());
    let nat = world.condition(ConditionKind::NatReady);
    assert_eq!(nat.reason, Reason::LimitExceeded);
    assert!(nat.message.contains("it is tried again at "), "{nat:?}");
    world.aws.set_address_quota(3);
    world.rest();
    assert_complete(&world);
}
