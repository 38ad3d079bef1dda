//! The manager is killed around every single call of an EKS cluster's life cycle: nothing is created twice, and nothing
//! is left.

use crate::support::World;
use foo_model::eks::UpdateType;
use foo_simulator_core::{Fault, FaultRule};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The version after the one that clusters begin with.
const NEXT: &str = "v1.35.0";

/// As small as a cluster can be that has everything: quick to go through call by call.
fn whole() -> Value {
    json!({
        "addons": [{ "name": "kube-proxy" }],
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

/// The calls of each part of a life.
struct Calls {
    creation: BTreeMap<String, u32>,
    upgrade: BTreeMap<String, u32>,
    deletion: BTreeMap<String, u32>,
}

/// The calls of a life without accidents.
async fn without_accidents() -> Calls {
    let world = World::fast_eks();
    world.forgets();
    world.begins_eks("v1.34.0", whole());
    world.eks_is_ready().await;
    let creation = changes(&world);
    world.forgets();
    world.requests_version(NEXT);
    is_upgraded(&world).await;
    let upgrade = changes(&world);
    world.forgets();
    world.deletes_eks();
    world.eks_is_removed().await;
    Calls { creation, upgrade, deletion: changes(&world) }
}

/// How many updates of this kind EKS has carried out or is at work on.
fn updates(world: &World, of: UpdateType) -> usize {
    world.eks_cluster().updates.iter().filter(|update| update.kind == of).count()
}

/// Waits until the cluster runs the next version, and its add-on the one that belongs to it.
async fn is_upgraded(world: &World) {
    let version = || world.eks_object().status.and_then(|status| status.version);
    world.until("the control plane is upgraded", || version().as_deref() == Some(NEXT)).await;
    world.until("the add-on is updated", || updates(world, UpdateType::AddonUpdate) > 0).await;
    world.eks_is_ready().await;
}

/// The cluster was upgraded once, and so was its add-on.
fn is_upgraded_once(world: &World, what: &str) {
    is_whole(world, what);
    for of in [UpdateType::VersionUpdate, UpdateType::AddonUpdate] {
        assert_eq!(updates(world, of), 1, "{what}: {:?}", world.eks_cluster().updates);
    }
}

fn each(calls: &BTreeMap<String, u32>) -> impl Iterator<Item = (&str, u32)> {
    calls.iter().flat_map(|(action, count)| (0..*count).map(move |nth| (action.as_str(), nth)))
}

/// The manager is killed while it waits for the response to this call, which was carried out or not, and another one
/// continues.
async fn crashes_during(world: &mut World, what: &str) {
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
async fn a_crash_around_any_call_of_its_creation_duplicates_nothing() {
    let Calls { creation, .. } = without_accidents().await;
    println!("EKS: calls of a creation: {creation:?}");
    assert!(creation.values().sum::<u32>() >= 5, "{creation:?}");
    for (action, nth) in each(&creation) {
        for fault in [Fault::Hang, Fault::HangAfter] {
            let what = format!("{action} {nth} {fault:?}");
            let mut world = World::fast_eks();
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.begins_eks("v1.34.0", whole());
            crashes_during(&mut world, &what).await;
            world.eks_is_ready().await;
            is_whole(&world, &what);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_around_any_call_of_its_deletion_leaves_nothing() {
    let Calls { deletion, .. } = without_accidents().await;
    println!("EKS: calls of a deletion: {deletion:?}");
    for (action, nth) in each(&deletion) {
        for fault in [Fault::Hang, Fault::HangAfter] {
            let what = format!("{action} {nth} {fault:?}");
            let mut world = World::of_eks(whole()).await;
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.deletes_eks();
            crashes_during(&mut world, &what).await;
            world.eks_is_removed().await;
            assert!(world.region.clusters().is_empty(), "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_around_any_call_of_its_upgrade_upgrades_once() {
    let Calls { upgrade, .. } = without_accidents().await;
    println!("EKS: calls of an upgrade: {upgrade:?}");
    assert!(upgrade.values().sum::<u32>() >= 2, "the cluster and its add-on: {upgrade:?}");
    for (action, nth) in each(&upgrade) {
        for fault in [Fault::Hang, Fault::HangAfter] {
            let what = format!("{action} {nth} {fault:?}");
            let mut world = World::of_eks(whole()).await;
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.requests_version(NEXT);
            crashes_during(&mut world, &what).await;
            is_upgraded(&world).await;
            is_upgraded_once(&world, &what);
        }
    }
}

/// What happens to a call whose response is lost: it was carried out, or it never arrived.
const LOST: [Fault; 2] = [Fault::DroppedAfter, Fault::DroppedBefore];

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_any_call_of_its_creation_duplicates_nothing() {
    let Calls { creation, .. } = without_accidents().await;
    for (action, nth) in each(&creation) {
        for fault in LOST {
            let what = format!("{action} {nth} {fault:?}");
            let world = World::fast_eks();
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.begins_eks("v1.34.0", whole());
            world.eks_is_ready().await;
            assert!(world.aws.faults().is_empty(), "{what} was never sent");
            is_whole(&world, &what);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_any_call_of_its_upgrade_upgrades_once() {
    let Calls { upgrade, .. } = without_accidents().await;
    for (action, nth) in each(&upgrade) {
        for fault in LOST {
            let what = format!("{action} {nth} {fault:?}");
            let world = World::of_eks(whole()).await;
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.requests_version(NEXT);
            is_upgraded(&world).await;
            assert!(world.aws.faults().is_empty(), "{what} was never sent");
            is_upgraded_once(&world, &what);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_any_call_of_its_deletion_leaves_nothing() {
    let Calls { deletion, .. } = without_accidents().await;
    for (action, nth) in each(&deletion) {
        for fault in LOST {
            let what = format!("{action} {nth} {fault:?}");
            let world = World::of_eks(whole()).await;
            world.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
            world.deletes_eks();
            world.eks_is_removed().await;
            assert!(world.aws.faults().is_empty(), "{what} was never sent");
            assert!(world.region.clusters().is_empty(), "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_any_response_to_changes_it_is_created_upgraded_once_and_deleted() {
    let world = World::fast_eks();
    world.aws.add_fault(FaultRule::on_changes(Fault::DroppedAfter));
    world.begins_eks("v1.34.0", whole());
    world.eks_is_ready().await;
    is_whole(&world, "created");
    world.requests_version(NEXT);
    is_upgraded(&world).await;
    is_upgraded_once(&world, "upgraded");
    world.deletes_eks();
    world.eks_is_removed().await;
    assert!(world.region.clusters().is_empty());
}

/// The next manager's clock is another one, and AWS's a third: an update is found by when it began.
#[tokio::test(start_paused = true)]
async fn an_update_that_a_manager_with_another_clock_finds_is_not_repeated() {
    for (manager, aws) in [(30, 0), (-30, 0), (0, 30), (0, -30)] {
        for fault in [Fault::Hang, Fault::HangAfter] {
            let what = format!("{fault:?}, clocks ahead by {manager} and {aws} min");
            let mut world = World::fast_eks();
            world.sets_the_clock_of_aws_ahead(aws);
            world.begins_eks("v1.34.0", whole());
            world.eks_is_ready().await;
            world.aws.add_fault(FaultRule::on("UpdateClusterVersion", fault).times(1));
            world.requests_version(NEXT);
            world.until(&what, || world.aws.faults().is_empty()).await;
            world.restarts_the_manager_with_clock_ahead(manager);
            is_upgraded(&world).await;
            is_upgraded_once(&world, &what);
        }
    }
}
