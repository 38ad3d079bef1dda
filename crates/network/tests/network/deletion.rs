//! Deletions that something stands in the way of.

use crate::faults::assert_gone;
use crate::world::*;
use foo_model::network::*;
use foo_model::*;
use foo_network::report::ConditionKind;
use std::time::Duration;

#[test]
fn what_comes_into_the_way_after_the_first_look_is_named() {
    let mut world = World::new(desired("a"));
    world.rest();
    world.desired.being_deleted = true;
    world.run_until("looked", |it| it.observed.in_vpc.values().any(|it| it.begun.len() >= 8));
    let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
    let interface = world.aws.interface(&subnet, "lambda of somebody");
    world.run_until("named", |it| {
        it.condition(ConditionKind::Deleting).message.contains("(lambda of somebody)")
    });
    world.aws.by_hand(|parts| drop(parts.interfaces.remove(&interface)));
    world.delete();
    assert_gone(&world);
}

#[test]
fn what_may_not_be_deleted_is_looked_at_as_rarely_as_the_call_is_repeated() {
    let mut world = World::new(crate::create::full());
    world.rest();
    world.aws.denied = ["DeleteNatGateway", "DeleteVpcEndpoints"].into();
    world.desired.being_deleted = true;
    let hour = |world: &mut World| {
        let (reads, start) = (world.aws.reads, world.aws.now);
        world.run_until("an hour", |it| it.aws.now > start.plus(Duration::from_hours(1)));
        world.aws.reads - reads
    };
    hour(&mut world);
    let reads = hour(&mut world);
    assert!(reads <= 60, "{reads} looks in an hour");
    world.aws.denied.clear();
    world.delete();
    assert_gone(&world);
    assert!(world.aws.parts.nat_gateways.values().all(|it| it.state == NatState::Deleted));
}

#[test]
fn what_is_no_longer_requested_and_may_not_be_deleted_is_looked_at_as_rarely() {
    let mut world = World::new(crate::create::full());
    world.rest();
    world.aws.denied = ["DeleteNatGateway", "DeleteVpcEndpoints"].into();
    world.desired.endpoints.clear();
    world.desired.nat = foo_network::desired::NatMode::None;
    let start = world.aws.now;
    world.run_until("an hour", |it| it.aws.now > start.plus(Duration::from_hours(1)));
    let (reads, start) = (world.aws.reads, world.aws.now);
    world.run_until("an hour", |it| it.aws.now > start.plus(Duration::from_hours(1)));
    let reads = world.aws.reads - reads;
    assert!(reads <= 60, "{reads} looks in an hour");
    assert_eq!(world.condition(ConditionKind::NatReady).reason, Reason::AccessDenied);
}
