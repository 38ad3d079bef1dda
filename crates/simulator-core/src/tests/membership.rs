//! Standby, detach, attach.

use super::scene::{name, refusal, scene, scene_with};
use crate::core::rules::group::operations::Deletion;
use crate::core::settings::BusyTermination;
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, Decrement, LifecycleState};

/// EnterStandby with decrement: the member stays, no longer counts, comes back with ExitStandby.
#[test]
fn standby_and_back() {
    let scene = scene();
    scene.settled_pool((0, 2, 3));
    let id = scene.in_service().remove(0);
    let pool = name("pool");
    scene
        .with(|region| region.enter_standby(&pool, std::slice::from_ref(&id), Decrement::Shrink))
        .expect("entering");
    assert_eq!(scene.count(&LifecycleState::EnteringStandby), 1);
    scene.wait(60);
    assert_eq!((scene.count(&LifecycleState::Standby), scene.group().sizes.desired), (1, 1));
    assert_eq!(scene.group().members.len(), 2);
    scene.with(|region| region.exit_standby(&pool, std::slice::from_ref(&id))).expect("returning");
    scene.wait(5);
    assert_eq!((scene.in_service().len(), scene.group().sizes.desired), (2, 2));
    // Without decrement a replacement comes.
    scene
        .with(|region| region.enter_standby(&pool, std::slice::from_ref(&id), Decrement::Replace))
        .expect("entering");
    scene.wait(30);
    assert_eq!((scene.in_service().len(), scene.count(&LifecycleState::Standby)), (2, 1));
    // Back with three would be fine, beyond the maximum is not.
    scene.set_desired(3).expect("up");
    scene.wait(30);
    assert_eq!(refusal(scene.with(|region| region.exit_standby(&pool, &[id]))).0, "ValidationError");
}

/// DetachInstances leaves the instance alive; AttachInstances takes it in again.
#[test]
fn detach_and_attach() {
    let scene = scene();
    scene.settled_pool((1, 2, 3));
    let id = scene.in_service().remove(0);
    let pool = name("pool");
    scene
        .with(|region| region.detach_instances(&pool, std::slice::from_ref(&id), Decrement::Shrink))
        .expect("detaching");
    scene.wait(5);
    assert!(!scene.group().members.contains_key(&id));
    let instance = scene.region.instance(&id).expect("it lives");
    assert_eq!((instance.state, instance.group), (InstanceState::Running, None));
    let last = scene.in_service().remove(0);
    let below = scene.with(|region| region.detach_instances(&pool, &[last], Decrement::Shrink));
    assert_eq!(refusal(below).0, "ValidationError");
    // An id that is no member changes nothing.
    let foreign =
        scene.with(|region| region.detach_instances(&pool, std::slice::from_ref(&id), Decrement::Shrink));
    assert_eq!(refusal(foreign).0, "ValidationError");
    assert_eq!(scene.group().sizes.desired, 1);
    scene.with(|region| region.attach_instances(&pool, std::slice::from_ref(&id))).expect("attached");
    scene.wait(5);
    assert_eq!((scene.in_service().len(), scene.group().sizes.desired), (2, 2));
    assert!(scene.in_service().contains(&id));
}

/// An activity ends with what it is about: none is left in progress to keep the group from being deleted.
#[test]
fn what_leaves_in_the_middle_of_a_move_ends_the_move() {
    let scene = scene_with(|settings| settings.busy_termination = BusyTermination::Accepted);
    scene.settled_pool((0, 2, 8));
    let id = scene.in_service()[0].clone();
    scene
        .with(|region| region.enter_standby(&name("pool"), std::slice::from_ref(&id), Decrement::Shrink))
        .expect("entering");
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("terminated");
    scene.set_desired(0).expect("set");
    scene.wait(120);
    assert_eq!(scene.count_activities(ActivityStatus::InProgress, ""), 0);
    scene.with(|region| region.delete_group(&name("pool"), Deletion::IfEmpty)).expect("deleted");
}

#[test]
fn an_instance_that_is_named_twice_moves_once() {
    let scene = scene();
    scene.settled_pool((0, 3, 8));
    let id = scene.in_service()[0].clone();
    let twice = [id.clone(), id];
    let moves = scene.with(|region| region.enter_standby(&name("pool"), &twice, Decrement::Shrink));
    assert_eq!(moves.map(|it| it.len()).expect("entering"), 1);
    assert_eq!(scene.group().sizes.desired, 2);
    scene.wait(30);
    assert_eq!(scene.count_activities(ActivityStatus::InProgress, ""), 0);
}
