//! Instances that have reached their lifetime are replaced, with drains and within the limits of roll-outs.

use crate::support::World;
use kube::ResourceExt;
use std::time::Duration;

const LIFETIME: i32 = 3_600;

#[tokio::test(start_paused = true)]
async fn old_instances_are_replaced_one_after_the_other_with_drains() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| spec.max_instance_lifetime_seconds = Some(LIFETIME)).of(3).await;
    world.drains_take(Duration::from_mins(1));
    let old = pool.instances();
    let born = pool.machines()[0].creation_timestamp().unwrap().0;
    let next = pool.status().next_expiry.expect("an expiry").0;
    let life = next.as_second() - born.as_second();
    assert!((3_240..=3_600).contains(&life), "in the last tenth of the lifetime: {life}");
    world.waits_long(Duration::from_mins(50)).await;
    assert_eq!(pool.instances(), old, "none is old enough");
    assert_eq!(pool.state_of("RollingOut"), "False NotRollingOut");
    let mut fewest = usize::MAX;
    for _ in 0..60 {
        world.waits(Duration::from_secs(30)).await;
        let stays = |machine: &&foo_api::capi::Machine| machine.metadata.deletion_timestamp.is_none();
        fewest = fewest.min(pool.machines().iter().filter(stays).count());
    }
    assert_eq!(fewest, 3, "a successor comes first");
    assert!(old.iter().all(|id| !pool.instances().contains(id)), "{}", world.summary());
    pool.is_of(3);
    assert_eq!(world.core.drains().len(), 3);
    let events = world.notes("InstanceExpired");
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!(pool.status().rollout.map(|rollout| rollout.phase).as_deref(), Some("Finished"));
    let later = pool.status().next_expiry.expect("an expiry").0;
    assert!(later > next, "that of the successors");
}

#[tokio::test(start_paused = true)]
async fn a_pool_with_a_lifetime_is_idle_until_then() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| spec.max_instance_lifetime_seconds = Some(LIFETIME)).of(2).await;
    let next = pool.status().next_expiry;
    world.waits(Duration::from_mins(2)).await;
    world.forgets();
    world.waits_long(Duration::from_mins(40)).await;
    assert_eq!(world.aws_writes(), 0);
    assert_eq!(pool.status().next_expiry, next);
    pool.edits(|spec| spec.max_instance_lifetime_seconds = None);
    world.waits_long(Duration::from_mins(30)).await;
    assert_eq!((pool.status().next_expiry, world.core.drains().len()), (None, 0));
}
