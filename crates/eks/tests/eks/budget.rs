//! How many reads are sent.

use crate::world::*;
use foo_model::Timestamp;
use foo_model::eks::*;
use std::time::Duration;

/// The most reads in any window of that length from a moment on.
fn most(world: &World, from: Timestamp, window: Duration) -> usize {
    let at: Vec<Timestamp> = world.aws.reads.iter().map(|it| it.0).filter(|at| *at >= from).collect();
    at.iter()
        .map(|start| at.iter().filter(|it| **it >= *start && **it < start.plus(window)).count())
        .max()
        .unwrap_or(0)
}

#[test]
fn idle_reads_are_few() {
    let mut world = World::settled(desired());
    let (from, sent) = (world.now(), world.sent);
    world.run_for(Duration::from_hours(24));
    assert_eq!(world.sent, sent);
    assert!(most(&world, from, Duration::from_mins(5)) <= 1, "{:#?}", world.aws.reads);
    let asked: std::collections::BTreeSet<&Query> =
        world.aws.reads.iter().filter(|it| it.0 >= from).map(|it| &it.1).collect();
    assert!(asked.len() >= 12, "each has its turn: {asked:#?}");
    println!("an idle day: {} reads", world.aws.reads.iter().filter(|it| it.0 >= from).count());
}

#[test]
fn one_read_in_half_a_minute_while_eks_works() {
    let mut world = World::new(desired());
    world.run_until("creating", |it| it.count("CreateCluster") == 1);
    let from = world.now();
    world.run_for(Duration::from_mins(8));
    assert!(most(&world, from.plus(Duration::from_secs(1)), Duration::from_secs(30)) <= 1);
    world.settle();
    world.desired.version = Minor(34);
    world.run_until("upgrading", |it| it.count("UpdateClusterVersion") == 1);
    let from = world.now();
    world.run_for(Duration::from_mins(11));
    let reads = most(&world, from, Duration::from_mins(10));
    assert!(reads <= 23, "20 at the update, one in five minutes at the rest: {reads}");
}
