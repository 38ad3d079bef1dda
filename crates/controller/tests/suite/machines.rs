//! What happens to Machines and their instances.

use crate::support::{MANAGER, NS, Pool, World};
use foo_api::FooMachinePool;
use foo_api::capi::{Machine, MachineDeletion};
use foo_api::names::{DELETE_FOR_MOVE_ANNOTATION, EXCLUDE_DRAINING_ANNOTATION, PAUSED_ANNOTATION};
use foo_apiserver_fake::{DrainOutcome, DrainTime, SkipReason};
use kube::ResourceExt;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn drain_timeouts_of_the_pool_reach_its_machines() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let timeouts = |drain| MachineDeletion {
        node_drain_timeout_seconds: drain,
        node_volume_detach_timeout_seconds: Some(7),
        node_deletion_timeout_seconds: None,
    };
    for drain in [Some(30), Some(60)] {
        pool.edits_machine_pool(|pool| pool.spec.template.spec.deletion = Some(timeouts(drain)));
        world.settles().await;
        for machine in pool.machines() {
            assert_eq!(machine.spec.deletion, Some(timeouts(drain)));
        }
    }
    pool.edits_machine_pool(|pool| pool.spec.template.spec.deletion = Some(timeouts(Some(45))));
    world.core.set_drain_time(DrainTime::UntilReleased);
    pool.scales_to(3);
    world.settles().await;
    assert!(pool.machines().iter().all(|machine| machine.spec.deletion == Some(timeouts(Some(45)))));
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.core.drains()[0].outcome, DrainOutcome::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_machine_is_drained_terminated_and_replaced() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_mins(3));
    let victim = pool.machines()[1].name_any();
    let instance = pool.instances()[1].clone();
    world.server.delete::<Machine>(NS, &victim).unwrap();
    world.waits(Duration::from_mins(2)).await;
    assert!(pool.instances().contains(&instance), "still being drained");
    let ids = pool.object().spec.provider_id_list.unwrap();
    assert!(ids.iter().any(|id| id.ends_with(instance.as_str())), "listed as long as it is drained");
    world.settles().await;
    pool.is_of(3);
    assert!(!pool.instances().contains(&instance));
    assert!(world.core.retired_nodes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_machine_of_a_vanished_instance_is_deleted_and_replaced() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.core.set_drain_time(DrainTime::UntilReleased);
    let victim = pool.instances()[0].clone();
    let machine =
        pool.machines().into_iter().find(|it| it.name_any().ends_with(&victim.as_str()[2..])).unwrap();
    world.kills_instance(&victim);
    world
        .until("the Machine is deleted", || {
            let left = world.server.get::<Machine>(NS, &machine.name_any());
            left.is_none_or(|left| left.metadata.deletion_timestamp.is_some())
        })
        .await;
    // It waits for the provider's hook; EC2 shows that it is terminated.
    world
        .until("it is excluded from draining", || {
            let writes = world.server.requests().client(MANAGER).writes().name(&machine.name_any());
            writes.iter().any(|one| one.body.contains(EXCLUDE_DRAINING_ANNOTATION))
        })
        .await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(world.core.drains()[0].outcome, DrainOutcome::Skipped(SkipReason::Excluded));
}

#[tokio::test(start_paused = true)]
async fn with_credentials_of_another_account_nothing_is_deleted() {
    let mut world = World::new().await;
    let name = world.pool("p").of(3).await.group_name();
    let before = world.region.group(&name).unwrap().members;
    world.kills_the_manager();
    let foreign = world.another_account();
    world.starts_the_manager_with_credentials_of(&foreign);
    world.waits(Duration::from_mins(15)).await;
    let pool = world.pool("p");
    let condition = pool.condition("Ready");
    assert_eq!(
        (condition.status.as_str(), condition.reason.as_str()),
        ("False", "WrongAccount"),
        "{condition:?}"
    );
    assert!(condition.message.contains("999999999999"));
    assert_eq!((pool.machines().len(), pool.foo_machines().len()), (3, 3));
    assert!(pool.machines().iter().all(|machine| machine.metadata.deletion_timestamp.is_none()));
    assert_eq!(pool.object().spec.provider_id_list.unwrap().len(), 3);
    let asked = foreign.call_counts().into_keys().filter(|(_, action)| !action.starts_with("Describe"));
    assert_eq!(asked.map(|(_, action)| action).collect::<Vec<_>>(), ["GetCallerIdentity"], "no write");
    pool.scales_to(1);
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.pool("p").machines().len(), 3);
    world.kills_the_manager();
    world.starts_the_manager();
    world.pool("p").scales_to(3);
    world.settles().await;
    world.pool("p").is_of(3);
    assert_eq!(world.region.group(&name).unwrap().members.len(), before.len());
}

#[tokio::test(start_paused = true)]
async fn a_moved_pool_makes_no_call() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let writes = world.aws_writes();
    // As clusterctl does it: pause, copy, then delete with this as the only annotation.
    pool.edits_object(|pool| {
        pool.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
    });
    world.core.pause();
    world.waits(Duration::from_mins(1)).await;
    for machine in world.server.list::<foo_api::FooMachine>(NS) {
        let moved = |machine: &mut foo_api::FooMachine| {
            *machine.annotations_mut() = [(DELETE_FOR_MOVE_ANNOTATION.to_owned(), String::new())].into();
            machine.finalizers_mut().clear();
        };
        world.server.edit(NS, &machine.name_any(), moved).unwrap();
        world.server.delete::<foo_api::FooMachine>(NS, &machine.name_any()).unwrap();
    }
    pool.edits_object(|pool| {
        *pool.annotations_mut() = [(DELETE_FOR_MOVE_ANNOTATION.to_owned(), String::new())].into();
    });
    world.server.delete::<FooMachinePool>(NS, "p").unwrap();
    world
        .until("the FooMachinePool is deleted", || world.server.get::<FooMachinePool>(NS, "p").is_none())
        .await;
    world.waits(Duration::from_mins(5)).await;
    assert_eq!((world.aws_writes(), pool.instances().len()), (writes, 2));
}

#[tokio::test(start_paused = true)]
async fn a_long_pool_name_becomes_cores_label() {
    let world = World::new().await;
    let name = "p".repeat(70);
    let pool = world.pool(&name).of(1).await;
    assert_eq!(pool.machines().len(), 1, "found by the label");
    assert!(pool.group().is_some());
}

/// What the garbage collector does to FooMachines when their pool is deleted in the foreground.
fn loses_its_foo_machines(world: &World, pool: &Pool<'_>) {
    for name in pool.foo_machines() {
        let strip = |machine: &mut foo_api::FooMachine| {
            machine.owner_references_mut().retain(|owner| owner.kind != "FooMachinePool");
        };
        world.server.edit(NS, &name, strip).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_deleted_in_the_foreground_is_drained_like_any_other() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_mins(3));
    loses_its_foo_machines(&world, &pool);
    pool.is_deleted();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.instances().len(), 3, "being drained\n{}", world.summary());
    world.settles().await;
    pool.left_nothing();
    assert!(world.core.drains().iter().all(|drain| drain.outcome == DrainOutcome::Completed));
}

#[tokio::test(start_paused = true)]
async fn a_foo_machine_that_lost_its_owner_gets_it_back() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    loses_its_foo_machines(&world, &pool);
    world.settles().await;
    pool.is_of(2);
    for machine in world.server.list::<foo_api::FooMachine>(NS) {
        let mut kinds: Vec<&str> =
            machine.owner_references().iter().map(|owner| owner.kind.as_str()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ["Cluster", "FooMachinePool", "Machine"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pre_terminate_hook_keeps_the_instance_whoever_deletes_its_foo_machine() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let victim = pool.machines()[1].name_any();
    let hook = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/storage";
    let set = |machine: &mut Machine| {
        machine.annotations_mut().insert(hook.to_owned(), String::new());
        // Core skips the drain when the FooMachine is deleted first; this test is not about that loss.
        machine.annotations_mut().insert(EXCLUDE_DRAINING_ANNOTATION.to_owned(), String::new());
    };
    world.server.edit(NS, &victim, set).unwrap();
    world.server.delete::<foo_api::FooMachine>(NS, &victim).unwrap();
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.aws.calls("TerminateInstanceInAutoScalingGroup"), 0, "{}", world.summary());
    let clear = |machine: &mut Machine| drop(machine.annotations_mut().remove(hook));
    world.server.edit(NS, &victim, clear).unwrap();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.aws.calls("TerminateInstanceInAutoScalingGroup"), 1);
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_foo_machine_with_a_detached_instance_reports_that_it_is_not_in_the_group() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let (id, group) = (pool.instances()[0].clone(), pool.group_name().as_str().into());
    let detaches = |region: &mut foo_simulator_core::core::Region| {
        region.detach_instances(&group, std::slice::from_ref(&id), foo_model::Decrement::Shrink)
    };
    world.region.with(detaches).unwrap().unwrap();
    world.settles().await;
    assert_eq!(pool.instances().len(), 2, "another one is launched");
    assert!(!pool.instances().contains(&id));
    let machines = world.server.list::<foo_api::FooMachine>(NS);
    let reported = |id: &str| {
        let machine = machines.iter().find(|machine| machine.spec.instance_id == id).unwrap();
        let conditions = &machine.status.as_ref().unwrap().conditions;
        let ready = foo_api::conditions::find(conditions, "Ready").unwrap();
        (ready.status.clone(), ready.reason.clone(), ready.message.clone())
    };
    let (status, reason, message) = reported(id.as_str());
    assert_eq!((status.as_str(), reason.as_str()), ("False", "NotInGroup"));
    assert!(
        message
            .contains(&format!("instance {id} runs, but is not in Auto Scaling group {}", pool.group_name())),
        "{message}"
    );
    for id in pool.instances() {
        assert_eq!(reported(id.as_str()).1, "InService");
    }
}
