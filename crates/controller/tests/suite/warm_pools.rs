//! Warm pools: instances that AWS starts before they are needed.

use crate::support::{NS, Pool, World, objects};
use foo_api::pool::{WarmPool, WarmPoolState};
use foo_model::names::{APPLIED_ANNOTATION, WAITS_IN_WARM_POOL_ANNOTATION};
use foo_model::{InstanceId, LifecycleState};
use foo_simulator_core::core::group::model::warm_pool::PoolState;
use foo_simulator_core::core::group::model::{Group, Member};
use foo_simulator_core::core::rules::group::warm_pool::WarmPoolChange;
use foo_simulator_core::{Fault, FaultRule};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

const PUT: &str = "PutWarmPool";
const DELETE: &str = "DeleteWarmPool";

/// A warm pool of one instance.
fn one() -> WarmPool {
    WarmPool { min_size: 1, max_prepared_capacity: None, state: WarmPoolState::Stopped }
}

/// The owner of the Secret says whether its user data wait in a warm pool.
fn says_that_they_wait(world: &World, waits: bool) {
    let edit = |secret: &mut Secret| {
        if waits {
            secret.annotations_mut().insert(WAITS_IN_WARM_POOL_ANNOTATION.to_owned(), "true".to_owned());
        } else {
            secret.annotations_mut().remove(WAITS_IN_WARM_POOL_ANNOTATION);
        }
    };
    world.server.edit(NS, &objects::secret_name("p"), edit).unwrap();
}

/// The owner of the Secret replaces its user data by others, which do not wait.
fn gets_user_data_that_join(world: &World) {
    let joining = objects::secret(&objects::secret_name("p"), b"#cloud-config\n# joins at once");
    let edit = |secret: &mut Secret| {
        secret.data.clone_from(&joining.data);
        secret.annotations_mut().remove(WAITS_IN_WARM_POOL_ANNOTATION);
    };
    world.server.edit(NS, &objects::secret_name("p"), edit).unwrap();
}

/// A pool of two, with one instance that waits stopped.
async fn warmed(world: &World) -> Pool<'_> {
    let pool = world.pool("p").with(|spec| spec.warm_pool = Some(one())).begins_with(2);
    says_that_they_wait(world, true);
    world.settles().await;
    world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
    pool
}

impl Pool<'_> {
    /// Instances that wait in the warm pool.
    fn in_warm_pool(&self) -> BTreeSet<InstanceId> {
        let warm = self.group().into_iter().flat_map(|group| group.warm.into_values());
        warm.filter(|member| member.lifecycle == LifecycleState::Warmed).map(|member| member.id).collect()
    }

    /// Panics unless the group has one warm pool, whose instance has the version that the group launches from.
    fn has_its_warm_pool(&self) {
        let group = self.group().unwrap();
        let pool = group.warm_pool.expect("there is a warm pool");
        assert_eq!((pool.min_size, pool.max_prepared, pool.state), (1, Some(1), PoolState::Stopped));
        assert!(!pool.deleting && !pool.reuse);
        assert_eq!(versions(&group), [self.status().launch_template.unwrap().version], "{group:?}");
        assert_eq!(self.state_of("WarmPoolReady"), "True");
    }
}

/// The launch template versions of the instances in a warm pool.
fn versions(group: &Group) -> Vec<i64> {
    let of = |member: &Member| member.template.as_ref().map(|(_, _, version)| version.0);
    group.warm.values().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn a_scale_out_takes_an_instance_that_waits_and_it_becomes_one_machine() {
    let world = World::new().await;
    let pool = warmed(&world).await;
    pool.is_of(2);
    pool.has_its_warm_pool();
    assert_eq!(pool.status().warm_pool.map(|it| it.size), Some(1));
    let waiting = pool.in_warm_pool().pop_first().unwrap();
    assert!(
        !pool.foo_machines().iter().any(|name| name.ends_with(&waiting.as_str()[2..])),
        "it is no Machine"
    );
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
    assert!(pool.instances().contains(&waiting), "{}", world.summary());
    world.until("another one waits", || pool.in_warm_pool().len() == 1).await;
    pool.has_its_warm_pool();
    assert_eq!((world.aws.calls(PUT), world.aws.calls(DELETE)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_idle_pool_with_a_warm_pool_costs_no_call_and_no_write() {
    let mut world = World::new().await;
    warmed(&world).await.has_its_warm_pool();
    world.waits(Duration::from_mins(30)).await;
    world.forgets();
    world.waits_long(Duration::from_hours(3)).await;
    assert_eq!(world.requests().writes().changing().count(), 0, "{}", world.summary());
    assert_eq!(world.aws_writes(), 0);
    world.kills_the_manager();
    world.forgets();
    world.starts_the_manager();
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.aws_writes(), 0, "nor does a manager that starts");
    world.pool("p").has_its_warm_pool();
}

#[tokio::test(start_paused = true)]
async fn an_edit_renews_the_warm_pool_before_the_group_takes_an_instance_from_it() {
    let world = World::new().await;
    let pool = warmed(&world).await;
    let outdated = pool.in_warm_pool();
    pool.edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
    let renewed = || {
        let group = pool.group().unwrap();
        assert!(outdated.iter().all(|id| !group.members.contains_key(id)), "{}", world.summary());
        !group.warm.is_empty() && outdated.iter().all(|id| !group.warm.contains_key(id))
    };
    world.until("the warm pool is renewed", renewed).await;
    world.settles().await;
    pool.is_of(2);
    world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
    pool.has_its_warm_pool();
    assert_eq!(pool.status().up_to_date_replicas, Some(2));
    assert_eq!((world.aws.calls(PUT), world.aws.calls(DELETE)), (2, 1), "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn new_user_data_renew_the_warm_pool_and_replace_no_instance() {
    let world = World::new().await;
    let pool = warmed(&world).await;
    let instances = pool.instances();
    pool.bootstraps_with(b"#cloud-config\n# another token");
    world.settles().await;
    world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
    pool.has_its_warm_pool();
    assert_eq!((pool.instances(), world.aws.calls(DELETE)), (instances, 1));
}

#[tokio::test(start_paused = true)]
async fn a_warm_pool_that_leaves_the_spec_is_deleted_by_whichever_manager() {
    let mut world = World::new().await;
    warmed(&world).await.has_its_warm_pool();
    world.kills_the_manager();
    world.pool("p").edits(|spec| spec.warm_pool = None);
    world.starts_the_manager();
    world.settles().await;
    let pool = world.pool("p");
    assert!(pool.group().unwrap().warm_pool.is_none() && pool.group().unwrap().warm.is_empty());
    assert!(!pool.object().annotations().contains_key(APPLIED_ANNOTATION), "it is forgotten");
    assert_eq!((pool.find_condition("WarmPoolReady"), pool.status().warm_pool), (None, None));
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_warm_pool_of_another_user_stays_and_its_size_is_reported() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let group = pool.group().unwrap().name;
    let change =
        WarmPoolChange { min_size: Some(2), max_prepared: Some(Some(2)), ..WarmPoolChange::default() };
    world.region.with(|region| region.put_warm_pool(&group, change)).unwrap().unwrap();
    world.until("its size is reported", || pool.status().warm_pool.map(|it| it.size) == Some(2)).await;
    world.settles().await;
    assert_eq!((world.aws.calls(DELETE), pool.find_condition("WarmPoolReady")), (0, None));
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn user_data_that_do_not_wait_get_no_warm_pool_and_the_condition_says_what_to_do() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| spec.warm_pool = Some(one())).of(1).await;
    pool.is_of(1);
    assert_eq!(pool.state_of("WarmPoolReady"), "False UserDataDoesNotWait");
    assert!(pool.condition("WarmPoolReady").message.contains(WAITS_IN_WARM_POOL_ANNOTATION));
    assert_eq!(world.aws.calls(PUT), 0);
    says_that_they_wait(&world, true);
    world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
    world.settles().await;
    pool.has_its_warm_pool();
    // The same user data may join now.
    says_that_they_wait(&world, false);
    world.until("it is deleted", || pool.group().unwrap().warm_pool.is_none()).await;
    says_that_they_wait(&world, true);
    world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
    world.settles().await;
    // Before an instance is launched that would join.
    gets_user_data_that_join(&world);
    world.settles().await;
    assert!(pool.group().unwrap().warm_pool.is_none());
    assert_eq!(pool.state_of("WarmPoolReady"), "False UserDataDoesNotWait");
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_leaves_one_warm_pool_of_the_present_version() {
    for action in [PUT, DELETE, "UpdateAutoScalingGroup"] {
        for fault in [Fault::DroppedBefore, Fault::DroppedAfter] {
            let world = World::new().await;
            let rule = FaultRule::on(action, fault.clone()).times(1);
            if action == PUT {
                world.aws.add_fault(rule.clone());
            }
            let pool = warmed(&world).await;
            if action != PUT {
                world.aws.add_fault(rule);
            }
            pool.edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
            world.settles().await;
            world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
            pool.has_its_warm_pool();
            pool.is_of(2);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_after_a_call_leaves_one_warm_pool_of_the_present_version() {
    for (action, times) in [(PUT, 1), ("CreateLaunchTemplateVersion", 1), (DELETE, 1), (PUT, 2)] {
        let mut world = World::new().await;
        world.pool("p").with(|spec| spec.warm_pool = Some(one())).begins_with(2);
        says_that_they_wait(&world, true);
        if (action, times) != (PUT, 1) {
            world.settles().await;
            world.pool("p").edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
        }
        world.until("it calls", || world.aws.calls(action) >= times).await;
        world.kills_the_manager();
        world.starts_the_manager();
        world.settles().await;
        world.until("an instance waits", || world.pool("p").in_warm_pool().len() == 1).await;
        world.pool("p").has_its_warm_pool();
        world.pool("p").is_of(2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_warm_pool_is_reported_and_the_pool_is_scaled_all_the_same() {
    let world = World::new().await;
    let rule = world.aws.add_fault(FaultRule::on(PUT, Fault::Denied));
    let pool = world.pool("p").with(|spec| spec.warm_pool = Some(one())).begins_with(1);
    says_that_they_wait(&world, true);
    world
        .until("it is reported", || {
            pool.find_condition("WarmPoolReady").is_some_and(|it| it.reason == "AccessDenied")
        })
        .await;
    assert_eq!(pool.state_of("CredentialsReady"), "False AccessDenied");
    pool.scales_to(2);
    world.until("it grows all the same", || pool.instances().len() == 2).await;
    world.until("it is ready all the same", || pool.state_of("Ready") == "True").await;
    world.aws.remove_fault(rule);
    world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
    world.settles().await;
    pool.has_its_warm_pool();
}

#[tokio::test(start_paused = true)]
async fn a_refused_warm_pool_is_tried_rarely_and_hides_no_other_refusal() {
    let world = World::new().await;
    world.aws.add_fault(FaultRule::on(PUT, Fault::Denied));
    let pool = world.pool("p").with(|spec| spec.warm_pool = Some(one())).begins_with(2);
    says_that_they_wait(&world, true);
    world.waits(Duration::from_mins(20)).await;
    let is_reported =
        || pool.condition("WarmPoolReady").message.contains("autoscaling:PutWarmPool is missing");
    assert!(is_reported() && pool.state_of("Ready") == "True", "{}", world.summary());
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    let calls = world.aws.calls(PUT);
    assert!((5..=11).contains(&calls), "{calls} calls\n{}", world.summary());
    assert_eq!(world.requests().writes().changing().count(), 0, "{}", world.summary());
    let denial = world.aws.add_fault(FaultRule::on("TerminateInstanceInAutoScalingGroup", Fault::Denied));
    pool.scales_to(1);
    let names_other = |kind: &str| {
        pool.condition(kind).message.contains("autoscaling:TerminateInstanceInAutoScalingGroup is missing")
    };
    world.until("the other refusal is reported", || names_other("Ready")).await;
    assert!(is_reported() && names_other("CredentialsReady"), "{}", world.summary());
    assert_eq!(world.notes("ActionFailed").len(), 2, "one of each");
    world.aws.remove_fault(denial);
    world.until("it shrinks", || pool.instances().len() == 1).await;
}

/// AWS refuses to delete warm pools with this code.
fn refused_with(code: &str) -> Fault {
    Fault::Error { code: code.to_owned(), status: 400, message: "Not now.".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn user_data_that_join_wait_at_most_ten_minutes_for_the_deletion_of_the_warm_pool() {
    for fault in [Fault::Denied, refused_with("ScalingActivityInProgress"), refused_with("ValidationError")] {
        let world = World::new().await;
        let pool = warmed(&world).await;
        let version = || pool.status().launch_template.unwrap().version;
        let before = version();
        let rule = world.aws.add_fault(FaultRule::on(DELETE, fault.clone()));
        gets_user_data_that_join(&world);
        world.waits(Duration::from_mins(5)).await;
        assert_eq!(version(), before, "{fault:?}: {}", world.summary());
        assert_eq!(pool.state_of("Ready"), "True", "{fault:?}");
        assert!(pool.state_of("WarmPoolReady").starts_with("False "), "{fault:?}");
        assert!(!world.events_on("p").contains(&"WarmPoolDeleted".to_owned()), "{fault:?}");
        world.waits(Duration::from_mins(15)).await;
        let group = pool.group().unwrap();
        let is_empty = group.warm_pool.is_some_and(|it| (it.min_size, it.max_prepared) == (0, Some(0)));
        assert!(is_empty && pool.in_warm_pool().is_empty(), "{fault:?}: {}", world.summary());
        assert!(version() > before, "{fault:?}: {}", world.summary());
        world.aws.remove_fault(rule);
        world.until("it is deleted", || pool.group().unwrap().warm_pool.is_none()).await;
        world.settles().await;
        assert!(world.events_on("p").contains(&"WarmPoolDeleted".to_owned()), "{fault:?}");
        assert_eq!(pool.state_of("WarmPoolReady"), "False UserDataDoesNotWait");
        pool.is_of(2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_warm_pool_that_aws_cannot_delete_yet_costs_few_calls() {
    let world = World::new().await;
    let pool = warmed(&world).await;
    world.aws.add_fault(FaultRule::on(DELETE, refused_with("ScalingActivityInProgress")));
    world.forgets();
    pool.edits(|spec| spec.warm_pool = None);
    world.waits(Duration::from_mins(9)).await;
    let calls = world.aws.calls(DELETE);
    assert!((5..16).contains(&calls), "{calls} calls\n{}", world.summary());
    assert!(pool.condition("WarmPoolReady").message.contains("has not accepted that yet"));
    assert_eq!(pool.state_of("Ready"), "True");
}

#[tokio::test(start_paused = true)]
async fn a_running_warm_pool_of_another_user_is_never_deleted() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let group = pool.group().unwrap().name;
    let change = WarmPoolChange {
        state: Some(PoolState::Running),
        min_size: Some(1),
        max_prepared: Some(Some(1)),
        ..WarmPoolChange::default()
    };
    world.region.with(|region| region.put_warm_pool(&group, change)).unwrap().unwrap();
    // Reads show it by now, and the last one may be older.
    world.waits(Duration::from_mins(1)).await;
    pool.edits(|spec| spec.warm_pool = Some(one()));
    says_that_they_wait(&world, true);
    world.until("it is reported", || pool.find_condition("WarmPoolReady").is_some()).await;
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(pool.state_of("WarmPoolReady"), "False WarmPoolNotOwned");
    assert_eq!((world.aws.calls(DELETE), world.aws.calls(PUT)), (0, 0), "{}", world.summary());
    world.region.with(|region| region.delete_warm_pool(&group, true)).unwrap().unwrap();
    world.until("an instance waits", || pool.in_warm_pool().len() == 1).await;
    world.settles().await;
    pool.has_its_warm_pool();
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pool_leaves_no_instance_that_waits() {
    let world = World::new().await;
    let pool = warmed(&world).await;
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_leaves_the_warm_pool_does_not_wait_for_the_drain_hook_with_a_queue_of_events() {
    let world = World::with_queue().await;
    let two = WarmPool { min_size: 2, max_prepared_capacity: None, state: WarmPoolState::Stopped };
    let pool = world.pool("p").with(|spec| spec.warm_pool = Some(two)).begins_with(1);
    says_that_they_wait(&world, true);
    world.until("two wait", || pool.in_warm_pool().len() == 2).await;
    world.settles().await;
    pool.edits(|spec| spec.warm_pool = Some(one()));
    let began = Instant::now();
    world.until("one has left", || pool.group().unwrap().warm.len() == 1).await;
    assert!(
        began.elapsed() < Duration::from_mins(5),
        "{:?}: without events it takes an hour",
        began.elapsed()
    );
    world.settles().await;
    pool.has_its_warm_pool();
}
