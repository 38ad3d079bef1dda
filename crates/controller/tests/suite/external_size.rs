//! Another user or controller decides on the size: `cluster.x-k8s.io/replicas-managed-by`, and cluster-autoscaler's
//! annotations.

use crate::support::{Pool, World, objects};
use foo_api::names::{AUTOSCALER_MAX_ANNOTATION, AUTOSCALER_MIN_ANNOTATION, REPLICAS_MANAGED_BY_ANNOTATION};
use foo_api::pool::Autoscaling;
use foo_cloud::Groups as _;
use foo_model::{GroupChange, GroupSettingsChange, Seconds};
use foo_simulator_core::DEFAULT_REGION;
use kube::ResourceExt;
use std::time::Duration;

fn bounded(spec: &mut foo_api::FooMachinePoolSpec) {
    spec.autoscaling = Some(Autoscaling { min_size: 1, max_size: 6, ..Autoscaling::default() });
}

/// Another user sets the desired capacity in AWS.
async fn sets_desired_capacity(world: &World, pool: &Pool<'_>, desired: u32) {
    let cloud = world.aws.cloud(DEFAULT_REGION, "another-user");
    let change = GroupChange { desired: Some(desired), ..GroupChange::default() };
    cloud.update_group(&pool.group_name().as_str().into(), &change).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_group_decides_and_the_machine_pool_follows() {
    let world = World::new().await;
    let pool = world.pool("p").with(bounded).of(2).await;
    pool.annotates_machine_pool(REPLICAS_MANAGED_BY_ANNOTATION, "another-controller");
    world.settles().await;
    let sizes = pool.group().unwrap().sizes;
    assert_eq!((sizes.min, sizes.max, sizes.desired), (1, 6, 2));
    sets_desired_capacity(&world, &pool, 5).await;
    world.settles().await;
    pool.is_of(5);
    assert_eq!(pool.machine_pool().spec.replicas, Some(5));
    // What a user writes into the MachinePool meanwhile is repaired.
    pool.scales_to(1);
    world.settles().await;
    pool.is_of(5);
    assert_eq!((pool.machine_pool().spec.replicas, pool.group().unwrap().sizes.desired), (Some(5), 5));
}

#[tokio::test(start_paused = true)]
async fn the_warmup_of_the_spec_is_kept_and_without_one_that_of_the_group() {
    let world = World::new().await;
    let lasts = |spec: &mut foo_api::FooMachinePoolSpec, seconds| {
        let limits = Autoscaling { min_size: 1, max_size: 6, default_instance_warmup_seconds: seconds };
        spec.autoscaling = Some(limits);
    };
    let pool = world.pool("p").with(|spec| lasts(spec, Some(300))).of(1).await;
    let warmup = || pool.group().unwrap().settings.policies.warmup.map(|it| it.as_secs());
    assert_eq!(warmup(), Some(300), "the group is created with it");
    let by_hand = async |seconds| {
        let settings =
            GroupSettingsChange { default_warmup: Some(Seconds(seconds)), ..GroupSettingsChange::default() };
        let change = GroupChange { settings, ..GroupChange::default() };
        let cloud = world.aws.cloud(DEFAULT_REGION, "another-user");
        cloud.update_group(&pool.group_name().as_str().into(), &change).await.unwrap();
    };
    by_hand(60).await;
    world.until("it is restored", || warmup() == Some(300)).await;
    pool.edits(|spec| lasts(spec, None));
    world.settles().await;
    by_hand(60).await;
    world.settles().await;
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(warmup(), Some(60), "the spec has none");
}

#[tokio::test(start_paused = true)]
async fn removing_the_annotation_gives_the_size_back() {
    let world = World::new().await;
    let pool = world.pool("p").with(bounded).of(2).await;
    pool.annotates_machine_pool(REPLICAS_MANAGED_BY_ANNOTATION, "another-controller");
    world.settles().await;
    sets_desired_capacity(&world, &pool, 4).await;
    world.settles().await;
    pool.is_of(4);
    pool.edits_machine_pool(|pool| drop(pool.annotations_mut().remove(REPLICAS_MANAGED_BY_ANNOTATION)));
    world.settles().await;
    pool.is_of(4);
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    assert_eq!(pool.machine_pool().spec.replicas, Some(2));
}

#[tokio::test(start_paused = true)]
async fn a_group_scaled_by_another_controller_starts_at_its_minimum() {
    let world = World::new().await;
    world.has(&objects::secret("p-boot", b"#cloud-config"));
    world.has(&objects::foo_machine_pool("p", {
        let mut spec = objects::pool_spec();
        bounded(&mut spec);
        spec
    }));
    let mut machine_pool = objects::machine_pool("p", 4);
    machine_pool.annotations_mut().insert(REPLICAS_MANAGED_BY_ANNOTATION.to_owned(), "external".to_owned());
    world.has(&machine_pool);
    world.settles().await;
    let pool = world.pool("p");
    pool.is_of(1);
    assert_eq!(pool.machine_pool().spec.replicas, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_size_set_in_aws_is_reverted_when_the_machine_pool_decides() {
    let world = World::new().await;
    let pool = world.pool("p").with(bounded).of(3).await;
    let before = pool.instances();
    sets_desired_capacity(&world, &pool, 1).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.instances(), before, "protected from scale-in");
    assert_eq!(pool.machine_pool().spec.replicas, Some(3));
}

#[tokio::test(start_paused = true)]
async fn annotations_that_the_autoscaler_cannot_read_are_reported() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert!(pool.find_condition("AutoscalerReady").is_none_or(|one| one.status == "True"));
    for (min, max) in [("3", "1"), ("x", "3"), ("-1", "3"), ("1", "")] {
        pool.annotates_machine_pool(AUTOSCALER_MIN_ANNOTATION, min);
        pool.annotates_machine_pool(AUTOSCALER_MAX_ANNOTATION, max);
        world.settles().await;
        assert_eq!(pool.state_of("AutoscalerReady"), "False AutoscalerAnnotationsInvalid", "{min} {max}");
        assert_eq!(pool.state_of("Ready"), "True");
    }
    pool.annotates_machine_pool(AUTOSCALER_MIN_ANNOTATION, "1");
    pool.annotates_machine_pool(AUTOSCALER_MAX_ANNOTATION, "5");
    world.settles().await;
    assert!(pool.find_condition("AutoscalerReady").is_none_or(|one| one.status == "True"));
    pool.edits_machine_pool(|pool| drop(pool.annotations_mut().remove(AUTOSCALER_MIN_ANNOTATION)));
    world.settles().await;
    assert_eq!(pool.state_of("AutoscalerReady"), "False AutoscalerAnnotationsInvalid");
}

/// AWS has no room for an increase, and cluster-autoscaler lowers the size further than it raised it: 4 → 8 → 0,
/// unmarked.
#[tokio::test(start_paused = true)]
async fn serving_instances_survive_an_autoscaler_that_lowers_the_size_too_far_in_a_shortage() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    pool.annotates_machine_pool(AUTOSCALER_MIN_ANNOTATION, "0");
    pool.annotates_machine_pool(AUTOSCALER_MAX_ANNOTATION, "10");
    world.waits(Duration::from_mins(40)).await;
    let before = pool.instances();
    let instance_type = objects::pool_spec().instance_type.unwrap();
    for zone in ["a", "b", "c"] {
        let zone = format!("{DEFAULT_REGION}{zone}");
        world.region.set_capacity_limit(&zone, &instance_type, Some(0)).unwrap();
    }
    for _ in 0..2 {
        pool.scales_to(8);
        world.waits(Duration::from_mins(15)).await;
        assert_eq!(pool.state_of("CapacityAvailable"), "False InstancesNotLaunched");
        pool.scales_to(0);
        world.waits(Duration::from_mins(1)).await;
        assert_eq!(pool.group().unwrap().sizes.desired, 4, "what never launched is cancelled at once");
        let pending = pool.condition("ScalingDown");
        assert_eq!(pending.reason, "ScaleInDelayed");
        let reported =
            "replicas lowered from 8 to 0 without marking Machines; 4 serving nodes are kept until ";
        assert!(pending.message.starts_with(reported), "{}", pending.message);
        world.waits(Duration::from_mins(30)).await;
        assert_eq!(pool.instances(), before, "its longest back-off");
    }
    pool.edits(|spec| spec.scale_in.stabilization_seconds = Some(0));
    world.settles().await;
    pool.is_of(0);
}

#[tokio::test(start_paused = true)]
async fn the_mark_of_the_autoscaler_selects_the_machine_to_delete() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let marked = pool.machines()[1].name_any();
    let mark = |machine: &mut foo_api::capi::Machine| {
        machine
            .annotations_mut()
            .insert(foo_api::names::DELETE_MACHINE_ANNOTATION.to_owned(), "x".to_owned());
    };
    world.server.edit(crate::support::NS, &marked, mark).unwrap();
    world.waits(Duration::from_secs(30)).await;
    assert_eq!(pool.machines().len(), 3, "a mark alone ends nothing");
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    assert!(pool.machines().iter().all(|machine| machine.name_any() != marked));
}
