//! The main path: a pool begins, grows, shrinks and ends.

use crate::support::{NS, World};
use foo_api::FooMachinePool;
use foo_model::Protection;
use foo_simulator_core::core::rules::group::operations::{GroupUpdate, SettingsChange};
use kube::ResourceExt as _;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_pool_is_created_scaled_out_scaled_in_with_drains_and_deleted() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    pool.is_of(3);
    assert_eq!(pool.status().ready, Some(true));
    pool.scales_to(6);
    world.settles().await;
    pool.is_of(6);
    world.drains_take(Duration::from_mins(2));
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.core.drains().len(), 4);
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
}

/// AWS terminates other instances by itself when it lowers a group or balances its zones.
#[tokio::test(start_paused = true)]
async fn instances_are_protected_from_scale_in_from_their_launch_on() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let group = pool.group().unwrap();
    assert_eq!(group.new_instances, Protection::Protected);
    assert!(group.members.values().all(|it| it.protection == Protection::Protected), "{group:?}");
    assert_eq!(world.aws.calls("SetInstanceProtection"), 0, "none is protected afterwards");
}

#[tokio::test(start_paused = true)]
async fn a_hundred_machines_cost_few_calls_and_few_writes() {
    let world = World::new().await;
    let pool = world.pool("p").of(0).await;
    world.forgets();
    pool.scales_to(100);
    world.until("all are ready", || pool.state_of("Ready") == "True" && pool.machines().len() == 100).await;
    let (calls, writes) = (world.aws.total_calls(), world.requests().writes().changing().count());
    assert!(calls <= 15, "{calls} {:?}", world.aws.call_counts());
    assert!(writes <= 350, "{writes}");
    world.settles().await;
    pool.is_of(100);
}

#[tokio::test(start_paused = true)]
async fn a_change_in_aws_is_seen_within_half_a_minute() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    for wait in [1, 11, 23] {
        world.waits(Duration::from_secs(wait)).await;
        let victim = pool.instances()[0].clone();
        world.kills_instance(&victim);
        world.until("the group notices", || !pool.instances().contains(&victim)).await;
        let noticed = tokio::time::Instant::now();
        let name = format!("p-{}", victim.as_str().trim_start_matches("i-"));
        world.until("the FooMachine shows it", || shows_it(&world, &name)).await;
        let took = noticed.elapsed();
        assert!(took <= Duration::from_secs(32), "{took:?}");
        world.settles().await;
        pool.is_of(2);
    }
}

/// Whether the FooMachine of a terminated instance reports it, or is deleted.
fn shows_it(world: &World, name: &str) -> bool {
    let machine = world.server.get::<foo_api::FooMachine>(crate::support::NS, name);
    let state = |machine: foo_api::FooMachine| machine.status.and_then(|status| status.lifecycle_state);
    machine.is_none_or(|machine| {
        machine.metadata.deletion_timestamp.is_some() || state(machine).as_deref() != Some("InService")
    })
}

/// As with `clusterctl move`, which takes the finalizers off what it deletes.
#[tokio::test(start_paused = true)]
async fn a_pool_that_vanishes_without_a_pass_is_no_longer_observed() {
    let world = World::new().await;
    let victim = world.pool("vanished").of(1).await;
    let last = world.pool("last").of(1).await;
    world.server.delete::<FooMachinePool>(NS, "vanished").unwrap();
    victim.edits_object(|pool| pool.metadata.finalizers = None);
    last.is_deleted();
    world.settles().await;
    last.left_nothing();
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.aws.total_calls(), 0, "{:?}", world.aws.call_counts());
}

/// I10 is counted where it is broken: a user overwrites the status again and again, so that the pool is never idle.
#[tokio::test(start_paused = true)]
async fn a_pool_that_is_never_idle_is_reported() {
    let mut world = World::new().await;
    let pool = world.pool("p").of(1).await;
    for round in 0..10 {
        pool.edits_object(|pool| {
            pool.annotations_mut().insert("meddler".to_owned(), round.to_string());
            pool.status.as_mut().unwrap().replicas = Some(99);
        });
        world.waits(Duration::from_secs(10)).await;
        assert_eq!(pool.object().status.unwrap().replicas, Some(1), "about to be updated");
    }
    world.waits(Duration::from_mins(30)).await;
    // From the end of the first minute every time is one too many.
    world.provokes(4);
}

#[tokio::test(start_paused = true)]
async fn a_group_protected_from_deletion_is_emptied_and_reported() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let protect = |level: &str| {
        let settings =
            SettingsChange { deletion_protection: Some(level.to_owned()), ..SettingsChange::default() };
        let update = GroupUpdate { settings, ..GroupUpdate::default() };
        let name = pool.group_name().as_str().into();
        world.region.with(|region| region.update_group(&name, update)).unwrap().unwrap();
    };
    protect("prevent-all-deletion");
    pool.is_deleted();
    world.settles().await;
    assert!(pool.instances().is_empty() && pool.machines().is_empty(), "{}", world.summary());
    let condition = pool.condition("Deleting");
    assert_eq!(condition.reason, "DeletionProtected", "{}", world.summary());
    assert!(condition.message.contains("set its deletion protection to none"), "{}", condition.message);
    assert_eq!(world.aws.calls("DeleteAutoScalingGroup"), 0, "it is not tried");
    protect("none");
    world.waits(Duration::from_mins(2)).await;
    world.settles().await;
    pool.left_nothing();
}
