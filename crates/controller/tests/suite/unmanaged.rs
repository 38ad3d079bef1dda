//! Auto Scaling groups whose FooMachinePool does not exist.

use crate::support::{NS, World, objects};
use foo_api::names::WATCH_LABEL;
use foo_model::names::TAG_CLUSTER;
use foo_simulator_core::core::group::model::GroupTag;
use kube::ResourceExt;
use std::collections::BTreeMap;
use std::time::Duration;

impl World {
    fn unmanaged_groups(&self) -> u64 {
        let metrics = self.metrics().exposition().unwrap();
        let value = metrics.lines().find_map(|line| line.strip_prefix("foo_groups_unmanaged "));
        value.unwrap().parse().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn the_group_of_a_pool_that_a_restored_cluster_does_not_know_is_reported_until_it_has_a_pool_again() {
    let world = World::new().await;
    let lost = world.pool("p").of(2).await;
    let restored = world.restored();
    restored.has(&objects::cluster());
    restored.has(&objects::foo_cluster());
    world.forgets();
    let other = restored.pool("q").begins_with(1);
    world.waits(Duration::from_mins(8)).await;
    assert_eq!(restored.unmanaged_groups(), 0, "a group that is found once may be about to be deleted");
    world.waits(Duration::from_mins(4)).await;
    assert_eq!(restored.unmanaged_groups(), 1);
    let shown = restored.metrics().unmanaged_groups().to_json(None, None);
    assert_eq!((&shown[0]["pool"], &shown[0]["instances"]), (&"p".into(), &2.into()), "{shown}");
    assert_eq!(shown.as_array().unwrap().len(), 1, "{shown}");
    assert_eq!(world.unmanaged_groups(), 1, "the original does not know the new pool");
    assert_eq!(other.instances().len(), 1, "{}", restored.summary());
    assert_eq!(lost.instances().len(), 2, "nothing is done about it");

    restored.pool("p").begins_with(2);
    world.waits_long(Duration::from_mins(75)).await;
    assert_eq!(restored.unmanaged_groups(), 0);
    assert_eq!(restored.pool("p").state_of("Ready"), "True", "{}", restored.summary());
    lost.is_of(2);
}

/// Each manager has the pools of its own objects in its caches, and AWS lists the groups of all.
#[tokio::test(start_paused = true)]
async fn a_pool_of_another_manager_is_not_missing() {
    let mut world = World::new().await;
    world.pool("p").of(1).await;
    let own = world.pool("q").begins_with(1);
    own.edits_object(|pool| drop(pool.labels_mut().insert(WATCH_LABEL.to_owned(), "team".to_owned())));
    world.settles().await;
    world.restarts_the_manager_for("team");
    world.waits(Duration::from_mins(12)).await;
    assert_eq!(world.pool("q").state_of("Ready"), "True", "{}", world.summary());
    assert_eq!(world.unmanaged_groups(), 0);
}

#[tokio::test(start_paused = true)]
async fn groups_of_namespaces_that_a_manager_does_not_watch_are_left_to_others() {
    let mut world = World::new().await;
    world.pool("p").of(1).await;
    let value = GroupTag { value: "elsewhere/c".to_owned(), propagate: false };
    let tags = BTreeMap::from([(TAG_CLUSTER.to_owned(), value)]);
    let group = world.pool("q").of(1).await.group().unwrap().name;
    world.region.with(|region| region.tag_group(&group, tags)).unwrap().unwrap();
    world.waits_long(Duration::from_mins(75)).await;
    assert_eq!(world.unmanaged_groups(), 1);
    world.restarts_the_manager_in(NS);
    world.waits(Duration::from_mins(12)).await;
    assert_eq!(world.unmanaged_groups(), 0);
}
