use super::NOTHING;
use crate::world::{Fault, Launches, content, pool};
use foo_model::LifecycleState;
use foo_planner::desired::{Size, Wanted};

#[test]
fn the_maximum_is_lowered_only_when_the_pool_is_idle() {
    let mut world = pool().of(4).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.kube.drain(world.now, &world.cloud);
    assert!(world.writes().iter().all(|word| !word.contains("max=")));
    world.settle();
    assert_eq!(world.cloud.sizes().max, 2);
}

#[test]
fn the_ceiling_is_never_passed_not_even_for_what_exists() {
    let mut world = pool().of(3).running();
    world.set_desired_by_hand(6);
    for _ in 0..3 {
        world.cloud.launch(world.now);
    }
    world.cloud.put_in_service(world.now);
    world.observe_and_plan();
    world.kube.work(world.now, &world.cloud);
    world.set_desired_by_hand(2);
    world.desired.size = Size::Replicas { wanted: 3, ceiling: Some(4) };
    assert!(world.writes().iter().all(|word| !word.contains("desired=")), "six exist, four are allowed");
    world.settle();
    assert_eq!((world.cloud.existing(), world.cloud.sizes().desired), (3, 3));
}

#[test]
fn a_raise_waits_for_the_version_that_is_being_made_but_not_for_ever() {
    let mut world = pool().of(1).running();
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    world.scale_to(2);
    for _ in 0..6 {
        world.wait(10);
        world.read_group();
        let plan = world.pass_of(0, &mut |_, _| Fault::Refused);
        assert_eq!(plan.actions.len(), 1, "the version is refused each time");
    }
    world.wait(10);
    assert_eq!(world.writes()[0], "update group max=2 desired=2", "old content is better than none");
}

#[test]
fn capacity_in_flight_that_replaces_what_goes_is_not_cancelled() {
    let mut world = pool().of(3).running();
    world.cloud.launches = Launches::Fail;
    world.scale_to(4);
    world.observe_and_plan();
    let name = world.kube.alive()[0].clone();
    world.kube.held_up.insert(name.clone());
    world.delete_machine(&name);
    world.scale_to(3);
    assert_eq!(world.writes(), NOTHING, "the fourth will be the third");
    world.kube.held_up.clear();
    world.cloud.launches = Launches::Work;
    world.settle();
    assert_eq!((world.cloud.launched, world.kube.alive().len()), (4, 3));
}

/// One call ends them; hooks, of which each is a call, are completed twenty at a time.
#[test]
fn all_drained_instances_end_in_one_plan_and_twenty_are_released_in_another() {
    let mut world = pool().of(30).draining_at_most(50).running();
    world.scale_to(0);
    world.observe_and_plan();
    world.kube.drain(world.now, &world.cloud);
    let count = |words: &[String], what: &str| words.iter().filter(|word| word.starts_with(what)).count();
    assert_eq!(count(&world.writes(), "end "), 30);
    world.observe_and_plan();
    let words = world.writes();
    assert_eq!(count(&words, "let "), 20, "{words:?}");
    world.settle();
    assert_eq!(world.cloud.sizes().desired, 0);
}

#[test]
fn ends_are_gathered_while_others_drain_and_no_longer() {
    let mut world = pool().of(5).draining_at_most(9).running();
    world.scale_to(1);
    world.observe_and_plan();
    let going = world.kube.machines.iter().filter(|machine| machine.deletion.is_deleting());
    let names: Vec<_> = going.map(|machine| machine.name.clone()).collect();
    assert_eq!(names.len(), 4);
    world.kube.held_up.extend(names.clone());
    let drained = |world: &mut crate::world::World, number: usize| {
        world.kube.held_up.remove(&names[number]);
        world.kube.drain(world.now, &world.cloud);
    };
    let ends = |world: &mut crate::world::World| {
        let plan = world.observe_and_plan();
        plan.actions
            .iter()
            .filter(|it| {
                matches!(
                    it,
                    foo_planner::Action::Instance(
                        foo_planner::action::InstanceAction::TerminateInstance { .. }
                    )
                )
            })
            .count()
    };
    drained(&mut world, 0);
    assert_eq!(ends(&mut world), 1, "the first goes at once");
    drained(&mut world, 1);
    assert_eq!(ends(&mut world), 0, "others may join it");
    world.wait(10);
    drained(&mut world, 2);
    assert_eq!(ends(&mut world), 0);
    world.wait(5);
    assert_eq!(ends(&mut world), 2, "not for ever");
    drained(&mut world, 3);
    assert_eq!(ends(&mut world), 1, "the last one waits for no other");
}

#[test]
fn while_desired_may_have_two_values_only_what_both_agree_on_is_done() {
    let mut world = pool().of(4).draining_at_most(9).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.kube.drain(world.now, &world.cloud);
    world.scale_to(3);
    world.wait(1);
    world.read_group();
    // Two are released, three are desired: the first shrinks the group, its response is lost.
    let plan = world.pass_of(0, &mut |_, _| Fault::RequestLost);
    assert_eq!(plan.actions.len(), 2, "{:?}", plan.actions);
    // Desired is 4 or 3. The second would shrink it from 4, and be replaced at 3: wait.
    assert_eq!(world.writes(), NOTHING);
    world.settle();
    assert_eq!((world.cloud.sizes().desired, world.kube.alive().len()), (3, 3));
}

#[test]
fn a_released_instance_in_standby_is_ended_without_touching_desired() {
    let mut world = pool().of(2).running();
    world.put(0, LifecycleState::Standby);
    world.set_desired_by_hand(1);
    world.settle();
    let name = world.kube.alive()[0].clone();
    world.delete_machine(&name);
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(world.writes(), ["end i-00000001 (Replace)"]);
}

/// Its MachinePool is gone or cannot be read: a reviewer's find, it was scaled to zero.
#[test]
fn a_pool_whose_target_is_unknown_stays_as_it_is() {
    let mut world = pool().of(3).running();
    world.desired.size = Size::Unknown;
    assert_eq!(world.writes(), NOTHING);
    world.set_desired_by_hand(5);
    world.read_group();
    assert_eq!(world.writes(), NOTHING, "neither lowered nor published");
    let name = world.kube.alive()[0].clone();
    world.delete_machine(&name);
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(world.writes(), NOTHING, "a released instance waits: whether it is to be replaced is unknown");
}

/// Put into standby by hand, an instance keeps its id in the list: core would delete its Node at once.
#[test]
fn an_instance_in_standby_stays_on_the_list() {
    let mut world = pool().of(2).running();
    let before = world.observe_and_plan().report.provider_ids;
    world.put(0, LifecycleState::Standby);
    assert_eq!(world.observe_and_plan().report.provider_ids, before);
}
