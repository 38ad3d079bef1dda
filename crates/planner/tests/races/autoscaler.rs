//! Races with cluster-autoscaler, which marks a Machine and then lowers replicas, in two writes.

use super::{deletions, words};
use crate::world::{Fault, Launches, pool};
use foo_model::NodeState;

#[test]
fn r1_the_autoscaler_marks_and_dies_before_it_lowers_replicas_and_nothing_happens() {
    let mut world = pool().of(3).running();
    let victim = world.kube.alive()[0].clone();
    world.mark(&victim);
    for _ in 0..100 {
        assert_eq!(words(&world.step()), Vec::<String>::new());
    }
    assert_eq!(world.kube.alive().len(), 3);
}

#[test]
fn r2_the_mark_is_removed_between_the_choice_and_the_deletion_and_the_live_read_sees_it() {
    let mut world = pool().of(3).running();
    let victim = world.kube.alive()[0].clone();
    world.mark(&victim);
    world.scale_to(2);
    world.wait(1);
    world.read_group();
    let plan = world.plan_of(0);
    assert_eq!(deletions(&plan), 1);
    // Its second write failed, so the autoscaler takes both back.
    world.scale_to(3);
    world.unmark(&victim);
    world.carry_out_plan(0, &plan, &mut |_, _| Fault::None);
    world.settle();
    assert_eq!(world.kube.alive().len(), 3);
    assert_eq!(world.cloud.launched, 3, "nothing was replaced");
}

#[test]
fn r3_the_same_victim_is_chosen_twice_and_deleted_once() {
    let mut world = pool().of(4).running();
    world.scale_to(2);
    world.freeze_caches(true);
    let first = world.observe_and_plan();
    assert_eq!(deletions(&first), 2);
    // The caches do not show the deletions yet.
    let second = world.observe_and_plan();
    assert_eq!(words(&second), Vec::<String>::new());
    world.freeze_caches(false);
    world.settle();
    assert_eq!(world.kube.alive().len(), 2);
}

#[test]
fn r21_an_unmarked_shrink_that_is_reverted_spares_the_node_that_runs_pods() {
    let mut world = pool().of(2).stabilized().running();
    world.scale_to(4);
    world.observe_and_plan();
    world.wait(1);
    // One of the two comes, joins, and gets pods.
    world.cloud.launch(world.now);
    world.observe_and_plan();
    world.cloud.put_in_service(world.now);
    world.kube.work(world.now, &world.cloud);
    let newcomer = world.kube.alive()[2].clone();
    assert_eq!(world.kube.machine(&newcomer).unwrap().node, NodeState::Ready);
    // The autoscaler's time-out takes the whole increase back; ten seconds later it asks again.
    world.scale_to(2);
    let plan = world.observe_and_plan();
    assert_eq!(words(&plan), ["update group desired=3"], "only what never launched is cancelled");
    world.wait(9);
    assert_eq!(words(&world.observe_and_plan()), Vec::<String>::new());
    world.scale_to(4);
    world.settle();
    assert!(world.kube.alive().contains(&newcomer));
    assert_eq!(world.cloud.launched, 4, "no instance was replaced");
}

#[test]
fn r21_an_unmarked_excess_that_lasts_is_removed_after_the_stabilization() {
    let mut world = pool().of(3).stabilized().running();
    world.scale_to(2);
    let plan = world.observe_and_plan();
    assert_eq!(words(&plan), Vec::<String>::new());
    assert_eq!(
        plan.report.next.after.map(|after| after.as_secs()),
        Some(60),
        "it wakes when the minute is over"
    );
    world.wait(58);
    assert_eq!(deletions(&world.observe_and_plan()), 0);
    world.wait(1);
    assert_eq!(deletions(&world.observe_and_plan()), 1);
}

#[test]
fn r21_instances_without_a_node_go_before_registered_nodes_and_at_once() {
    let mut world = pool().of(2).stabilized().running();
    world.scale_to(3);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.observe_and_plan();
    world.kube.make_machines(world.now);
    let newcomer = world.kube.alive()[2].clone();
    world.scale_to(2);
    let plan = world.observe_and_plan();
    let name = newcomer.as_str();
    assert_eq!(
        words(&plan),
        [format!(
            "delete Machine {name} [ReplicasAtMost {{ replicas: 2 }}]: 1 over the desired 2; its Node never joined"
        )]
    );
}

/// What the autoscaler does when AWS has no room for an increase: it takes back more than it asked for.
fn takes_back_too_much() -> crate::world::World {
    let mut world = pool().of(4).draining_at_most(10).stabilized_for(2_100).running();
    world.wait(2_100);
    world.cloud.launches = Launches::Fail;
    world.scale_to(8);
    for _ in 0..180 {
        world.step();
    }
    world.scale_to(0);
    world
}

#[test]
fn r21_surplus_requests_are_reverted_in_a_shortage_and_what_serves_stays() {
    let mut world = takes_back_too_much();
    let plan = world.observe_and_plan();
    assert_eq!(words(&plan), ["update group desired=4"], "only what never launched is cancelled");
    for cycle in 0..4 {
        // It notices after five minutes, and asks again when its back-off is over.
        for _ in 0..60 {
            world.step();
        }
        world.scale_to(4);
        for _ in 0..(60 + cycle * 90) {
            world.step();
        }
        world.scale_to(8);
        for _ in 0..180 {
            world.step();
        }
        world.scale_to(0);
    }
    world.step();
    assert_eq!((world.kube.alive().len(), world.cloud.launched), (4, 4), "{}", world.story());
}

#[test]
fn r21_held_machines_are_deleted_when_no_request_comes_and_when_they_are_marked() {
    let mut world = takes_back_too_much();
    world.observe_and_plan();
    let victim = world.kube.alive()[2].clone();
    world.mark(&victim);
    assert_eq!(deletions(&world.observe_and_plan()), 1, "a mark is enough");
    world.wait(2_000);
    assert_eq!(deletions(&world.observe_and_plan()), 0);
    world.wait(100);
    assert_eq!(deletions(&world.observe_and_plan()), 3);
}

#[test]
fn r21_a_lost_memory_holds_what_serves_for_the_whole_time() {
    let mut world = takes_back_too_much();
    world.observe_and_plan();
    world.wait(1_500);
    world.restart(0);
    world.wait(1_500);
    assert_eq!(deletions(&world.observe_and_plan()), 0, "the manager does not know since when");
    world.wait(2_100);
    assert_eq!(deletions(&world.observe_and_plan()), 4);
}

#[test]
fn r21_an_excess_that_stood_for_long_does_not_speed_up_a_younger_one() {
    let mut world = pool().of(8).draining_at_most(10).stabilized_for(2_100).running();
    world.wait(2_100);
    world.scale_to(7);
    world.observe_and_plan();
    world.wait(2_000);
    world.scale_to(0);
    assert_eq!(deletions(&world.observe_and_plan()), 0);
    world.wait(100);
    assert_eq!(deletions(&world.observe_and_plan()), 1, "the first is due");
    world.wait(1_900);
    assert_eq!(deletions(&world.observe_and_plan()), 0);
    world.wait(100);
    assert_eq!(deletions(&world.observe_and_plan()), 7);
}

#[test]
fn r21_what_was_never_requested_is_not_held() {
    let mut world = pool().of(3).draining_at_most(10).stabilized_for(2_100).running();
    world.wait(2_100);
    world.set_desired_by_hand(4);
    world.cloud.launch(world.now);
    world.observe_and_plan();
    world.cloud.put_in_service(world.now);
    world.kube.work(world.now, &world.cloud);
    assert_eq!(world.kube.alive().len(), 4);
    assert_eq!(deletions(&world.observe_and_plan()), 1, "the target has been three all the time");
}

#[test]
fn r21_after_launches_that_did_not_come_even_that_waits() {
    let mut world = pool().of(3).draining_at_most(10).stabilized_for(2_100).running();
    world.wait(2_100);
    world.cloud.launches = Launches::Fail;
    world.scale_to(4);
    for _ in 0..60 {
        world.step();
    }
    world.scale_to(3);
    world.cloud.launches = Launches::Work;
    world.step();
    world.set_desired_by_hand(4);
    world.cloud.launch(world.now);
    world.observe_and_plan();
    world.cloud.put_in_service(world.now);
    world.kube.work(world.now, &world.cloud);
    assert_eq!(world.kube.alive().len(), 4);
    assert_eq!(deletions(&world.observe_and_plan()), 0);
    world.wait(2_100);
    assert_eq!(deletions(&world.observe_and_plan()), 1);
}

#[test]
fn r22_marked_machines_are_deleted_at_once_drain_limit_and_stabilization_or_not() {
    let mut world = pool().of(6).stabilized().draining_at_most(1).running();
    let victims = world.kube.alive()[1..5].to_vec();
    for victim in &victims {
        world.mark(victim);
        world.scale_to(world.target() - 1);
    }
    assert_eq!(deletions(&world.observe_and_plan()), 4);
    for victim in &victims {
        assert!(world.kube.machine(victim).unwrap().deletion.is_deleting());
    }
    world.settle();
    assert_eq!(world.kube.alive().len(), 2);
}

#[test]
fn r22_a_mark_that_counts_on_a_launch_in_flight_waits_for_it() {
    let mut world = pool().of(2).running();
    world.scale_to(3);
    world.observe_and_plan();
    // The third is on its way; the autoscaler counts it in.
    let victim = world.kube.alive()[0].clone();
    world.mark(&victim);
    world.scale_to(2);
    assert_eq!(
        words(&world.observe_and_plan()),
        Vec::<String>::new(),
        "neither the Machine nor the launch goes"
    );
    world.settle();
    assert!(!world.kube.alive().contains(&victim));
    assert_eq!((world.kube.alive().len(), world.cloud.launched), (2, 3));
}

#[test]
fn r22_a_mark_that_counts_on_a_launch_that_never_comes_acts_within_five_minutes() {
    let mut world = pool().of(2).running();
    world.cloud.launches = Launches::Fail;
    world.scale_to(3);
    world.observe_and_plan();
    let victim = world.kube.alive()[0].clone();
    world.mark(&victim);
    world.scale_to(2);
    let mut waited = 0;
    while !world.kube.machine(&victim).is_none_or(|machine| machine.deletion.is_deleting()) {
        world.step();
        waited += 5;
        assert!(waited < 300, "the autoscaler would lower the target again\n{}", world.story());
    }
    assert!(waited > 120, "it waited for the launch first: {waited}");
}
