//! Sizes: minimum, maximum, desired capacity; making, changing and deleting groups.

use super::scene::{name, refusal, scene, scene_with};
use crate::core::rules::group::operations::{Cooldown, Deletion, GroupUpdate};
use foo_model::{ActivityStatus, GroupStatus, LifecycleState, Sizes};
use std::time::Duration;

fn update(min: Option<u32>, desired: Option<u32>, max: Option<u32>) -> GroupUpdate {
    GroupUpdate { min, max, desired, ..GroupUpdate::default() }
}

/// "Names are unique per account and region (AlreadyExists)."
#[test]
fn a_name_can_be_used_once() {
    let scene = scene();
    let new = scene.pool((0, 1, 3));
    scene.create(new.clone()).expect("the first");
    let (code, message) = refusal(scene.create(new));
    assert_eq!(code, "AlreadyExists");
    assert!(message.contains("A group with the name pool already exists"), "{message}");
}

/// CreateAutoScalingGroup: desired capacity starts at the minimum size if not given.
#[test]
fn desired_capacity_starts_at_the_minimum() {
    let scene = scene();
    let mut new = scene.pool((2, 0, 3));
    new.desired = None;
    scene.create(new).expect("a group");
    assert_eq!(scene.group().sizes, Sizes { min: 2, max: 3, desired: 2 });
}

/// "min > max: ValidationError"; desired outside of them as well.
#[test]
fn sizes_must_be_in_order() {
    let scene = scene();
    let new = scene.pool((0, 0, 0));
    for (min, desired, max) in [(3, 3, 2), (1, 0, 2), (0, 3, 2)] {
        let mut new = new.clone();
        (new.min, new.desired, new.max) = (min, Some(desired), max);
        assert_eq!(refusal(scene.create(new)).0, "ValidationError", "{min} {desired} {max}");
    }
}

/// "Desired outside min…max: ValidationError (New SetDesiredCapacity value N is above max value M…)".
#[test]
fn desired_capacity_stays_within_the_bounds() {
    let scene = scene();
    scene.settled_pool((1, 2, 3));
    let (code, message) = refusal(scene.set_desired(4));
    assert_eq!(code, "ValidationError");
    assert_eq!(message, "New SetDesiredCapacity value 4 is above max value 3 for the AutoScalingGroup.");
    let (_, message) = refusal(scene.set_desired(0));
    assert_eq!(message, "New SetDesiredCapacity value 0 is below min value 1 for the AutoScalingGroup.");
    assert_eq!(scene.group().sizes.desired, 2);
}

/// "UpdateAutoScalingGroup with a max below desired lowers desired; min above desired raises it."
#[test]
fn bounds_push_desired_capacity() {
    let scene = scene();
    scene.settled_pool((0, 3, 5));
    let change = |update| scene.with(|region| region.update_group(&name("pool"), update));
    change(update(None, None, Some(2))).expect("lowered");
    assert_eq!(scene.group().sizes, Sizes { min: 0, max: 2, desired: 2 });
    change(update(Some(4), None, Some(6))).expect("raised");
    assert_eq!(scene.group().sizes, Sizes { min: 4, max: 6, desired: 4 });
    assert_eq!(refusal(change(update(Some(7), None, None))).0, "ValidationError");
    let (_, message) = refusal(change(update(None, Some(9), None)));
    assert_eq!(message, "Desired capacity:9 must be between the specified min size:4 and max size:6");
    assert_eq!(scene.wait(30).in_service().len(), 4);
}

/// "HonorCooldown within the cooldown: ScalingActivityInProgress."
#[test]
fn a_cooldown_is_honored_only_when_asked() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    let set = |cooldown| scene.with(|region| region.set_desired_capacity(&name("pool"), 2, cooldown));
    assert_eq!(refusal(set(Cooldown::Honored)).0, "ScalingActivityInProgress");
    set(Cooldown::Ignored).expect("not asked");
    scene.wait(400);
    scene
        .with(|region| region.set_desired_capacity(&name("pool"), 3, Cooldown::Honored))
        .expect("the cooldown is over");
}

/// A group notices a difference after its reaction time, not within the call.
#[test]
fn a_group_takes_a_moment_to_react() {
    let scene = scene_with(|settings| settings.reaction = Duration::from_secs(2));
    scene.create(scene.pool((0, 2, 3))).expect("a group");
    assert_eq!(scene.wait(1).group().members.len(), 0);
    assert_eq!(scene.wait(1).count(&LifecycleState::Pending), 2);
    assert_eq!(scene.wait(20).in_service().len(), 2);
}

/// "DeleteAutoScalingGroup: with instances … and no ForceDelete ResourceInUse".
#[test]
fn a_group_with_instances_is_not_deleted() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    let delete = |how| scene.with(|region| region.delete_group(&name("pool"), how));
    let (code, message) = refusal(delete(Deletion::IfEmpty));
    assert_eq!(code, "ResourceInUse");
    assert!(
        message.starts_with("You cannot delete an AutoScalingGroup while there are instances"),
        "{message}"
    );
    scene.set_desired(0).expect("down");
    // Terminating instances are instances too.
    assert_eq!(refusal(delete(Deletion::IfEmpty)).0, "ResourceInUse");
    scene.wait(20);
    delete(Deletion::IfEmpty).expect("empty now");
    assert_eq!(scene.group().status, GroupStatus::Deleting);
    scene.wait(3);
    assert!(scene.region.group("pool").is_none());
    assert_eq!(refusal(delete(Deletion::IfEmpty)).0, "ValidationError");
}

/// "ForceDelete ends all instances without hooks. While it runs the group's Status is 'Delete in progress'."
#[test]
fn force_delete_ends_even_protected_instances() {
    let scene = scene();
    let mut new = scene.pool((2, 2, 5));
    new.new_instances = foo_model::Protection::Protected;
    scene.create(new.clone()).expect("a group");
    scene.wait(21).with(|region| region.delete_group(&name("pool"), Deletion::Forced)).expect("forced");
    assert_eq!(scene.group().status, GroupStatus::Deleting);
    assert_eq!(scene.count(&LifecycleState::Terminating), 2);
    // Meanwhile the name is still taken and the group cannot be changed.
    let (code, message) = refusal(scene.create(new.clone()));
    assert_eq!(code, "AlreadyExists");
    assert!(message.ends_with("is pending delete"), "{message}");
    assert_eq!(refusal(scene.set_desired(1)).0, "ValidationError");
    scene.wait(20);
    assert!(scene.region.group("pool").is_none());
    assert_eq!(scene.count_activities(ActivityStatus::Successful, "Terminating EC2 instance"), 2);
    scene.create(new).expect("the name is free again");
    assert_eq!(scene.wait(21).in_service().len(), 2);
}

/// "Deletion protection (prevent-force-deletion, prevent-all-deletion) refuses."
#[test]
fn deletion_protection_refuses() {
    let scene = scene();
    let mut new = scene.pool((0, 0, 1));
    new.settings.deletion_protection = Some("prevent-force-deletion".to_owned());
    scene.create(new).expect("a group");
    let delete = |how| scene.with(|region| region.delete_group(&name("pool"), how));
    assert!(delete(Deletion::Forced).is_err());
    let protect = GroupUpdate {
        settings: crate::core::rules::group::operations::SettingsChange {
            deletion_protection: Some("prevent-all-deletion".to_owned()),
            ..Default::default()
        },
        ..GroupUpdate::default()
    };
    scene.with(|region| region.update_group(&name("pool"), protect)).expect("changed");
    assert!(delete(Deletion::IfEmpty).is_err());
}

/// Reads are eventually consistent, writes are not.
#[test]
fn reads_lag_behind_if_configured() {
    let scene = scene_with(|settings| settings.read_lag = Duration::from_secs(3));
    let new = scene.pool((0, 1, 1));
    scene.create(new.clone()).expect("a group");
    let seen = || scene.with(|region| region.group_seen(&name("pool")).map(|group| group.members.len()));
    assert_eq!(seen(), None);
    assert_eq!(refusal(scene.create(new)).0, "AlreadyExists");
    scene.wait(3);
    assert_eq!(seen(), Some(1));
}
