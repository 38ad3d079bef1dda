//! Many networks in one region, and what they cost when idle.

use super::{managed, small, tagged};
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::FooCluster;
use foo_api::capi::Cluster;
use foo_simulator_core::core::Region;
use kube::ResourceExt;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// This many clusters with a network each, in one region.
async fn of_clusters(count: usize) -> World {
    let world = World::empty();
    world.region.with(Region::empty_network).unwrap();
    let quotas = |settings: &mut foo_simulator_core::core::Settings| {
        let quotas = &mut settings.network_quotas;
        (quotas.vpcs, quotas.addresses, quotas.nat_gateways, quotas.internet_gateways) = (200, 200, 200, 200);
    };
    world.region.change_settings(quotas).unwrap();
    for number in 0..count {
        let name = format!("c{number}");
        let (cluster, _) = objects::another_cluster(&name, None);
        let mut infrastructure = managed(small());
        infrastructure.metadata.name = Some(name);
        world.has(&cluster);
        world.has(&infrastructure);
    }
    let is_ready = |cluster: &FooCluster| {
        let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().any(|it| it.type_ == "NetworkReady" && it.status == "True")
    };
    for _ in 0..60 {
        world.waits_long(Duration::from_secs(20)).await;
        if world.server.objects::<FooCluster>().iter().all(is_ready) {
            return world;
        }
    }
    panic!("{:#?}", world.server.objects::<FooCluster>().iter().find(|it| !is_ready(it)))
}

/// Calls of an hour in which nothing happens, by action.
async fn calls_while_idle(count: usize) -> BTreeMap<String, u64> {
    let world = of_clusters(count).await;
    world.waits_long(Duration::from_mins(15)).await;
    world.forgets();
    let version = world.server.resource_version();
    world.waits_long(Duration::from_hours(1)).await;
    assert_eq!(world.aws_writes(), 0);
    assert_eq!(world.server.resource_version(), version, "nothing is written");
    let calls = world.ec2_calls();
    let by_action: Vec<String> = calls.iter().map(|(action, count)| format!("{count} {action}")).collect();
    // `make bench` shows it.
    let total: u64 = calls.values().sum();
    println!("{count} idle networks, in an hour: {total} calls of AWS: {}", by_action.join(", "));
    calls
}

/// How many networks are compared with one: `make bench` requests a hundred (FOO_FIGURES=whole).
fn several() -> u64 {
    if std::env::var("FOO_FIGURES").is_ok_and(|it| it == "whole") { 100 } else { 8 }
}

#[tokio::test(start_paused = true)]
async fn idle_networks_share_their_reads() {
    let several = several();
    let one = calls_while_idle(1).await;
    let all = calls_while_idle(usize::try_from(several).unwrap()).await;
    // Attributes of a VPC are asked for by VPC; a sweep more may have begun in one hour than in the other.
    for (action, count) in &one {
        let of_all = all[action];
        let of_attributes = action == "DescribeVpcAttribute";
        let limit = if of_attributes { several * count } else { pages(action, several) * (count + 1) };
        assert!(of_all <= limit, "{action}: {count} for one, {of_all} for {several}");
    }
    let sweeps: u64 =
        one.iter().filter(|(action, _)| *action != "DescribeVpcAttribute").map(|(_, it)| it).sum();
    assert!(sweeps <= 9 * 12, "{one:?}: more than one per kind in five minutes");
}

/// Pages of the response about this many networks: three route tables of each, a hundred per page.
fn pages(action: &str, networks: u64) -> u64 {
    if action == "DescribeRouteTables" { (3 * networks).div_ceil(100) } else { 1 }
}

#[tokio::test(start_paused = true)]
async fn clusters_of_the_same_name_in_two_namespaces_and_regions_have_nothing_in_common() {
    let world = World::empty();
    world.begins_network(small());
    let (mut cluster, mut infrastructure) = (objects::cluster(), managed(small()));
    cluster.metadata.namespace = Some("other".to_owned());
    infrastructure.metadata.namespace = Some("other".to_owned());
    infrastructure.spec.region = "us-east-2".to_owned();
    world.server.create::<Cluster>(&cluster).unwrap();
    world.server.create::<FooCluster>(&infrastructure).unwrap();
    let elsewhere = world.aws.region("us-east-2");
    world.network_gets_ready().await;
    let other = || world.server.get::<FooCluster>("other", CLUSTER);
    let is_ready = || other().unwrap().status.unwrap_or_default().ready == Some(true);
    world.until("the other one is ready", is_ready).await;
    let names = |parts: &foo_model::network::Parts| -> BTreeSet<String> {
        parts.vpcs.values().map(|vpc| vpc.tags["infrastructure.foo.com/cluster"].clone()).collect()
    };
    assert_eq!(names(&tagged(&world.region)), [format!("{NS}/{CLUSTER}")].into());
    assert_eq!(names(&tagged(&elsewhere)), [format!("other/{CLUSTER}")].into());
    let before = tagged(&elsewhere);
    world.deletes_network();
    world.network_is_removed().await;
    assert_eq!(tagged(&elsewhere), before);
    assert!(tagged(&world.region).vpcs.is_empty());
    assert!(other().unwrap().finalizers().len() == 1);
}
