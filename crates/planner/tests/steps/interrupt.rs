//! What follows from what AWS announces.

use crate::world::{Launches, World, pool};
use foo_model::{EventReason, InstanceId, MachineName, NodeState, SignalKind};
use foo_planner::desired::{PausedBy, Rebalance};
use foo_planner::report::AnnouncementState;
use foo_planner::{Goal, Plan};
use std::time::Duration;

fn first() -> InstanceId {
    InstanceId::new("i-00000001")
}

impl World {
    fn announcement(&mut self) -> Option<AnnouncementState> {
        self.wait(1);
        self.read_group();
        let Plan { report, .. } = self.plan_of(0);
        report.announcements.get(&first()).copied()
    }
}

#[test]
fn an_announcement_is_open_until_the_deletion_was_seen_and_over_when_the_instance_is_gone() {
    let mut world = pool().of(2).running();
    world.announce(SignalKind::Interruption, &first());
    assert_eq!(world.announcement(), Some(AnnouncementState::Pending));
    world.freeze_caches(true);
    world.observe_and_plan();
    assert_eq!(world.announcement(), Some(AnnouncementState::Pending), "our own call alone does not count");
    world.freeze_caches(false);
    assert_eq!(world.announcement(), Some(AnnouncementState::Handled));
    for _ in 0..20 {
        world.step();
    }
    assert_eq!(world.interrupted(), 0, "forgotten");
    world.announce(SignalKind::Interruption, &InstanceId::new("i-00000abc"));
    world.observe_and_plan();
    assert_eq!(world.interrupted(), 0, "no member has this id");
}

#[test]
fn what_is_ignored_is_completed_and_what_is_paused_stays_open() {
    let mut world = pool().of(2).running();
    world.announce(SignalKind::Rebalance, &first());
    assert_eq!(world.announcement(), Some(AnnouncementState::Handled));
    world.announce(SignalKind::Interruption, &first());
    world.desired.pause = Some(PausedBy::Annotation);
    assert_eq!(world.announcement(), Some(AnnouncementState::Pending));
    world.desired.pause = None;
    world.desired.goal = Goal::Remove;
    assert_eq!(world.announcement(), Some(AnnouncementState::Handled), "it goes anyway");
}

#[test]
fn an_instance_without_a_machine_waits_for_one() {
    let mut world = pool().of(1).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    let id = InstanceId::new("i-00000002");
    world.announce(SignalKind::Interruption, &id);
    for _ in 0..30 {
        world.step();
    }
    assert_eq!(world.interrupted(), 0);
    assert!(!world.instances().contains(&id), "its Machine was made and deleted");
    assert_eq!(world.instances().len(), 2);
}

#[test]
fn many_interruptions_pass_no_budget_but_the_ceiling() {
    let mut world =
        pool().of(5).with_ceiling(7).draining_at_most(1).lacking_at_most(0).with_surge(1).running();
    for id in world.instances() {
        world.announce(SignalKind::Interruption, &id);
    }
    let wants = world.wants();
    assert_eq!(wants.iter().filter(|word| word.starts_with("delete Machine")).count(), 5, "{wants:?}");
    assert!(wants.contains(&"update group max=7 desired=7".to_owned()), "{wants:?}");
}

#[test]
fn a_retirement_without_room_for_a_replacement_takes_one_at_a_time() {
    let mut world =
        pool().of(3).with_ceiling(3).with_surge(1).lacking_at_most(0).draining_at_most(3).running();
    for id in world.instances() {
        world.announce(SignalKind::Retirement, &id);
    }
    for _ in 0..60 {
        world.step();
        let serving = world.kube.alive().len();
        assert!(serving >= 2, "{serving}\n{}", world.story());
    }
    assert_eq!(world.instances().len(), 3);
    assert!(!world.instances().contains(&first()));
}

#[test]
fn nothing_at_risk_is_replaced_while_a_rollout_is_in_progress() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).following_advice().running();
    world.wait(700);
    world.announce(SignalKind::Rebalance, &first());
    world.desired.template = foo_planner::desired::Wanted::Ready(crate::world::content("v2", "d1"));
    for _ in 0..60 {
        let plan = world.step();
        assert!(
            plan.report.events.iter().all(|event| event.reason != EventReason::RebalanceRecommended),
            "{:?}",
            plan.report
        );
    }
    assert!(!world.instances().contains(&first()), "rolled");
}

fn cordons(plan: &Plan) -> Vec<String> {
    let words = plan.actions.iter().map(crate::world::short);
    words.filter(|word| word.starts_with("cordon")).collect()
}

#[test]
fn the_node_of_what_is_at_risk_is_cordoned_once_and_its_instance_stays() {
    let mut world = pool().of(3).with_rebalance(Rebalance::Cordon).running();
    let before = world.instances();
    world.announce(SignalKind::Rebalance, &first());
    assert_eq!(world.announcement(), Some(AnnouncementState::Pending));
    let plan = world.observe_and_plan();
    assert_eq!(cordons(&plan), ["cordon the Nodes of workers-00000001"]);
    assert_eq!(world.announcement(), Some(AnnouncementState::Handled));
    for _ in 0..100 {
        let plan = world.step();
        assert!(plan.actions.is_empty(), "{:?}", plan.actions);
    }
    assert_eq!((world.instances(), world.kube.cordoned.len()), (before, 1));
}

#[test]
fn what_has_no_node_yet_is_cordoned_when_it_has_one() {
    let mut world = pool().of(2).with_rebalance(Rebalance::Cordon).running();
    not_yet(&mut world, 1..=1);
    world.announce(SignalKind::Rebalance, &first());
    assert_eq!(cordons(&world.observe_and_plan()), [""; 0]);
    assert_eq!(world.announcement(), Some(AnnouncementState::Pending));
    world.kube.work(world.now, &world.cloud);
    assert_eq!(cordons(&world.observe_and_plan()).len(), 1);
}

#[test]
fn a_workload_cluster_that_is_away_is_asked_once_a_minute_and_holds_nothing_up() {
    let mut world = pool().of(2).with_rebalance(Rebalance::Cordon).running();
    world.kube.workload_is_away = true;
    for id in world.instances() {
        world.announce(SignalKind::Rebalance, &id);
    }
    assert_eq!(cordons(&world.observe_and_plan()).len(), 1);
    world.scale_to(3);
    let mut tries = 0;
    for _ in 0..30 {
        world.wait(10);
        let plan = world.observe_and_plan();
        tries += cordons(&plan).len();
        let after = plan.report.next.after.expect("it comes back by itself");
        assert!(after <= Duration::from_mins(1), "{after:?}");
        world.cloud.work(world.now);
        world.kube.work(world.now, &world.cloud);
    }
    assert_eq!((tries, world.instances().len()), (5, 3));
    world.kube.workload_is_away = false;
    world.wait(60);
    world.observe_and_plan();
    assert_eq!(world.kube.cordoned.len(), 2);
}

#[test]
fn a_node_that_cannot_be_cordoned_keeps_no_other_from_its_turn() {
    let mut world = pool().of(60).with_rebalance(Rebalance::Cordon).running();
    let stubborn = world.name_of(&first());
    world.kube.uncordonable.insert(stubborn.clone());
    for id in world.instances() {
        world.announce(SignalKind::Rebalance, &id);
    }
    world.observe_and_plan();
    assert_eq!(world.kube.cordoned.len(), 49, "fifty at a time, and one of them refuses");
    world.wait(5);
    world.observe_and_plan();
    assert_eq!(world.kube.cordoned.len(), 59);
    let mut tries = 0;
    for _ in 0..60 {
        tries += cordons(&world.observe_and_plan()).len();
        world.wait(10);
    }
    assert!((9..=10).contains(&tries), "once a minute: {tries}");
    world.kube.uncordonable.clear();
    world.wait(60);
    world.observe_and_plan();
    assert!(world.kube.cordoned.contains(&stubborn));
}

#[test]
fn what_is_cordoned_is_not_cordoned_again_when_announcements_were_out_of_sight() {
    let mut world = pool().of(2).with_rebalance(Rebalance::Cordon).running();
    world.announce(SignalKind::Rebalance, &first());
    world.observe_and_plan();
    let signals = std::mem::take(&mut world.managers[0].signals);
    world.observe_and_plan();
    world.managers[0].signals = signals;
    assert_eq!(cordons(&world.observe_and_plan()), [""; 0]);
}

/// Nodes of these come later.
fn not_yet(world: &mut World, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        let name = MachineName::new(format!("workers-{number:08x}"));
        if let Some(machine) = world.kube.machine_mut(&name) {
            (machine.node, machine.node_since) = (NodeState::None, None);
        }
    }
}

#[test]
fn recommendations_are_one_round_and_what_came_for_it_stays() {
    let mut world =
        pool().of(10).with_surge(5).lacking_at_most(0).draining_at_most(10).following_advice().running();
    world.wait(700);
    for id in world.instances().into_iter().take(5) {
        world.announce(SignalKind::Rebalance, &id);
    }
    for minute in 0..30 {
        world.wait(5);
        world.cloud.work(world.now);
        world.kube.work(world.now, &world.cloud);
        // The first newcomer is Ready long before the others.
        not_yet(&mut world, if minute < 15 { 12..=15 } else { 99..=99 });
        world.read_group();
        let plan = world.pass();
        let surplus = |reason| matches!(reason, EventReason::LaunchesCancelled | EventReason::MachineDeleted);
        assert!(plan.report.events.iter().all(|event| !surplus(event.reason)), "{:?}", plan.report.events);
    }
    world.settle();
    assert_eq!(world.cloud.launched, 15, "one for each, once");
    let left = world.instances();
    assert!((1..=5).all(|number| !left.contains(&InstanceId::new(format!("i-{number:08x}")))), "{left:?}");
}

#[test]
fn what_came_for_a_roll_out_is_no_surplus_at_its_end() {
    let mut world = pool().of(6).with_surge(3).lacking_at_most(0).draining_at_most(10).running();
    world.desired.template = foo_planner::desired::Wanted::Ready(crate::world::content("v2", "d1"));
    for step in 0..60 {
        world.wait(5);
        world.cloud.work(world.now);
        world.kube.work(world.now, &world.cloud);
        not_yet(&mut world, if step < 40 { 11..=12 } else { 99..=99 });
        world.read_group();
        let plan = world.pass();
        let gone = plan.report.events.iter().find(|event| event.message.contains("never joined"));
        assert_eq!(gone, None, "{}", world.story());
    }
    world.settle();
    assert_eq!(world.cloud.launched, 12);
}

#[test]
fn retirements_keep_to_what_may_be_missing() {
    for ceiling in [None, Some(5)] {
        let mut pool =
            pool().of(5).with_surge(u32::from(ceiling.is_some())).lacking_at_most(1).draining_at_most(9);
        if let Some(ceiling) = ceiling {
            pool = pool.with_ceiling(ceiling);
        }
        let mut world = pool.running();
        for id in world.instances() {
            world.announce(SignalKind::Retirement, &id);
        }
        for _ in 0..100 {
            world.step();
            assert!(world.kube.alive().len() >= 4, "{}", world.story());
        }
        assert!(world.instances().iter().all(|id| *id > InstanceId::new("i-00000005")), "{}", world.story());
    }
}

#[test]
fn a_retirement_waits_half_an_hour_for_a_launch_and_then_goes_without() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).running();
    world.cloud.launches = Launches::Fail;
    world.announce(SignalKind::Retirement, &first());
    for _ in 0..10 {
        world.step();
    }
    assert_eq!(world.kube.alive().len(), 3, "its replacement comes first");
    world.wait(1_800);
    for _ in 0..3 {
        world.step();
    }
    assert_eq!(world.kube.alive().len(), 2, "{}", world.story());
}

#[test]
fn what_drains_for_a_roll_out_and_is_interrupted_is_replaced_once() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).running();
    world.kube.held_up.extend((1..=3).map(|number| MachineName::new(format!("workers-{number:08x}"))));
    world.desired.template = foo_planner::desired::Wanted::Ready(crate::world::content("v2", "d1"));
    for _ in 0..60 {
        world.step();
        if world.kube.machines.iter().any(|machine| machine.deletion.is_deleting()) {
            break;
        }
    }
    let draining = world.kube.machines.iter().find(|machine| machine.deletion.is_deleting()).unwrap();
    let id = InstanceId::new(draining.name.as_str().replace("workers-", "i-"));
    world.announce(SignalKind::Interruption, &id);
    world.step();
    world.step();
    assert_eq!(world.cloud.sizes().desired, 4, "{}", world.story());
}
