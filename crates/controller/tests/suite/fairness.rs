//! One account that is slow does not delay the others.

use crate::support::{NS, World, objects};
use foo_api::FooCluster;
use foo_simulator_core::{Fault, FaultRule};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

const SLOW: &str = "AKIASLOW";

impl World {
    /// An identity with the slow key.
    fn has_a_slow_identity(&self) {
        self.has(&objects::keys("slow", SLOW));
        let identity = json!({"allowedNamespaces": {}, "secret": {"name": "slow"}});
        self.has(&objects::identity("slow", identity));
    }

    /// A second cluster, `d`, for which AWS is called with the slow key.
    async fn has_a_slow_cluster(&self) {
        self.has_a_slow_identity();
        let (cluster, foo_cluster) = objects::another_cluster("d", Some("slow"));
        self.has(&cluster);
        self.has(&foo_cluster);
        self.settles().await;
    }

    /// Passes over pools that are under way.
    fn passes_under_way(&self) -> u32 {
        let text = self.metrics().exposition().unwrap();
        let line =
            text.lines().find_map(|line| line.strip_prefix("foo_reconciles_in_flight{controller=\"pool\"} "));
        line.unwrap().parse().unwrap()
    }
}

/// More pools than passes at a time, all of whose calls hang.
#[tokio::test(start_paused = true)]
async fn an_account_that_does_not_respond_does_not_delay_pools_of_another() {
    let world = World::new().await;
    world.has_a_slow_cluster().await;
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
    assert_eq!(quick.instances().len(), 3, "{}", world.summary());
    assert!(slow.iter().all(|pool| pool.instances().len() == 1));
    world.aws.remove_fault(hangs);
    // Until the passes that hang are cancelled.
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    for pool in &slow {
        pool.is_of(2);
    }
    quick.is_of(3);
}

/// More clusters than passes at a time, all of whose calls hang.
#[tokio::test(start_paused = true)]
async fn an_account_that_does_not_respond_does_not_delay_clusters_of_another() {
    let world = World::new().await;
    world.has_a_slow_identity();
    let hangs = world.aws.add_fault(FaultRule::on_everything(Fault::Hang).for_caller(SLOW));
    let slow: Vec<String> = (0..24).map(|at| format!("s{at}")).collect();
    for name in &slow {
        let (cluster, foo_cluster) = objects::another_cluster(name, Some("slow"));
        world.has(&cluster);
        world.has(&foo_cluster);
    }
    world.waits(Duration::from_secs(5)).await;
    let (cluster, foo_cluster) = objects::another_cluster("quick", None);
    world.has(&cluster);
    world.has(&foo_cluster);
    let is_ready = |name: &str| {
        let cluster = world.server.get::<FooCluster>(NS, name).unwrap();
        cluster.status.and_then(|status| status.ready) == Some(true)
    };
    world.waits(Duration::from_secs(5)).await;
    assert!(is_ready("quick"), "{}", world.summary());
    assert!(!slow.iter().any(|name| is_ready(name)));
    world.aws.remove_fault(hangs);
    // Until the passes that hang are cancelled.
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    assert!(slow.iter().all(|name| is_ready(name)), "{}", world.summary());
}

/// More pools than passes at a time, in an account whose calls are used up: AWS refuses each, so the manager slows down
/// to less than one in a second. A pass that waits for so long gives its place among the passes back, and no pass of
/// another account notices anything.
#[tokio::test(start_paused = true)]
async fn a_throttled_account_never_delays_the_pools_of_another() {
    let mut world = World::new().await;
    let throttled = world.another_account();
    world.kills_the_manager();
    world.starts_the_manager_with_key_of(SLOW, &throttled);
    world.has_a_slow_cluster().await;
    let quick = world.pool("quick").of(1).await;
    let slow: Vec<_> =
        (0..24).map(|at| world.pool(&format!("s{at}")).in_cluster("d").begins_with(1)).collect();
    world
        .until("they have groups", || slow.iter().all(|pool| pool.object().spec.provider_id.is_some()))
        .await;
    world.settles().await;
    throttled.add_fault(FaultRule::on_everything(Fault::Throttled));
    let (mut under_way, mut samples) = (0, 0);
    for target in 2..8 {
        for pool in &slow {
            pool.scales_to(target);
        }
        world.waits(Duration::from_secs(5)).await;
        quick.scales_to(target);
        let asked =
            || quick.group().is_some_and(|group| group.sizes.desired == u32::try_from(target).unwrap());
        let began = Instant::now();
        world.until("it is asked for", asked).await;
        assert!(began.elapsed() <= Duration::from_secs(2), "{:?}", began.elapsed());
        for _ in 0..25 {
            world.waits(Duration::from_secs(1)).await;
            under_way += world.passes_under_way();
            samples += 1;
        }
    }
    let calls = throttled.call_counts().values().map(|count| count.calls).sum::<u64>();
    assert!(calls >= 30, "there is work to do all the time: {calls}");
    // Of two accounts each may have eight places. Four that wait are more than five seconds' worth of calls at this
    // pace.
    println!("{under_way} passes under way in {samples} samples, {calls} calls");
    assert!(
        under_way <= 5 * samples,
        "passes that wait for tokens keep places: {under_way} in {samples} samples"
    );
    world.settles().await;
    quick.is_of(7);
}
