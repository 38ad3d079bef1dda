use super::NOTHING;
use crate::world::{Fault, pool};
use foo_model::{DeletionTimeouts, LifecycleState, Seconds};

#[test]
fn every_instance_on_its_way_up_gets_a_foo_machine_and_no_other() {
    let states = [
        (LifecycleState::Pending, true),
        (LifecycleState::PendingWait, true),
        (LifecycleState::PendingProceed, true),
        (LifecycleState::InService, true),
        (LifecycleState::Terminating, false),
        (LifecycleState::TerminatingWait, false),
        (LifecycleState::TerminatingRetained, false),
        (LifecycleState::Standby, false),
        (LifecycleState::Detaching, false),
        (LifecycleState::Warmed, false),
        (LifecycleState::Other("Dreaming".to_owned()), false),
    ];
    for (state, wanted) in states {
        let mut world = pool().of(1).running();
        world.scale_to(2);
        world.observe_and_plan();
        world.cloud.launch(world.now);
        world.put(1, state.clone());
        let made = world.wants().contains(&"create FooMachine workers-00000002".to_owned());
        assert_eq!(made, wanted, "{state:?}");
    }
}

#[test]
fn a_foo_machine_just_made_is_not_made_again() {
    let mut world = pool().of(1).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.freeze_caches(true);
    world.observe_and_plan();
    assert_eq!(world.writes(), NOTHING);
}

#[test]
fn an_instance_aws_is_ending_takes_its_machine_along() {
    for state in
        [LifecycleState::Terminating, LifecycleState::TerminatingWait, LifecycleState::TerminatingProceed]
    {
        let mut world = pool().of(2).running();
        world.put(0, state);
        assert_eq!(
            world.writes(),
            ["delete Machine workers-00000001 [SameUid]: AWS is terminating its instance"]
        );
        world.observe_and_plan();
        assert_eq!(world.writes(), NOTHING);
        world.settle();
    }
}

#[test]
fn a_drain_that_hangs_on_a_dead_node_is_called_off() {
    let mut world = pool().of(2).running();
    let name = world.kube.alive()[0].clone();
    world.kube.held_up.insert(name.clone());
    world.delete_machine(&name);
    let id = world.instances()[0].clone();
    world.kill(&id);
    world.observe_and_plan();
    assert_eq!(world.writes(), ["exclude workers-00000001 from draining"]);
    world.settle();
    assert_eq!(world.kube.alive().len(), 2);
}

#[test]
fn an_instance_that_ec2_still_knows_is_left_alone() {
    let mut world = pool().of(2).running();
    let id = world.instances()[0].clone();
    world.cloud.kill(&id, world.now);
    world.cloud.detached.insert(id.clone());
    world.observe_and_plan();
    assert_eq!(world.writes(), NOTHING);
    let listed = world.plan_of(0).report.provider_ids.unwrap();
    assert!(listed.iter().any(|listed| listed.ends_with(id.as_str())), "its Node lives on");
    assert_eq!(
        world.plan_of(0).report.next.after.map(|after| after.as_secs()),
        Some(60),
        "and asked about later"
    );
}

#[test]
fn a_foo_machine_whose_instance_went_before_core_made_its_machine_is_deleted_after_a_while() {
    let mut world = pool().of(1).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.observe_and_plan();
    let id = world.instances()[1].clone();
    world.kill(&id);
    world.observe_and_plan();
    assert_eq!(world.writes(), NOTHING, "its Machine may still come");
    world.wait(30);
    assert_eq!(world.writes(), ["delete FooMachine workers-00000002"]);
    world.settle();
}

#[test]
fn a_foo_machine_is_held_until_its_machine_is_seen_deleting() {
    let mut world = pool().of(1).running();
    let name = world.kube.alive()[0].clone();
    world.delete_foo_machine(&name);
    let id = world.instances()[0].clone();
    world.kill(&id);
    world.observe_and_plan();
    world.wait(1);
    world.read_group();
    // The deletion of the Machine never arrives.
    world.pass_of(0, &mut |_, _| Fault::RequestLost);
    assert_eq!(world.writes(), NOTHING, "released now, the Machine would stay for ever");
    world.settle();
    assert!(world.kube.machine(&name).is_none());
}

#[test]
fn wanted_timeouts_are_written_into_machines_alive_or_deleting_and_others_are_left() {
    let mut world = pool().of(2).running();
    let name = world.kube.alive()[0].clone();
    world.kube.held_up.insert(name.clone());
    world.delete_machine(&name);
    world.kube.machine_mut(&name).unwrap().timeouts.node_deletion = Some(Seconds(10));
    assert_eq!(world.writes(), NOTHING, "nothing is wanted for");
    world.desired.timeouts =
        DeletionTimeouts { node_drain: Some(Seconds(600)), ..DeletionTimeouts::default() };
    assert_eq!(world.writes(), ["set timeouts of workers-00000001", "set timeouts of workers-00000002"]);
    world.observe_and_plan();
    assert_eq!(world.writes(), NOTHING);
}
