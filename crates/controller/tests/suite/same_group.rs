//! Several pools that name one Auto Scaling group: the first has it, the others report that, and none disturbs the
//! observation of another.

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
    /// A user terminates one of its instances; it is replaced. Then it grows by one.
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
async fn a_second_pool_of_the_same_group_is_refused_and_its_deletion_changes_nothing_of_the_first() {
    let world = World::new().await;
    let first = world.pool_called("a", "shared").of(2).await;
    let second = world.pool_called("b", "shared").of(1).await;
    for kind in ["Ready", "AutoScalingGroupReady"] {
        assert_eq!(second.state_of(kind), "False GroupNameTaken", "{}", world.summary());
    }
    let reported = second.condition("AutoScalingGroupReady").message;
    assert!(reported.contains("belongs to FooMachinePool a of Cluster c; delete this pool"), "{reported}");
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
async fn a_refused_pool_costs_no_call_and_is_idle() {
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
async fn the_next_pool_gets_the_name_when_the_first_is_deleted() {
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
async fn a_restart_leaves_the_group_with_its_owner_in_any_order() {
    let mut world = World::new().await;
    // The second one by name is the first that was created.
    world.pool_called("z", "shared").of(2).await;
    world.pool_called("a", "shared").of(1).await;
    for _ in 0..3 {
        world.kills_the_manager();
        world.starts_the_manager();
        world.settles().await;
        world.pool("z").with(|spec| spec.group_name = Some("shared".to_owned())).is_of(2);
        assert_eq!(world.pool("a").state_of("Ready"), "False GroupNameTaken");
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
        assert!(world.server.get::<FooMachinePool>(NS, name).is_none(), "{name}\n{}", world.summary());
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

/// Nothing stands in the status that has not been observed.
#[tokio::test(start_paused = true)]
async fn a_group_that_cannot_be_described_is_reported_within_two_periods_with_its_last_time() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = world.server.resource_version();
    let broken = world.aws.add_fault(FaultRule::on("DescribeAutoScalingGroups", Fault::DroppedBefore));
    world.waits(Duration::from_secs(45)).await;
    assert_eq!(world.server.resource_version(), before, "one failed read flips no condition");
    world.waits(Duration::from_mins(1)).await;
    let reported = pool.condition("AutoScalingGroupReady");
    assert_eq!(
        (reported.status.as_str(), reported.reason.as_str()),
        ("Unknown", "AwsUnreachable"),
        "{}",
        reported.message
    );
    assert!(reported.message.contains("last read at 20"), "{}", reported.message);
    let version = world.server.resource_version();
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(world.server.resource_version(), version, "it is reported once");
    world.aws.remove_fault(broken);
    world.settles().await;
    pool.is_of(2);
    pool.is_awake(&world).await;
}
