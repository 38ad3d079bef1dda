//! The API server refuses, forgets to respond, or shows an old world: the end is the same.

use crate::support::{MANAGER, NS, World};
use foo_api::capi::Machine;
use foo_apiserver_fake::{Fault, Verb};
use std::time::Duration;

/// A fault at the `skip`-th write of a scale-up, and of the scale-in after it; whether there were this many writes.
async fn strikes(fault: Fault, skip: u64) -> bool {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.drains_take(Duration::from_secs(20));
    let fault = fault.on_writes().client(MANAGER).skip(skip);
    let up = world.server.inject(fault.clone());
    pool.scales_to(4);
    world.settles().await;
    pool.is_of(4);
    world.server.heal();
    let down = world.server.inject(fault);
    pool.scales_to(1);
    world.settles().await;
    pool.is_of(1);
    assert_eq!(world.core.drains().len(), 3, "{:?}", world.core.drains());
    up.struck() + down.struck() > 0
}

/// The fault at each write in turn.
async fn check(fault: fn() -> Fault) {
    let mut writes = 0;
    while strikes(fault(), writes).await {
        writes += 1;
    }
    assert!(writes > 5, "{writes}");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_at_any_write_changes_nothing_in_the_end() {
    check(Fault::conflict).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_error_at_any_write_changes_nothing_in_the_end() {
    check(Fault::internal_error).await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_any_write_changes_nothing_in_the_end() {
    check(Fault::lost_response).await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_at_any_write_changes_nothing_in_the_end() {
    check(Fault::lost_request).await;
}

#[tokio::test(start_paused = true)]
async fn many_faults_in_a_row_are_survived() {
    let world = World::new().await;
    let pool = world.pool("p").begins_with(3);
    for fault in
        [Fault::conflict(), Fault::unavailable(), Fault::lost_response(), Fault::too_many_requests(1)]
    {
        world.server.inject(fault.on_writes().client(MANAGER).skip(1).times(4));
    }
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    pool.is_of(3);
    pool.is_deleted();
    world.server.inject(Fault::unavailable().on_writes().client(MANAGER).times(6));
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    pool.left_nothing();
}

/// While watches of a kind are suspended, the manager acts on a stale cache; then it sees the new state.
async fn check_suspended(kind: &str) {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_secs(20));
    for target in [5, 2, 4] {
        let hold = world.server.watches().kind(kind).client(MANAGER).hold();
        pool.scales_to(target);
        world.waits(Duration::from_secs(100)).await;
        hold.release();
        world.settles().await;
        pool.is_of(usize::try_from(target).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stale_cache_misleads_no_controller() {
    for kind in ["FooMachine", "Machine", "MachinePool", "FooMachinePool", "Secret", "*"] {
        check_suspended(kind).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_came_back_while_machines_were_unseen_costs_no_instance() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    let before = pool.instances();
    let hold = world.server.watches().kind("MachinePool").client(MANAGER).hold();
    pool.scales_to(1);
    world.waits(Duration::from_secs(5)).await;
    pool.scales_to(4);
    hold.release();
    world.settles().await;
    pool.is_of(4);
    assert_eq!(pool.instances(), before);
}

#[tokio::test(start_paused = true)]
async fn expired_watches_are_restarted() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let version = world.server.resource_version();
    world.server.watches().client(MANAGER).expire();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.server.resource_version(), version, "another list is no news");
    for target in [4, 1] {
        pool.scales_to(target);
        world.waits(Duration::from_secs(1)).await;
        world.server.compact();
        world.server.watches().client(MANAGER).expire();
        world.settles().await;
        pool.is_of(usize::try_from(target).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn the_successor_of_a_manager_killed_at_any_moment_completes_its_work() {
    for moment in 1..12 {
        let mut world = World::new().await;
        world.pool("p").of(3).await;
        world.drains_take(Duration::from_secs(10));
        world.pool("p").scales_to(1);
        world.waits(Duration::from_millis(moment * 1700)).await;
        world.kills_the_manager();
        world.starts_the_manager();
        world.settles().await;
        world.pool("p").is_of(1);
        world.pool("p").scales_to(4);
        world.waits(Duration::from_millis(moment * 700)).await;
        world.kills_the_manager();
        world.starts_the_manager();
        world.settles().await;
        world.pool("p").is_of(4);
    }
}

/// The API server refuses the manager's writes of one kind.
fn refuses(world: &World, verb: Verb, kind: &str) {
    world.server.inject(Fault::status(403).on(verb).kind(kind).client(MANAGER).always());
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_may_not_be_deleted_is_reported_and_delays_no_other() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    let drained = pool.machines()[0].metadata.name.clone().unwrap();
    refuses(&world, Verb::Delete, "Machine");
    pool.scales_to(3);
    world.waits(Duration::from_secs(30)).await;
    world.server.delete::<Machine>(NS, &drained).unwrap();
    pool.scales_to(2);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.instances().len(), 3, "the drained one has ended\n{}", world.summary());
    let ready = pool.condition("Ready");
    assert_eq!(
        (ready.status.as_str(), ready.reason.as_str()),
        ("False", "KubernetesRequestFailed"),
        "{ready:?}"
    );
    assert!(ready.message.contains("DeleteMachine"), "{ready:?}");
}

#[tokio::test(start_paused = true)]
async fn a_quota_for_foo_machines_delays_no_deletion_of_others() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    refuses(&world, Verb::Create, "FooMachine");
    pool.scales_to(3);
    world.waits(Duration::from_mins(10)).await;
    let name = pool.machines()[0].metadata.name.clone().unwrap();
    world.server.delete::<Machine>(NS, &name).unwrap();
    world.waits(Duration::from_mins(10)).await;
    assert!(world.server.get::<Machine>(NS, &name).is_none(), "{}", world.summary());
    assert_eq!(pool.condition("Ready").reason, "KubernetesRequestFailed");
}

#[tokio::test(start_paused = true)]
async fn a_slow_api_server_gets_few_writes_at_a_time_with_the_same_result() {
    let world = World::new().await;
    let at_once = || -> f64 {
        let metrics = world.metrics().exposition().unwrap();
        let line = metrics.lines().find(|line| line.starts_with("foo_kube_writes_at_once "));
        line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    };
    world.server.inject(Fault::delay(Duration::from_secs(5)).on_writes().client(MANAGER).always());
    let pool = world.pool("p").begins_with(20);
    world.waits(Duration::from_mins(5)).await;
    assert!(at_once() <= 4.0, "{} at a time", at_once());
    world.server.heal();
    world.settles().await;
    pool.is_of(20);
}
