//! A pool in which nothing is to be done costs next to nothing, whichever component restarts.

use crate::support::{CLUSTER, NS, World};
use foo_apiserver_fake::Verb;
use foo_controller::labels::Controller;
use kube::ResourceExt as _;
use std::time::Duration;
use strum::IntoEnumIterator as _;

#[tokio::test(start_paused = true)]
async fn a_settled_pool_writes_nothing_reads_nothing_live_and_hardly_calls_aws() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let version = world.server.resource_version();
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.server.resource_version(), version);
    assert_eq!(world.requests().writes().count(), 0);
    let live = world.requests().which(|one| matches!(one.verb, Verb::Get | Verb::List));
    assert_eq!(live.count(), 0, "{live:?}");
    let (calls, sweeps) = (world.aws.call_counts(), world.aws.calls("DescribeAutoScalingGroups"));
    // Two reads a minute, and one list of groups that may have no pool, an hour.
    assert!((15..=21).contains(&sweeps), "{calls:?}");
    assert!(world.aws.calls("DescribeLaunchTemplates") <= 1, "a list of all templates, rarely: {calls:?}");
    assert!(world.aws.total_calls() <= 21, "nothing else: {calls:?}");
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn ten_settled_pools_cost_aws_no_more_than_one() {
    let world = World::new().await;
    for name in 0..10 {
        world.pool(&format!("p{name}")).begins_with(1);
    }
    world.settles().await;
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    let calls = world.aws.call_counts();
    assert!(world.aws.total_calls() <= 30, "{calls:?}");
    assert_eq!(world.requests().writes().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_starts_again_at_a_settled_pool_writes_nothing() {
    let mut world = World::new().await;
    world.pool("p").of(20).await;
    world.kills_the_manager();
    world.waits(Duration::from_mins(1)).await;
    let version = world.server.resource_version();
    world.forgets();
    world.starts_the_manager();
    world.waits(Duration::from_secs(10)).await;
    // Whatever else wakes the FooCluster in the meantime.
    let touch = |cluster: &mut foo_api::FooCluster| {
        cluster.annotations_mut().insert("touched".to_owned(), "yes".to_owned());
    };
    let before = world.server.resource_version();
    world.server.edit(NS, CLUSTER, touch).unwrap();
    let version = version + (world.server.resource_version() - before);
    world.waits(Duration::from_secs(15)).await;
    let calls = world.aws.call_counts();
    assert_eq!(world.requests().writes().count(), 0, "{:?}", world.requests().writes());
    assert_eq!(world.server.resource_version(), version);
    assert!(world.aws.total_calls() <= 6, "{calls:?}");
    world.settles().await;
    assert_eq!(world.server.resource_version(), version);
}

#[tokio::test(start_paused = true)]
async fn settled_or_deleted_objects_have_no_timer() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let waiting = || {
        Controller::iter()
            .map(|controller| world.metrics().queue(controller).waiting().objects)
            .sum::<usize>()
    };
    let longest = || Controller::iter().map(|it| world.metrics().queue(it).waiting().longest).max().unwrap();
    for _ in 0..100 {
        world.waits(Duration::from_secs(7)).await;
        assert!(longest() < Duration::from_secs(1), "{:?}", longest());
    }
    assert_eq!(waiting(), 0);
    pool.is_deleted();
    world.settles().await;
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(waiting(), 0, "timers of deleted objects are forgotten");
    let text = world.metrics().exposition().unwrap();
    let passes = |line: &&str| line.starts_with("foo_reconcile_queue_seconds_count{controller=\"pool\"}");
    let passes = text.lines().find(passes).and_then(|line| line.rsplit(' ').next()).unwrap();
    assert!(passes.parse::<u64>().unwrap() > 5, "{passes}");
}
