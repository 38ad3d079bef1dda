//! Lifecycle hooks and suspended processes of the spec: set, restored and removed; those of other users stay.

use super::NOTHING;
use crate::world::{Fault, World, pool};
use foo_model::hook::{DESCRIBE_HOOK_AFTER, HEARTBEAT_INTERVAL};
use foo_model::{
    HookName, HookResult, HookTarget, InstanceId, LifecycleHook, LifecycleState, NotificationType, Process,
    Seconds, Timestamp, Transition,
};
use foo_planner::Plan;
use foo_planner::report::ConditionKind;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

fn hook(transition: Transition) -> LifecycleHook {
    LifecycleHook {
        transition,
        heartbeat: Seconds(300),
        result: HookResult::Continue,
        target: None,
        metadata: None,
    }
}

fn named(name: &str, transition: Transition) -> BTreeMap<HookName, LifecycleHook> {
    [(HookName::new(name), hook(transition))].into()
}

/// A running pool with the hook `evict`, which delays terminations.
fn with_hook(replicas: u32) -> World {
    pool()
        .of(replicas)
        .with(|desired| desired.group.hooks = Some(named("evict", Transition::Terminating)))
        .running()
}

fn names(world: &World) -> Vec<&str> {
    world.cloud.other_hooks.keys().map(HookName::as_str).collect()
}

fn message(plan: &Plan, kind: ConditionKind) -> String {
    plan.report.conditions.iter().find(|it| it.kind == kind).map(|it| it.message.clone()).unwrap_or_default()
}

/// Time passes until the hooks are read again, and they are read.
fn reads_hooks(world: &mut World) {
    world.wait(DESCRIBE_HOOK_AFTER.as_secs());
    world.read_group();
    let plan = world.pass();
    let words: Vec<String> = plan.actions.iter().map(crate::world::short).collect();
    assert!(words.iter().any(|word| word == "describe hook"), "{words:?}");
}

#[test]
fn a_group_is_created_with_its_hooks_which_are_recorded_before() {
    let world = with_hook(1);
    assert_eq!(names(&world), ["evict"]);
    let story = world.story();
    let at = |what: &str| story.find(what).unwrap_or_else(|| panic!("{what}: {story}"));
    assert!(at("record as applied: evict") < at("create group"), "{story}");
    assert!(!story.contains("create hook"), "{story}");
}

#[test]
fn a_changed_or_deleted_hook_of_the_spec_is_restored_and_others_stay() {
    let mut world = with_hook(1);
    world.cloud.other_hooks.extend(named("mine", Transition::Launching));
    world.cloud.other_hooks.get_mut(&"evict".into()).unwrap().heartbeat = Seconds(60);
    reads_hooks(&mut world);
    assert_eq!(world.wants(), ["change hook evict"]);
    world.settle();
    world.cloud.other_hooks.remove(&"evict".into());
    reads_hooks(&mut world);
    assert_eq!(world.wants(), ["create hook evict"]);
    world.settle();
    assert_eq!(names(&world), ["evict", "mine"]);
    assert_eq!(world.cloud.other_hooks[&"evict".into()], hook(Transition::Terminating));
}

#[test]
fn a_hook_that_leaves_the_spec_is_deleted_and_then_forgotten() {
    let mut world = with_hook(1);
    world.cloud.other_hooks.extend(named("mine", Transition::Launching));
    reads_hooks(&mut world);
    world.desired.group.hooks = Some(BTreeMap::new());
    assert_eq!(world.wants(), ["delete hook evict"]);
    world.settle();
    assert_eq!((names(&world), world.kube.applied.lifecycle_hooks.len()), (vec!["mine"], 0));
    assert_eq!(world.wants(), NOTHING);
}

#[test]
fn while_the_identity_does_not_allow_a_hook_all_stay() {
    let mut world = with_hook(1);
    world.desired.group.hooks = None;
    reads_hooks(&mut world);
    assert_eq!(world.wants(), NOTHING);
    assert_eq!(world.kube.applied.lifecycle_hooks.len(), 1);
}

#[test]
fn a_record_that_was_lost_is_written_again() {
    let mut world = with_hook(1);
    world.kube.applied = foo_model::Applied::default();
    assert_eq!(world.wants(), ["record as applied: evict"]);
}

#[test]
fn a_manager_whose_predecessor_died_after_the_record_creates_the_hook() {
    let mut world = pool().of(1).running();
    world.desired.group.hooks = Some(named("evict", Transition::Terminating));
    assert_eq!(world.wants(), ["record as applied: evict", "create hook evict"]);
    world.kube.applied.lifecycle_hooks.insert("evict".into());
    world.restart(0);
    world.settle();
    assert_eq!(names(&world), ["evict"]);
}

#[test]
fn a_hook_that_delays_launches_is_created_before_the_instances_of_the_same_edit() {
    let mut world = pool().of(1).running();
    world.desired.group.hooks = Some(named("register", Transition::Launching));
    world.scale_to(3);
    let wants = world.wants();
    let at =
        |what: &str| wants.iter().position(|it| it.starts_with(what)).unwrap_or_else(|| panic!("{wants:?}"));
    assert!(at("create hook register") < at("update group"), "{wants:?}");
}

/// No call clears NotificationMetadata.
#[test]
fn a_hook_that_loses_its_text_is_created_again_and_one_that_loses_its_target_is_changed() {
    let mut world = with_hook(1);
    let target = HookTarget { arn: "arn:queue".to_owned(), role: Some("arn:role".to_owned()) };
    let full =
        LifecycleHook { target: Some(target), metadata: Some("m".to_owned()), ..hook(Transition::Launching) };
    let mut becomes = |hook: &LifecycleHook| {
        world.desired.group.hooks = Some([("evict".into(), hook.clone())].into());
        let wants = world.wants();
        world.settle();
        assert_eq!(world.cloud.other_hooks[&"evict".into()], *hook);
        wants
    };
    assert_eq!(becomes(&full), ["change hook evict"]);
    assert_eq!(becomes(&LifecycleHook { target: None, ..full.clone() }), ["change hook evict"]);
    let bare = LifecycleHook { target: None, metadata: None, ..full };
    assert_eq!(becomes(&bare), ["delete hook evict", "create hook evict"]);
}

/// An instance that waits for `evict` although its Node is drained.
fn held() -> (World, InstanceId) {
    let mut world = with_hook(3);
    let id = world.instances()[0].clone();
    world.cloud.terminate_by_aws(&id, world.now);
    for _ in 0..20 {
        world.step();
        if world.cloud.held.contains(&id) {
            return (world, id);
        }
    }
    panic!("{}", world.story());
}

#[test]
fn a_drained_instance_that_waits_for_another_hook_is_reported_and_not_completed_again() {
    let (mut world, id) = held();
    let plan = world.step();
    let said = message(&plan, ConditionKind::ScalingDown);
    assert_eq!(
        said,
        "waiting for AWS to terminate 1 instance; foo-drain is completed, and workers-00000001 still waits until \
         another program completes the lifecycle hook evict"
    );
    let before = world.story().matches("let i-00000001 go").count();
    for _ in 0..(HEARTBEAT_INTERVAL.as_secs() / 10) {
        let words: Vec<String> = world.step().actions.iter().map(crate::world::short).collect();
        assert!(!words.iter().any(|it| it.starts_with("let ") || it.starts_with("keep ")), "{words:?}");
    }
    assert_eq!(before, 1, "{}", world.story());
    assert_eq!(world.cloud.lifecycle(&id), Some(LifecycleState::TerminatingWait));
    assert_eq!(world.kube.alive().len(), 3, "its replacement serves");
    world.cloud.complete_others(&id, world.now);
    world.settle();
    assert!(world.kube.foo_machine(&world.name_of(&id)).is_none());
}

#[test]
fn a_manager_that_takes_over_completes_our_hook_once_more_and_reports_the_other() {
    let (mut world, _) = held();
    world.restart(0);
    let mut completed = 0;
    let mut said = String::new();
    for _ in 0..60 {
        let plan = world.step();
        completed += plan.actions.iter().filter(|it| crate::world::short(it).starts_with("let ")).count();
        said = message(&plan, ConditionKind::ScalingDown);
    }
    assert_eq!(completed, 1, "{}", world.story());
    assert!(said.contains("lifecycle hook evict"), "{said}");
}

#[test]
fn instances_that_wait_for_a_launch_hook_are_reported() {
    let mut world = pool()
        .of(1)
        .with(|desired| desired.group.hooks = Some(named("register", Transition::Launching)))
        .running();
    world.scale_to(2);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.put(1, LifecycleState::PendingWait);
    let said = message(&world.observe_and_plan(), ConditionKind::ScalingUp);
    assert_eq!(said, "1 instance being launched; 1 instance in Pending:Wait for a lifecycle hook");
}

#[test]
fn processes_of_the_spec_are_suspended_and_resumed_when_they_leave_it() {
    let mut world = pool().of(1).running();
    let by_hand = |world: &mut World, process| {
        world.cloud.suspend(&[process].into(), world.now).unwrap();
    };
    by_hand(&mut world, Process::ScheduledActions);
    let of = |processes: &[Process]| processes.iter().copied().collect::<BTreeSet<_>>();
    world.desired.group.suspended = of(&[Process::AlarmNotification, Process::InstanceRefresh]);
    assert_eq!(
        world.wants(),
        ["record as applied: AlarmNotification InstanceRefresh", "suspend AlarmNotification InstanceRefresh"]
    );
    world.settle();
    world.cloud.resume(&of(&[Process::InstanceRefresh]), world.now).unwrap();
    assert_eq!(world.wants(), ["suspend InstanceRefresh"]);
    world.settle();
    world.desired.group.suspended.remove(&Process::AlarmNotification);
    assert_eq!(world.wants(), ["resume AlarmNotification"]);
    world.settle();
    assert_eq!(world.kube.applied.suspended_processes, of(&[Process::InstanceRefresh]));
    // Now another user suspended it.
    by_hand(&mut world, Process::AlarmNotification);
    assert_eq!(world.wants(), NOTHING);
    world.desired.group.suspended.clear();
    assert_eq!(world.wants(), ["resume InstanceRefresh"]);
    world.settle();
    let suspended: BTreeSet<Process> =
        world.cloud.group.as_ref().unwrap().suspended.keys().copied().collect();
    let stay = of(&[Process::AZRebalance, Process::AlarmNotification, Process::ScheduledActions]);
    assert_eq!((suspended, world.kube.applied.clone()), (stay, foo_model::Applied::default()));
}

#[test]
fn a_group_gets_its_suspended_processes_as_soon_as_it_exists() {
    let world =
        pool().of(1).with(|desired| desired.group.suspended = [Process::HealthCheck].into()).running();
    let story = world.story();
    assert!(story.contains("suspend AZRebalance HealthCheck"), "{story}");
}

#[test]
fn what_the_former_leader_set_after_the_last_read_is_not_forgotten() {
    let mut world = pool().of(1).running();
    world.hand_over();
    world.wait(4);
    world.desired.group.suspended = [Process::HealthCheck].into();
    world.desired.group.notifications = Some([("arn:ops".into(), [NotificationType::Launch].into())].into());
    world.wait(4);
    world.pass_of(1, &mut |_, _| Fault::None);
    let is_set = |world: &World| {
        let group = world.cloud.group.as_ref().unwrap();
        (group.suspended.contains_key(&Process::HealthCheck), !world.cloud.notifications.is_empty())
    };
    assert_eq!(is_set(&world), (true, true), "within its lease: {}", world.story());
    world.wait(3);
    world.observe_with_lag(5);
    world.wait(4);
    world.desired.group.suspended.clear();
    world.desired.group.notifications = Some(BTreeMap::new());
    world.pass();
    world.settle();
    assert_eq!(is_set(&world), (false, false), "{}", world.story());
}

#[test]
fn topics_of_the_spec_get_their_reports_and_those_of_others_stay() {
    use foo_model::NotificationType::{Launch, LaunchError, Terminate};
    let types = |types: &[NotificationType]| types.iter().copied().collect::<BTreeSet<_>>();
    let mut world = pool().of(1).running();
    world.cloud.notifications.insert("arn:mine".into(), types(&[Launch]));
    world.desired.group.notifications = Some([("arn:ops".into(), types(&[LaunchError, Terminate]))].into());
    assert_eq!(world.wants(), ["record as applied: arn:ops", "report LaunchError Terminate to arn:ops"]);
    world.settle();
    world.cloud.notifications.insert("arn:ops".into(), types(&[Terminate]));
    assert_eq!(world.wants(), ["report LaunchError Terminate to arn:ops"]);
    world.settle();
    world.desired.group.notifications = None;
    assert_eq!(world.wants(), NOTHING, "the identity does not allow one");
    world.desired.group.notifications = Some(BTreeMap::new());
    assert_eq!(world.wants(), ["report nothing to arn:ops"]);
    world.settle();
    assert_eq!(world.cloud.notifications, [("arn:mine".into(), types(&[Launch]))].into());
    assert_eq!(world.kube.applied, foo_model::Applied::default());
    assert_eq!(world.wants(), NOTHING);
}

/// A running pool of two whose new manager has not read its hook, with a minute until the read that confirms it.
fn just_restarted() -> World {
    let mut world = pool().of(2).running();
    world.restart(0);
    world.managers[0].confirmed_from = Timestamp(world.now.0 + 60_000);
    world.wait(20);
    world.read_group();
    world
}

#[test]
fn a_new_manager_reads_the_hook_of_an_idle_pool_when_its_turn_comes() {
    let mut world = just_restarted();
    assert!(!world.wants().contains(&"describe hook".to_owned()), "{:?}", world.wants());
    let after = world.plan_of(0).report.next.after.unwrap();
    assert!(after <= Duration::from_secs(40), "{after:?}");
    world.wait(40);
    world.read_group();
    assert!(world.wants().contains(&"describe hook".to_owned()), "{:?}", world.wants());
}

/// Whatever launches or terminates instances needs it now.
#[test]
fn a_new_manager_reads_the_hook_of_a_pool_that_changes_at_once() {
    let reads = |mut world: World, what: &str| {
        // The template is read before anything is launched.
        let found = (0..3).any(|_| {
            let wanted = world.wants();
            world.pass();
            wanted.contains(&"describe hook".to_owned())
        });
        assert!(found, "{what}: {:?}", world.story());
    };
    let mut world = just_restarted();
    world.scale_to(3);
    reads(world, "launches");
    let mut world = just_restarted();
    world.desired.group.hooks = Some(named("evict", Transition::Terminating));
    reads(world, "a hook of the spec");
    let mut world = just_restarted();
    let name = world.kube.machines[0].name.clone();
    world.delete_machine(&name);
    reads(world, "a Machine that drains");
    let mut world = just_restarted();
    let id = world.instances()[0].clone();
    world.unprotect(&id);
    reads(world, "an instance that AWS may terminate");
}
