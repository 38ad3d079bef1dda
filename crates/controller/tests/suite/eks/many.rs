//! Many EKS clusters in one account and region, and what they cost when idle.

use super::{control_plane, refers};
use crate::support::{World, objects};
use foo_api::FooControlPlane;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many clusters there are: `make bench` requests a hundred (FOO_FIGURES=whole).
fn several() -> usize {
    if std::env::var("FOO_FIGURES").is_ok_and(|it| it == "whole") { 100 } else { 8 }
}

/// This many clusters, all requested at the same moment, and all as requested.
async fn of_clusters(count: usize) -> World {
    let world = World::fast_eks();
    for number in 0..count {
        let name = format!("c{number}");
        let (mut cluster, infrastructure) = objects::another_cluster(&name, None);
        refers(&mut cluster);
        world.has(&cluster);
        world.has(&infrastructure);
        world.has(&control_plane(&name, "v1.34.0", json!({ "addons": [{ "name": "vpc-cni" }] })));
    }
    let is_ready = |object: &FooControlPlane| {
        let conditions = object.status.iter().flat_map(|status| &status.conditions);
        let ready = |kind: &str| conditions.clone().any(|it| it.type_ == kind && it.status == "True");
        ready("ClusterReady") && ready("AddonsReady") && ready("AccessReady")
    };
    for _ in 0..180 {
        world.waits_long(Duration::from_secs(20)).await;
        if world.server.objects::<FooControlPlane>().iter().all(is_ready) {
            return world;
        }
    }
    panic!("{:#?}", world.server.objects::<FooControlPlane>().iter().find(|it| !is_ready(it)))
}

/// Resident memory of this process, in KiB, from the kernel.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A manager that starts reads all clusters at once; when idle they are read one after the other.
#[tokio::test(start_paused = true)]
async fn idle_clusters_are_polled_at_different_times() {
    let count = several();
    let before = resident();
    let mut world = of_clusters(count).await;
    let grown = resident().zip(before).map(|(after, before)| after.saturating_sub(before));
    world.kills_the_manager();
    world.starts_the_manager();
    world.waits_long(Duration::from_mins(15)).await;
    let (mut all, mut most) = (BTreeMap::<String, u64>::new(), 0);
    for _ in 0..60 {
        world.forgets();
        world.waits_long(Duration::from_mins(1)).await;
        let calls = world.aws_calls();
        most = most.max(calls.values().sum());
        for (action, count) in calls {
            *all.entry(action).or_default() += count;
        }
    }
    let total: u64 = all.values().sum();
    println!(
        "EKS, {count} idle clusters: {total} calls of AWS in an hour, {most} in the busiest minute: {all:?}"
    );
    if let Some(grown) = grown {
        let each = grown / u64::try_from(count).unwrap();
        println!(
            "EKS, memory: {each} KiB for each cluster, with what the simulated AWS and API server keep of it"
        );
    }
    let clusters = u64::try_from(count).unwrap();
    assert!(total <= clusters * 13, "{total}: {all:?}");
    // Thirty of a hundred; with fewer chance weighs more.
    assert!(most <= clusters * 3 / 10 + if clusters < 100 { 4 } else { 0 }, "{most} in one minute");
}
