//! Lifecycle hooks (Auto Scaling User Guide, "Amazon EC2 Auto Scaling lifecycle hooks").

use super::scene::{Scene, name, refusal, scene, scene_with};
use crate::core::document::Document;
use crate::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use crate::core::rules::group::operations::{Deletion, GroupUpdate, SettingsChange};
use crate::core::settings::HooksOf;
use foo_model::{ActivityStatus, Decrement, InstanceId, LifecycleState};

fn hook(name: &str, transition: Transition) -> HookChange {
    HookChange {
        name: name.to_owned(),
        transition: Some(transition),
        heartbeat: Some(60),
        ..HookChange::default()
    }
}

pub(super) fn drain() -> HookChange {
    hook("drain", Transition::Terminating)
}

fn boot() -> HookChange {
    hook("boot", Transition::Launching)
}

impl Scene {
    fn put(&self, change: HookChange) {
        self.with(|region| region.put_hook(&name("pool"), change)).expect("a hook");
    }

    fn complete(&self, hook: &str, id: &InstanceId, result: ActionResult) {
        let key = ActionKey::Instance(id.clone());
        self.with(|region| region.complete_action(&name("pool"), hook, &key, result)).expect("completed");
    }

    fn end(&self, id: &InstanceId, decrement: Decrement) {
        self.with(|region| region.terminate_member(id, decrement)).expect("accepted");
    }

    fn waiting(&self, state: &LifecycleState) -> Vec<InstanceId> {
        let members = self.group().members.into_values();
        members.filter(|member| &member.lifecycle == state).map(|member| member.id).collect()
    }
}

#[test]
fn a_terminating_instance_waits_until_the_action_is_completed() {
    let scene = scene();
    scene.settled_pool((0, 2, 5));
    scene.put(drain());
    let id = scene.in_service()[0].clone();
    scene.end(&id, Decrement::Shrink);
    scene.wait(59);
    assert_eq!(scene.waiting(&LifecycleState::TerminatingWait), std::slice::from_ref(&id));
    assert!(scene.with(|region| region.instance(&id).is_some_and(|instance| instance.state.is_alive())));
    scene.complete("drain", &id, ActionResult::Continue);
    assert_eq!(scene.waiting(&LifecycleState::TerminatingProceed), std::slice::from_ref(&id));
    scene.wait(16);
    assert_eq!((scene.group().members.len(), scene.group().sizes.desired), (1, 1));
    assert_eq!(scene.count_activities(ActivityStatus::Successful, "Terminating"), 1);
}

#[test]
fn a_wait_that_runs_out_takes_the_default_result() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    scene.put(drain());
    let id = scene.in_service()[0].clone();
    scene.end(&id, Decrement::Shrink);
    scene.wait(60);
    assert_eq!(scene.waiting(&LifecycleState::TerminatingProceed), [id]);
}

#[test]
fn heartbeats_restart_the_wait_up_to_a_hundred_times() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    scene.put(HookChange { heartbeat: Some(30), ..drain() });
    let id = scene.in_service()[0].clone();
    scene.end(&id, Decrement::Shrink);
    let key = ActionKey::Instance(id.clone());
    for _ in 0..149 {
        scene.wait(20);
        scene.with(|region| region.record_heartbeat(&name("pool"), "drain", &key)).expect("still waiting");
    }
    scene.wait(19);
    assert_eq!(scene.count(&LifecycleState::TerminatingWait), 1, "2,999 s: within 100 × 30 s");
    scene.wait(1);
    assert_eq!(scene.count(&LifecycleState::TerminatingWait), 0, "whatever the heartbeats");
    let (code, message) = refusal(scene.with(|region| region.record_heartbeat(&name("pool"), "drain", &key)));
    assert_eq!(code, "ValidationError");
    assert!(message.contains("No active Lifecycle Action found with instance ID"), "{message}");
}

#[test]
fn a_launching_instance_serves_after_continue_and_is_replaced_after_abandon() {
    let scene = scene();
    scene.create(scene.pool((0, 2, 5))).expect("a group");
    scene.put(boot());
    scene.wait(21);
    let waiting = scene.waiting(&LifecycleState::PendingWait);
    assert_eq!((waiting.len(), scene.in_service().len()), (2, 0));
    scene.complete("boot", &waiting[0], ActionResult::Continue);
    scene.complete("boot", &waiting[1], ActionResult::Abandon);
    scene.wait(2);
    assert_eq!(scene.in_service(), [waiting[0].clone()]);
    scene.wait(30);
    let replacement = scene.waiting(&LifecycleState::PendingWait);
    assert_eq!(replacement.len(), 1);
    assert_ne!(replacement[0], waiting[1]);
    let failed = scene.activities().into_iter().find(|it| it.status == ActivityStatus::Cancelled);
    let message = failed.and_then(|it| it.status_message).unwrap_or_default();
    assert!(message.contains("was abandoned"), "{message}");
}

#[test]
fn abandon_skips_the_other_hooks_and_continue_waits_for_them() {
    let scene = scene();
    scene.settled_pool((0, 2, 5));
    scene.put(drain());
    scene.put(HookChange { name: "logs".to_owned(), ..drain() });
    let ids = scene.in_service();
    for id in &ids {
        scene.end(id, Decrement::Shrink);
    }
    scene.complete("drain", &ids[0], ActionResult::Continue);
    scene.complete("drain", &ids[1], ActionResult::Abandon);
    assert_eq!(scene.waiting(&LifecycleState::TerminatingWait), [ids[0].clone()]);
    scene.complete("logs", &ids[0], ActionResult::Continue);
    scene.wait(16);
    assert_eq!(scene.group().members.len(), 0);
}

#[test]
fn a_retain_policy_keeps_an_instance_whose_hook_was_abandoned() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    scene.put(drain());
    let retain = Document::map().with(
        "RetentionTriggers",
        Some(Document::map().with("TerminateHookAbandon", Some(Document::text("retain")))),
    );
    let stored = [("InstanceLifecyclePolicy".to_owned(), retain)].into();
    let settings = SettingsChange { stored, ..SettingsChange::default() };
    let update = GroupUpdate { settings, ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("updated");
    let id = scene.in_service()[0].clone();
    scene.end(&id, Decrement::Shrink);
    scene.complete("drain", &id, ActionResult::Abandon);
    scene.wait(300);
    assert_eq!(scene.waiting(&LifecycleState::TerminatingRetained), std::slice::from_ref(&id));
    scene.end(&id, Decrement::Replace);
    scene.complete("drain", &id, ActionResult::Continue);
    scene.wait(16);
    assert_eq!(scene.group().members.len(), 0);
}

#[test]
fn every_termination_but_a_forced_deletion_runs_the_hooks() {
    let scene = scene();
    scene.settled_pool((0, 3, 5));
    scene.put(drain());
    scene.set_desired(2).expect("lowered");
    scene.wait(1);
    assert_eq!(scene.count(&LifecycleState::TerminatingWait), 1, "scale-in");
    let sick = scene.in_service()[0].clone();
    let unhealthy = foo_model::Health::Unhealthy;
    let grace = crate::core::rules::group::members::GracePeriod::Ignored;
    scene.with(|region| region.set_health(&sick, unhealthy, grace)).expect("marked");
    scene.wait(1);
    assert_eq!(scene.count(&LifecycleState::TerminatingWait), 2, "health replacement");
    scene.with(|region| region.delete_group(&name("pool"), Deletion::Forced)).expect("accepted");
    scene.wait(20);
    assert!(scene.region.group("pool").is_none(), "without hooks");
}

#[test]
fn an_instance_killed_in_ec2_waits_for_its_hooks_all_the_same_or_not() {
    for (setting, waits) in [(HooksOf::Awaited, 1), (HooksOf::Skipped, 0)] {
        let scene = scene_with(|settings| settings.hooks_of_dead = setting);
        scene.settled_pool((0, 1, 5));
        scene.put(drain());
        let id = scene.in_service()[0].clone();
        scene.region.kill_instance(&id).expect("killed");
        scene.wait(31);
        assert_eq!(scene.count(&LifecycleState::TerminatingWait), waits);
    }
}

#[test]
fn a_deleted_hook_completes_what_waits_for_it() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    scene.put(drain());
    let id = scene.in_service()[0].clone();
    scene.end(&id, Decrement::Shrink);
    scene.with(|region| region.delete_hook(&name("pool"), "drain")).expect("deleted");
    assert_eq!(scene.waiting(&LifecycleState::TerminatingProceed), [id]);
    let (code, _) = refusal(scene.with(|region| region.delete_hook(&name("pool"), "drain")));
    assert_eq!(code, "ValidationError");
}

#[test]
fn hooks_are_bounded_and_an_update_keeps_what_it_does_not_name() {
    let scene = scene();
    scene.settled_pool((0, 0, 5));
    let put = |change| scene.with(|region| region.put_hook(&name("pool"), change));
    assert_eq!(refusal(put(HookChange { heartbeat: Some(29), ..drain() })).0, "ValidationError");
    assert_eq!(refusal(put(HookChange { heartbeat: Some(7_201), ..drain() })).0, "ValidationError");
    assert_eq!(refusal(put(HookChange { transition: None, ..drain() })).0, "ValidationError");
    assert_eq!(refusal(put(HookChange { name: "a b".to_owned(), ..drain() })).0, "ValidationError");
    for number in 0..50 {
        put(HookChange { name: format!("hook-{number}"), ..drain() }).expect("one of fifty");
    }
    assert_eq!(refusal(put(drain())).0, "LimitExceeded");
    let change = HookChange {
        name: "hook-7".to_owned(),
        default_result: Some(ActionResult::Continue),
        ..HookChange::default()
    };
    put(change).expect("updated");
    let hook = scene.group().hooks["hook-7"].clone();
    assert_eq!((hook.heartbeat.as_secs(), hook.longest_wait().as_secs()), (60, 6_000));
    assert_eq!(hook.default_result, ActionResult::Continue);
}

#[test]
fn a_target_is_sent_a_test_message_and_an_empty_one_is_cleared() {
    let scene = scene();
    scene.settled_pool((0, 0, 5));
    let with = |texts: &[(&str, &str)]| HookChange {
        notification: texts.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect(),
        ..drain()
    };
    let put = |change| scene.with(|region| region.put_hook(&name("pool"), change));
    let (target, role) = (("NotificationTargetARN", "arn:queue"), ("RoleARN", "arn:role"));
    let text = ("NotificationMetadata", "m");
    let without_role = refusal(put(with(&[target])));
    assert_eq!(without_role.0, "ValidationError");
    assert!(without_role.1.starts_with("Unable to publish test message"), "{}", without_role.1);
    put(with(&[target, role, text])).expect("with a role");
    put(with(&[])).expect("it keeps what it does not name");
    let has = || scene.group().hooks["drain"].notification.clone();
    assert_eq!(has(), with(&[target, role, text]).notification);
    put(with(&[("NotificationTargetARN", "")])).expect("cleared");
    assert_eq!(has(), with(&[text]).notification);
    scene.with(|region| region.settings.unreachable_targets.insert("arn:queue".to_owned()));
    assert_eq!(refusal(put(with(&[target, role]))).0, "ValidationError");
    assert_eq!(has(), with(&[text]).notification);
}

#[test]
fn a_retained_instance_that_is_killed_in_ec2_leaves() {
    let scene = scene();
    scene.settled_pool((0, 1, 8));
    scene.put(drain());
    let retain = Document::map().with(
        "RetentionTriggers",
        Some(Document::map().with("TerminateHookAbandon", Some(Document::text("retain")))),
    );
    let settings = SettingsChange {
        stored: [("InstanceLifecyclePolicy".to_owned(), retain)].into(),
        ..SettingsChange::default()
    };
    let update = GroupUpdate { settings, ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("updated");
    let id = scene.in_service()[0].clone();
    scene.end(&id, Decrement::Shrink);
    scene.complete("drain", &id, ActionResult::Abandon);
    scene.wait(10);
    assert_eq!(scene.waiting(&LifecycleState::TerminatingRetained), std::slice::from_ref(&id));
    scene.with(|region| region.terminate_in_ec2(&id, ("Client", "user")));
    scene.wait(300);
    assert!(scene.group().members.is_empty());
    assert_eq!(scene.count_activities(ActivityStatus::InProgress, ""), 0);
}
