//! Warm pools: created with user data that wait, renewed with the launch template version, deleted when they leave the spec; those of
//! other users stay.

use super::NOTHING;
use crate::world::{Fault, World, content, joining, pool, warm_pool};
use foo_model::{
    AppliedWarmPool, Blocked, EventReason, InstanceId, Reason, SignalKind, SpecHash, TemplateVersion,
    WarmPool, WarmPoolSettings, WarmState,
};
use foo_planner::desired::{PausedBy, Wanted};
use foo_planner::report::{ConditionKind, Pace, RolloutPhase, Status};
use foo_planner::{Desired, Plan};
use std::collections::BTreeSet;

/// A running pool with this many replicas, and one instance that waits.
fn warmed(replicas: u32) -> World {
    pool().of(replicas).with_surge(1).lacking_at_most(0).keeping_warm(1).running()
}

fn has(world: &World) -> Option<WarmPool> {
    world.cloud.group.as_ref()?.warm_pool
}

/// Another user creates a warm pool of two instances, of an unknown version.
fn another_user_creates_one(world: &mut World, settings: WarmPoolSettings) {
    let group = world.cloud.group.as_mut().unwrap();
    group.warm_pool = Some(WarmPool { settings, deleting: false, size: 2 });
    world.cloud.warm = vec![None, None];
    world.cloud.record(world.now);
}

/// Settings of warm pools whose instances may be Nodes with Pods, if their user data join.
fn with_pods() -> [WarmPoolSettings; 3] {
    [(WarmState::Running, false), (WarmState::Hibernated, false), (WarmState::Stopped, true)]
        .map(|(state, reuse)| WarmPoolSettings { state, reuse, ..warm_pool(2) })
}

/// A running pool of one, whose launch template has a second version, with user data that join.
fn with_a_version_that_joins() -> World {
    let mut world = pool().of(1).running();
    for template in [joining("v1"), content("v1", "d1")] {
        world.desired.template = Wanted::Ready(template);
        world.settle();
    }
    world
}

/// The record of a warm pool whose instances have the first launch template version.
fn record_of_first_version(world: &World) -> AppliedWarmPool {
    let launches = world.cloud.group.as_ref().and_then(|group| group.template.clone());
    AppliedWarmPool { template: launches.map(|(id, _)| (id, TemplateVersion(1))) }
}

/// Another user changes the settings of the warm pool.
fn another_user_changes(world: &mut World, change: impl FnOnce(&mut WarmPoolSettings)) {
    change(&mut world.cloud.group.as_mut().unwrap().warm_pool.as_mut().unwrap().settings);
    world.cloud.record(world.now);
}

/// A user deletes the warm pool.
fn a_user_deletes_it(world: &mut World) {
    world.cloud.group.as_mut().unwrap().warm_pool = None;
    world.cloud.warm.clear();
    world.cloud.record(world.now);
}

/// Steps of five seconds; returns the last plan.
fn steps(world: &mut World, steps: u32) -> Plan {
    for _ in 1..steps {
        world.step();
    }
    world.step()
}

/// The group gets the second launch template version; nothing has been done after that.
fn gets_the_next_version(world: &mut World) {
    for _ in 0..10 {
        world.step();
        if times(world, "update group version=2") > 0 {
            return;
        }
    }
    panic!("it does not get it:\n{}", world.story());
}

const OUTDATED: &str =
    "delete warm pool: its instances may have other launch template versions than the group";
const EMPTIED: &str = "put warm pool min=0 max=0 Stopped";

/// When it was carried out for the first time, as a place in the story.
fn at(world: &World, what: &str) -> usize {
    let found = world.log.iter().position(|line| line.contains(what) && line.contains("(Done"));
    found.unwrap_or_else(|| panic!("{what}:\n{}", world.story()))
}

fn times(world: &World, what: &str) -> usize {
    world.log.iter().filter(|line| line.contains(what)).count()
}

fn versions(world: &World) -> Vec<i64> {
    let members = world.cloud.group.iter().flat_map(|group| &group.instances);
    members.filter_map(|it| it.template.as_ref().map(|(_, TemplateVersion(version))| *version)).collect()
}

fn condition(plan: &Plan) -> Option<(Status, Reason)> {
    let found = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::WarmPoolReady)?;
    Some((found.status, found.reason))
}

fn message(plan: &Plan) -> &str {
    let found = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::WarmPoolReady);
    &found.unwrap().message
}

#[test]
fn a_warm_pool_is_recorded_with_the_version_of_its_instances_before_it_is_created() {
    let mut world = warmed(2);
    // While the provider manages the replicas, so many wait whatever the group's maximum is.
    let settings = WarmPoolSettings { max_prepared: Some(1), ..warm_pool(1) };
    assert_eq!(has(&world), Some(WarmPool { settings, deleting: false, size: 1 }));
    assert!(
        at(&world, "record as applied: warm pool of version 1") < at(&world, "put warm pool min=1 max=1")
    );
    assert_eq!(world.wants(), NOTHING);
    let plan = world.observe_and_plan();
    assert_eq!(condition(&plan), Some((Status::True, Reason::WarmPoolReady)));
    assert_eq!(plan.report.counts.unwrap().warm, Some(1));
    assert_eq!((plan.report.next.pace, plan.report.next.after), (Pace::Quiet, None));
}

#[test]
fn a_pool_without_a_warm_pool_has_no_condition_about_it() {
    let mut world = pool().of(1).running();
    let plan = world.observe_and_plan();
    assert_eq!((condition(&plan), plan.report.counts.unwrap().warm), (None, None));
}

#[test]
fn an_instance_that_waits_becomes_one_machine_and_another_one_waits() {
    let mut world = warmed(1);
    world.scale_to(2);
    world.settle();
    assert_eq!((world.kube.alive().len(), world.cloud.warm.len()), (2, 1));
    assert_eq!(times(&world, "put warm pool"), 1);
}

#[test]
fn a_group_that_another_controller_sizes_fills_its_warm_pool_up_to_the_maximum() {
    let world = pool().managed_by_another_controller(1, 5).keeping_warm(1).running();
    assert_eq!(has(&world).map(|pool| pool.settings), Some(warm_pool(1)));
    assert_eq!(world.cloud.warm.len(), 4);
}

#[test]
fn a_roll_out_renews_the_warm_pool_before_it_launches_anything() {
    let mut world = warmed(2);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    world.settle();
    assert!(at(&world, "update group version=2") < at(&world, "delete warm pool"), "{}", world.story());
    assert!(at(&world, "record as applied: warm pool of any version") < at(&world, "delete warm pool"));
    assert!(at(&world, "delete warm pool") < at(&world, "desired=3"), "{}", world.story());
    assert!(at(&world, "delete warm pool") < at(&world, "record as applied: warm pool of version 2"));
    assert_eq!(versions(&world), [2, 2]);
    assert_eq!(world.cloud.launched, 4, "none is replaced twice:\n{}", world.story());
    assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1);
}

#[test]
fn new_user_data_renew_the_warm_pool_and_replace_no_instance() {
    let mut world = warmed(2);
    world.desired.template = Wanted::Ready(content("v1", "d2"));
    world.settle();
    assert_eq!((times(&world, "delete warm pool"), times(&world, "put warm pool")), (1, 2));
    assert_eq!((versions(&world), world.cloud.launched), (vec![1, 1], 2));
    assert!(world.cloud.warms_its_version());
}

#[test]
fn a_change_of_size_in_the_same_edit_waits_for_the_deletion_of_the_outdated_warm_pool() {
    let mut world = warmed(1);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    world.scale_to(3);
    world.settle();
    assert!(at(&world, "delete warm pool") < at(&world, "update group max="), "{}", world.story());
    assert!(versions(&world).iter().all(|version| *version == 2));
}

#[test]
fn once_outdated_a_warm_pool_is_deleted_even_if_its_version_returns() {
    let mut world = warmed(1);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    for _ in 0..20 {
        world.observe_and_plan();
        if world.kube.applied.warm_pool == Some(AppliedWarmPool::default()) {
            break;
        }
    }
    // The deletion was lost with the manager.
    world.cloud.group.as_mut().unwrap().warm_pool.as_mut().unwrap().deleting = false;
    world.cloud.record(world.now);
    world.desired.template = Wanted::Ready(content("v1", "d1"));
    world.restart(0);
    world.settle();
    assert_eq!(times(&world, "delete warm pool"), 2, "{}", world.story());
    assert!(world.cloud.warms_its_version() && versions(&world) == [1]);
}

#[test]
fn a_manager_whose_predecessor_died_after_the_record_creates_the_warm_pool() {
    let mut world = pool().of(1).running();
    world.desired.group.warm_pool = Some(warm_pool(1));
    let puts = "put warm pool min=1 max=1 Stopped";
    assert_eq!(world.wants(), ["record as applied: warm pool of version 1", puts]);
    world.kube.applied.warm_pool = Some(record_of_first_version(&world));
    world.restart(0);
    world.settle();
    assert_eq!((times(&world, puts), world.cloud.warm.len()), (1, 1));
}

#[test]
fn without_user_data_that_wait_there_is_no_warm_pool_and_the_condition_says_so() {
    let joins = |desired: &mut Desired| desired.template = Wanted::Ready(joining("v1"));
    let mut world = pool().of(1).keeping_warm(1).with(joins).running();
    assert_eq!((has(&world), world.kube.applied.warm_pool.clone()), (None, None));
    assert_eq!(world.wants(), NOTHING);
    let plan = world.observe_and_plan();
    assert_eq!(condition(&plan), Some((Status::False, Reason::UserDataDoesNotWait)));
    assert_eq!(plan.report.conditions[0].status, Status::True, "the pool is ready all the same");
}

#[test]
fn the_warm_pool_is_deleted_before_the_group_launches_from_user_data_that_do_not_wait() {
    let mut world = warmed(1);
    world.desired.template = Wanted::Ready(joining("v1"));
    world.settle();
    let deleted = at(&world, "delete warm pool: its instances would join the cluster");
    assert!(deleted < at(&world, "update group version=2"), "{}", world.story());
    assert_eq!((has(&world), world.kube.applied.warm_pool.clone()), (None, None));
}

#[test]
fn a_warm_pool_that_leaves_the_spec_is_deleted_and_then_forgotten() {
    let mut world = warmed(1);
    world.desired.group.warm_pool = None;
    let deletes = "delete warm pool: the spec no longer names it";
    assert_eq!(world.wants(), ["record as applied: warm pool of any version", deletes]);
    world.settle();
    assert_eq!((has(&world), world.kube.applied.warm_pool.clone()), (None, None));
    assert_eq!(world.wants(), NOTHING);
}

#[test]
fn a_warm_pool_that_a_read_may_not_show_yet_stays_recorded_and_content_that_joins_waits_for_its_end() {
    let mut world = with_a_version_that_joins();
    world.desired.group.warm_pool = Some(warm_pool(1));
    world.observe_and_plan();
    world.desired.group.warm_pool = None;
    world.desired.template = Wanted::Ready(joining("v1"));
    // The read trails.
    world.wait(1);
    world.observe_with_lag(30);
    world.pass();
    assert!(world.kube.applied.warm_pool.is_some(), "{}", world.story());
    world.settle();
    assert_eq!((has(&world), world.kube.applied.warm_pool.clone()), (None, None));
    assert!(world.cloud.joined.is_empty(), "{}", world.story());
}

#[test]
fn a_warm_pool_of_another_user_is_not_taken_for_an_earlier_one_of_the_provider() {
    let mut world = warmed(1);
    a_user_deletes_it(&mut world);
    world.desired.template = Wanted::Blocked(Blocked::new(Reason::ImageNotFound, ""));
    steps(&mut world, 2);
    assert_eq!(world.kube.applied.warm_pool, None, "{}", world.story());
    another_user_creates_one(&mut world, WarmPoolSettings { state: WarmState::Running, ..warm_pool(2) });
    world.desired.template = Wanted::Ready(content("v1", "d1"));
    let plan = world.settle();
    assert_eq!(condition(&plan), Some((Status::False, Reason::WarmPoolNotOwned)));
    assert_eq!(times(&world, "delete warm pool"), 0, "{}", world.story());
}

#[test]
fn a_warm_pool_of_another_user_stays_until_the_spec_names_one() {
    let mut world = pool().of(1).running();
    another_user_creates_one(&mut world, warm_pool(2));
    assert_eq!(world.wants(), NOTHING);
    assert_eq!(condition(&world.observe_and_plan()), None);
    world.desired.group.warm_pool = Some(warm_pool(1));
    assert_eq!(world.wants(), ["record as applied: warm pool of any version", OUTDATED]);
    world.settle();
    assert_eq!(has(&world).map(|pool| pool.settings.min_size), Some(1));
    assert!(world.cloud.warms_its_version());
}

#[test]
fn a_warm_pool_of_another_user_whose_instances_may_be_nodes_is_left_to_that_user() {
    for settings in with_pods() {
        let mut world = pool().of(1).running();
        another_user_creates_one(&mut world, settings);
        world.desired.group.warm_pool = Some(warm_pool(1));
        assert_eq!(world.wants(), NOTHING);
        let plan = world.observe_and_plan();
        assert_eq!(condition(&plan), Some((Status::False, Reason::WarmPoolNotOwned)));
        assert_eq!(plan.report.conditions[0].status, Status::True, "the pool is ready all the same");
        world.desired.template = Wanted::Ready(joining("v1"));
        let plan = world.settle();
        assert_eq!(condition(&plan), Some((Status::False, Reason::WarmPoolNotOwned)));
        assert_eq!((times(&world, "warm pool"), world.kube.applied.warm_pool.clone()), (0, None));
        world.desired.template = Wanted::Ready(content("v1", "d1"));
        a_user_deletes_it(&mut world);
        world.settle();
        assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1, "{}", world.story());
    }
}

#[test]
fn no_warm_pool_is_created_after_a_read_that_is_too_old_to_show_that_of_another_user() {
    let mut world = pool().of(1).running();
    world.wait(60);
    another_user_creates_one(&mut world, WarmPoolSettings { state: WarmState::Running, ..warm_pool(2) });
    world.desired.group.warm_pool = Some(warm_pool(1));
    let plan = world.plan_of(0);
    assert_eq!(condition(&plan), Some((Status::False, Reason::WarmPoolUpdating)));
    assert_eq!((plan.actions.len(), plan.report.next.pace), (0, Pace::Active), "{:?}", plan.actions);
    let plan = world.observe_and_plan();
    assert_eq!(condition(&plan), Some((Status::False, Reason::WarmPoolNotOwned)));
    assert_eq!(times(&world, "warm pool"), 0, "{}", world.story());
}

#[test]
fn a_warm_pool_whose_record_is_lost_is_another_users() {
    let mut world = warmed(1);
    world.kube.applied.warm_pool = None;
    assert_eq!(world.wants(), ["record as applied: warm pool of any version", OUTDATED]);
    world.settle();
    assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1);

    let running = WarmPoolSettings { state: WarmState::Running, ..warm_pool(1) };
    let mut world = pool().of(1).with(|desired| desired.group.warm_pool = Some(running)).running();
    world.kube.applied.warm_pool = None;
    assert_eq!(world.wants(), NOTHING);
    let plan = world.observe_and_plan();
    assert_eq!(condition(&plan), Some((Status::False, Reason::WarmPoolNotOwned)));
}

#[test]
fn settings_of_the_warm_pool_are_restored() {
    let mut world = warmed(1);
    another_user_changes(&mut world, |settings| settings.min_size = 7);
    assert_eq!(world.wants(), ["put warm pool min=1 max=1 Stopped"]);
    world.settle();
    assert_eq!(has(&world).map(|pool| pool.settings.min_size), Some(1));
}

#[test]
fn a_warm_pool_to_which_nodes_may_have_returned_is_renewed() {
    let changes: [fn(&mut WarmPoolSettings); 2] =
        [|settings| settings.reuse = true, |settings| settings.state = WarmState::Hibernated];
    for change in changes {
        let mut world = warmed(1);
        another_user_changes(&mut world, change);
        assert_eq!(world.wants(), ["record as applied: warm pool of any version", OUTDATED]);
        world.settle();
        assert_eq!(has(&world).map(|pool| pool.settings.is_of_provider()), Some(true));
        assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1);
    }
}

#[test]
fn the_deletion_of_a_warm_pool_is_an_event() {
    let mut world = warmed(1);
    world.desired.group.warm_pool = None;
    let plan = world.observe_and_plan();
    let events: Vec<EventReason> = plan.report.events.iter().map(|event| event.reason).collect();
    assert_eq!(events, [EventReason::WarmPoolDeleted]);
}

/// The usual way to switch it off, while AWS does not delete it.
#[test]
fn content_that_joins_waits_for_the_end_of_the_warm_pool_although_that_left_the_spec_in_the_same_edit() {
    for code in ["AccessDenied", "ScalingActivityInProgress", "ValidationError"] {
        let mut world = warmed(1);
        world.cloud.refuses_warm_pool_deletion = Some(code);
        world.desired.group.warm_pool = None;
        world.desired.template = Wanted::Ready(joining("v1"));
        steps(&mut world, 20);
        assert_eq!(times(&world, "update group version=2"), 0, "{}", world.story());
        world.cloud.refuses_warm_pool_deletion = None;
        world.settle();
        assert!(at(&world, "delete warm pool") < at(&world, "update group version=2"), "{}", world.story());
        assert!(world.cloud.joined.is_empty() && has(&world).is_none());
    }
}

#[test]
fn a_manager_that_just_started_waits_for_the_end_of_its_predecessors_warm_pool() {
    let mut world = warmed(1);
    world.desired.group.warm_pool = None;
    world.desired.template = Wanted::Ready(joining("v1"));
    world.hand_over();
    world.settle();
    assert!(at(&world, "delete warm pool") < at(&world, "update group version=2"), "{}", world.story());
    assert!(world.cloud.joined.is_empty());
}

#[test]
fn a_version_that_the_group_had_before_the_manager_settled_is_not_forgotten() {
    let mut world = warmed(1);
    world.hand_over();
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    gets_the_next_version(&mut world);
    // Its instance is taken, and AWS launches another one.
    world.cloud.warm.clear();
    world.cloud.fit_warm_pool(world.now);
    world.hand_over();
    world.desired.template = Wanted::Ready(content("v1", "d1"));
    world.settle();
    assert!(world.cloud.warms_its_version(), "{:?}\n{}", world.cloud.warm, world.story());
}

#[test]
fn a_warm_pool_that_the_former_leader_created_after_the_last_read_is_not_forgotten() {
    let mut world = pool().of(0).running();
    world.hand_over();
    world.wait(4);
    world.desired.group.warm_pool = Some(warm_pool(1));
    world.wait(4);
    world.pass_of(1, &mut |_, _| Fault::None);
    assert_eq!(times(&world, "put warm pool"), 1, "within its lease: {}", world.story());
    world.wait(3);
    world.observe_with_lag(5);
    world.wait(4);
    world.desired.template = Wanted::Ready(joining("v1"));
    world.pass();
    assert!(world.kube.applied.warm_pool.is_some(), "{}", world.story());
    world.settle();
    assert_eq!((has(&world), world.kube.applied.warm_pool.clone()), (None, None), "{}", world.story());
}

#[test]
fn a_manager_that_just_started_waits_for_a_warm_pool_that_its_predecessor_is_still_creating() {
    // The new one knows of it from the spec, or from the record.
    for is_named in [true, false] {
        let mut world = with_a_version_that_joins();
        let record = record_of_first_version(&world);
        world.desired.group.warm_pool = is_named.then(|| warm_pool(1));
        world.kube.applied.warm_pool = (!is_named).then(|| record.clone());
        world.desired.template = Wanted::Ready(joining("v1"));
        world.hand_over();
        steps(&mut world, 2);
        assert_eq!(times(&world, "update group version=2"), 1, "not again: {}", world.story());
        world.kube.applied.warm_pool = Some(record);
        let settings = WarmPoolSettings { max_prepared: Some(1), ..warm_pool(1) };
        world.cloud.put_warm_pool(settings, world.now).unwrap();
        world.settle();
        assert_eq!(times(&world, "update group version=2"), 2, "{}", world.story());
        assert!(world.cloud.joined.is_empty(), "{}", world.story());
        assert_eq!((has(&world), world.kube.applied.warm_pool.clone()), (None, None));
    }
}

#[test]
fn a_warm_pool_that_aws_does_not_delete_is_emptied_after_ten_minutes_and_then_delays_nothing() {
    for code in ["AccessDenied", "ScalingActivityInProgress", "ValidationError"] {
        let mut world = warmed(2);
        world.cloud.refuses_warm_pool_deletion = Some(code);
        world.desired.template = Wanted::Ready(joining("v2"));
        let plan = steps(&mut world, 110);
        assert_eq!((versions(&world), times(&world, "update group version=2")), (vec![1, 1], 0));
        assert_eq!(condition(&plan), Some((Status::False, Reason::UserDataDoesNotWait)));
        let ready = &plan.report.conditions[0];
        assert_eq!((ready.status, ready.reason), (Status::True, Reason::RolloutPreparing), "{code}");
        let rollout = plan.report.rollout.as_ref().unwrap();
        assert!(rollout.message.contains("warm pool"), "{}", rollout.message);
        steps(&mut world, 120);
        assert!(at(&world, EMPTIED) < at(&world, "update group version=2"), "{}", world.story());
        assert_eq!((versions(&world), times(&world, EMPTIED)), (vec![2, 2], 1), "{}", world.story());
        assert!(world.cloud.joined.is_empty() && world.cloud.warm.is_empty());
        world.cloud.refuses_warm_pool_deletion = None;
        world.settle();
        assert_eq!((has(&world), world.kube.applied.warm_pool.clone()), (None, None));
    }
}

#[test]
fn an_empty_warm_pool_stays_empty_whatever_else_another_user_sets() {
    let mut world = warmed(1);
    world.cloud.refuses_warm_pool_deletion = Some("AccessDenied");
    world.desired.template = Wanted::Ready(joining("v1"));
    steps(&mut world, 160);
    another_user_changes(&mut world, |settings| settings.state = WarmState::Running);
    world.desired.template = Wanted::Ready(joining("v2"));
    steps(&mut world, 40);
    assert_eq!(times(&world, "put warm pool min=0 max=0"), 1, "{}", world.story());
    assert_eq!(versions(&world), [3], "{}", world.story());
    assert!(world.cloud.joined.is_empty());
}

#[test]
fn deleting_the_warm_pool_by_hand_has_the_same_effect() {
    let mut world = warmed(1);
    world.cloud.refuses_warm_pool_deletion = Some("AccessDenied");
    world.desired.template = Wanted::Ready(joining("v1"));
    steps(&mut world, 20);
    a_user_deletes_it(&mut world);
    world.settle();
    assert_eq!(times(&world, "update group version=2"), 1, "{}", world.story());
    assert!(world.cloud.joined.is_empty());
}

#[test]
fn a_deletion_that_aws_cannot_carry_out_yet_is_repeated_with_growing_pauses() {
    let mut world = warmed(1);
    world.cloud.refuses_warm_pool_deletion = Some("ScalingActivityInProgress");
    world.desired.group.warm_pool = None;
    let plan = steps(&mut world, 60);
    let tries = times(&world, "delete warm pool");
    assert!((5..10).contains(&tries), "{tries} in five minutes:\n{}", world.story());
    assert!(message(&plan).contains("AWS has not accepted that yet"), "{}", message(&plan));
    world.cloud.refuses_warm_pool_deletion = None;
    let plan = world.settle();
    assert_eq!((condition(&plan), has(&world)), (None, None));
}

#[test]
fn a_creation_that_aws_refuses_is_repeated_with_growing_pauses_and_leaves_the_pool_idle() {
    let mut world = pool().of(1).running();
    world.desired.group.warm_pool = Some(warm_pool(1));
    world.cloud.refuses_warm_pool = Some("AccessDenied");
    let active = (0..60).filter(|_| world.step().report.next.pace == Pace::Active).count();
    let tries = times(&world, "put warm pool");
    assert!((5..10).contains(&tries) && active == tries, "{active} {tries}:\n{}", world.story());
    world.cloud.refuses_warm_pool = None;
    world.settle();
    assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1);
    assert_eq!(world.managers[0].memory.refused_warm_pool, None);
}

#[test]
fn a_refused_warm_pool_that_left_the_spec_is_forgotten() {
    let mut world = pool().of(1).running();
    world.desired.group.warm_pool = Some(warm_pool(1));
    world.cloud.refuses_warm_pool = Some("AccessDenied");
    steps(&mut world, 10);
    assert!(world.managers[0].memory.refused_warm_pool.is_some());
    world.desired.group.warm_pool = None;
    world.step();
    assert_eq!(world.managers[0].memory.refused_warm_pool, None);
}

#[test]
fn a_read_that_trails_creates_no_warm_pool_of_a_version_that_joins() {
    let mut world = pool().of(1).running();
    world.desired.template = Wanted::Ready(joining("v1"));
    gets_the_next_version(&mut world);
    world.desired.template = Wanted::Ready(content("v1", "d1"));
    world.desired.group.warm_pool = Some(warm_pool(1));
    // It shows the group as it was before.
    world.wait(1);
    world.observe_with_lag(5);
    world.pass();
    world.cloud.work(world.now);
    assert_eq!(times(&world, "put warm pool"), 0, "{}", world.story());
    world.settle();
    assert!(world.cloud.joined.is_empty(), "{}", world.story());
    assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1);
}

#[test]
fn a_new_leader_renews_the_warm_pool_that_its_predecessor_made_outdated() {
    let mut world = warmed(2);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    gets_the_next_version(&mut world);
    world.hand_over();
    world.settle();
    assert!(at(&world, "delete warm pool") < at(&world, "desired=3"), "{}", world.story());
    assert_eq!((versions(&world), world.cloud.launched), (vec![2, 2], 4), "{}", world.story());
    assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1);
}

#[test]
fn while_the_pool_is_paused_the_time_for_a_renewal_does_not_pass() {
    let mut world = warmed(2);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    gets_the_next_version(&mut world);
    world.desired.pause = Some(PausedBy::Annotation);
    steps(&mut world, 150);
    assert_eq!(times(&world, "delete warm pool"), 0);
    world.desired.pause = None;
    world.settle();
    assert_eq!((versions(&world), world.cloud.launched), (vec![2, 2], 4), "{}", world.story());
    assert_eq!(times(&world, EMPTIED), 0);
}

#[test]
fn a_roll_back_to_earlier_content_with_the_present_user_data_renews_the_warm_pool() {
    let start = pool().of(2).with_surge(1).lacking_at_most(0).rolling_back().keeping_warm(1);
    let mut world = start.running();
    world.kube.broken.insert(SpecHash::new("v2"));
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    let mut reasons = BTreeSet::new();
    for _ in 0..200 {
        let plan = world.step();
        reasons.extend(condition(&plan).map(|(_, reason)| reason));
    }
    world.settle();
    assert_eq!(times(&world, "copy template version"), 1, "{}", world.story());
    assert!(!reasons.contains(&Reason::UserDataDoesNotWait), "{reasons:?}\n{}", world.story());
    assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1, "{}", world.story());
}

#[test]
fn a_removal_waits_for_the_deletion_of_the_warm_pool() {
    let mut world = warmed(1);
    world.cloud.refuses_warm_pool_deletion = Some("AccessDenied");
    world.delete_pool();
    steps(&mut world, 40);
    assert!(world.cloud.group.is_some() && world.instances().is_empty(), "{}", world.story());
    world.cloud.refuses_warm_pool_deletion = None;
    world.settle();
    assert!(world.is_gone(), "{}", world.story());
}

#[test]
fn a_roll_out_waits_ten_minutes_for_a_warm_pool_that_aws_cannot_delete() {
    let mut world = warmed(2);
    world.cloud.keeps_warm_pool = true;
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    for _ in 0..110 {
        world.step();
    }
    assert_eq!((versions(&world), world.kube.alive().len()), (vec![1, 1], 2));
    let plan = world.step();
    assert_eq!(plan.report.rollout.as_ref().map(|it| it.phase), Some(RolloutPhase::Preparing));
    assert_eq!(condition(&plan), Some((Status::False, Reason::WarmPoolUpdating)));
    for _ in 0..60 {
        world.step();
    }
    let plan = world.settle();
    assert_eq!(versions(&world), [2, 2], "{}", world.story());
    assert!(message(&plan).contains("no longer wait"), "{}", message(&plan));
    world.cloud.keeps_warm_pool = false;
    world.settle();
    assert!(world.cloud.warms_its_version() && world.cloud.warm.len() == 1);
}

#[test]
fn versions_are_not_pruned_while_the_warm_pool_may_have_instances_of_them() {
    let mut world = warmed(1);
    world.cloud.keeps_warm_pool = true;
    for number in 2..15 {
        world.desired.template = Wanted::Ready(content("v1", &format!("d{number}")));
        world.step();
        world.step();
        world.step();
    }
    world.wait(3_600);
    world.settle();
    assert_eq!(times(&world, "delete template versions"), 0, "{}", world.story());
    world.cloud.keeps_warm_pool = false;
    world.settle();
    world.wait(3_600);
    world.settle();
    assert_eq!(times(&world, "delete template versions"), 1, "{}", world.story());
}

#[test]
fn an_empty_warm_pool_keeps_no_version() {
    let mut world = warmed(1);
    world.cloud.refuses_warm_pool_deletion = Some("AccessDenied");
    for number in 2..15 {
        world.desired.template = Wanted::Ready(content("v1", &format!("d{number}")));
        steps(&mut world, 3);
    }
    world.wait(3_600);
    steps(&mut world, 6);
    assert!(at(&world, EMPTIED) < at(&world, "delete template versions"), "{}", world.story());
}

#[test]
fn the_condition_says_that_instances_are_lacking() {
    let mut world = warmed(1);
    world.cloud.group.as_mut().unwrap().warm_pool.as_mut().unwrap().size = 0;
    let plan = world.observe_and_plan();
    assert_eq!(condition(&plan), Some((Status::True, Reason::WarmPoolReady)));
    assert_eq!(message(&plan), "0 of 1 instance in it");
}

#[test]
fn the_group_is_deleted_after_its_warm_pool_whoever_created_that() {
    let mut world = pool().of(1).running();
    another_user_creates_one(&mut world, warm_pool(2));
    world.delete_pool();
    world.settle();
    assert!(at(&world, "delete warm pool: the pool is being deleted") < at(&world, "delete group"));
    assert!(world.is_gone(), "{}", world.story());
}

#[test]
fn a_removal_leaves_a_warm_pool_of_another_user_whose_instances_may_be_nodes_to_that_user() {
    for settings in with_pods() {
        let mut world = pool().of(1).running();
        another_user_creates_one(&mut world, settings);
        world.delete_pool();
        let plan = world.settle();
        assert_eq!(times(&world, "delete warm pool"), 0, "{}", world.story());
        assert!(world.cloud.group.is_some() && world.instances().is_empty(), "{}", world.story());
        let deleting = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::Deleting).unwrap();
        assert_eq!((deleting.status, deleting.reason), (Status::True, Reason::WarmPoolNotOwned));
        a_user_deletes_it(&mut world);
        world.settle();
        assert!(world.is_gone(), "{}", world.story());
    }
}

#[test]
fn the_warm_pool_of_a_group_that_stays_stays() {
    let mut world = warmed(1);
    world.delete_pool_retaining();
    world.settle();
    assert!(world.is_retained() && has(&world).is_some(), "{}", world.story());
}

#[test]
fn an_instance_that_leaves_the_warm_pool_does_not_wait_for_the_providers_hook() {
    let mut world = warmed(1);
    world.leaves_warm_pool(&InstanceId::new("i-00000abc"));
    let completes = "let i-00000abc go: it leaves the warm pool and never was a Node";
    assert_eq!(world.wants(), [completes]);
    world.wait(1);
    world.read_group();
    world.pass_of(0, &mut |_, _| Fault::RequestLost);
    assert_eq!(world.wants(), [completes], "until AWS has confirmed it");
    world.observe_and_plan();
    assert_eq!(world.wants(), NOTHING, "once");
    assert!(world.cloud.leaving_warm_pool.is_empty() && world.managers[0].signals.is_empty());
    let member = world.instances()[0].clone();
    world.announce(SignalKind::LeavesWarmPool, &member);
    assert_eq!(world.wants(), NOTHING, "what is in the group is drained first");
}

#[test]
fn what_leaves_a_warm_pool_of_another_user_is_left_to_that_user() {
    let mut world = pool().of(1).running();
    another_user_creates_one(&mut world, WarmPoolSettings { state: WarmState::Running, ..warm_pool(2) });
    world.leaves_warm_pool(&InstanceId::new("i-00000abc"));
    assert_eq!(world.wants(), NOTHING);
    assert_eq!((world.cloud.leaving_warm_pool.len(), world.managers[0].signals.len()), (1, 0));
}

#[test]
fn however_many_leave_the_warm_pool_all_are_completed_also_after_a_pause() {
    let mut world = warmed(1);
    world.desired.pause = Some(PausedBy::Cluster);
    for number in 0..45 {
        world.leaves_warm_pool(&InstanceId::new(format!("i-0000ab{number:02}")));
    }
    steps(&mut world, 5);
    assert_eq!(world.cloud.leaving_warm_pool.len(), 45);
    world.desired.pause = None;
    world.settle();
    assert!(world.cloud.leaving_warm_pool.is_empty(), "{}", world.story());
    assert!(world.managers[0].signals.is_empty() && world.managers[0].memory.left_warm_pool.is_empty());
}
