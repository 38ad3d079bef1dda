//! Races with AWS: late reads, lost responses, launches that fail, groups that vanish.

use super::{deletions, ends, words};
use crate::world::{Fault, Launches, foreign_group, pool};
use foo_model::Decrement;
use foo_planner::report::{ConditionKind, Status};

#[test]
fn r5_a_terminate_whose_response_was_lost_is_never_a_second_decrement() {
    for fault in [Fault::ResponseLost, Fault::RequestLost] {
        let mut world = pool().of(3).running();
        world.scale_to(2);
        world.observe_and_plan();
        world.kube.drain(world.now, &world.cloud);
        world.wait(1);
        world.read_group();
        let plan = world.pass_of(0, &mut |_, _| fault);
        assert_eq!(ends(&plan), [Decrement::Shrink]);
        // The manager cannot know. Reads are late as well: for a while they show the old group.
        for lag in [8, 6, 4, 2] {
            world.wait(1);
            world.observe_with_lag(lag);
            assert_eq!(ends(&world.pass()), [], "{fault:?}");
            assert!(world.cloud.sizes().desired >= 2);
        }
        world.settle();
        assert_eq!((world.cloud.sizes().desired, world.cloud.existing()), (2, 2), "{fault:?}");
        assert_eq!(world.cloud.launched, 3, "nothing was launched to make up for a mistake");
    }
}

#[test]
fn r6_a_stale_view_after_our_own_raise_raises_nothing_and_after_our_own_end_ends_nothing() {
    let mut world = pool().of(2).running();
    world.scale_to(4);
    assert_eq!(words(&world.observe_and_plan()), ["update group max=4 desired=4"]);
    let writes = world.cloud.writes;
    for _ in 0..5 {
        world.wait(1);
        world.observe_with_lag(7);
        assert_eq!(words(&world.pass()), Vec::<String>::new());
    }
    // Nor without any new read.
    assert_eq!(words(&world.pass()), Vec::<String>::new());
    assert_eq!(world.cloud.writes, writes);
    world.settle();
    assert_eq!(world.cloud.launched, 4);

    world.scale_to(3);
    assert_eq!(deletions(&world.observe_and_plan()), 1);
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(ends(&world.observe_and_plan()), [Decrement::Shrink]);
    for _ in 0..5 {
        world.wait(1);
        world.observe_with_lag(7);
        assert_eq!(words(&world.pass()), Vec::<String>::new(), "no second victim, no second end");
    }
    world.settle();
    assert_eq!(world.kube.alive().len(), 3);
}

#[test]
fn r16_a_group_deleted_by_hand_loses_its_machines_and_is_created_again_with_an_event() {
    let mut world = pool().of(2).running();
    let before = world.kube.alive();
    world.cloud.delete_by_force(world.now);
    let plan = world.observe_and_plan();
    let group =
        plan.report.conditions.iter().find(|it| it.kind == ConditionKind::AutoScalingGroupReady).unwrap();
    assert_eq!((group.status, group.reason.as_str()), (Status::False, "GroupLost"));
    assert!(
        plan.report
            .events
            .iter()
            .any(|event| event.reason == foo_model::EventReason::AutoScalingGroupRecreated)
    );
    assert_eq!(plan.report.provider_ids.as_ref().map(Vec::len), Some(2), "ids stay until EC2 was asked");
    let plan = world.settle();
    let group =
        plan.report.conditions.iter().find(|it| it.kind == ConditionKind::AutoScalingGroupReady).unwrap();
    assert_eq!((group.status, group.reason.as_str()), (Status::True, "GroupRecreated"));
    assert_eq!(world.kube.alive().len(), 2);
    assert!(world.kube.alive().iter().all(|name| !before.contains(name)));
}

#[test]
fn r18_launches_that_fail_for_hours_are_cancelled_when_the_target_sinks_and_nothing_dies() {
    let mut world = pool().of(2).running();
    world.cloud.launches = Launches::Fail;
    world.scale_to(6);
    for _ in 0..60 {
        world.step();
    }
    world.managers[0].shortage = Some("We currently do not have sufficient m7i.large capacity".to_owned());
    let plan = world.observe_and_plan();
    let capacity =
        plan.report.conditions.iter().find(|it| it.kind == ConditionKind::CapacityAvailable).unwrap();
    assert_eq!(capacity.status, Status::False);
    assert_eq!(
        capacity.message,
        "2 of 6 instances launched; AWS says: We currently do not have sufficient m7i.large capacity"
    );
    world.scale_to(2);
    assert_eq!(words(&world.observe_and_plan()), ["update group desired=2"]);
    world.settle();
    assert_eq!((world.cloud.launched, world.kube.alive().len()), (2, 2));
}

#[test]
fn r19_the_group_of_a_pool_of_the_same_name_in_another_namespace_is_left_alone() {
    let mut world = pool().of(2).new_world();
    foreign_group(world.now, &mut world.cloud, "another-namespace");
    world.cloud.work(world.now);
    world.cloud.work(world.now);
    let before = world.cloud.group.clone();
    for _ in 0..20 {
        world.step();
    }
    let plan = world.step();
    let ready = &plan.report.conditions[0];
    assert_eq!((ready.status, ready.reason.as_str()), (Status::False, "GroupNotOwned"));
    assert_eq!(world.cloud.group, before);
    assert_eq!(plan.report.provider_ids, None, "nothing is reported about foreign instances");

    world.delete_pool();
    for _ in 0..20 {
        world.step();
    }
    assert_eq!(world.cloud.group, before, "not even in a removal");
    assert_eq!(world.kube.finalizer, foo_planner::observed::Finalizer::Absent);
}

#[test]
fn r20_a_pool_made_again_while_its_old_group_is_still_going_waits_for_it() {
    let mut world = pool().of(2).running();
    world.delete_pool();
    while world.cloud.sizes().desired > 0
        || world.cloud.existing() > 0
        || world.cloud.group.as_ref().is_some_and(|group| !group.instances.is_empty())
    {
        world.step();
    }
    // The last read before the deletion: the group is still there, being deleted.
    while world
        .cloud
        .group
        .as_ref()
        .is_some_and(|group| group.status == foo_model::group::GroupStatus::Active)
    {
        world.observe_and_plan();
    }
    // The old FooMachinePool is forced away and a new one made at once.
    world.desired.goal = foo_planner::Goal::Run;
    world.kube = crate::world::Kube::new();
    world.restart(0);
    world.wait(20);
    let plan = world.observe_and_plan();
    let ready = &plan.report.conditions[0];
    assert!(!words(&plan).iter().any(|word| word.starts_with("create group")), "{:?}", words(&plan));
    let group =
        plan.report.conditions.iter().find(|it| it.kind == ConditionKind::AutoScalingGroupReady).unwrap();
    assert_eq!((ready.status, group.reason.as_str()), (Status::False, "GroupDeleting"));
    world.settle();
    assert_eq!(world.kube.alive().len(), 2);
}
