//! Roll-outs, remediation and what comes between them.

use super::words;
use crate::world::{Launches, World, content, pool};
use foo_model::{
    Blocked, InstancesMix, LaunchTemplateId, MachineName, NodeState, Reason, Seconds, SpecHash,
    TemplateVersion, Timestamp,
};
use foo_planner::action::MachineAction;
use foo_planner::desired::{IntOrPercent, OnFailure, PausedBy, RolloutPause, Wanted};
use foo_planner::observed::Verdict;
use foo_planner::report::ConditionKind;
use foo_planner::{Action, LastRead, Plan};

fn name(number: u32) -> MachineName {
    MachineName::new(format!("workers-{number:08x}"))
}

fn wants(world: &mut World, spec: &str, data: &str) {
    world.desired.template = Wanted::Ready(content(spec, data));
}

fn breaks(world: &mut World, spec: &str) {
    world.kube.broken.insert(SpecHash::new(spec));
}

/// That many steps of five seconds; returns what was done in them.
fn steps(world: &mut World, count: u32) -> Vec<String> {
    (0..count).flat_map(|_| words(&world.step())).collect()
}

fn until(world: &mut World, what: &str, is_so: impl Fn(&World) -> bool) {
    for _ in 0..300 {
        if is_so(world) {
            return;
        }
        world.step();
    }
    panic!("never: {what}\n{}", world.story());
}

fn launched_from(world: &World, spec: &str) -> Vec<MachineName> {
    let hash = SpecHash::new(spec);
    let from = world.kube.foo_machines.iter().filter(|it| it.spec_hash.as_ref() == Some(&hash));
    from.map(|foo_machine| foo_machine.name.clone()).collect()
}

fn has_failed_content(world: &World) -> bool {
    world.kube.quarantine.iter().any(|record| record.verdict != Verdict::Over)
}

fn condition(plan: &Plan, kind: ConditionKind) -> String {
    let found = plan.report.conditions.iter().find(|condition| condition.kind == kind).unwrap();
    format!("{:?} {}: {}", found.status, found.reason, found.message)
}

fn set_node(world: &mut World, machine: &MachineName, node: NodeState) {
    let now = world.now;
    if let Some(machine) = world.kube.machine_mut(machine) {
        machine.node = node;
        machine.node_since = Some(now);
    }
}

/// A roll-out to v2 of a pool of three whose canary never joined.
fn halted() -> World {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).running();
    breaks(&mut world, "v2");
    wants(&mut world, "v2", "d1");
    steps(&mut world, 6);
    world.wait(601);
    steps(&mut world, 6);
    assert!(has_failed_content(&world));
    world
}

#[test]
fn content_is_tried_again_when_the_record_is_taken_away() {
    let mut world = halted();
    // Mended for what is launched from now on; the canary of the first time stays as it is.
    world.kube.broken.clear();
    world.kube.quarantine.clear();
    for _ in 0..40 {
        world.wait(5);
        world.cloud.work(world.now);
        world.kube.work(world.now, &world.cloud);
        if let Some(canary) = world.kube.machine_mut(&name(4)) {
            (canary.node, canary.node_since) = (NodeState::None, None);
        }
        world.read_group();
        world.pass();
    }
    world.settle();
    assert!(world.kube.quarantine.is_empty(), "{:?}", world.kube.quarantine);
    assert_eq!(launched_from(&world, "v2").len(), 3);
    assert!(!world.kube.alive().contains(&name(4)));
}

#[test]
fn rotating_tokens_do_not_stop_the_clock_of_a_launch_that_never_comes() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).running();
    world.cloud.launches = Launches::Fail;
    for rotation in 0..3 {
        wants(&mut world, "v2", &format!("d{rotation}"));
        steps(&mut world, 3);
        for _ in 0..8 {
            world.wait(55);
            world.step();
        }
    }
    assert!(has_failed_content(&world));
}

#[test]
fn nodes_that_stop_being_ready_all_at_once_condemn_nothing() {
    let mut world = pool().of(8).with_surge(0).lacking_at_most(1).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "half is new", |world| launched_from(world, "v2").len() >= 4);
    for _ in 0..4 {
        for node in [NodeState::NotReady, NodeState::Ready] {
            for machine in world.kube.alive() {
                set_node(&mut world, &machine, node);
            }
            world.observe_and_plan();
        }
    }
    assert!(!has_failed_content(&world), "{:?}", world.kube.quarantine);
}

#[test]
fn nodes_that_restart_once_each_condemn_nothing_and_one_that_flaps_does() {
    let mut world = pool().of(6).with_surge(1).lacking_at_most(0).running();
    wants(&mut world, "v2", "d1");
    for number in 1..=4_u32 {
        until(&mut world, "another is new", |world| {
            world.kube.machine(&name(6 + number)).is_some_and(|it| it.node == NodeState::Ready)
        });
        for node in [NodeState::NotReady, NodeState::Ready] {
            set_node(&mut world, &name(6 + number), node);
            world.observe_and_plan();
        }
    }
    assert!(!has_failed_content(&world), "{:?}", world.kube.quarantine);
    let flaps = launched_from(&world, "v2")[0].clone();
    for _ in 0..3 {
        for node in [NodeState::Ready, NodeState::NotReady] {
            set_node(&mut world, &flaps, node);
            world.observe_and_plan();
        }
    }
    assert!(has_failed_content(&world));
}

#[test]
fn longer_min_ready_seconds_condemn_nothing() {
    let mut world = pool().of(6).with_surge(1).lacking_at_most(0).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "some are new", |world| launched_from(world, "v2").len() >= 4);
    world.desired.rollout.min_ready = Seconds(60);
    steps(&mut world, 3);
    assert!(!has_failed_content(&world));
    world.wait(60);
    world.settle();
}

#[test]
fn a_node_that_is_late_for_remediation_counts_against_the_roll_out() {
    let soon = |desired: &mut foo_planner::Desired| {
        desired.remediation.join_timeout = Some(Seconds(300));
    };
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).with(soon).running();
    breaks(&mut world, "v2");
    wants(&mut world, "v2", "d1");
    for _ in 0..20 {
        world.wait(25);
        world.step();
    }
    assert!(has_failed_content(&world));
    assert_eq!(world.cloud.launched, 4, "one canary");
}

#[test]
fn a_verdict_of_machine_health_check_counts_although_the_node_is_ready() {
    let mut world = pool().of(4).with_surge(1).lacking_at_most(0).running();
    wants(&mut world, "v2", "d1");
    let mut done = Vec::new();
    for _ in 0..30 {
        world.wait(5);
        world.cloud.work(world.now);
        world.kube.work(world.now, &world.cloud);
        for machine in launched_from(&world, "v2") {
            if let Some(machine) = world.kube.machine_mut(&machine) {
                machine.unhealthy = Some("no GPU".to_owned());
            }
        }
        world.read_group();
        done.extend(words(&world.pass()));
    }
    assert!(has_failed_content(&world));
    assert!(done.iter().all(|action| !action.starts_with("delete Machine")), "{done:?}");
}

#[test]
fn what_cannot_be_made_for_a_moment_takes_nothing_back() {
    let mut world = pool().of(6).with_surge(3).lacking_at_most(0).running();
    wants(&mut world, "v2", "d1");
    world.kube.held_up.extend((1..=6).map(name));
    until(&mut world, "all that surge allows is there", |world| world.cloud.existing() == 9);
    world.desired.template =
        Wanted::Blocked(Blocked::new(Reason::ImageNotFound, "image ami-2 does not exist"));
    let done = steps(&mut world, 6);
    assert!(done.iter().all(|action| !action.starts_with("delete Machine")), "{done:?}");
    let plan = world.step();
    let said = condition(&plan, ConditionKind::RollingOut);
    assert!(said.starts_with("True RolloutWaiting") && said.contains("ami-2 does not exist"), "{said}");
    assert_eq!(world.cloud.existing(), 9);
}

#[test]
fn content_that_failed_before_is_nothing_to_go_back_to() {
    let mut world = pool().of(2).with_surge(0).lacking_at_most(1).running();
    for spec in ["v2", "v3"] {
        breaks(&mut world, spec);
        wants(&mut world, spec, "d1");
        steps(&mut world, 12);
        world.wait(601);
        steps(&mut world, 12);
        assert!(has_failed_content(&world), "{spec}");
    }
    world.scale_to(0);
    steps(&mut world, 30);
    world.kube.foo_machines.clear();
    world.scale_to(2);
    steps(&mut world, 10);
    assert_eq!(launched_from(&world, "v1").len(), 2, "{}", world.story());
}

/// Instances of a template that a user deleted have version numbers that mean nothing now.
fn of_another_template(world: &mut World, version: i64) {
    for instance in &mut world.cloud.group.as_mut().unwrap().instances {
        instance.template = Some((LaunchTemplateId::new("lt-0"), TemplateVersion(version)));
    }
    world.cloud.record(world.now);
}

#[test]
fn version_numbers_of_a_template_that_is_gone_mean_nothing() {
    let mut world = pool().of(2).with_surge(1).lacking_at_most(0).running();
    of_another_template(&mut world, 2);
    world.settle();
    wants(&mut world, "v2", "d1");
    world.settle();
    assert_eq!(launched_from(&world, "v2").len(), 2);
}

#[test]
fn without_a_rollback_target_content_fails_once() {
    let mut world = pool().of(2).with_surge(1).lacking_at_most(0).running();
    of_another_template(&mut world, 7);
    breaks(&mut world, "v2");
    world.cloud.template = None;
    world.managers[0].template = LastRead::Unknown;
    wants(&mut world, "v2", "d1");
    steps(&mut world, 10);
    world.wait(601);
    let done = steps(&mut world, 10);
    assert_eq!(done.iter().filter(|action| action.starts_with("quarantine")).count(), 1, "{done:?}");
    world.kube.broken.clear();
    let plan = world.step();
    assert!(
        condition(&plan, ConditionKind::RollingOut).contains("there is no other launch template version")
    );
}

#[test]
fn a_pause_of_the_cluster_is_no_failure_of_the_content() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "one more is asked for", |world| world.cloud.sizes().desired == 4);
    world.desired.pause = Some(PausedBy::Cluster);
    steps(&mut world, 3);
    world.wait(3_600);
    world.step();
    world.desired.pause = None;
    world.settle();
    assert!(!has_failed_content(&world));
}

#[test]
fn remediation_keeps_to_what_may_be_missing() {
    let mut world = pool().of(5).with_surge(0).lacking_at_most(1).draining_at_most(9).running();
    wants(&mut world, "v2", "d1");
    world.kube.held_up.extend((1..=5).map(name));
    until(&mut world, "one is rolled", |world| world.kube.alive().len() == 4);
    let unhealthy = world.kube.alive()[0].clone();
    world.kube.machine_mut(&unhealthy).unwrap().unhealthy = Some("disk pressure".to_owned());
    steps(&mut world, 4);
    assert_eq!(world.kube.alive().len(), 4, "its successor comes first");
}

#[test]
fn a_scale_in_takes_the_unhealthy_machine_and_no_other() {
    let mut world = pool().of(4).with_surge(0).lacking_at_most(1).draining_at_most(9).running();
    let unhealthy = world.kube.alive()[3].clone();
    world.kube.machine_mut(&unhealthy).unwrap().unhealthy = Some("disk pressure".to_owned());
    world.scale_to(3);
    let plan = world.observe_and_plan();
    let deleted = plan
        .actions
        .iter()
        .filter(|action| matches!(action, Action::Machine(MachineAction::DeleteMachine { .. })));
    assert_eq!(deleted.count(), 1);
    world.settle();
    assert!(!world.kube.alive().contains(&unhealthy));
}

#[test]
fn a_scale_in_is_not_an_unhealthy_machine() {
    let mut world = pool().of(3).with_surge(0).lacking_at_most(1).draining_at_most(9).running();
    breaks(&mut world, "v1");
    world.scale_to(5);
    steps(&mut world, 8);
    world.kube.held_up.extend([name(4), name(5)]);
    world.scale_to(3);
    steps(&mut world, 3);
    let said = condition(&world.step(), ConditionKind::Remediating);
    assert!(said.contains("NotRemediating"), "{said}");
}

#[test]
fn what_failed_stays_for_inspection() {
    let mut world = halted();
    world.wait(4_000);
    steps(&mut world, 10);
    assert!(world.kube.alive().contains(&name(4)));
}

#[test]
fn a_roll_back_waits_for_min_ready_seconds_by_the_clock() {
    let patient = |desired: &mut foo_planner::Desired| desired.rollout.min_ready = Seconds(120);
    let mut world = pool().of(4).with_surge(1).lacking_at_most(0).rolling_back().with(patient).running();
    world.wait(200);
    wants(&mut world, "v2", "d1");
    for _ in 0..400 {
        world.step();
        if launched_from(&world, "v2").len() >= 3 {
            break;
        }
    }
    let unhealthy = launched_from(&world, "v2")[0].clone();
    set_node(&mut world, &unhealthy, NodeState::NotReady);
    world.kube.machine_mut(&unhealthy).unwrap().unhealthy = Some("broken".to_owned());
    for _ in 0..60 {
        let plan = world.step();
        let waits = condition(&plan, ConditionKind::RollingOut).contains("waiting for the Nodes");
        if plan.actions.is_empty() && waits {
            assert!(plan.report.next.after.is_some());
        }
    }
}

#[test]
fn a_rotated_token_cancels_no_launch_of_the_roll_out() {
    let mut world = pool().of(6).with_surge(3).lacking_at_most(0).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "the canary is there", |world| world.cloud.existing() == 7);
    world.cloud.launches = Launches::Fail;
    steps(&mut world, 4);
    let desired = world.cloud.sizes().desired;
    wants(&mut world, "v2", "d2");
    for _ in 0..6 {
        world.step();
        assert_eq!(world.cloud.sizes().desired, desired);
    }
}

#[test]
fn a_shortage_after_the_canary_condemns_nothing() {
    let mut world = pool().of(4).with_surge(1).lacking_at_most(0).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "two are new", |world| launched_from(world, "v2").len() >= 2);
    steps(&mut world, 2);
    world.cloud.launches = Launches::Fail;
    world.scale_to(8);
    for _ in 0..20 {
        world.wait(115);
        world.step();
    }
    assert!(!has_failed_content(&world));
}

fn with_wide_surge() -> World {
    pool().of(6).with_surge(3).lacking_at_most(0).draining_at_most(9).running()
}

/// R22: the autoscaler's mark is not ignored because a roll-out would like to have more instances.
#[test]
fn a_scale_in_ends_in_the_right_size_while_a_roll_out_is_stopped() {
    let mut world = with_wide_surge();
    breaks(&mut world, "v2");
    wants(&mut world, "v2", "d1");
    steps(&mut world, 6);
    world.wait(601);
    steps(&mut world, 6);
    assert!(has_failed_content(&world));
    world.delete_machine(&name(7));
    steps(&mut world, 10);
    let marked = world.kube.alive()[2].clone();
    world.mark(&marked);
    world.scale_to(3);
    steps(&mut world, 30);
    assert_eq!(world.kube.alive().len(), 3);
    assert!(!world.kube.alive().contains(&marked));

    let mut world = with_wide_surge();
    world.desired.rollout.paused = Some(RolloutPause::ByUser);
    wants(&mut world, "v2", "d1");
    steps(&mut world, 10);
    world.scale_to(3);
    steps(&mut world, 30);
    assert_eq!(world.kube.alive().len(), 3);

    let mut world = halted();
    world.scale_to(0);
    steps(&mut world, 60);
    assert_eq!(world.cloud.existing(), 0);
}

#[test]
fn r22_a_mark_is_heard_while_old_machines_drain() {
    let mut world = pool().of(6).with_surge(1).lacking_at_most(0).draining_at_most(2).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "some are new", |world| launched_from(world, "v2").len() >= 3);
    world.kube.held_up.extend((1..=6).map(name));
    steps(&mut world, 6);
    let marked = launched_from(&world, "v2")[0].clone();
    world.mark(&marked);
    world.scale_to(5);
    steps(&mut world, 5);
    assert!(!world.kube.alive().contains(&marked));
}

#[test]
fn sizes_and_shares_of_nothing_are_nothing() {
    let mut world = pool().of(0).with_surge(3).running();
    world.desired.remediation.unhealthy_limit = IntOrPercent::Percent(0);
    wants(&mut world, "v2", "d1");
    world.settle();
    assert_eq!((world.cloud.existing(), world.now > Timestamp(0)), (0, true));
}

fn mix(world: &World) -> Option<InstancesMix> {
    world.cloud.group.as_ref().unwrap().mix.clone()
}

/// What a user lets AWS choose from, with this image for arm64.
type Chooses = fn(&mut World, &str);

/// A roll-out to v2 with another image of arm64 types, which fails.
fn fails_with_arm64_image(world: &mut World, chooses: Chooses) {
    breaks(world, "v2");
    wants(world, "v2", "d1");
    chooses(world, "ami-a2");
    let wanted = world.desired.group.mix.clone();
    until(world, "it is launched", |world| mix(world) == wanted);
    steps(world, 6);
    world.wait(601);
    until(world, "it failed", has_failed_content);
}

fn check_rollback_of_arm64_image(chooses: Chooses) {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).rolling_back().new_world();
    chooses(&mut world, "ami-a1");
    let before = world.desired.group.mix.clone();
    world.settle();
    fails_with_arm64_image(&mut world, chooses);
    until(&mut world, "it is back", |world| mix(world) == before);
    world.settle();
    assert_eq!(launched_from(&world, "v1").len(), 3);
    assert_eq!(mix(&world), before);
}

/// A launch template version has one image: that of arm64 types is in the group.
#[test]
fn a_rollback_returns_to_the_image_of_arm64_types_as_well() {
    check_rollback_of_arm64_image(World::names_arm64_image);
}

#[test]
fn a_rollback_returns_to_the_image_of_sets_of_arm64_types_as_well() {
    check_rollback_of_arm64_image(World::describes_types_with_arm64_image);
}

/// The types of x86_64 stay; those of arm64 have nothing to boot.
fn check_rollback_without_arm64_image(chooses: Chooses) {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).rolling_back().running();
    fails_with_arm64_image(&mut world, chooses);
    let mut only_x86 = world.desired.group.mix.clone().unwrap();
    only_x86.overrides.retain(|choice| choice.image.is_none());
    assert_eq!(only_x86.overrides.len(), 1);
    until(&mut world, "it is back", |world| mix(world).as_ref() == Some(&only_x86));
    world.settle();
    assert_eq!(launched_from(&world, "v1").len(), 3);
}

#[test]
fn a_rollback_to_content_without_an_image_of_arm64_types_launches_none_of_these() {
    check_rollback_without_arm64_image(World::names_arm64_image);
}

#[test]
fn a_rollback_to_content_without_an_image_of_arm64_launches_no_set_of_these_types() {
    check_rollback_without_arm64_image(World::describes_types_with_arm64_image);
}

/// A pool of three without surge whose second new instance did not work, on the way back; what is launched then does not
/// work either.
fn on_a_bad_way_back() -> World {
    let back = |desired: &mut foo_planner::Desired| desired.rollout.on_failure = OnFailure::Rollback;
    let mut world = pool().of(3).with_surge(0).lacking_at_most(1).with(back).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "the first works", |world| {
        world.kube.machine(&name(4)).is_some_and(|it| it.node == NodeState::Ready)
    });
    breaks(&mut world, "v2");
    until(&mut world, "the second came", |world| world.cloud.launched == 5);
    world.wait(601);
    until(&mut world, "its content failed", has_failed_content);
    breaks(&mut world, "v1");
    until(&mut world, "one more of the old content is there", |world| world.cloud.launched == 6);
    world
}

#[test]
fn a_way_back_that_fails_as_well_is_halted_and_says_both() {
    let mut world = on_a_bad_way_back();
    steps(&mut world, 5);
    world.wait(601);
    let events = |plan: &Plan| {
        plan.report
            .events
            .iter()
            .filter(|event| event.reason == foo_model::EventReason::RollbackFailed)
            .count()
    };
    let events: usize = (0..10).map(|_| events(&world.step())).sum();
    assert_eq!(events, 1, "{}", world.story());
    let said = condition(&world.step(), ConditionKind::RollingOut);
    assert!(said.starts_with("True RolloutHalted") && said.contains("workers-00000005"), "{said}");
    assert!(said.contains("the rollback to v1 failed as well: Machine workers-00000006"), "{said}");
    world.wait(4_000);
    let done = steps(&mut world, 20);
    assert!(done.iter().all(|action| !action.starts_with("quarantine")), "said once: {done:?}");
    assert_eq!(world.cloud.launched, 6, "nothing further is tried");
    assert_eq!(world.kube.alive().len(), 3);
    // What is desired next is tried as ever.
    world.kube.broken.clear();
    wants(&mut world, "v3", "d1");
    world.settle();
    assert_eq!(launched_from(&world, "v3").len(), 3);
    assert!(!has_failed_content(&world));
}

#[test]
fn a_node_that_was_there_before_does_not_halt_the_way_back() {
    let mut world = on_a_bad_way_back();
    world.kube.broken.clear();
    let old = launched_from(&world, "v1")[0].clone();
    set_node(&mut world, &old, NodeState::NotReady);
    world.wait(601);
    steps(&mut world, 5);
    assert!(world.kube.quarantine.iter().all(|record| record.verdict != Verdict::Stuck));
}

#[test]
fn an_old_read_of_an_instance_whose_node_is_ready_is_no_failure() {
    let mut world = pool().of(2).with_surge(0).lacking_at_most(1).running();
    wants(&mut world, "v2", "d1");
    until(&mut world, "the first has a FooMachine", |world| launched_from(world, "v2").len() == 1);
    world.kube.work(world.now, &world.cloud);
    set_node(&mut world, &name(3), NodeState::Ready);
    if let Some(group) = &mut world.cloud.group {
        let newest = group.instances.iter_mut().find(|it| it.id.as_str() == "i-00000003").unwrap();
        newest.lifecycle = foo_model::LifecycleState::Pending;
    }
    world.cloud.record(world.now);
    world.read_group();
    world.restart(0);
    world.read_group();
    world.wait(700);
    let done: Vec<String> = (0..4).flat_map(|_| words(&world.pass())).collect();
    assert!(done.iter().all(|action| !action.starts_with("delete Machine")), "{done:?}");
}
