//! Lifecycle hooks and suspended processes that the spec names.

use crate::support::{Pool, World};
use foo_api::pool::{
    HookResult, HookTransition, LifecycleHook, Notification, NotificationType, SuspendedProcess,
};
use foo_model::names::APPLIED_ANNOTATION;
use foo_model::{InstanceId, LifecycleState, Process};
use foo_simulator_core::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use foo_simulator_core::{Fault, FaultRule};
use kube::ResourceExt;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const PUT: &str = "PutLifecycleHook";
const COMPLETE: &str = "CompleteLifecycleAction";

fn hook(name: &str, transition: HookTransition) -> LifecycleHook {
    LifecycleHook {
        name: name.to_owned(),
        transition,
        heartbeat_timeout_seconds: 3_600,
        default_result: HookResult::Continue,
        notification_target_arn: None,
        role_arn: None,
        notification_metadata: None,
    }
}

impl Pool<'_> {
    fn hooks(&self) -> Vec<String> {
        self.group().unwrap().hooks.into_keys().collect()
    }

    fn suspended(&self) -> BTreeSet<Process> {
        self.group().unwrap().suspended.into_keys().collect()
    }

    fn in_state(&self, state: &LifecycleState) -> Vec<InstanceId> {
        let members = self.group().unwrap().members.into_values();
        members.filter(|member| member.lifecycle == *state).map(|member| member.id).collect()
    }
}

/// Another program has done its work for an instance.
fn completes(world: &World, pool: &Pool<'_>, hook: &str, id: &InstanceId) {
    let (group, key) = (pool.group().unwrap().name, ActionKey::Instance(id.clone()));
    let done = |region: &mut foo_simulator_core::core::Region| {
        region.complete_action(&group, hook, &key, ActionResult::Continue)
    };
    world.region.with(done).unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_group_is_created_with_the_hooks_of_its_spec_and_the_first_instance_waits_for_them() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.lifecycle_hooks = vec![hook("register", HookTransition::Launching)];
    });
    let pool = pool.begins_with(1);
    let waiting = || pool.group().is_some() && !pool.in_state(&LifecycleState::PendingWait).is_empty();
    world.until("an instance waits for the hook", waiting).await;
    assert_eq!(pool.hooks(), ["foo-drain", "register"]);
    assert_eq!(world.aws.calls(PUT), 0);
    world.waits(Duration::from_mins(5)).await;
    let said = pool.condition("ScalingUp").message;
    assert_eq!(said, "1 instance being launched; 1 instance in Pending:Wait for a lifecycle hook");
    let id = pool.in_state(&LifecycleState::PendingWait).remove(0);
    completes(&world, &pool, "register", &id);
    world.settles().await;
    pool.is_of(1);
    world.waits(Duration::from_mins(30)).await;
    world.forgets();
    world.waits(Duration::from_hours(1)).await;
    assert_eq!(world.requests().writes().changing().count(), 0, "an idle pool sends nothing");
    assert_eq!(world.aws.calls("DescribeLifecycleHooks"), 0, "nor read");
}

#[tokio::test(start_paused = true)]
async fn a_drained_instance_waits_for_the_other_hook_which_the_condition_names() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.lifecycle_hooks = vec![hook("evict", HookTransition::Terminating)];
    });
    let pool = pool.of(3).await;
    pool.scales_to(2);
    let held = || pool.condition("ScalingDown").message.contains("lifecycle hook evict");
    world.until("the condition names the hook", held).await;
    world.forgets();
    world.waits(Duration::from_mins(15)).await;
    let waiting = pool.in_state(&LifecycleState::TerminatingWait);
    assert_eq!((waiting.len(), world.aws.calls(COMPLETE)), (1, 0), "{}", world.summary());
    completes(&world, &pool, "evict", &waiting[0]);
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn hooks_follow_the_spec_across_managers_and_those_of_others_stay() {
    let mut world = World::new().await;
    world.pool("p").of(1).await.is_of(1);
    let group = world.pool("p").group().unwrap().name;
    let mine = HookChange {
        name: "mine".to_owned(),
        transition: Some(Transition::Terminating),
        ..HookChange::default()
    };
    world.region.with(|region| region.put_hook(&group, mine)).unwrap().unwrap();
    world.pool("p").edits(|spec| spec.lifecycle_hooks = vec![hook("boot", HookTransition::Launching)]);
    world.until("the hook is created", || world.pool("p").hooks() == ["boot", "foo-drain", "mine"]).await;
    world.pool("p").edits(|spec| spec.lifecycle_hooks[0].heartbeat_timeout_seconds = 60);
    let timeout = |world: &World| world.pool("p").group().unwrap().hooks["boot"].heartbeat;
    world.until("it is changed", || timeout(&world) == Duration::from_mins(1)).await;
    let annotations = world.pool("p").object().annotations().clone();
    assert_eq!(annotations[APPLIED_ANNOTATION], r#"{"lifecycleHooks":["boot"]}"#);
    // Another manager knows from the annotation that the provider added it.
    world.kills_the_manager();
    world.pool("p").edits(|spec| spec.lifecycle_hooks.clear());
    world.starts_the_manager();
    world.until("it is deleted", || world.pool("p").hooks() == ["foo-drain", "mine"]).await;
    let forgotten = || !world.pool("p").object().annotations().contains_key(APPLIED_ANNOTATION);
    world.until("it is forgotten", forgotten).await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_aws_refuses_to_delete_is_reported_and_stays_recorded_until_it_is_deleted() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    pool.edits(|spec| spec.lifecycle_hooks = vec![hook("boot", HookTransition::Launching)]);
    world.until("the hook is created", || pool.hooks() == ["boot", "foo-drain"]).await;
    let refusal =
        Fault::Error { code: "ValidationError".to_owned(), status: 400, message: "Not now.".to_owned() };
    let rule = world.aws.add_fault(FaultRule::on("DeleteLifecycleHook", refusal));
    pool.edits(|spec| spec.lifecycle_hooks.clear());
    let said = || pool.condition("AutoScalingGroupReady").message;
    world.until("the refusal is reported", || said().contains("Not now.")).await;
    world.waits(Duration::from_mins(10)).await;
    let is_recorded = || pool.object().annotations().contains_key(APPLIED_ANNOTATION);
    assert!(is_recorded() && pool.hooks() == ["boot", "foo-drain"], "{}", world.summary());
    world.aws.remove_fault(rule);
    world.until("it is deleted", || pool.hooks() == ["foo-drain"]).await;
    world.until("it is forgotten", || !is_recorded()).await;
}

#[tokio::test(start_paused = true)]
async fn a_target_that_aws_cannot_send_to_is_reported_and_the_pool_is_scaled_all_the_same() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let target = "arn:aws:sqs:eu-central-1:123456789012:missing";
    world
        .region
        .change_settings(|settings| settings.unreachable_targets = [target.to_owned()].into())
        .unwrap();
    pool.edits(|spec| {
        spec.lifecycle_hooks = vec![LifecycleHook {
            notification_target_arn: Some(target.to_owned()),
            role_arn: Some("arn:aws:iam::123456789012:role/a.hooks.infrastructure.foo.com".to_owned()),
            ..hook("boot", HookTransition::Launching)
        }];
        spec.max_size = Some(5);
    });
    let said = || pool.condition("AutoScalingGroupReady").message;
    world.until("the refusal is reported", || said().contains("Unable to publish test message")).await;
    pool.scales_to(2);
    world.until("it grows all the same", || pool.instances().len() == 2).await;
    world.region.change_settings(|settings| settings.unreachable_targets.clear()).unwrap();
    world.until("the hook is created", || pool.hooks() == ["boot", "foo-drain"]).await;
}

#[tokio::test(start_paused = true)]
async fn processes_of_the_spec_are_suspended_and_resumed_and_those_of_others_stay_suspended() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.suspended_processes = vec![SuspendedProcess::InstanceRefresh, SuspendedProcess::HealthCheck];
    });
    let pool = pool.of(1).await;
    let of = |processes: &[Process]| processes.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(pool.suspended(), of(&[Process::AZRebalance, Process::HealthCheck, Process::InstanceRefresh]));
    let group = pool.group().unwrap().name;
    let by_hand = |region: &mut foo_simulator_core::core::Region| {
        region.suspend_processes(&group, &[Process::ScheduledActions])
    };
    world.region.with(by_hand).unwrap().unwrap();
    pool.edits(|spec| spec.suspended_processes = vec![SuspendedProcess::InstanceRefresh]);
    let left = of(&[Process::AZRebalance, Process::InstanceRefresh, Process::ScheduledActions]);
    world.until("one is resumed", || pool.suspended() == left).await;
    pool.edits(|spec| spec.suspended_processes.clear());
    let left = of(&[Process::AZRebalance, Process::ScheduledActions]);
    world.until("the other one is resumed", || pool.suspended() == left).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn pools_with_notifications_share_one_list_and_follow_the_spec() {
    const LIST: &str = "DescribeNotificationConfigurations";
    let topic = "arn:aws:sns:eu-central-1:123456789012:ops";
    let ops = || Notification { topic_arn: topic.to_owned(), types: vec![NotificationType::LaunchError] };
    let world = World::new().await;
    world.pool("plain").of(1).await.is_of(1);
    world.waits(Duration::from_hours(1)).await;
    assert_eq!(world.aws.calls(LIST), 0, "no pool has any");
    for name in ["p", "q"] {
        world.pool(name).with(|spec| spec.notifications = vec![ops()]).of(1).await.is_of(1);
    }
    let has = |name: &str| world.pool(name).group().unwrap().notifications;
    let reported: BTreeMap<String, BTreeSet<String>> =
        [(topic.to_owned(), ["autoscaling:EC2_INSTANCE_LAUNCH_ERROR".to_owned()].into())].into();
    assert_eq!((has("p"), has("q")), (reported.clone(), reported));
    world.forgets();
    world.waits_long(Duration::from_hours(24)).await;
    let calls = world.aws.calls(LIST);
    assert!((2..=6).contains(&calls), "{calls} in a day, whatever the number of pools");
    world.pool("p").edits(|spec| spec.notifications.clear());
    world.until("the topic gets nothing more", || has("p").is_empty()).await;
    world.settles().await;
    assert_eq!(has("q").len(), 1);
    let annotations = world.pool("p").object().annotations().clone();
    assert!(!annotations.contains_key(APPLIED_ANNOTATION), "{annotations:?}");
}

/// The list of all pools is older than what the provider has changed since.
#[tokio::test(start_paused = true)]
async fn a_topic_that_returns_to_the_spec_gets_reports_again() {
    let world = World::new().await;
    let ops = || Notification {
        topic_arn: "arn:aws:sns:eu-central-1:123456789012:ops".to_owned(),
        types: vec![NotificationType::Launch],
    };
    let pool = world.pool("p").with(|spec| spec.notifications = vec![ops()]).of(1).await;
    let reports = || !pool.group().unwrap().notifications.is_empty();
    world.until("the topic gets reports", reports).await;
    drop(world.pool("q").with(|spec| spec.notifications = vec![ops()]).of(1).await);
    world.waits_long(Duration::from_hours(1)).await;
    pool.edits(|spec| spec.notifications.clear());
    world.until("it gets no more", || !reports()).await;
    world.waits(Duration::from_mins(10)).await;
    pool.edits(|spec| spec.notifications = vec![ops()]);
    world.until("it gets reports again", reports).await;
}

/// A hook that nothing names and nothing completes would delay every instance.
#[tokio::test(start_paused = true)]
async fn what_a_lost_response_may_have_set_is_removed_when_it_leaves_the_spec() {
    for operation in [PUT, "PutNotificationConfiguration"] {
        let world = World::new().await;
        let pool = world.pool("p").of(1).await;
        let rule = world.aws.add_fault(FaultRule::on(operation, Fault::DroppedAfter));
        pool.edits(|spec| {
            spec.lifecycle_hooks = vec![hook("boot", HookTransition::Launching)];
            spec.notifications = vec![Notification {
                topic_arn: "arn:aws:sns:eu-central-1:123456789012:ops".to_owned(),
                types: vec![NotificationType::Launch],
            }];
        });
        let calls = world.aws.calls(operation);
        world.until("a response is lost", || world.aws.calls(operation) > calls).await;
        pool.edits(|spec| {
            spec.lifecycle_hooks.clear();
            spec.notifications.clear();
        });
        world.waits(Duration::from_mins(2)).await;
        world.aws.remove_fault(rule);
        world.settles().await;
        assert_eq!(pool.hooks(), ["foo-drain"], "{operation}");
        assert!(pool.group().unwrap().notifications.is_empty(), "{operation}");
        assert!(!pool.object().annotations().contains_key(APPLIED_ANNOTATION), "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_pool_with_all_of_them_writes_nothing() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.lifecycle_hooks = vec![hook("boot", HookTransition::Launching)];
        spec.notifications = vec![Notification {
            topic_arn: "arn:aws:sns:eu-central-1:123456789012:ops".to_owned(),
            types: vec![NotificationType::Launch],
        }];
        spec.suspended_processes = vec![SuspendedProcess::HealthCheck];
    });
    let pool = pool.begins_with(1);
    let waiting = || pool.group().is_some() && !pool.in_state(&LifecycleState::PendingWait).is_empty();
    world.until("the instance waits", waiting).await;
    completes(&world, &pool, "boot", &pool.in_state(&LifecycleState::PendingWait)[0]);
    world.settles().await;
    pool.is_of(1);
    let writes = || {
        [PUT, "DeleteLifecycleHook", "PutNotificationConfiguration", "SuspendProcesses", "ResumeProcesses"]
            .map(|operation| world.aws.calls(operation))
    };
    let before = writes();
    world.waits_long(Duration::from_hours(24)).await;
    assert_eq!(writes(), before);
}

/// The deletion reports what it waits for, also by a manager that has just started.
#[tokio::test(start_paused = true)]
async fn a_deletion_names_the_hook_that_an_instance_waits_for() {
    let mut world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.lifecycle_hooks = vec![hook("evict", HookTransition::Terminating)];
    });
    drop(pool.of(1).await);
    world.pool("p").is_deleted();
    let held = |world: &World| !world.pool("p").in_state(&LifecycleState::TerminatingWait).is_empty();
    world.until("the instance waits", || held(&world)).await;
    world.kills_the_manager();
    world.starts_the_manager();
    let named = || world.pool("p").condition("Deleting").message.contains("lifecycle hook evict");
    world.until("the condition names the hook", named).await;
    let id = world.pool("p").in_state(&LifecycleState::TerminatingWait)[0].clone();
    completes(&world, &world.pool("p"), "evict", &id);
    world.until("the group is deleted", || world.pool("p").group().is_none()).await;
}

/// A Node may join while its instance waits, but only what is in service counts as available.
#[tokio::test(start_paused = true)]
async fn a_roll_out_waits_for_hooks_that_delay_launches() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    pool.edits(|spec| {
        spec.lifecycle_hooks = vec![hook("register", HookTransition::Launching)];
        spec.instance_type = Some("m7i.xlarge".to_owned());
    });
    let waiting = || pool.in_state(&LifecycleState::PendingWait);
    world.until("the canary waits", || !waiting().is_empty()).await;
    world.waits(Duration::from_mins(10)).await;
    assert!(before.iter().all(|id| pool.instances().contains(id)), "none is replaced\n{}", world.summary());
    let mut completed = 0;
    while completed < before.len() {
        world.until("a new instance waits", || !waiting().is_empty()).await;
        let id = waiting().remove(0);
        completes(&world, &pool, "register", &id);
        world.until("it is in service", || !waiting().contains(&id)).await;
        completed += 1;
    }
    world.settles().await;
    pool.is_of(2);
    assert!(before.iter().all(|id| !pool.instances().contains(id)), "{}", world.summary());
}
