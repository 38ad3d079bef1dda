//! Instances that AWS ends for reasons of its own: our hook holds them until their Machines are drained.

use super::words;
use crate::world::{World, pool};
use foo_model::hook::{COMPLETE_BEFORE_DEADLINE, HookConfig, HookResult, LONGEST_WAIT};
use foo_model::{EventReason, InstanceId, LifecycleState, Seconds};

fn first() -> InstanceId {
    InstanceId::new("i-00000001")
}

/// An idle pool of three, of which AWS terminates one.
fn taken() -> World {
    let mut world = pool().of(3).running();
    world.settle();
    world.cloud.terminate_by_aws(&first(), world.now);
    world
}

fn waits(world: &World) -> bool {
    world.cloud.lifecycle(&first()) == Some(LifecycleState::TerminatingWait)
}

fn sorted(plan: &foo_planner::Plan) -> Vec<String> {
    let mut words = words(plan);
    words.sort();
    words
}

#[test]
fn what_aws_ends_waits_for_its_drain_and_the_hook_is_completed_once() {
    let mut world = taken();
    let plan = world.observe_and_plan();
    let all = [
        "delete Machine workers-00000001 [SameUid]: AWS is terminating its instance",
        "describe instance i-00000001",
    ];
    assert_eq!(sorted(&plan), all);
    assert!(plan.report.events.iter().any(|event| { event.reason == EventReason::InstanceTerminatedByAws }));
    for _ in 0..5 {
        world.wait(60);
        let said = words(&world.observe_and_plan());
        assert!(
            said.iter().all(|word| word == "describe instance i-00000001"),
            "its drain continues: {said:?}"
        );
        assert!(waits(&world));
    }
    world.kube.drain(world.now, &world.cloud);
    assert_eq!(words(&world.observe_and_plan()), ["let i-00000001 go: its Machine is drained"]);
    for _ in 0..3 {
        world.wait(5);
        assert!(words(&world.observe_and_plan()).iter().all(|word| !word.starts_with("let ")));
    }
    world.settle();
    assert_eq!(world.kube.alive().len(), 3, "made up for");
}

#[test]
fn what_died_before_its_drain_ended_is_excluded_from_draining_and_released() {
    let mut world = pool().of(3).running();
    world.settle();
    world.cloud.terminate_by_aws(&first(), world.now);
    world.observe_and_plan();
    world.wait(90);
    world.cloud.dead.insert(first());
    world.observe_and_plan();
    let plan = world.observe_and_plan();
    assert_eq!(words(&plan), ["exclude workers-00000001 from draining"]);
    let listed = |plan: &foo_planner::Plan| plan.report.provider_ids.as_ref().map(Vec::len);
    assert_eq!(listed(&plan), Some(3), "core would delete its Node before it knows");
    assert_eq!(listed(&world.observe_and_plan()), Some(2), "its id is listed no more");
    assert!(plan.report.events.iter().any(|event| event.reason == EventReason::InstanceMissing));
    world.settle();
    assert_eq!(world.kube.alive().len(), 3, "made up for");
}

#[test]
fn r9_a_drain_behind_a_budget_keeps_the_instance_alive_with_heartbeats() {
    let mut world = taken();
    world.observe_and_plan();
    let mut beats = 0;
    for _ in 0..(6 * 60) {
        world.wait(60);
        let plan = world.observe_and_plan();
        beats += words(&plan).iter().filter(|word| **word == "keep i-00000001 alive").count();
        assert!(waits(&world), "six hours are no reason to let it go");
    }
    assert_eq!(beats, 18, "one in twenty minutes");
}

#[test]
fn r7_a_successor_continues_heartbeats_and_keeps_the_deadline() {
    let mut world = taken();
    world.observe_and_plan();
    world.wait(30 * 60);
    world.restart(0);
    assert!(words(&world.observe_and_plan()).contains(&"keep i-00000001 alive".to_owned()));
    let almost = LONGEST_WAIT.saturating_sub(COMPLETE_BEFORE_DEADLINE).as_secs() - 31 * 60;
    world.wait(almost);
    world.restart(0);
    assert!(words(&world.observe_and_plan()).iter().all(|word| !word.starts_with("let ")));
    world.wait(60);
    let plan = world.observe_and_plan();
    let given_up = "let i-00000001 go: AWS waits for at most 48 hours, and the drain has not finished";
    assert!(words(&plan).contains(&given_up.to_owned()), "{:?}", words(&plan));
    assert!(plan.report.events.iter().any(|event| event.reason == EventReason::DrainIncomplete));
}

#[test]
fn an_instance_without_a_machine_is_released_at_once() {
    let mut world = pool().of(2).new_world();
    world.observe_and_plan();
    for _ in 0..6 {
        world.wait(5);
        world.observe_and_plan();
        world.cloud.launch(world.now);
    }
    assert!(world.cloud.hook.is_some() && world.cloud.existing() == 2);
    world.cloud.launch(world.now);
    world.kube.foo_machines.clear();
    world.managers[0].memory.created_machines.clear();
    world.cloud.terminate_by_aws(&first(), world.now);
    world.wait(1);
    let plan = world.observe_and_plan();
    assert!(words(&plan).contains(&"let i-00000001 go: it has no Machine".to_owned()), "{:?}", words(&plan));
}

#[test]
fn r14_protection_removed_and_desired_lowered_by_hand_drains_all_the_same() {
    let mut world = pool().of(3).running();
    world.settle();
    let group = world.cloud.group.as_mut().expect("a group");
    group.sizes.desired = 2;
    group.instances[0].protection = foo_model::Protection::Unprotected;
    world.cloud.scale_in(world.now);
    world.cloud.scaled_in.clear();
    assert!(waits(&world), "AWS's scale-in waits for our hook");
    world.observe_and_plan();
    world.wait(60);
    world.observe_and_plan();
    assert!(waits(&world));
    world.kube.drain(world.now, &world.cloud);
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.sizes().desired), (3, 3));
}

#[test]
fn a_hook_that_was_changed_or_deleted_is_repaired() {
    let mut world = pool().of(2).running();
    world.settle();
    world.cloud.hook =
        Some(HookConfig { terminating: true, heartbeat: Seconds(30), result: HookResult::Abandon });
    world.restart(0);
    world.settle();
    assert_eq!(world.cloud.hook, Some(HookConfig::DRAIN));
    world.cloud.hook = None;
    let writes = world.cloud.writes;
    world.settle();
    assert_eq!((world.cloud.hook, world.cloud.writes), (None, writes), "a settled pool asks nothing");
    // An instance without a wait shows it.
    world.cloud.terminate_by_aws(&first(), world.now);
    assert!(words(&world.observe_and_plan()).contains(&"describe hook".to_owned()));
    world.settle();
    assert_eq!(world.cloud.hook, Some(HookConfig::DRAIN));
}

#[test]
fn what_aws_takes_is_drained_although_ec2_does_not_know_it() {
    let mut world = taken();
    world.cloud.hide(&first(), world.now, 240);
    let excluded = |plan: &foo_planner::Plan| words(plan).iter().any(|word| word.starts_with("exclude"));
    for _ in 0..24 {
        assert!(!excluded(&world.observe_and_plan()), "it may live");
        world.wait(9);
    }
    assert!(waits(&world), "its node is not drained yet");
    world.settle();
    assert_eq!(world.kube.alive().len(), 3);
}

#[test]
fn what_ec2_has_not_known_for_long_is_gone() {
    let mut world = taken();
    world.cloud.dead.insert(first());
    world.cloud.hide(&first(), world.now, 1_000_000);
    let asked = "describe instance i-00000001".to_owned();
    assert!(words(&world.observe_and_plan()).contains(&asked));
    assert!(!words(&world.observe_and_plan()).contains(&asked), "asked again at leisure");
    let mut calls = 0;
    while !words(&world.observe_and_plan()).contains(&"exclude workers-00000001 from draining".to_owned()) {
        calls += 1;
        assert!(calls < 60, "{}", world.story());
        world.wait(9);
    }
    assert!(calls >= 29, "only after five minutes: {calls}");
    world.settle();
}
