//! Pools in Capacity Blocks: what EC2 is asked about them, when instances are launched, and when they are drained.

use crate::support::World;
use foo_api::names::REPLICAS_MANAGED_BY_ANNOTATION;
use foo_api::pool::{CapacityBlock, CapacityReservation, FooMachinePoolSpec};
use foo_simulator_core::core::ec2::capacity::{MatchCriteria, Period};
use foo_simulator_core::core::rules::capacity::NewReservation;
use foo_simulator_core::{Fault, FaultRule};
use std::collections::BTreeMap;
use std::time::Duration;

const READ: &str = "DescribeCapacityReservations";

fn minutes(number: u64) -> Duration {
    Duration::from_mins(number)
}

/// A block of two instances in zone b, between these minutes from now, and its id.
fn block(world: &World, starts: u64, ends: u64) -> String {
    let now = world.aws.now();
    let new = NewReservation {
        instance_type: "m7i.large".into(),
        zone: "eu-central-1b".into(),
        total: 2,
        criteria: MatchCriteria::Targeted,
        tags: BTreeMap::new(),
    };
    let period = Period { starts: now.plus(minutes(starts)), ends: now.plus(minutes(ends)) };
    world.region.with(|region| region.create_capacity_block(new, period)).unwrap().unwrap()
}

fn in_block(id: &str) -> impl FnOnce(&mut FooMachinePoolSpec) + use<> {
    let block = Some(CapacityBlock::of(id.to_owned()));
    move |spec| {
        spec.capacity_reservation = Some(CapacityReservation { block, ..CapacityReservation::default() });
    }
}

/// Its subnets are in three zones, and nothing is launched outside of the block's.
#[tokio::test(start_paused = true)]
async fn a_pool_waits_for_its_block_is_drained_before_its_end_and_comes_back_when_it_is_extended() {
    let world = World::new().await;
    world.pool("plain").of(1).await.is_of(1);
    assert_eq!(world.aws.calls(READ), 0, "a pool without a block costs nothing");
    let id = block(&world, 10, 110);
    let pool = world.pool("p").with(in_block(&id)).of(2).await;
    assert_eq!(pool.group().map(|group| group.sizes.desired), Some(0), "{}", world.summary());
    assert_eq!(pool.state_of("Ready"), "False CapacityBlockNotStarted");

    world.waits_long(minutes(16)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(pool.state_of("CapacityBlockReady"), "True");
    let members = pool.group().unwrap().members;
    assert!(members.values().all(|member| member.zone.as_str() == "eu-central-1b"));
    world.forgets();
    world.waits_long(minutes(20)).await;
    let calls = world.aws.calls(READ);
    assert!((3..=6).contains(&calls), "{calls} in 20 min near the end");
    pool.is_of(2);

    world.waits_long(minutes(20)).await;
    world.settles().await;
    assert!(pool.instances().is_empty() && pool.machines().is_empty(), "{}", world.summary());
    assert_eq!(world.core.drains().len(), 2);
    assert_eq!(pool.machine_pool().spec.replicas, Some(2));
    assert_eq!(pool.state_of("Ready"), "False CapacityBlockEnding");
    assert!(!world.notes("CapacityBlockEnding").is_empty());

    let ends = world.aws.now().plus(Duration::from_hours(24));
    world.region.with(|region| region.extend_capacity_block(&id, ends)).unwrap().unwrap();
    world.waits_long(minutes(7)).await;
    world.settles().await;
    pool.is_of(2);
    world.waits_long(minutes(70)).await;
    world.forgets();
    world.waits_long(minutes(120)).await;
    let calls = world.aws.calls(READ);
    assert!((1..=3).contains(&calls), "{calls} in two idle hours");
}

#[tokio::test(start_paused = true)]
async fn the_provider_sets_the_size_of_a_pool_in_a_block_also_with_the_annotation_of_other_controllers() {
    let world = World::new().await;
    let id = block(&world, 1, 1_440);
    let pool = world.pool("p").with(in_block(&id)).of(1).await;
    pool.annotates_machine_pool(REPLICAS_MANAGED_BY_ANNOTATION, "another-controller");
    world.waits_long(minutes(7)).await;
    world.settles().await;
    pool.is_of(1);
    assert_eq!(pool.state_of("Ready"), "True", "{}", world.summary());
    let message = pool.condition("Ready").message;
    assert!(message.contains("has no effect, remove it"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_block_that_does_not_exist_or_cannot_be_read_is_named_and_nothing_is_launched() {
    let world = World::new().await;
    let pool = world.pool("p").with(in_block("cr-0")).of(1).await;
    assert_eq!(pool.state_of("CapacityBlockReady"), "False CapacityBlockUnusable");
    assert_eq!(pool.condition("CapacityBlockReady").message, "EC2 knows no Capacity Reservation cr-0");
    assert!(pool.group().is_none(), "{}", world.summary());
    world.aws.add_fault(FaultRule::on(READ, Fault::Denied));
    let other = world.pool("q").with(in_block("cr-1")).of(1).await;
    assert_eq!(other.state_of("CapacityBlockReady"), "Unknown AccessDenied");
    assert!(other.group().is_none(), "{}", world.summary());
}
