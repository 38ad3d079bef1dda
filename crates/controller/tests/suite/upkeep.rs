//! FooMachines stay as they were created, and report the facts, whatever users do to them.

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::capi::{Machine, MachinePool};
use foo_api::names::{
    CLUSTER_NAME_LABEL, DRAIN_HOOK_SINCE_ANNOTATION, MACHINE_FINALIZER, PAUSED_ANNOTATION, POOL_NAME_LABEL,
    SPEC_HASH_ANNOTATION,
};
use foo_api::{FooMachine, FooMachinePool};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use std::time::Duration;

impl World {
    fn foo_machine(&self, name: &str) -> FooMachine {
        self.server.get(NS, name).unwrap()
    }

    fn edits_foo_machine(&self, name: &str, change: impl FnOnce(&mut FooMachine)) {
        self.server.edit(NS, name, change).unwrap();
    }

    fn foo_machine_state(&self, name: &str, kind: &str) -> String {
        let conditions: Vec<Condition> = self.foo_machine(name).status.unwrap_or_default().conditions;
        let condition = conditions.into_iter().find(|condition| condition.type_ == kind).unwrap();
        format!("{} {}", condition.status, condition.reason)
    }
}

#[tokio::test(start_paused = true)]
async fn a_foo_machine_that_lost_its_labels_or_finalizer_gets_them_back() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let name = pool.foo_machines()[0].clone();
    world.edits_foo_machine(&name, |machine| {
        machine.labels_mut().remove(POOL_NAME_LABEL);
        machine.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), "another".to_owned());
        machine.labels_mut().insert("mine".to_owned(), "stays".to_owned());
        machine.finalizers_mut().clear();
        machine.finalizers_mut().push("example.com/foreign".to_owned());
    });
    world.settles().await;
    let machine = world.foo_machine(&name);
    assert_eq!(machine.labels().get(POOL_NAME_LABEL).map(String::as_str), Some("p"));
    assert_eq!(machine.labels().get(CLUSTER_NAME_LABEL).map(String::as_str), Some(CLUSTER));
    assert_eq!(machine.labels().get("mine").map(String::as_str), Some("stays"));
    assert_eq!(machine.finalizers(), ["example.com/foreign", MACHINE_FINALIZER]);
    world.edits_foo_machine(&name, |machine| machine.finalizers_mut().retain(|it| it == MACHINE_FINALIZER));
    world.settles().await;
    pool.is_of(2);
}

/// Core finds owners by group and version.
#[tokio::test(start_paused = true)]
async fn a_stale_version_in_an_owner_is_brought_up_to_date() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let name = pool.foo_machines()[0].clone();
    let owners = world.foo_machine(&name).owner_references().to_vec();
    assert!(owners.iter().any(|owner| owner.kind == "Cluster"), "{owners:?}");
    world.edits_foo_machine(&name, |machine| {
        for owner in machine.owner_references_mut().iter_mut().filter(|owner| owner.kind != "Machine") {
            let group = owner.api_version.split('/').next().unwrap_or_default().to_owned();
            owner.api_version = format!("{group}/v1alpha0");
        }
    });
    world.settles().await;
    assert_eq!(world.foo_machine(&name).owner_references(), owners);
}

/// Its name shows its owner.
#[tokio::test(start_paused = true)]
async fn a_foo_machine_assigned_to_another_pool_is_restored() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let other = world.pool("q").of(1).await;
    let name = pool.foo_machines()[0].clone();
    let uid = other.object().uid().unwrap();
    world.edits_foo_machine(&name, |machine| {
        for owner in machine.owner_references_mut().iter_mut().filter(|owner| owner.kind == "FooMachinePool")
        {
            (owner.name, owner.uid) = ("q".to_owned(), uid.clone());
        }
    });
    world.settles().await;
    let owners = world.foo_machine(&name).owner_references().to_vec();
    let pools: Vec<_> = owners.iter().filter(|owner| owner.kind == "FooMachinePool").collect();
    assert_eq!(pools.iter().map(|owner| owner.name.as_str()).collect::<Vec<_>>(), ["p"], "{owners:?}");
    pool.is_of(2);
    other.is_of(1);
    other.is_deleted();
    world.settles().await;
    other.left_nothing();
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_foo_machine_has_a_status_from_its_launch_on() {
    let world = World::new().await;
    let pool = world.pool("p").begins_with(1);
    world
        .until("there is a FooMachine with a status", || {
            let machines = world.server.list::<FooMachine>(NS);
            machines.iter().any(|machine| machine.status.is_some())
        })
        .await;
    let machine = world.server.list::<FooMachine>(NS).remove(0);
    let name = machine.name_any();
    let status = machine.status.unwrap();
    assert_eq!(status.ready, Some(false));
    assert_eq!(status.lifecycle_state.as_deref(), Some("Pending"));
    assert_eq!(world.foo_machine_state(&name, "Ready"), "False Launching");
    assert_ne!(pool.status().ready, Some(true), "a pool is ready with its first instance in service");
    world.settles().await;
    let status = world.foo_machine(&name).status.unwrap();
    assert_eq!(status.ready, Some(true));
    assert_eq!(world.foo_machine_state(&name, "Ready"), "True InService");
    let kinds: Vec<&str> = status.addresses.iter().map(|address| address.kind.as_str()).collect();
    assert!(kinds.contains(&"InternalIP") && kinds.contains(&"InternalDNS"), "{kinds:?}");
    assert!(status.failure_domain.is_some_and(|zone| zone.starts_with("eu-central-1")));
    assert_eq!(status.interruptible, Some(false));
    assert_eq!(pool.status().ready, Some(true));
}

#[tokio::test(start_paused = true)]
async fn a_spot_foo_machine_is_reported_as_interruptible() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| spec.spot = Some(foo_api::pool::Spot::default())).of(1).await;
    let status = world.foo_machine(&pool.foo_machines()[0]).status.unwrap();
    assert_eq!(status.interruptible, Some(true));
}

#[tokio::test(start_paused = true)]
async fn a_paused_foo_machine_is_reported_and_its_instance_not_terminated() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let name = pool.foo_machines()[0].clone();
    let instance = world.foo_machine(&name).spec.instance_id;
    world.edits_foo_machine(&name, |machine| {
        machine.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
    });
    world.settles().await;
    assert_eq!(world.foo_machine_state(&name, "Paused"), "True Paused");
    assert_eq!(world.foo_machine_state(&pool.foo_machines()[1], "Paused"), "False NotPaused");
    world.server.delete::<Machine>(NS, &name).unwrap();
    world.waits(Duration::from_mins(15)).await;
    let lives = || pool.instances().iter().any(|id| id.as_str() == instance);
    assert!(lives(), "{}", world.summary());
    world.edits_foo_machine(&name, |machine| drop(machine.annotations_mut().remove(PAUSED_ANNOTATION)));
    world.settles().await;
    assert!(!lives());
    pool.is_of(2);
}

/// Only that it is paused is written, to it and its FooMachines.
#[tokio::test(start_paused = true)]
async fn only_the_paused_condition_of_a_paused_pool_is_written() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.object();
    pool.edits_object(|pool| {
        pool.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
    });
    world.settles().await;
    assert_eq!(pool.state_of("Paused"), "True");
    world.forgets();
    let victim = pool.instances()[0].clone();
    world.kills_instance(&victim);
    let edited = pool.foo_machines()[0].clone();
    world.edits_foo_machine(&edited, |machine| drop(machine.labels_mut().remove(POOL_NAME_LABEL)));
    world.waits(Duration::from_mins(15)).await;
    let after = pool.object();
    assert_eq!(after.spec.provider_id_list, before.spec.provider_id_list);
    let written: Vec<_> = world.requests().writes().changing().iter().map(|one| one.body.clone()).collect();
    assert!(written.is_empty(), "{written:#?}");
    pool.edits_object(|pool| drop(pool.annotations_mut().remove(PAUSED_ANNOTATION)));
    world.settles().await;
    assert!(!pool.object().spec.provider_id_list.unwrap().iter().any(|id| id.ends_with(victim.as_str())));
    pool.is_of(2);
}

/// What AWS counts from, and what an instance was launched from, survive a backup and a move, which lose every status.
#[tokio::test(start_paused = true)]
async fn facts_of_the_status_are_in_annotations_too() {
    let mut world = World::new().await;
    world.pool("p").of(2).await;
    world.drains_take(Duration::from_hours(5));
    let victim = world.pool("p").instances()[0].clone();
    world.region.find_unhealthy(&victim).unwrap();
    world.waits(Duration::from_mins(10)).await;
    let name = {
        let machines = world.server.list::<FooMachine>(NS);
        machines.iter().find(|it| it.spec.instance_id == victim.as_str()).unwrap().name_any()
    };
    let before = world.foo_machine(&name);
    let hash = before.status.as_ref().unwrap().spec_hash.clone().unwrap();
    assert_eq!(before.annotations().get(SPEC_HASH_ANNOTATION), Some(&hash));
    let since = before.status.as_ref().unwrap().drain_hook.clone().unwrap().since;
    assert_eq!(before.annotations().get(DRAIN_HOOK_SINCE_ANNOTATION), Some(&since.0.to_string()));
    world.waits(Duration::from_mins(30)).await;
    world.kills_the_manager();
    world.edits_foo_machine(&name, |machine| machine.status = None);
    assert!(world.foo_machine(&name).status.is_none());
    world.starts_the_manager();
    world.waits(Duration::from_mins(10)).await;
    let after = world.foo_machine(&name).status.unwrap();
    assert_eq!(after.drain_hook.unwrap().since, since, "the clock was not reset");
    assert_eq!(after.spec_hash, Some(hash));
}

#[tokio::test(start_paused = true)]
async fn a_replaced_provider_id_is_restored() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let arn = pool.object().spec.provider_id.unwrap();
    // As `kubectl replace` with the user's own manifest does it.
    pool.edits(|spec| (spec.provider_id, spec.provider_id_list) = (None, None));
    world.settles().await;
    assert_eq!(pool.object().spec.provider_id, Some(arn));
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_its_machine_pool_no_longer_names_is_not_scaled() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    world.has(&objects::foo_machine_pool("other", objects::pool_spec()));
    pool.edits_machine_pool(|machine_pool| {
        machine_pool.spec.template.spec.infrastructure_ref.name = "other".to_owned();
        machine_pool.spec.replicas = Some(4);
    });
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(pool.state_of("Ready"), "False NotReferenced");
    let message = pool.condition("Ready").message;
    assert!(message.contains("references FooMachinePool other now"), "{message}");
    assert_eq!(pool.instances().len(), 2);
    pool.edits_machine_pool(|machine_pool| machine_pool.spec.replicas = Some(1));
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(pool.instances().len(), 2);
    // What was named meanwhile has instances of its own, and Machines with this MachinePool's label.
    world.server.delete::<FooMachinePool>(NS, "other").unwrap();
    world.until("it is deleted", || world.server.get::<FooMachinePool>(NS, "other").is_none()).await;
    assert_eq!(pool.instances().len(), 2);
    pool.edits_machine_pool(|machine_pool| {
        machine_pool.spec.template.spec.infrastructure_ref.name = "p".to_owned();
        machine_pool.spec.replicas = Some(3);
    });
    world.settles().await;
    // Core deleted the Nodes of the ids that it did not find at the other pool: only the new one is ready.
    let after = pool.instances();
    assert!(before.iter().all(|id| after.contains(id)), "{before:?} {after:?}");
    assert_eq!((after.len(), pool.foo_machines().len(), pool.machines().len()), (3, 3, 3));
    assert_ne!(pool.condition("Ready").reason, "NotReferenced");
}

#[tokio::test(start_paused = true)]
async fn a_machine_pool_that_lost_its_replicas_shrinks_nothing() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    pool.edits_machine_pool(|machine_pool: &mut MachinePool| machine_pool.spec.replicas = None);
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(pool.instances().len(), 3);
    assert_eq!(pool.machines().len(), 3);
    assert_eq!(pool.state_of("Ready"), "False ReplicasUnknown");
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
}

/// A pool in a region that does not exist, or whose credentials are refused, could otherwise never go.
#[tokio::test(start_paused = true)]
async fn a_pool_without_resources_is_deleted_without_a_call() {
    use foo_simulator_core::{Fault, FaultRule};
    let world = World::new().await;
    world.aws.add_fault(FaultRule::on_everything(Fault::Unreachable));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(10)).await;
    assert!(pool.object().finalizers().is_empty());
    let message = pool.condition("AutoScalingGroupReady").message;
    assert!(message.contains("eu-central-1") && message.contains("spec.region"), "{message}");
    pool.is_deleted();
    world.until("it is deleted", || world.server.get::<FooMachinePool>(NS, "p").is_none()).await;
    assert_eq!(world.aws_writes(), 0);
}

/// With the group comes the finalizer, and it is restored when a user removes it.
#[tokio::test(start_paused = true)]
async fn a_pool_with_resources_in_aws_has_a_finalizer() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert!(!pool.object().finalizers().is_empty());
    pool.edits_object(|pool| pool.finalizers_mut().clear());
    world.settles().await;
    assert!(!pool.object().finalizers().is_empty());
    pool.is_of(1);
}
