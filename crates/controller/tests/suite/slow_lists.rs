//! A manager starts and the lists that fill its caches do not arrive together: a pass that waits for the last of them
//! continues when it is there, and a pass that waits too long is cancelled rather than forgotten.

use crate::support::{CLUSTER, MANAGER, World, objects};
use foo_api::FooCluster;
use foo_apiserver_fake::{Fault, Verb};
use foo_controller::labels::{Controller, PassResult};
use std::time::Duration;

const CONTROLLERS: [Controller; 4] =
    [Controller::Pool, Controller::Cluster, Controller::ControlPlane, Controller::Eks];

/// Six pools and six clusters, and a manager that starts while its lists of that kind meet with this.
async fn started_with(kind: &str, fault: Fault) -> World {
    let mut world = World::new().await;
    for n in 0..6 {
        world.pool(&format!("p{n}")).begins_with(1);
        let (cluster, infrastructure) = objects::another_cluster(&format!("{CLUSTER}{n}"), None);
        world.has(&cluster);
        world.has(&infrastructure);
    }
    world.settles().await;
    world.kills_the_manager();
    world.server.inject(fault.on(Verb::List).kind(kind).client(MANAGER).times(u64::MAX));
    world.starts_the_manager();
    world
}

fn longest(world: &World) -> Duration {
    world.metrics().underway().longest().into_values().max().unwrap_or_default()
}

async fn check(kind: &str) {
    let world = started_with(kind, Fault::delay(Duration::from_secs(40))).await;
    // Kubernetes asks whether we are ready in the meantime.
    for _ in 0..60 {
        world.waits(Duration::from_secs(1)).await;
        world.missing();
    }
    assert!(world.missing().is_empty(), "{kind}: {:?}", world.missing());
    assert_eq!(longest(&world), Duration::ZERO, "{kind}: passes still wait");
    for controller in CONTROLLERS {
        assert_eq!(world.metrics().passes(controller, PassResult::GivenUp), 0, "{kind}");
    }
    for n in 0..6 {
        let pool = world.pool(&format!("p{n}"));
        pool.scales_to(2);
    }
    world.settles().await;
    for n in 0..6 {
        world.pool(&format!("p{n}")).is_of(2);
    }
    let clusters = world.server.objects::<FooCluster>();
    assert_eq!(clusters.len(), 7, "{kind}");
    assert_eq!(longest(&world), Duration::ZERO, "{kind}: passes hang");
}

#[tokio::test(start_paused = true)]
async fn all_passes_continue_after_a_slow_list_of_machines() {
    check("Machine").await;
}

#[tokio::test(start_paused = true)]
async fn all_passes_continue_after_a_slow_list_of_pools() {
    check("FooMachinePool").await;
}

#[tokio::test(start_paused = true)]
async fn all_passes_continue_after_a_slow_list_of_clusters() {
    check("Cluster").await;
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_waits_too_long_for_a_list_is_cancelled_and_retried() {
    let world = started_with("Cluster", Fault::unavailable()).await;
    world.waits(Duration::from_mins(11)).await;
    for controller in [Controller::Pool, Controller::Cluster] {
        assert!(world.metrics().passes(controller, PassResult::GivenUp) > 0, "{controller:?}");
    }
    assert!(longest(&world) <= Duration::from_mins(4), "{:?}", longest(&world));
    assert!(!world.missing().is_empty(), "and /readyz reports it");
    world.server.heal();
    world.waits(Duration::from_mins(10)).await;
    assert!(world.missing().is_empty(), "{:?}", world.missing());
    assert_eq!(longest(&world), Duration::ZERO);
}
