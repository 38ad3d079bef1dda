//! Pools that are deleted with `deletionPolicy: Retain`: the group stays, and no Node is touched.

use crate::support::{CLUSTER, NS, Pool, World};
use foo_api::FooMachinePool;
use foo_api::capi::{Cluster, MachinePool};
use foo_api::names::PAUSED_ANNOTATION;
use foo_api::shared::DeletionPolicy;
use foo_apiserver_fake::{DrainOutcome, Fault, Verb};
use foo_model::InstanceId;
use foo_model::names::{ADOPT_FROM_ANNOTATION, TAG_INSTALLATION};
use foo_simulator_core::{Fault as AwsFault, FaultRule};
use kube::ResourceExt as _;
use std::time::Duration;

async fn retaining(world: &World, replicas: i32) -> Pool<'_> {
    world.pool("p").with(|spec| spec.deletion_policy = Some(DeletionPolicy::Retain)).of(replicas).await
}

/// Panics unless the group has these instances and no owner, and nothing of the pool is left in Kubernetes.
fn stays(world: &World, pool: &Pool<'_>, instances: &[InstanceId]) {
    assert!(world.server.get::<FooMachinePool>(NS, "p").is_none(), "{}", world.summary());
    assert_eq!((pool.foo_machines().len(), pool.machines().len()), (0, 0), "{}", world.summary());
    let group = world.region.groups().into_iter().next().expect("the group stays");
    let members: Vec<&InstanceId> = group.members.keys().collect();
    assert_eq!(members, instances.iter().collect::<Vec<_>>());
    assert!(group.hooks.is_empty(), "no controller would complete it");
    assert_eq!(group.tags[TAG_INSTALLATION].value, "retained");
    assert_eq!(world.region.templates().len(), 1, "the group launches from it");
    assert_eq!(world.aws.calls("TerminateInstanceInAutoScalingGroup"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_group_stays_with_its_nodes_and_is_taken_back_without_a_replacement() {
    let world = World::new().await;
    let pool = retaining(&world, 3).await;
    let instances = pool.instances();
    pool.is_deleted();
    world.settles().await;
    stays(&world, &pool, &instances);
    assert!(world.core.drains().is_empty(), "{:?}", world.core.drains());
    assert_eq!(world.notes("AutoScalingGroupRetained").len(), 1);

    // A pool of the same name manages it only when a user says so.
    let again = world.pool("p").without_secret(3);
    world.waits(Duration::from_mins(3)).await;
    assert_eq!(again.state_of("Ready"), "False GroupOfAnotherInstallation", "{}", world.summary());
    let message = again.condition("Ready").message;
    assert!(message.contains("infrastructure.foo.com/adopt-from=retained"), "{message}");
    again.edits_object(|pool| {
        pool.annotations_mut().insert(ADOPT_FROM_ANNOTATION.to_owned(), "retained".to_owned());
    });
    world.settles().await;
    again.is_of(3);
    assert_eq!(again.instances(), instances, "none is replaced");
    assert_eq!(again.group().unwrap().hooks.len(), 1);
    again.is_deleted();
    world.settles().await;
    again.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn only_the_foo_machine_pool_is_deleted_and_its_machine_pool_keeps_the_provider_ids() {
    let world = World::new().await;
    let pool = retaining(&world, 2).await;
    let instances = pool.instances();
    let ids = || {
        let object = world.server.get_raw::<MachinePool>(NS, "p").unwrap();
        object["spec"]["providerIDList"].clone()
    };
    let before = ids();
    assert_eq!(before.as_array().map(Vec::len), Some(2));
    world.server.delete::<FooMachinePool>(NS, "p").unwrap();
    world.settles().await;
    stays(&world, &pool, &instances);
    // Cluster API deletes the Node of an id that leaves the list.
    assert_eq!(ids(), before);
}

#[tokio::test(start_paused = true)]
async fn a_whole_cluster_is_deleted_and_its_group_stays() {
    let world = World::new().await;
    let pool = retaining(&world, 2).await;
    let instances = pool.instances();
    world.server.delete::<Cluster>(NS, CLUSTER).unwrap();
    world.waits(Duration::from_mins(10)).await;
    stays(&world, &pool, &instances);
    assert!(world.server.get::<Cluster>(NS, CLUSTER).is_none(), "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn what_is_being_drained_ends_as_usual_and_is_replaced() {
    let world = World::new().await;
    let pool = retaining(&world, 3).await;
    world.drains_take(Duration::from_mins(5));
    let drained = pool.instances()[0].clone();
    let machine = format!("p-{}", drained.as_str().trim_start_matches("i-"));
    world.server.delete::<foo_api::capi::Machine>(NS, &machine).unwrap();
    world.waits(Duration::from_secs(30)).await;
    pool.is_deleted();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.condition("Deleting").reason, "Draining", "{}", world.summary());
    assert_eq!(pool.foo_machines().len(), 1, "the others have none any more");
    world.settles().await;
    assert!(world.server.get::<FooMachinePool>(NS, "p").is_none(), "{}", world.summary());
    let group = world.region.groups().into_iter().next().unwrap();
    assert!(group.members.len() >= 3 && !group.members.contains_key(&drained), "{group:?}");
    assert_eq!(world.core.drains().len(), 1, "{:?}", world.core.drains());
}

/// A call whose response is lost, and a crash after it, change nothing about the result.
#[tokio::test(start_paused = true)]
async fn lost_responses_and_crashes_cost_only_time() {
    for operation in ["DeleteLifecycleHook", "CreateOrUpdateTags"] {
        for crash in [false, true] {
            let mut world = World::new().await;
            let instances = retaining(&world, 2).await.instances();
            world.aws.add_fault(FaultRule::on(operation, AwsFault::DroppedAfter).times(1));
            world.pool("p").is_deleted();
            if crash {
                let group = || world.region.groups().into_iter().next().unwrap();
                world
                    .until("it is about to end", || {
                        group().hooks.is_empty()
                            && (operation == "DeleteLifecycleHook"
                                || group().tags[TAG_INSTALLATION].value == "retained")
                    })
                    .await;
                world.kills_the_manager();
                world.starts_the_manager();
            }
            world.settles().await;
            stays(&world, &world.pool("p"), &instances);
        }
    }
}

/// As with the IAM policy of an earlier release.
#[tokio::test(start_paused = true)]
async fn a_missing_right_is_reported_and_nothing_is_lost() {
    let world = World::new().await;
    let pool = retaining(&world, 2).await;
    let instances = pool.instances();
    let rule = world.aws.add_fault(FaultRule::on("DeleteLifecycleHook", AwsFault::Denied));
    pool.is_deleted();
    world.waits(Duration::from_mins(10)).await;
    let reported = pool.condition("Ready").message;
    assert!(reported.contains("DeleteLifecycleHook"), "{reported}");
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(10)).await;
    stays(&world, &pool, &instances);
}

/// A tool that applies manifests again restores it.
#[tokio::test(start_paused = true)]
async fn the_annotation_that_takes_a_group_back_does_not_take_it_back_during_the_deletion() {
    let world = World::new().await;
    let pool = retaining(&world, 2).await;
    let instances = pool.instances();
    pool.is_deleted();
    pool.edits_object(|pool| {
        pool.annotations_mut().insert(ADOPT_FROM_ANNOTATION.to_owned(), "retained".to_owned());
    });
    world.settles().await;
    stays(&world, &pool, &instances);
    assert_eq!(world.notes("AutoScalingGroupRetained").len(), 1);
}

/// Cluster API adds its finalizer again to a Machine that is not being deleted, paused or not; and what the provider deletes it
/// must not take for a deletion by a user.
#[tokio::test(start_paused = true)]
async fn a_machine_whose_removal_is_interrupted_is_removed_and_not_drained() {
    for fault in [Fault::lost_response(), Fault::lost_request()] {
        let mut world = World::new().await;
        let instances = retaining(&world, 3).await.instances();
        let injected = world.server.inject(fault.on(Verb::Delete).kind("Machine").times(2));
        world.pool("p").is_deleted();
        world.until("a Machine is to be removed", || injected.struck() > 0).await;
        world.kills_the_manager();
        world.starts_the_manager();
        world.waits(Duration::from_mins(10)).await;
        stays(&world, &world.pool("p"), &instances);
        assert!(world.core.drains().iter().all(|drain| drain.outcome != DrainOutcome::Completed));
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_paused_is_drained_when_a_user_changes_the_policy_to_delete() {
    let world = World::new().await;
    let pool = retaining(&world, 2).await;
    world.server.inject(Fault::unavailable().on(Verb::Delete).kind("Machine").times(2));
    pool.is_deleted();
    let is_paused =
        || pool.machines().iter().any(|machine| machine.annotations().contains_key(PAUSED_ANNOTATION));
    world.until("they are paused", is_paused).await;
    pool.edits(|spec| spec.deletion_policy = Some(DeletionPolicy::Delete));
    world.waits(Duration::from_mins(10)).await;
    pool.left_nothing();
}
