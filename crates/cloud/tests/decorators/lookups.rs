//! The cache of facts: a settled pool asks nothing, a failing one not with every pass.

use crate::support::Scripted;
use foo_cloud::{Asking, ErrorKind, ImageInfo, ImageQuery, Lookups};
use foo_model::{AwsTime, ImageId};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

fn image(id: &str) -> ImageInfo {
    ImageInfo {
        id: id.into(),
        name: "node".into(),
        architecture: "arm64".into(),
        root_device: "/dev/xvda".into(),
        available: true,
        created: AwsTime::from_millis(0),
        deprecated_from: None,
    }
}

fn bench() -> (Scripted, Lookups) {
    let cloud = Scripted::default();
    cloud.edit(|world| world.images.insert("ami-1".into(), image("ami-1")));
    (cloud.clone(), Lookups::new(Arc::new(cloud)))
}

fn calls(cloud: &Scripted) -> u32 {
    cloud.edit(|world| std::mem::take(&mut world.image_calls))
}

#[tokio::test(start_paused = true)]
async fn a_settled_pool_makes_one_call_a_day() {
    let (cloud, lookups) = bench();
    for _ in 0..24 * 60 {
        assert_eq!(lookups.image(&"ami-1".into(), Asking::Again).await, Ok(image("ami-1")));
        sleep(Duration::from_mins(1)).await;
    }
    assert_eq!(calls(&cloud), 1);
    lookups.image(&"ami-1".into(), Asking::Again).await.unwrap();
    assert_eq!(calls(&cloud), 1);
}

#[tokio::test(start_paused = true)]
async fn a_changed_spec_gets_a_result_of_the_last_ten_minutes() {
    let (cloud, lookups) = bench();
    for _ in 0..20 {
        lookups.image(&"ami-1".into(), Asking::New).await.unwrap();
        sleep(Duration::from_mins(1)).await;
    }
    assert_eq!(calls(&cloud), 2);
}

#[tokio::test(start_paused = true)]
async fn callers_with_the_same_key_share_a_call() {
    let (cloud, lookups) = bench();
    cloud.edit(|world| world.latency = Duration::from_secs(1));
    let id = ImageId::from("ami-1");
    let ask = || lookups.image(&id, Asking::New);
    let (a, b, c) = tokio::join!(ask(), ask(), ask());
    assert!(a.is_ok() && a == b && b == c);
    assert_eq!(calls(&cloud), 1);
}

#[tokio::test(start_paused = true)]
async fn failures_are_cached_transient_ones_only_briefly() {
    let (cloud, lookups) = bench();
    for _ in 0..60 {
        let error = lookups.image(&"ami-2".into(), Asking::New).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound);
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(calls(&cloud), 1);
    cloud.edit(|world| world.failing = Some(ErrorKind::Throttled));
    for _ in 0..10 {
        lookups.image(&"ami-1".into(), Asking::New).await.unwrap_err();
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(calls(&cloud), 2);
}

#[tokio::test(start_paused = true)]
async fn a_settled_pool_survives_an_outage_but_not_the_loss_of_its_image() {
    let (cloud, lookups) = bench();
    lookups.image(&"ami-1".into(), Asking::Again).await.unwrap();
    sleep(Duration::from_hours(25)).await;
    cloud.edit(|world| world.failing = Some(ErrorKind::Unreachable));
    assert_eq!(lookups.image(&"ami-1".into(), Asking::Again).await, Ok(image("ami-1")));
    assert_eq!(lookups.image(&"ami-1".into(), Asking::New).await.unwrap_err().kind, ErrorKind::Unreachable);
    cloud.edit(|world| {
        world.failing = None;
        world.images.clear();
    });
    sleep(Duration::from_mins(1)).await;
    assert_eq!(lookups.image(&"ami-1".into(), Asking::Again).await.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn the_newest_image_is_neither_deprecated_nor_disabled() {
    let (cloud, lookups) = bench();
    let now = AwsTime::from_millis(1_000);
    let add = |id: &str, created: i64, deprecated_from: Option<i64>, available: bool| {
        let deprecated_from = deprecated_from.map(AwsTime::from_millis);
        let added =
            ImageInfo { created: AwsTime::from_millis(created), deprecated_from, available, ..image(id) };
        cloud.edit(|world| world.images.insert(id.into(), added));
    };
    add("ami-old", 10, None, true);
    add("ami-good", 20, Some(1_001), true);
    add("ami-deprecated", 30, Some(1_000), true);
    add("ami-disabled", 40, None, false);
    let query = ImageQuery { owner: "self".into(), name: "node".into(), architecture: "arm64".into() };
    let newest = lookups.newest_image(&query, now, Asking::New).await.unwrap();
    assert_eq!(newest.unwrap().id, "ami-good".into());
    let none = ImageQuery { architecture: "x86_64".into(), ..query };
    assert_eq!(lookups.newest_image(&none, now, Asking::New).await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn a_missing_parameter_is_requested_again_after_a_minute() {
    let (cloud, lookups) = bench();
    let name = "/images/node";
    for _ in 0..120 {
        assert_eq!(lookups.parameter(name, Asking::Again).await, Ok(None));
        sleep(Duration::from_secs(1)).await;
    }
    cloud.edit(|world| world.parameters.insert(name.into(), "ami-1".into()));
    assert_eq!(lookups.parameter(name, Asking::Again).await, Ok(Some("ami-1".into())));
    for _ in 0..20 {
        lookups.parameter(name, Asking::New).await.unwrap();
        sleep(Duration::from_mins(1)).await;
    }
    assert_eq!(cloud.edit(|world| world.parameter_calls), 4, "two while it is missing, one each ten minutes");
}
