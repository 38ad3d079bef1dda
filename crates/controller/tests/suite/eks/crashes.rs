//! The manager dies around every single call of an EKS cluster's life: nothing is made twice, and nothing is left.

use crate::support::World;
use foo_simulator::{Fault, FaultRule};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// As small as a cluster can be that has everything: quick to go through call by call.
fn whole() -> Value {
    json!({
        "addons": [{ "name": "vpc-cni" }],
        "oidcProvider": true,
        "accessEntries": [{
            "principalARN": "arn:aws:iam::123456789012:user/dev",
            "policies": [{ "name": "AmazonEKSViewPolicy" }],
        }],
    })
}

/// The calls that change something, and how many of each there are.
fn changes(world: &World) -> BTreeMap<String, u32> {
    let reads = |action: &str| ["Describe", "Get", "List"].iter().any(|read| action.starts_with(read));
    let calls = world.aws_calls().into_iter().filter(|(action, _)| !reads(action));
    calls.map(|(action, count)| (action, u32::try_from(count).unwrap())).collect()
}

/// The calls of a creation and of a deletion without accidents.
async fn without_accidents() -> (BTreeMap<String, u32>, BTreeMap<String, u32>) {
    let world = World::hasty_eks();
    world.forgets();
    world.begins_eks("v1.34.0", whole());
    world.eks_is_ready().await;
    let creation = changes(&world);
    world.forgets();
    world.deletes_eks();
    world.eks_goes().await;
    (creation, changes(&world))
}

fn each(calls: &BTreeMap<String, u32>) -> impl Iterator<Item = (&str, u32)> {
    calls.iter().flat_map(|(action, count)| (0..*count).map(move |nth| (action.as_str(), nth)))
}

/// The manager dies as it waits for the answer to this call, which was carried out or not, and another one goes on.
async fn dies(world: &mut World, what: &str) {
    world.until(what, || world.aws.faults().is_empty()).await;
    world.kills_the_manager();
    world.waits(Duration::from_secs(20)).await;
    world.starts_the_manager();
}

fn is_whole(world: &World, what: &str) {
    assert_eq!(world.region.clusters().len(), 1, "{what}");
    let cluster = world.eks_cluster();
    assert_eq!(cluster.addons.len(), 1, "{what}");
    assert_eq!(cluster.entries.len(), 2, "{what}: {:?}", cluster.entries.keys());
}

#[tokio::test(start_paused = true)]
async fn a_crash_around_any_call_of_its_creation_makes_nothing_twice() {
    let (creation, _) = without_accidents().await;
    println!("EKS: calls of a creation: {creation:?}");
    assert!(creation.values().sum::<u32>() >= 5, "{creation:?}");
    for (action, nth) in each(&creation) {
        for fault in [Fault::Hang, Fault::HangAfter] {
            let what = format!("{action} {nth} {fault:?}");
            let mut world = World::hasty_eks();
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.begins_eks("v1.34.0", whole());
            dies(&mut world, &what).await;
            world.eks_is_ready().await;
            is_whole(&world, &what);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_around_any_call_of_its_deletion_leaves_nothing() {
    let (_, deletion) = without_accidents().await;
    println!("EKS: calls of a deletion: {deletion:?}");
    for (action, nth) in each(&deletion) {
        for fault in [Fault::Hang, Fault::HangAfter] {
            let what = format!("{action} {nth} {fault:?}");
            let mut world = World::of_eks(whole()).await;
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.deletes_eks();
            dies(&mut world, &what).await;
            world.eks_goes().await;
            assert!(world.region.clusters().is_empty(), "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_in_the_middle_of_an_upgrade_upgrades_once() {
    for fault in [Fault::Hang, Fault::HangAfter] {
        let mut world = World::of_eks(json!({})).await;
        world.forgets();
        world.aws.add_fault(FaultRule::on("UpdateClusterVersion", fault.clone()).times(1));
        world.wants_version("v1.35.0");
        dies(&mut world, "the update is sent").await;
        let version = || world.eks_object().status.unwrap().version.unwrap();
        world.until("it is upgraded", || version() == "v1.35.0").await;
        let updates = world.eks_cluster().updates.len();
        assert_eq!(updates, 1, "{fault:?}");
    }
}
