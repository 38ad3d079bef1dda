//! Several pools that name one Auto Scaling group: the first has it, the others are told so, and none takes the eyes of another.

use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_api::FooMachinePool;
use foo_simulator_core::{Fault, FaultRule};
use std::time::Duration;

impl World {
    /// A pool of that name whose group has that name.
    fn pool_called<'w>(&'w self, name: &str, group: &str) -> Pool<'w> {
        self.pool(name).with(|spec| spec.group_name = Some(group.to_owned()))
    }
}

impl Pool<'_> {
    /// Somebody kills one of its instances; it is replaced. Then it grows by one.
    async fn is_awake(&self, world: &World) {
        let before = self.instances();
        world.kills_instance(&before[0]);
        world.settles().await;
        self.is_of(before.len());
        assert!(!self.instances().contains(&before[0]));
        self.scales_to(i32::try_from(before.len() + 1).unwrap());
        world.settles().await;
        self.is_of(before.len() + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_pool_of_the_same_group_is_refused_and_its_end_takes_nothing_from_the_first() {
    let world = World::new().await;
    let first = world.pool_called("a", "shared").of(2).await;
    let second = world.pool_called("b", "shared").of(1).await;
    for kind in ["Ready", "AutoScalingGroupReady"] {
        assert_eq!(second.says(kind), "False GroupNameTaken", "{}", world.in_words());
    }
    let said = second.condition("AutoScalingGroupReady").message;
    assert!(said.contains("belongs to FooMachinePool a of Cluster c; delete this pool"), "{said}");
    first.is_awake(&world).await;
    second.is_deleted();
    world.settles().await;
    assert!(world.server.get::<FooMachinePool>(NS, "b").is_none());
    first.is_awake(&world).await;
    first.is_deleted();
    world.settles().await;
    first.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn a_refused_pool_costs_nothing_and_rests() {
    let world = World::new().await;
    let first = world.pool_called("a", "shared").of(2).await;
    world.pool_called("b", "shared").of(1).await;
    world.forgets();
    let version = world.server.resource_version();
    world.waits(Duration::from_hours(1)).await;
    assert_eq!((world.server.resource_version(), world.aws_writes()), (version, 0));
    assert!(world.aws.total_calls() <= 130, "the sweep alone: {:?}", world.aws.call_counts());
    first.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn the_name_goes_to_the_next_pool_when_the_first_is_gone() {
    let world = World::new().await;
    let first = world.pool_called("a", "shared").of(2).await;
    let second = world.pool_called("b", "shared").of(1).await;
    first.is_deleted();
    world.settles().await;
    assert!(world.server.get::<FooMachinePool>(NS, "a").is_none());
    second.is_of(1);
    second.is_awake(&world).await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_leaves_the_group_with_its_owner_whoever_comes_first() {
    let mut world = World::new().await;
    // The second one by name is the first that was made.
    world.pool_called("z", "shared").of(2).await;
    world.pool_called("a", "shared").of(1).await;
    for _ in 0..3 {
        world.kills_the_manager();
        world.starts_the_manager();
        world.settles().await;
        world.pool("z").with(|spec| spec.group_name = Some("shared".to_owned())).is_of(2);
        assert_eq!(world.pool("a").says("Ready"), "False GroupNameTaken");
    }
    world.pool_called("z", "shared").is_awake(&world).await;
}

#[tokio::test(start_paused = true)]
async fn many_pools_of_one_group_are_deleted_without_hanging() {
    let world = World::new().await;
    let names = ["a", "b", "c", "d", "e"];
    for name in names {
        world.pool_called(name, "shared").begins_with(1);
    }
    world.settles().await;
    for name in names {
        world.pool(name).is_deleted();
    }
    world.settles().await;
    for name in names {
        assert!(world.server.get::<FooMachinePool>(NS, name).is_none(), "{name}\n{}", world.in_words());
        world.pool_called(name, "shared").left_nothing();
    }
}

#[tokio::test(start_paused = true)]
async fn pools_whose_names_read_the_same_when_joined_have_groups_of_their_own() {
    let world = World::new().await;
    let (cluster, foo_cluster) = objects::another_cluster("c-x", None);
    world.has(&cluster);
    world.has(&foo_cluster);
    world.settles().await;
    let here = world.pool("x-p").of(1).await;
    assert_eq!(here.group_name(), format!("{NS}-{CLUSTER}-x-p"));
    let there = world.pool("p").in_cluster("c-x").of(1).await;
    assert_eq!(there.group_name(), "default_c-x_p");
    there.is_of(1);
    here.is_of(1);
    there.is_deleted();
    world.settles().await;
    here.is_awake(&world).await;
}

/// Nothing stands in the status that nobody has seen.
#[tokio::test(start_paused = true)]
async fn a_group_that_cannot_be_looked_at_says_so_within_two_periods_and_since_when() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = world.server.resource_version();
    let broken = world.aws.add_fault(FaultRule::on("DescribeAutoScalingGroups", Fault::DroppedBefore));
    world.waits(Duration::from_secs(45)).await;
    assert_eq!(world.server.resource_version(), before, "one failed look turns nothing over");
    world.waits(Duration::from_mins(1)).await;
    let said = pool.condition("AutoScalingGroupReady");
    assert_eq!(
        (said.status.as_str(), said.reason.as_str()),
        ("Unknown", "AwsUnreachable"),
        "{}",
        said.message
    );
    assert!(said.message.contains("last read at 20"), "{}", said.message);
    let told = world.server.resource_version();
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(world.server.resource_version(), told, "it is said once");
    world.aws.remove_fault(broken);
    world.settles().await;
    pool.is_of(2);
    pool.is_awake(&world).await;
}
