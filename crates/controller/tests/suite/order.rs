//! Objects come in any order, and some cannot be read at all.

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::FooMachinePool;
use foo_api::capi::MachinePool;
use kube::api::{DynamicObject, PostParams};
use kube::discovery::ApiResource;
use kube::{Api, ResourceExt};
use serde_json::json;
use std::time::Duration;

/// What a user creates.
const PARTS: [&str; 5] = ["Cluster", "FooCluster", "Secret", "FooMachinePool", "MachinePool"];

fn comes(world: &World, part: &str) {
    match part {
        "Cluster" => world.has(&objects::cluster()),
        "FooCluster" => world.has(&objects::foo_cluster()),
        "Secret" => world.has(&objects::secret("p-boot", b"#cloud-config")),
        "FooMachinePool" => world.has(&objects::foo_machine_pool("p", objects::pool_spec())),
        "MachinePool" => world.has(&objects::machine_pool("p", 2)),
        other => panic!("no {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn objects_can_be_created_in_any_order() {
    for first in 0..PARTS.len() {
        for backwards in [false, true] {
            let world = World::empty();
            let mut parts = PARTS;
            parts.rotate_left(first);
            if backwards {
                parts.reverse();
            }
            for part in parts {
                comes(&world, part);
                world.waits(Duration::from_secs(20)).await;
                if let Some(condition) = world
                    .server
                    .get::<FooMachinePool>(NS, "p")
                    .and_then(|_| world.pool("p").find_condition("Ready"))
                {
                    assert!(!condition.reason.is_empty(), "{parts:?} {condition:?}");
                }
            }
            world.waits(Duration::from_mins(1)).await;
            world.settles().await;
            world.pool("p").is_of(2);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn objects_can_be_created_all_at_once() {
    let world = World::empty();
    for part in PARTS {
        comes(&world, part);
    }
    world.settles().await;
    world.pool("p").is_of(2);
}

#[tokio::test(start_paused = true)]
async fn conditions_name_what_is_waited_for() {
    let world = World::empty();
    comes(&world, "FooMachinePool");
    world.settles().await;
    assert_eq!(world.pool("p").state_of("Ready"), "False WaitingForMachinePool");
    comes(&world, "MachinePool");
    world.settles().await;
    assert!(world.pool("p").state_of("Ready").starts_with("False WaitingFor"), "{}", world.summary());
    comes(&world, "Cluster");
    world.settles().await;
    assert_eq!(world.pool("p").state_of("Ready"), "False WaitingForClusterInfrastructure");
    comes(&world, "FooCluster");
    world.settles().await;
    assert_eq!(world.pool("p").state_of("Ready"), "False BootstrapDataSecretNotFound");
    comes(&world, "Secret");
    world.settles().await;
    world.pool("p").is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_never_started_is_deleted_at_once() {
    let world = World::empty();
    comes(&world, "FooMachinePool");
    world.settles().await;
    world.server.delete::<FooMachinePool>(NS, "p").unwrap();
    world.settles().await;
    assert!(world.server.get::<FooMachinePool>(NS, "p").is_none());
    assert_eq!(world.aws.total_calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_is_reported_and_others_are_reconciled() {
    let world = World::new().await;
    let resource = ApiResource::erase::<MachinePool>(&());
    let broken = json!({
        "apiVersion": resource.api_version, "kind": resource.kind,
        "metadata": { "name": "broken", "namespace": NS },
        "spec": { "clusterName": CLUSTER, "replicas": "three", "template": { "spec": {} } },
    });
    let broken: DynamicObject = serde_json::from_value(broken).unwrap();
    let api: Api<DynamicObject> = Api::namespaced_with(world.server.client(), NS, &resource);
    api.create(&PostParams::default(), &broken).await.unwrap();
    let pool = world.pool("p").of(2).await;
    pool.is_of(2);
    assert_eq!(world.events_on("broken"), ["UnreadableObject"]);
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(world.events_on("broken").len(), 1, "reported once");
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_whole_cluster_is_deleted_without_leftovers() {
    let world = World::new().await;
    world.pool("p").of(2).await;
    world.pool("q").of(1).await;
    world.server.delete::<foo_api::capi::Cluster>(NS, CLUSTER).unwrap();
    world.settles().await;
    world.pool("p").left_nothing();
    world.pool("q").left_nothing();
    assert!(world.server.get::<foo_api::capi::Cluster>(NS, CLUSTER).is_none());
    assert!(world.server.get::<foo_api::FooCluster>(NS, CLUSTER).is_none());
    assert!(world.region.groups().is_empty() && world.region.templates().is_empty());
    let left: Vec<String> =
        world.server.objects::<foo_api::FooMachine>().iter().map(ResourceExt::name_any).collect();
    assert!(left.is_empty(), "{left:?}");
}
