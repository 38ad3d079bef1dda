//! Health: instances that die behind their group's back, and those reported as unhealthy.

use super::scene::{name, refusal, scene};
use crate::core::rules::group::members::GracePeriod;
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, Health, LifecycleState, Process, Protection};

/// "EC2 TerminateInstances on a member: the group notices at its next health check (seconds to minutes), marks it
/// Unhealthy, runs the terminating transition and launches a replacement."
#[test]
fn a_killed_member_is_noticed_and_replaced() {
    let scene = scene();
    let mut new = scene.pool((2, 2, 2));
    // "Protection does not help against: health replacement … direct EC2 termination".
    new.new_instances = Protection::Protected;
    scene.create(new).expect("a group");
    scene.wait(21);
    let id = scene.in_service().remove(0);
    scene.region.kill_instance(&id).expect("killed");
    assert_eq!(scene.group().members[&id].lifecycle, LifecycleState::InService, "not noticed yet");
    assert_eq!(scene.region.instance(&id).map(|it| it.state), Some(InstanceState::ShuttingDown));
    scene.wait(31);
    let member = scene.group().members.get(&id).cloned();
    assert!(
        member.is_none_or(|it| it.lifecycle == LifecycleState::Terminating && it.health == Health::Unhealthy)
    );
    scene.wait(30);
    assert_eq!(scene.in_service().len(), 2);
    assert!(!scene.in_service().contains(&id));
    let ended = scene
        .activities()
        .into_iter()
        .find(|it| it.description == format!("Terminating EC2 instance: {id}"))
        .expect("an activity");
    assert_eq!(ended.status, ActivityStatus::Successful);
    assert!(ended.cause.contains("in response to an EC2 health check"), "{}", ended.cause);
}

/// The HealthCheck process: while it is suspended the group ignores failures; when it is resumed the group checks again.
#[test]
fn without_health_checks_failures_go_unnoticed() {
    let scene = scene();
    scene.settled_pool((1, 1, 1));
    let pool = name("pool");
    scene.with(|region| region.suspend_processes(&pool, &[Process::HealthCheck])).expect("suspended");
    let id = scene.in_service().remove(0);
    scene.region.kill_instance(&id).expect("killed");
    assert_eq!(scene.wait(600).group().members[&id].health, Health::Healthy);
    scene.with(|region| region.resume_processes(&pool, &[Process::HealthCheck])).expect("resumed");
    scene.wait(25);
    assert!(!scene.in_service().contains(&id));
    assert_eq!(scene.in_service().len(), 1);
}

/// The ReplaceUnhealthy process: members are marked, but stay.
#[test]
fn without_replacement_the_unhealthy_stay() {
    let scene = scene();
    scene.settled_pool((1, 1, 1));
    let pool = name("pool");
    scene.with(|region| region.suspend_processes(&pool, &[Process::ReplaceUnhealthy])).expect("suspended");
    let id = scene.in_service().remove(0);
    scene.region.kill_instance(&id).expect("killed");
    scene.wait(600);
    let member = scene.group().members[&id].clone();
    assert_eq!((member.health, member.lifecycle), (Health::Unhealthy, LifecycleState::InService));
    scene.with(|region| region.resume_processes(&pool, &[Process::ReplaceUnhealthy])).expect("resumed");
    scene.wait(25);
    assert!(!scene.group().members.contains_key(&id));
}

/// "SetInstanceHealth(Unhealthy) likewise, after the grace period if asked."
#[test]
fn a_member_can_be_reported_unhealthy() {
    let scene = scene();
    let mut new = scene.pool((1, 1, 1));
    new.settings.grace = Some(std::time::Duration::from_secs(100));
    scene.create(new).expect("a group");
    scene.wait(21);
    let id = scene.in_service().remove(0);
    let report =
        |grace| scene.with(|region| region.set_health(&id, Health::Unhealthy, grace)).expect("reported");
    report(GracePeriod::Respected);
    assert_eq!(scene.wait(1).group().members[&id].health, Health::Healthy, "within the grace period");
    report(GracePeriod::Ignored);
    assert_eq!(scene.wait(0).group().members[&id].lifecycle, LifecycleState::Terminating);
    scene.wait(25);
    assert_eq!(scene.in_service().len(), 1);
    let gone = scene.with(|region| region.set_health(&id, Health::Unhealthy, GracePeriod::Ignored));
    assert_eq!(refusal(gone).0, "ValidationError");
}

/// An instance that dies while it launches: the launch is cancelled in AWS's words, another one follows.
#[test]
fn an_instance_can_die_while_it_launches() {
    let scene = scene();
    scene.create(scene.pool((1, 1, 1))).expect("a group");
    scene.wait(5);
    let id = scene.group().members.into_keys().next().expect("a member");
    scene.region.kill_instance(&id).expect("killed");
    scene.wait(15);
    let launch =
        scene.activities().into_iter().find(|it| it.description.starts_with("Launching")).expect("a launch");
    // The newest launch is the replacement's; the first was cancelled.
    assert_eq!(launch.status, ActivityStatus::InProgress);
    assert_eq!(
        scene.count_activities(ActivityStatus::Cancelled, &format!("Launching a new EC2 instance: {id}")),
        1
    );
    scene.wait(30);
    assert_eq!(scene.in_service().len(), 1);
    assert!(!scene.group().members.contains_key(&id));
}

/// An instance that is terminated in EC2 twice ends once.
#[test]
fn killing_twice_changes_nothing() {
    let scene = scene();
    scene.settled_pool((1, 1, 1));
    let id = scene.in_service().remove(0);
    scene.region.kill_instance(&id).expect("killed");
    scene.wait(5).region.kill_instance(&id).expect("accepted");
    scene.wait(100);
    assert_eq!(scene.count_activities(ActivityStatus::Successful, "Terminating"), 1);
    assert!(scene.region.kill_instance(&"i-00000000000000000".into()).is_err());
}
