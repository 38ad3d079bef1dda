//! Races with users: at the MachinePool, at Machines, and at the group in AWS.

use super::{deletions, ends, words};
use crate::world::pool;
use foo_model::{Decrement, Deletion};

#[test]
fn r4_a_target_raised_while_victims_drain_gets_replacements() {
    let mut world = pool().of(3).running();
    world.scale_to(2);
    assert_eq!(deletions(&world.observe_and_plan()), 1);
    world.scale_to(3);
    assert_eq!(
        words(&world.observe_and_plan()),
        Vec::<String>::new(),
        "nothing is undeleted, nothing comes early"
    );
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(ends(&world.observe_and_plan()), [Decrement::Replace]);
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.launched), (3, 4));
}

#[test]
fn r4_with_surge_the_replacement_comes_in_advance() {
    let mut world = pool().of(3).with_surge(1).running();
    let name = world.kube.alive()[0].clone();
    world.delete_machine(&name);
    assert_eq!(words(&world.observe_and_plan()), ["update group max=4 desired=4"]);
    world.cloud.work(world.now);
    world.observe_and_plan();
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(ends(&world.observe_and_plan()), [Decrement::Shrink]);
    world.settle();
    assert_eq!((world.cloud.launched, world.cloud.sizes().max), (4, 3));
}

#[test]
fn surge_never_passes_the_ceiling() {
    let mut world = pool().of(3).with_surge(2).with_ceiling(3).running();
    let name = world.kube.alive()[0].clone();
    world.delete_machine(&name);
    assert_eq!(words(&world.observe_and_plan()), Vec::<String>::new());
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(ends(&world.observe_and_plan()), [Decrement::Replace]);
    world.settle();
}

#[test]
fn r8_a_foo_machine_without_a_machine_is_not_a_victim() {
    let mut world = pool().of(1).running();
    world.scale_to(3);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.cloud.launch(world.now);
    world.observe_and_plan();
    assert_eq!((world.kube.foo_machines.len(), world.kube.machines.len()), (3, 1));
    world.scale_to(0);
    let plan = world.observe_and_plan();
    let chosen = world.kube.machines[0].name.clone();
    assert_eq!(deletions(&plan), 1);
    assert!(words(&plan)[0].contains(chosen.as_str()));
    world.settle();
    assert_eq!(world.cloud.existing(), 0);
}

#[test]
fn r8_when_the_pool_goes_a_foo_machine_without_a_machine_is_deleted_directly() {
    let mut world = pool().of(1).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.observe_and_plan();
    world.delete_pool();
    // A moment after it was made its Machine may still come.
    assert!(!words(&world.observe_and_plan()).iter().any(|word| word.starts_with("delete FooMachine")));
    world.wait(30);
    assert!(words(&world.observe_and_plan()).iter().any(|word| word == "delete FooMachine workers-00000002"));
    world.settle();
    assert!(world.is_gone());
}

#[test]
fn r10_a_pool_deleted_in_the_middle_of_anything_goes_completely() {
    // In the middle of a launch, a scale-in, a scale-out, and before the first AWS call.
    for rounds in 0..12 {
        for target in [0, 1, 5] {
            let mut world = pool().of(3).new_world();
            for _ in 0..6 {
                world.step();
            }
            world.scale_to(target);
            for _ in 0..rounds {
                world.wait(2);
                world.cloud.launch(world.now);
                world.kube.work(world.now, &world.cloud);
                world.observe_and_plan();
            }
            world.delete_pool();
            world.settle();
            assert!(world.is_gone(), "{}", world.story());
        }
    }
}

#[test]
fn r10_a_removal_stops_launches_and_drains_before_it_ends() {
    let mut world = pool().of(2).running();
    world.scale_to(5);
    world.observe_and_plan();
    world.delete_pool();
    let plan = world.observe_and_plan();
    assert_eq!(deletions(&plan), 2);
    assert_eq!(words(&plan)[2], "update group max=2 desired=2");
    let held = world.kube.machines[0].name.clone();
    world.kube.held_up.insert(held.clone());
    for _ in 0..20 {
        world.step();
    }
    assert_eq!(world.cloud.existing(), 1, "the one that still drains lives");
    world.kube.held_up.clear();
    world.settle();
    assert!(world.is_gone());
}

#[test]
fn r11_managed_by_another_controller_at_any_time_and_back_again() {
    let mut world = pool().of(3).running();
    world.let_another_controller_manage(1, 6);
    world.settle();
    assert_eq!((world.cloud.sizes().min, world.cloud.sizes().max, world.cloud.sizes().desired), (1, 6, 3));
    // A scaling policy raises desired capacity: replicas follow, nothing is written to AWS.
    world.set_desired_by_hand(5);
    let writes = world.cloud.writes;
    world.settle();
    assert_eq!((world.target(), world.kube.alive().len(), world.cloud.writes), (5, 5, writes));
    // It lowers it: protected instances stay, and are drained away without touching desired capacity.
    world.set_desired_by_hand(4);
    world.settle();
    assert_eq!((world.target(), world.kube.alive().len(), world.cloud.sizes().desired), (4, 4, 4));
    world.manage_again();
    world.scale_to(2);
    world.settle();
    assert_eq!((world.cloud.sizes().min, world.cloud.sizes().max, world.cloud.sizes().desired), (0, 2, 2));
}

#[test]
fn r11_a_machine_deleted_by_a_user_is_replaced_when_another_controller_manages_the_size() {
    let mut world = pool().managed_by_another_controller(2, 5).running();
    let name = world.kube.alive()[0].clone();
    world.delete_machine(&name);
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(ends(&world.observe_and_plan()), [Decrement::Replace]);
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.sizes().desired), (2, 2));
}

#[test]
fn r13_desired_raised_by_hand_is_drained_away_one_budget_at_a_time() {
    let mut world = pool().of(3).draining_at_most(2).running();
    world.set_desired_by_hand(9);
    // All six launch before the next read.
    for _ in 0..6 {
        world.cloud.launch(world.now);
    }
    world.cloud.put_in_service(world.now);
    let mut most = 0;
    for _ in 0..40 {
        world.step();
        let drains = world.kube.machines.iter().filter(|machine| {
            let foo_machine = world.kube.foo_machine(&machine.name);
            machine.deletion.is_deleting() && foo_machine.is_some_and(|it| it.deletion == Deletion::Alive)
        });
        most = most.max(drains.count());
    }
    assert_eq!(most, 2);
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.sizes().desired, world.cloud.sizes().max), (3, 3, 3));
}

#[test]
fn r13_desired_raised_by_hand_is_cancelled_as_far_as_nothing_launched() {
    let mut world = pool().of(3).running();
    world.set_desired_by_hand(9);
    world.cloud.launch(world.now);
    // The one that launched has no Machine yet; no older one goes in its place.
    assert_eq!(
        words(&world.observe_and_plan()),
        ["create FooMachine workers-00000004", "update group desired=4"]
    );
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.launched), (3, 4));
}

#[test]
fn r13_desired_lowered_by_hand_is_raised_again_and_nothing_dies() {
    let mut world = pool().of(4).running();
    world.set_desired_by_hand(1);
    assert_eq!(words(&world.observe_and_plan()), ["update group desired=4"]);
    world.settle();
    assert_eq!((world.cloud.launched, world.kube.alive().len()), (4, 4));
}

#[test]
fn r15_a_minimum_raised_by_hand_is_repaired_and_refuses_no_decrement() {
    let mut world = pool().of(3).running();
    world.set_min_by_hand(3);
    world.scale_to(1);
    let plan = world.observe_and_plan();
    assert_eq!(words(&plan)[0], "update group min=0");
    assert_eq!(deletions(&plan), 2);
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.sizes().desired), (1, 1));

    // And when the instance is released already, the minimum goes first in the same plan.
    let mut world = pool().of(3).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.kube.drain(world.now, &world.cloud);
    world.set_min_by_hand(3);
    let plan = world.observe_and_plan();
    assert_eq!(words(&plan)[0], "update group min=0");
    assert_eq!(ends(&plan), [Decrement::Shrink]);
}

#[test]
fn a_person_who_deletes_a_foo_machine_never_gets_an_instance_ended_under_a_living_machine() {
    let mut world = pool().of(2).running();
    let name = world.kube.alive()[0].clone();
    world.delete_foo_machine(&name);
    let plan = world.observe_and_plan();
    assert_eq!(ends(&plan), [], "its Machine is alive");
    assert_eq!(deletions(&plan), 1, "the Machine goes first");
    assert!(world.kube.machine(&name).unwrap().deletion.is_deleting());
    assert_eq!(ends(&world.observe_and_plan()), [], "Cluster API is at work: hooks may hold it");
    world.kube.skip_drains();
    assert_eq!(ends(&world.observe_and_plan()), [Decrement::Replace], "now it counts as released");
    world.settle();
    assert_eq!(world.kube.alive().len(), 2);
}

#[test]
fn a_person_who_deletes_a_machine_gets_a_replacement_after_the_drain() {
    let mut world = pool().of(2).running();
    let name = world.kube.alive()[0].clone();
    world.kube.held_up.insert(name.clone());
    world.delete_machine(&name);
    for _ in 0..10 {
        assert_eq!(words(&world.step()), Vec::<String>::new(), "Cluster API is at work");
    }
    world.kube.held_up.clear();
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.launched), (2, 3));
}

#[test]
fn what_serves_does_not_go_for_an_instance_that_core_is_slow_to_make_a_machine_for() {
    let mut world = pool().of(2).with_surge(1).lacking_at_most(0).running();
    world.set_desired_by_hand(3);
    world.cloud.launch(world.now);
    world.cloud.put_in_service(world.now);
    for _ in 0..30 {
        // Core does nothing all the while.
        world.wait(5);
        world.read_group();
        assert_eq!(deletions(&world.pass()), 0);
    }
    world.settle();
    assert_eq!((world.cloud.existing(), world.kube.alive().len()), (2, 2));
}
