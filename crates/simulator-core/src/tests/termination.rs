//! Terminations: scale-in, protection, TerminateInstanceInAutoScalingGroup, suspended processes.

use super::scene::{name, refusal, scene, scene_with};
use crate::core::rules::group::operations::GroupUpdate;
use crate::core::settings::{RepeatedTermination, Replacement};
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, Decrement, LifecycleState, Process, Protection, Zone};
use std::collections::BTreeMap;

/// "Terminating → Terminated (then gone from the group; EC2 shows terminated for about an hour)".
#[test]
fn a_termination_takes_its_time_and_leaves_a_trace() {
    let scene = scene();
    scene.settled_pool((0, 1, 1));
    let id = scene.in_service().remove(0);
    scene.set_desired(0).expect("down");
    scene.wait(0);
    assert_eq!(scene.count(&LifecycleState::Terminating), 1);
    let state = || scene.region.instance(&id).map(|instance| instance.state);
    assert_eq!(state(), Some(InstanceState::ShuttingDown));
    scene.wait(15);
    assert_eq!(scene.group().members.len(), 0);
    assert_eq!(state(), Some(InstanceState::Terminated));
    let activity = &scene.activities()[0];
    assert_eq!(
        (activity.status, &activity.description),
        (ActivityStatus::Successful, &format!("Terminating EC2 instance: {id}"))
    );
    assert!(
        activity.cause.ends_with(&format!("instance {id} was selected for termination.")),
        "{}",
        activity.cause
    );
    scene.wait(3599);
    assert_eq!(state(), Some(InstanceState::Terminated));
    scene.wait(1);
    assert_eq!(state(), None);
}

/// "Scale-in by AWS: picks AZ with most instances → termination policies" (default: the oldest template version, here
/// then the oldest instance).
#[test]
fn scale_in_takes_the_oldest_of_the_fullest_zone() {
    let scene = scene();
    scene.settled_pool((0, 4, 9));
    let group = scene.group();
    let mut zones: BTreeMap<&Zone, Vec<_>> = BTreeMap::new();
    for member in group.members.values() {
        zones.entry(&member.zone).or_default().push((member.launched, &member.id));
    }
    let fullest = zones.into_values().max_by_key(Vec::len).expect("zones");
    assert_eq!(fullest.len(), 2);
    let oldest = fullest.into_iter().min().expect("members").1;
    scene.set_desired(3).expect("down");
    scene.wait(0);
    assert_eq!(scene.group().members[oldest].lifecycle, LifecycleState::Terminating);
}

/// "instances protected from scale-in are never picked: desired goes down, the instances stay, an activity says that
/// the remaining instances are protected".
#[test]
fn protected_instances_stay() {
    let scene = scene();
    let mut new = scene.pool((0, 3, 9));
    new.new_instances = Protection::Protected;
    scene.create(new).expect("a group");
    scene.wait(21);
    scene.set_desired(1).expect("down");
    scene.wait(60);
    assert_eq!((scene.group().sizes.desired, scene.in_service().len()), (1, 3));
    let complaints = || {
        scene.count_activities(
            ActivityStatus::Cancelled,
            "Could not scale to desired capacity because all remaining instances are protected from scale-in.",
        )
    };
    assert_eq!(complaints(), 1, "said once, not at each evaluation");
    // Without protection they can go.
    let id = scene.in_service().remove(0);
    scene
        .with(|region| {
            region.set_protection(&name("pool"), std::slice::from_ref(&id), Protection::Unprotected)
        })
        .expect("unprotected");
    scene.wait(0);
    assert_eq!(scene.group().members[&id].lifecycle, LifecycleState::Terminating);
    assert_eq!(scene.wait(20).in_service().len(), 2);
    assert_eq!(complaints(), 1);
}

/// "NewInstancesProtectedFromScaleIn applies at launch": a change touches new instances only.
#[test]
fn protection_of_new_instances_applies_at_launch() {
    let scene = scene();
    scene.settled_pool((0, 1, 9));
    let update = GroupUpdate { new_instances: Some(Protection::Protected), ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("changed");
    scene.set_desired(2).expect("up");
    scene.wait(21);
    let protected =
        scene.group().members.values().filter(|it| it.protection == Protection::Protected).count();
    assert_eq!(protected, 1);
}

/// SetInstanceProtection: at most 50 ids, members only, all or nothing.
#[test]
fn protection_is_set_for_members_only() {
    let scene = scene();
    scene.settled_pool((0, 2, 9));
    let ids = scene.in_service();
    let set =
        |ids: &[_]| scene.with(|region| region.set_protection(&name("pool"), ids, Protection::Protected));
    let foreign = "i-00000000000000000".into();
    let (code, message) = refusal(set(&[ids[0].clone(), foreign]));
    assert_eq!(code, "ValidationError");
    assert_eq!(message, "The instance i-00000000000000000 is not part of Auto Scaling group pool.");
    assert!(scene.group().members.values().all(|it| it.protection == Protection::Unprotected));
    assert!(set(&vec![ids[0].clone(); 51]).is_err());
    set(&ids).expect("members");
    assert!(scene.group().members.values().all(|it| it.protection == Protection::Protected));
}

/// "TerminateInstanceInAutoScalingGroup ends a protected instance too. With decrement: desired − 1".
#[test]
fn a_termination_with_decrement_shrinks_the_group() {
    let scene = scene();
    let mut new = scene.pool((1, 3, 9));
    new.new_instances = Protection::Protected;
    scene.create(new).expect("a group");
    scene.wait(21);
    let ids = scene.in_service();
    let end = |id| scene.with(|region| region.terminate_member(id, Decrement::Shrink));
    let activity = end(&ids[0]).expect("ended");
    assert_eq!(activity.status, ActivityStatus::InProgress);
    assert!(activity.cause.ends_with("in response to a user request, shrinking the capacity from 3 to 2."));
    assert_eq!(scene.group().sizes.desired, 2);
    assert_eq!(scene.wait(60).in_service().len(), 2);
    // "refused with ValidationError when desired equals min size"
    end(&ids[1]).expect("ended");
    let (code, message) = refusal(end(&ids[2]));
    assert_eq!(code, "ValidationError");
    assert!(message.starts_with("Currently, desiredSize equals minSize (1)."), "{message}");
    assert_eq!(scene.group().members[&ids[2]].lifecycle, LifecycleState::InService);
}

/// "without: a replacement is launched".
#[test]
fn a_termination_without_decrement_is_replaced() {
    let scene = scene();
    scene.settled_pool((2, 2, 2));
    let ids = scene.in_service();
    scene.with(|region| region.terminate_member(&ids[0], Decrement::Replace)).expect("ended");
    scene.wait(0);
    assert_eq!(scene.group().sizes.desired, 2);
    assert_eq!((scene.count(&LifecycleState::Terminating), scene.count(&LifecycleState::Pending)), (1, 1));
    assert_eq!(scene.wait(21).in_service().len(), 2);
    assert!(!scene.in_service().contains(&ids[0]));
}

/// The order of replacement is an assumption with a switch.
#[test]
fn a_replacement_can_wait_for_the_end_of_the_old_instance() {
    let scene = scene_with(|settings| settings.replacement = Replacement::AfterTermination);
    scene.settled_pool((2, 2, 2));
    let id = scene.in_service().remove(0);
    scene.with(|region| region.terminate_member(&id, Decrement::Replace)).expect("ended");
    scene.wait(14);
    assert_eq!(scene.count(&LifecycleState::Pending), 0);
    scene.wait(1);
    assert_eq!(scene.count(&LifecycleState::Pending), 1);
}

/// "Unknown or already removed id: ValidationError. An id already in a Terminating state: accepted, nothing further
/// happens, desired untouched (A)."
#[test]
fn repeated_and_unknown_terminations() {
    let scene = scene();
    scene.settled_pool((0, 2, 2));
    let id = scene.in_service().remove(0);
    let end = |id| scene.with(|region| region.terminate_member(id, Decrement::Shrink));
    let first = end(&id).expect("ended");
    let again = end(&id).expect("accepted");
    assert_eq!(first.id, again.id);
    assert_eq!(scene.group().sizes.desired, 1);
    scene.wait(20);
    let (code, message) = refusal(end(&id));
    assert_eq!(code, "ValidationError");
    assert!(message.starts_with("Instance Id not found"), "{message}");
    assert_eq!(refusal(end(&"i-00000000000000000".into())).0, "ValidationError");
    assert_eq!(scene.group().sizes.desired, 1);
}

/// The other response to the same assumption.
#[test]
fn a_repeated_termination_can_be_refused() {
    let scene = scene_with(|settings| settings.repeated_termination = RepeatedTermination::Refused);
    scene.settled_pool((0, 2, 2));
    let id = scene.in_service().remove(0);
    let end = || scene.with(|region| region.terminate_member(&id, Decrement::Shrink));
    end().expect("ended");
    assert_eq!(refusal(end()).0, "ScalingActivityInProgress");
}

/// Scale-in may take an instance that is still launching; its launch is then cancelled.
#[test]
fn a_launch_can_be_called_off_by_scale_in() {
    let scene = scene();
    scene.create(scene.pool((0, 1, 1))).expect("a group");
    scene.wait(5);
    scene.set_desired(0).expect("down");
    scene.wait(0);
    assert_eq!(scene.count(&LifecycleState::Terminating), 1);
    assert_eq!(scene.count_activities(ActivityStatus::Cancelled, "Launching"), 1);
    assert_eq!(scene.wait(30).group().members.len(), 0);
}

/// SuspendProcesses: Launch and Terminate; resuming does what was put off.
#[test]
fn suspended_processes_do_nothing() {
    let scene = scene();
    scene.settled_pool((0, 2, 9));
    let pool = name("pool");
    let suspend =
        |process| scene.with(|region| region.suspend_processes(&pool, &[process])).expect("suspended");
    let resume = |process| scene.with(|region| region.resume_processes(&pool, &[process])).expect("resumed");
    suspend(Process::Launch);
    scene.set_desired(4).expect("up");
    assert_eq!(scene.wait(60).group().members.len(), 2);
    resume(Process::Launch);
    assert_eq!(scene.wait(21).in_service().len(), 4);
    suspend(Process::Terminate);
    scene.set_desired(1).expect("down");
    assert_eq!(scene.wait(60).in_service().len(), 4);
    resume(Process::Terminate);
    assert_eq!(scene.wait(21).in_service().len(), 1);
}
