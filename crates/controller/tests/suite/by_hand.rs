//! Objects that users create by hand and that are not reconciled: their status reports it.

use crate::support::{NS, World, objects};
use foo_api::capi::MachinePool;
use foo_api::names::{MACHINE_FINALIZER, PAUSED_ANNOTATION};
use foo_api::{FooMachine, FooMachineSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use std::time::Duration;

fn foo_machine(name: &str, instance: &str) -> FooMachine {
    let spec = FooMachineSpec {
        provider_id: format!("aws:///eu-central-1a/{instance}"),
        instance_id: instance.to_owned(),
    };
    objects::placed(FooMachine::new(name, spec))
}

fn reported_of(world: &World, name: &str) -> Option<Condition> {
    let machine: FooMachine = world.server.get(NS, name).unwrap();
    machine.status?.conditions.into_iter().find(|condition| condition.type_ == "Ready")
}

#[tokio::test(start_paused = true)]
async fn a_foo_machine_created_by_a_user_is_reported_with_what_to_do() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.has(&foo_machine("mine", "i-0123456789abcdef0"));
    world.settles().await;
    let reported = reported_of(&world, "mine").unwrap();
    assert_eq!((reported.status.as_str(), reported.reason.as_str()), ("False", "Unmanaged"));
    for word in ["delete it", "infrastructure.foo.com/deletion-allowed", "MachinePool.spec.replicas"] {
        assert!(reported.message.contains(word), "{}", reported.message);
    }
    assert_eq!(world.events_on("mine"), ["Unmanaged"]);
    for name in pool.foo_machines() {
        assert_eq!(reported_of(&world, &name).unwrap().reason, "InService");
        assert_eq!(world.events_on(&name), [""; 0]);
    }
    let version = world.server.resource_version();
    world.waits(Duration::from_hours(1)).await;
    assert_eq!(world.server.resource_version(), version, "it is reported once");
    let mut world = world;
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    assert_eq!(world.events_on("mine"), ["Unmanaged"], "the next manager reads it there");
    world.pool("p").is_of(2);
}

/// Those of a pool that is deleted or does not exist yet, and paused ones, are not a user's mistake.
#[tokio::test(start_paused = true)]
async fn foo_machines_of_later_or_deleted_pools_are_not_reported_as_foreign() {
    let world = World::new().await;
    let mut left = foo_machine("left-0123456789abcdef0", "i-0123456789abcdef0");
    left.finalizers_mut().push(MACHINE_FINALIZER.to_owned());
    world.has(&left);
    let mut paused = foo_machine("paused", "i-0123456789abcdef1");
    paused.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
    world.has(&paused);
    world.has(&foo_machine("late-0123456789abcdef2", "i-0123456789abcdef2"));
    world.waits(Duration::from_secs(10)).await;
    world.pool("late").begins_with(0);
    world.settles().await;
    assert!(reported_of(&world, "left-0123456789abcdef0").is_none());
    assert!(reported_of(&world, "paused").is_none());
    let of_a_pool = reported_of(&world, "late-0123456789abcdef2");
    assert_ne!(of_a_pool.map(|reported| reported.reason).as_deref(), Some("Unmanaged"));
    for name in ["left-0123456789abcdef0", "paused", "late-0123456789abcdef2"] {
        assert!(!world.events_on(name).contains(&"Unmanaged".to_owned()), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_foo_machine_pool_that_two_machine_pools_name_reports_which_one_is_ignored() {
    let mut world = World::new().await;
    world.pool("p").of(2).await;
    let mut twin = objects::machine_pool("twin", 3);
    "p".clone_into(&mut twin.spec.template.spec.infrastructure_ref.name);
    world.has(&twin);
    world.settles().await;
    let pool = world.pool("p");
    let message = pool.condition("Ready").message;
    assert!(message.contains("MachinePool twin also references this FooMachinePool"), "{message}");
    assert!(message.contains("MachinePool p owns it"), "{message}");
    assert_eq!(pool.state_of("Ready"), "True", "{message}");
    let events =
        |world: &World| world.events_on("p").iter().filter(|it| *it == "MultipleMachinePools").count();
    assert_eq!(events(&world), 1);
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    assert_eq!(events(&world), 1, "the next manager reads it there");
    world.pool("p").is_of(2);
    assert!(message.contains("only then delete"), "it would take the pool along: {message}");
    let turns = |twin: &mut MachinePool| {
        "its-own".clone_into(&mut twin.spec.template.spec.infrastructure_ref.name);
    };
    world.server.edit(NS, "twin", turns).unwrap();
    world.until("it is over", || !world.pool("p").condition("Ready").message.contains("twin")).await;
    world.pool("p").is_of(2);
}

/// Cluster API considers such a pool as being upgraded for ever (topology controller, `IsMachinePoolUpgrading`).
#[tokio::test(start_paused = true)]
async fn a_topology_that_spells_the_version_in_another_way_than_the_nodes_is_warned_about() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let nodes_report = |version: &str| {
        pool.edits_machine_pool(|pool| {
            pool.labels_mut().insert("topology.cluster.x-k8s.io/owned".to_owned(), version.to_owned());
            let version = foo_api::capi::NodeVersion { version: version.to_owned() };
            pool.status.get_or_insert_default().versions = vec![version];
        });
    };
    nodes_report("v1.36.3-eks-0a1b2c3");
    world.settles().await;
    let ready = pool.condition("Ready");
    assert_eq!(ready.status, "True", "{}", ready.message);
    let warning = "until spec.topology.version of the Cluster is v1.36.3-eks-0a1b2c3";
    assert!(ready.message.contains(warning), "{}", ready.message);
    assert_eq!(world.events_on("p").iter().filter(|it| *it == "NodeVersionDiffers").count(), 1);
    nodes_report("v1.36.3");
    world.settles().await;
    assert!(!pool.condition("Ready").message.contains("warning"), "{}", pool.condition("Ready").message);
}
