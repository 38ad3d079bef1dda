//! One account that is slow does not hold up the others.

use crate::support::{World, objects};
use foo_simulator::{Fault, FaultRule};
use serde_json::json;
use std::time::Duration;

const SLOW: &str = "AKIASLOW";

/// More pools than passes at a time, all of whose calls hang.
#[tokio::test(start_paused = true)]
async fn pools_of_an_account_that_does_not_answer_do_not_hold_up_those_of_another() {
    let world = World::new().await;
    world.has(&objects::keys("slow", SLOW));
    let identity = json!({"allowedNamespaces": {}, "secret": {"name": "slow"}});
    world.has(&objects::identity("slow", identity));
    let (cluster, foo_cluster) = objects::another_cluster("d", Some("slow"));
    world.has(&cluster);
    world.has(&foo_cluster);
    world.settles().await;
    let slow: Vec<_> =
        (0..24).map(|at| world.pool(&format!("s{at}")).in_cluster("d").begins_with(1)).collect();
    let quick = world.pool("quick").of(1).await;
    for pool in &slow {
        pool.is_of(1);
    }
    let hangs = FaultRule::on("UpdateAutoScalingGroup", Fault::Hang).for_caller(SLOW);
    let hangs = world.aws.add_fault(hangs);
    for pool in &slow {
        pool.scales_to(2);
    }
    world.waits(Duration::from_secs(5)).await;
    quick.scales_to(3);
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(quick.instances().len(), 3, "{}", world.in_words());
    assert!(slow.iter().all(|pool| pool.instances().len() == 1));
    world.aws.remove_fault(hangs);
    // Until the passes that hang are given up.
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    for pool in &slow {
        pool.is_of(2);
    }
    quick.is_of(3);
}
