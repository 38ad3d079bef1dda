//! How long launches, drains and roll-outs took: each is measured once.

use crate::support::{CLUSTER, NS, World};
use foo_api::capi::Cluster;
use foo_api::pool::Ami;
use foo_model::names::ROLLOUT_PAUSED_ANNOTATION;
use foo_simulator_core::core::catalogue::{Boot, IMAGE_X86_64, IMAGE_X86_64_NEWER};
use kube::ResourceExt;
use std::time::Duration;

impl World {
    /// How many were measured by the present manager, and how many seconds all of them took together.
    fn measured(&self, histogram: &str, labels: &str) -> (u32, f64) {
        let text = self.metrics().exposition().unwrap();
        let value = |end: &str| -> f64 {
            let series = format!("foo_{histogram}_seconds_{end}{labels} ");
            let line = text.lines().find_map(|line| line.strip_prefix(&series));
            line.unwrap_or_else(|| panic!("no {series}\n{text}")).parse().unwrap()
        };
        (format!("{}", value("count")).parse().unwrap(), value("sum"))
    }

    fn launches(&self) -> u32 {
        self.measured("launch", r#"{outcome="ready"}"#).0
    }

    fn drains(&self) -> (u32, f64) {
        self.measured("drain", "")
    }

    fn roll_outs(&self) -> (u32, f64) {
        self.measured("rollout", r#"{outcome="finished"}"#)
    }
}

#[tokio::test(start_paused = true)]
async fn each_launch_drain_and_roll_out_is_measured_once() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let (launches, took) = world.measured("launch", r#"{outcome="ready"}"#);
    assert_eq!(launches, 3);
    assert!((15.0..300.0).contains(&(took / 3.0)), "{took}");
    assert_eq!((world.drains().0, world.roll_outs().0), (0, 0));
    world.drains_take(Duration::from_mins(4));
    pool.scales_to(2);
    world.settles().await;
    let (drains, took) = world.drains();
    assert_eq!(drains, 1);
    assert!((239.0..250.0).contains(&took), "{took}");
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.settles().await;
    pool.is_of(2);
    assert_eq!((world.launches(), world.drains().0), (5, 3));
    let (rolled, took) = world.roll_outs();
    let (each, of_each) = world.measured("rollout_instance", r#"{outcome="finished"}"#);
    assert_eq!((rolled, each), (1, 1));
    assert!((240.0..1200.0).contains(&took) && (of_each * 2.0 - took).abs() < 0.01, "{took} {of_each}");
    world.waits_long(Duration::from_hours(1)).await;
    assert_eq!((world.launches(), world.drains().0, world.roll_outs().0), (5, 3, 1), "idle");
}

#[tokio::test(start_paused = true)]
async fn a_restart_measures_nothing_twice_and_continues_what_is_in_progress() {
    let mut world = World::new().await;
    drop(world.pool("p").of(3).await);
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    assert_eq!((world.launches(), world.drains().0, world.roll_outs().0), (0, 0, 0), "all of it is old");
    world.drains_take(Duration::from_mins(4));
    world.pool("p").scales_to(2);
    world.waits(Duration::from_secs(100)).await;
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    let (drains, took) = world.drains();
    assert_eq!(drains, 1, "it began before, and ended now");
    assert!((239.0..250.0).contains(&took), "{took}");
    world.pool("p").edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.waits(Duration::from_secs(100)).await;
    let before = world.launches();
    assert_eq!(before, 1);
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    world.pool("p").is_of(2);
    assert_eq!(world.roll_outs().0, 0, "its beginning was not seen");
    assert_eq!(before + world.launches(), 2, "one before, one after");
}

#[tokio::test(start_paused = true)]
async fn what_a_pause_overlaps_is_not_measured() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_mins(5));
    pool.scales_to(2);
    world.waits(Duration::from_mins(1)).await;
    let paused = |paused: bool| {
        world.server.edit(NS, CLUSTER, |cluster: &mut Cluster| cluster.spec.paused = Some(paused)).unwrap();
    };
    paused(true);
    world.waits(Duration::from_mins(1)).await;
    paused(false);
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.drains().0, 0);
    pool.scales_to(1);
    world.settles().await;
    assert_eq!(world.drains().0, 1, "it began after the pause");
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_that_waits_for_a_user_is_not_measured() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let paused = |pool: &mut foo_api::FooMachinePool| {
        pool.annotations_mut().insert(ROLLOUT_PAUSED_ANNOTATION.to_owned(), String::new());
    };
    pool.edits_object(paused);
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.settles().await;
    pool.edits_object(|pool| drop(pool.annotations_mut().remove(ROLLOUT_PAUSED_ANNOTATION)));
    world.settles().await;
    assert_eq!(pool.status().up_to_date_replicas, Some(2));
    assert_eq!(world.roll_outs().0, 0);
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64));
    world.settles().await;
    assert_eq!(world.roll_outs().0, 1, "the next one waited for no user");
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_that_is_rolled_back_is_one_roll_out_and_its_nodes_are_not_ready() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    pool.edits(|spec| spec.rollout.on_failure = foo_api::pool::RolloutFailurePolicy::Rollback);
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Fails).unwrap();
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.waits_long(Duration::from_hours(2)).await;
    pool.is_of(2);
    assert_eq!(pool.status().rollout.unwrap().phase, "RolledBack");
    let (rolled_back, took) = world.measured("rollout", r#"{outcome="rolled_back"}"#);
    assert_eq!((rolled_back, world.roll_outs().0), (1, 0));
    let (never_ready, waited) = world.measured("launch", r#"{outcome="deleted"}"#);
    assert_eq!((never_ready, world.launches()), (1, 2), "the canary never served");
    assert!(took > waited && waited > 300.0, "from the request on, not from the verdict: {took} {waited}");
}
