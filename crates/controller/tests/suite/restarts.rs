//! What a manager that starts asks AWS: as little as possible about idle pools, and all that may have changed
//! meanwhile.

use crate::support::World;
use foo_model::GroupName;
use std::collections::BTreeMap;
use std::time::Duration;

/// The calls since the last [`World::forgets`], by action.
fn calls(world: &World) -> BTreeMap<String, u64> {
    let counts = world.aws.call_counts().into_iter();
    counts.map(|((_, action), count)| (action, count.calls)).collect()
}

/// Idle pools of that size, called `p0`, `p1`, ….
async fn many(pools: usize, replicas: i32) -> World {
    let world = World::new().await;
    for number in 0..pools {
        world.pool(&format!("p{number}")).begins_with(replicas);
    }
    world.settles().await;
    world
}

/// The calls of the first minute of a manager that starts.
async fn restart(world: &mut World) -> BTreeMap<String, u64> {
    world.kills_the_manager();
    world.forgets();
    world.starts_the_manager();
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(world.aws_writes(), 0);
    calls(world)
}

#[tokio::test(start_paused = true)]
async fn a_start_with_many_idle_empty_pools_costs_a_handful_of_calls() {
    let mut world = many(50, 0).await;
    let calls = restart(&mut world).await;
    println!("a start with 50 empty pools: {calls:?}");
    let of = |action: &str| calls.get(action).copied().unwrap_or_default();
    assert_eq!((of("DescribeLaunchTemplates"), of("DescribeLaunchTemplateVersions")), (1, 1), "{calls:?}");
    assert_eq!(of("DescribeLifecycleHooks"), 0, "{calls:?}");
    assert!(calls.values().sum::<u64>() <= 12, "{calls:?}");
}

/// Whether the hook of a group with instances is still there decides whether AWS ends one of them undrained: it is
/// asked soon.
#[tokio::test(start_paused = true)]
async fn a_start_with_pools_that_have_instances_reads_only_their_hooks_one_by_one() {
    let mut world = many(10, 1).await;
    let calls = restart(&mut world).await;
    println!("a start with 10 pools of one: {calls:?}");
    let of = |action: &str| calls.get(action).copied().unwrap_or_default();
    assert_eq!((of("DescribeLaunchTemplates"), of("DescribeLaunchTemplateVersions")), (1, 1), "{calls:?}");
    assert_eq!(of("DescribeLifecycleHooks"), 10, "{calls:?}");
    for number in 0..10 {
        world.pool(&format!("p{number}")).is_of(1);
    }
}

/// Nothing waits for these reads: with many pools they leave room for other calls of the account.
#[tokio::test(start_paused = true)]
async fn a_start_with_many_idle_pools_confirms_their_hooks_one_after_the_other() {
    let mut world = many(40, 1).await;
    let calls = restart(&mut world).await;
    println!("the first minute of a start with 40 pools of one: {calls:?}");
    let first = calls.get("DescribeLifecycleHooks").copied().unwrap_or_default();
    assert!((10..40).contains(&first), "{calls:?}");
    assert!(calls.values().sum::<u64>() - first <= 14, "{calls:?}");
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(world.aws.calls("DescribeLifecycleHooks"), 40);
}

#[tokio::test(start_paused = true)]
async fn a_hook_deleted_while_no_manager_ran_is_restored_before_an_instance_needs_it() {
    for replicas in [0, 1] {
        let mut world = many(1, replicas).await;
        world.kills_the_manager();
        let group: GroupName = world.region.groups()[0].name.clone();
        world.region.with(|region| region.delete_hook(&group, "foo-drain")).unwrap().unwrap();
        world.starts_the_manager();
        world.waits(Duration::from_secs(10)).await;
        let has_hook = |world: &World| !world.region.groups()[0].hooks.is_empty();
        assert_eq!(has_hook(&world), replicas > 0);
        world.pool("p0").scales_to(2);
        world.until("the hook is there", || has_hook(&world)).await;
        let in_service = world.pool("p0").instances().len();
        assert_eq!(
            in_service,
            usize::try_from(replicas).unwrap(),
            "it is there before the new instances are in service"
        );
        world.settles().await;
        world.pool("p0").is_of(2);
    }
}

/// Of a pool that is not idle the latest version is not enough.
#[tokio::test(start_paused = true)]
async fn changes_while_no_manager_ran_are_read_by_their_pool_only() {
    let mut world = many(3, 1).await;
    // Its instance was launched from the version before: only the whole template shows that it is up to date.
    world.pool("p0").bootstraps_with(b"#cloud-config\n# with a new token");
    world.settles().await;
    let calls = restart(&mut world).await;
    let of = |action: &str| calls.get(action).copied().unwrap_or_default();
    assert_eq!((of("DescribeLaunchTemplates"), of("DescribeLaunchTemplateVersions")), (2, 2), "{calls:?}");
    for number in 0..3 {
        let pool = world.pool(&format!("p{number}"));
        assert_eq!(pool.status().up_to_date_replicas, Some(1));
        pool.is_of(1);
    }
    // The spec of another one changes while no manager runs: a version is created for it, once.
    world.kills_the_manager();
    world.pool("p1").edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
    world.starts_the_manager();
    world.settles().await;
    let pool = world.pool("p1");
    assert_eq!(
        (pool.status().launch_template.unwrap().version, pool.status().up_to_date_replicas),
        (2, Some(1))
    );
    pool.is_of(1);
}

/// A version of content that is requested again exists: it is used, and not created a second time, although it is not
/// the latest.
#[tokio::test(start_paused = true)]
async fn content_of_a_former_version_is_found_after_a_restart() {
    let mut world = many(1, 1).await;
    world.pool("p0").edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
    world.settles().await;
    world.kills_the_manager();
    world.pool("p0").edits(|spec| spec.instance_type = Some("m7i.large".to_owned()));
    world.forgets();
    world.starts_the_manager();
    world.settles().await;
    assert_eq!(calls(&world).get("CreateLaunchTemplateVersion"), None, "{:?}", calls(&world));
    assert_eq!(world.pool("p0").status().launch_template.unwrap().version, 1);
    world.pool("p0").is_of(1);
}
