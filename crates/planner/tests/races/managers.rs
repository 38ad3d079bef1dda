//! Races of managers: crashes, and two that both believe they lead.

use super::{deletions, words};
use crate::world::{Fault, World, pool};
use foo_planner::Plan;

/// A life with everything in it: creation, growth, shrinking, a replacement, a removal.
fn live(world: &mut World, crash: &mut dyn FnMut(&mut World, usize) -> Fault) {
    type Step = fn(&mut World);
    let steps: [Step; 5] = [
        |_| {},
        |world| world.scale_to(4),
        |world| world.scale_to(2),
        |world| {
            let name = world.kube.alive()[0].clone();
            world.delete_machine(&name);
        },
        World::delete_pool,
    ];
    for step in steps {
        step(world);
        for _ in 0..30 {
            world.wait(5);
            world.cloud.work(world.now);
            world.kube.work(world.now, &world.cloud);
            world.read_group();
            world.pass_of(0, crash);
        }
        world.settle();
    }
}

#[test]
fn r7_a_crash_before_or_after_any_single_action_ends_the_same() {
    let mut actions = 0;
    live(&mut pool().of(2).new_world(), &mut |_, _| {
        actions += 1;
        Fault::None
    });
    assert!(actions > 20, "the life is worth testing: {actions}");
    for fault in [Fault::CrashBefore, Fault::CrashAfter, Fault::ResponseLost, Fault::RequestLost] {
        for at in 0..actions {
            let mut world = pool().of(2).new_world();
            let mut seen = 0;
            live(&mut world, &mut |_, _| {
                seen += 1;
                if seen - 1 == at { fault } else { Fault::None }
            });
            assert!(world.is_gone(), "{fault:?} at {at}\n{}", world.story());
            assert_eq!(world.cloud.launched, 5, "{fault:?} at {at}: as many as without\n{}", world.story());
        }
    }
}

#[test]
fn a_manager_that_just_started_decides_nothing_about_size_until_it_has_settled() {
    let mut world = pool().of(3).running();
    world.restart(0);
    world.scale_to(1);
    let plan = world.observe_and_plan();
    assert_eq!(words(&plan), ["describe hook", "describe template"]);
    assert_eq!(plan.report.next.after.map(|after| after.as_secs()), Some(14));
    world.wait(14);
    assert_eq!(deletions(&world.observe_and_plan()), 2);
}

#[test]
fn r12_two_managers_during_a_fail_over_never_exceed_one_budget() {
    let mut world = pool().of(8).draining_at_most(2).running();
    world.scale_to(2);
    world.wait(1);
    world.read_group();
    // The old leader has planned, and stalls before it acts.
    let late: Plan = world.plan_of(0);
    assert_eq!(deletions(&late), 2);
    world.hand_over();
    world.wait(1);
    world.read_group();
    assert_eq!(deletions(&world.pass_of(0, &mut |_, _| Fault::None)), 0, "the new leader has not settled");
    // The old one wakes up and carries its plan out, within its lease.
    world.carry_out_plan(1, &late, &mut |_, _| Fault::None);
    world.managers.truncate(1);
    world.wait(20);
    world.read_group();
    assert_eq!(deletions(&world.pass()), 0, "two are draining: the budget is spent");
    world.settle();
    assert_eq!(world.kube.alive().len(), 2);
    assert_eq!(world.cloud.launched, 8);
}

#[test]
fn r12_a_late_raise_of_the_old_leader_launches_nothing_twice() {
    let mut world = pool().of(2).running();
    world.scale_to(5);
    world.wait(1);
    world.read_group();
    let late = world.plan_of(0);
    world.hand_over();
    world.wait(20);
    world.read_group();
    world.pass();
    world.carry_out_plan(1, &late, &mut |_, _| Fault::None);
    world.managers.truncate(1);
    world.settle();
    assert_eq!((world.cloud.launched, world.kube.alive().len()), (5, 5));
}
