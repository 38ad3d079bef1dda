//! Roll-outs wait for maintenance windows.

use crate::support::{Pool, World};
use foo_api::maintenance::MaintenanceWindow;
use foo_api::pool::Ami;
use foo_model::names::ROLLOUT_NOW_ANNOTATION;
use foo_simulator_core::core::catalogue::IMAGE_X86_64_NEWER;
use jiff::{SignedDuration, tz::TimeZone};
use kube::ResourceExt;
use std::time::Duration;

/// A window of an hour in this time zone that opens so many minutes from now.
pub(crate) fn window(world: &World, minutes: i64, zone: &str) -> MaintenanceWindow {
    let opens = world.context().clock.now();
    let opens = jiff::Timestamp::from_millisecond(opens.0).unwrap() + SignedDuration::from_mins(minutes);
    let start = opens.to_zoned(TimeZone::get("Europe/Berlin").unwrap()).strftime("%H:%M").to_string();
    MaintenanceWindow { days: Vec::new(), start, duration_seconds: 3_600, time_zone: zone.to_owned() }
}

/// A pool of three whose image changes while no window is open.
async fn outdated(world: &World, window: MaintenanceWindow) -> Pool<'_> {
    let pool = world.pool("p").with(|spec| spec.maintenance_windows = vec![window]).of(3).await;
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.core.drains().len(), 0);
    pool
}

fn rolled(world: &World, pool: &Pool<'_>) -> usize {
    let images = pool.instances().into_iter().filter_map(|id| world.region.instance(&id));
    images.filter(|instance| instance.image.to_string() == IMAGE_X86_64_NEWER).count()
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_waits_for_the_window_and_begins_when_it_opens() {
    let world = World::new().await;
    let pool = outdated(&world, window(&world, 60, "Europe/Berlin")).await;
    let condition = pool.condition("RollingOut");
    assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("True", "AwaitingMaintenanceWindow"));
    assert!(
        condition.message.contains("waiting for the maintenance window that opens at 20"),
        "{condition:?}"
    );
    assert_eq!(pool.state_of("Ready"), "True");
    assert_eq!(pool.status().rollout.map(|rollout| rollout.phase).as_deref(), Some("AwaitingWindow"));
    // New instances have the new image.
    pool.scales_to(4);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!((rolled(&world, &pool), world.core.drains().len()), (1, 0));
    world.waits_long(Duration::from_mins(30)).await;
    assert_eq!(world.core.drains().len(), 0, "it is closed");
    world.waits(Duration::from_mins(30)).await;
    world.settles().await;
    assert_eq!((rolled(&world, &pool), world.core.drains().len()), (4, 3));
    assert_eq!(pool.status().rollout.map(|rollout| rollout.phase).as_deref(), Some("Finished"));
}

#[tokio::test(start_paused = true)]
async fn an_annotation_releases_a_roll_out_that_must_not_wait() {
    let world = World::new().await;
    let pool = outdated(&world, window(&world, 600, "Europe/Berlin")).await;
    pool.edits_object(|pool| {
        pool.annotations_mut().insert(ROLLOUT_NOW_ANNOTATION.to_owned(), String::new());
    });
    world.settles().await;
    assert_eq!(rolled(&world, &pool), 3);
    let ready = pool.condition("Ready").message;
    assert!(ready.contains("until the annotation infrastructure.foo.com/rollout-now is removed"), "{ready}");
    pool.edits_object(|pool| drop(pool.annotations_mut().remove(ROLLOUT_NOW_ANNOTATION)));
    world.waits(Duration::from_mins(1)).await;
    assert!(!pool.condition("Ready").message.contains("warning"));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_time_zone_is_reported_and_nothing_is_replaced() {
    let world = World::new().await;
    let pool = outdated(&world, window(&world, 0, "Mars/Base")).await;
    assert_eq!(pool.state_of("Ready"), "False MaintenanceWindowsUnusable");
    let said = pool.condition("RollingOut").message;
    assert!(said.contains("has no time zone \"Mars/Base\""), "{said}");
    assert_eq!(world.notes("MaintenanceWindowsUnusable").len(), 1);
    pool.edits(|spec| spec.maintenance_windows.clear());
    world.settles().await;
    assert_eq!(rolled(&world, &pool), 3);
}
