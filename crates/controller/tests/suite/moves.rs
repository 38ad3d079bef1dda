//! `clusterctl move`: what it waits for, and what it must not be mistaken for.

use crate::support::{CLUSTER, NS, World};
use foo_api::FooMachine;
use foo_api::capi::Cluster;
use foo_api::names::{BLOCK_MOVE_ANNOTATION, DELETE_FOR_MOVE_ANNOTATION};
use foo_simulator_core::{Fault, FaultRule};
use kube::ResourceExt as _;
use std::time::Duration;

fn pauses(world: &World, paused: bool) {
    let pause = |cluster: &mut Cluster| cluster.spec.paused = Some(paused);
    world.server.edit(NS, CLUSTER, pause).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_pool_whose_group_cannot_be_created_blocks_its_move_only_until_that_is_certain() {
    let world = World::new().await;
    let rule = world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", Fault::Denied));
    let pool = world.pool("p").begins_with(2);
    let blocked = || pool.object().annotations().contains_key(BLOCK_MOVE_ANNOTATION);
    world.waits(Duration::from_mins(5)).await;
    assert!(blocked(), "the launch template is created and no ARN shows where");
    pauses(&world, true);
    world.waits(Duration::from_mins(1)).await;
    assert!(!blocked(), "clusterctl continues");
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(10)).await;
    assert!(pool.group().is_none(), "paused");
    pauses(&world, false);
    world.settles().await;
    pool.is_of(2);
    assert!(!blocked());
}

#[tokio::test(start_paused = true)]
async fn a_group_whose_creation_got_no_response_is_recorded_before_the_pool_moves() {
    let world = World::new().await;
    world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", Fault::DroppedAfter).times(1));
    let pool = world.pool("p").begins_with(2);
    world.until("the group is created", || pool.group().is_some()).await;
    pauses(&world, true);
    world.waits(Duration::from_mins(1)).await;
    let object = pool.object();
    assert!(!object.annotations().contains_key(BLOCK_MOVE_ANNOTATION));
    assert!(object.spec.provider_id.is_some(), "wherever it is moved, it shows where its group is");
    assert_eq!(pool.foo_machines(), Vec::<String>::new(), "paused");
    pauses(&world, false);
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_created_pool_never_blocks_its_move_again() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.forgets();
    pool.scales_to(5);
    pool.edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
    world.settles().await;
    pool.scales_to(1);
    world.settles().await;
    let writes = world.requests().writes();
    assert!(!writes.iter().any(|one| format!("{:?}", one.body).contains(BLOCK_MOVE_ANNOTATION)));
}

/// Another manager may have the pool seconds after the pause.
#[tokio::test(start_paused = true)]
async fn a_pass_ends_between_two_calls_once_its_cluster_is_paused() {
    let world = World::new().await;
    world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", Fault::Delay { millis: 20_000 }).times(1));
    let pool = world.pool("p").begins_with(2);
    // The rest of the same pass: the template is read and the group made.
    world.until("the launch template is created", || !world.region.templates().is_empty()).await;
    world.waits(Duration::from_secs(1)).await;
    assert!(pool.group().is_none(), "under way");
    pauses(&world, true);
    world.waits(Duration::from_mins(2)).await;
    assert!(pool.group().is_some(), "what was sent is carried out");
    assert_eq!(world.aws.calls("SuspendProcesses"), 0, "what comes after it is not sent");
    assert!(pool.object().spec.provider_id.is_some());
    pauses(&world, false);
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.aws.calls("SuspendProcesses"), 1);
}

/// clusterctl pauses first; this is for a manager that has not seen it yet.
#[tokio::test(start_paused = true)]
async fn a_moved_foo_machine_is_not_taken_for_a_released_one() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    world.core.pause();
    let name = pool.foo_machines()[0].clone();
    let moved = |machine: &mut FooMachine| {
        *machine.annotations_mut() = [(DELETE_FOR_MOVE_ANNOTATION.to_owned(), String::new())].into();
    };
    world.server.edit(NS, &name, moved).unwrap();
    world.server.delete::<FooMachine>(NS, &name).unwrap();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.instances(), before);
}
