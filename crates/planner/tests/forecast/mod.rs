//! A forecast is what happens, as long as nothing goes wrong.

use crate::world::{World, block_until, content, in_block, pool};
use foo_model::group::Sizes;
use foo_model::hook::HookConfig;
use foo_model::{Group, MachineName, Process, Protection, Seconds, TargetGroupArn};
use foo_planner::action::MachineAction;
use foo_planner::desired::{IntOrPercent, PausedBy, Size, Strategy, TargetHealthRules, Wanted};
use foo_planner::forecast::{Durations, End, Forecast, forecast};
use foo_planner::report::{Condition, ConditionKind, Status};
use foo_planner::{Action, Desired, LastRead};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// Whole seconds, so that the sums in the tests are easy to read.
const DURATIONS: Durations = Durations {
    launch: Duration::from_secs(100),
    drain: Duration::from_secs(1_000),
    termination: Duration::from_secs(10_000),
};

fn forecast_of(world: &mut World) -> Forecast {
    let observed = world.observe(0);
    forecast(&world.desired, &observed, &world.managers[0].memory, &DURATIONS)
}

fn times(forecast: &Forecast, kind: &str) -> u32 {
    forecast.actions.iter().filter(|(action, _)| action.name() == kind).map(|(_, times)| times).sum()
}

fn deleted(forecast: &Forecast) -> Vec<MachineName> {
    forecast.deletions.iter().map(|deletion| deletion.machine.clone()).collect()
}

/// The Machines that the world's manager deletes until it comes to rest.
fn play(world: &mut World) -> Vec<MachineName> {
    let mut deleted = Vec::new();
    for _ in 0..400 {
        for action in &world.step().actions {
            if let Action::Machine(MachineAction::DeleteMachine { name, .. }) = action {
                deleted.push(name.clone());
            }
        }
    }
    deleted
}

#[test]
fn of_a_settled_pool_nothing_follows() {
    let forecast = forecast_of(&mut pool().of(3).running());
    assert_eq!((forecast.end, forecast.takes), (End::Settled, Duration::ZERO));
    assert_eq!((forecast.actions.len(), forecast.launches), (0, 0));
    assert_eq!((forecast.least_ready, forecast.most_instances), (3, 3));
}

/// A manager that starts with many pools spreads reads that only confirm what idle pools have.
#[test]
fn a_forecast_does_not_wait_for_a_read_that_comes_later() {
    let mut world = pool().of(3).running();
    let mut observed = world.observe(0);
    observed.hook = LastRead::Unknown;
    observed.confirmed_from = observed.now.plus(Duration::from_mins(30));
    let memory = world.managers[0].memory.clone();
    let forecast = forecast(&world.desired, &observed, &memory, &DURATIONS);
    assert_eq!((forecast.end, forecast.takes, forecast.aws_calls), (End::Settled, Duration::ZERO, 0));
}

#[test]
fn a_pool_is_created() {
    let mut world = pool().of(3).new_world();
    let mut observed = world.observe(0);
    observed.group = LastRead::At { at: observed.now, seen: None };
    observed.template = LastRead::At { at: observed.now, seen: None };
    let memory = world.managers[0].memory.clone();
    let forecast = forecast(&world.desired, &observed, &memory, &DURATIONS);
    assert_eq!(forecast.end, End::Settled, "{:#?}", forecast.report.conditions);
    assert_eq!((forecast.launches, forecast.most_instances, forecast.deletions.len()), (3, 3, 0));
    for (kind, expected) in [("CreateTemplate", 1), ("CreateGroup", 1), ("CreateFooMachine", 3)] {
        assert_eq!(times(&forecast, kind), expected, "{kind}");
    }
    assert!(forecast.takes >= DURATIONS.launch && forecast.takes < DURATIONS.drain, "{:?}", forecast.takes);
}

#[test]
fn a_roll_out_is_forecast_as_it_happens() {
    let mut world = pool().of(6).with_surge(2).lacking_at_most(1).draining_at_most(2).running();
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    let forecast = forecast_of(&mut world);
    assert_eq!(forecast.end, End::Settled, "{:#?}", forecast.report.conditions);
    assert_eq!(forecast.launches, 6);
    assert_eq!(times(&forecast, "CreateTemplateVersion"), 1);
    assert_eq!(times(&forecast, "TerminateInstance"), 6);
    assert_eq!(deleted(&forecast), play(&mut world), "in the same order");
    assert!(forecast.deletions.iter().all(|deletion| deletion.instance.is_some()));
}

#[test]
fn a_roll_out_renews_the_warm_pool_once() {
    let mut world = pool().of(2).with_surge(1).keeping_warm(1).running();
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    let forecast = forecast_of(&mut world);
    assert_eq!(forecast.end, End::Settled, "{:#?}", forecast.report.conditions);
    assert_eq!((times(&forecast, "DeleteWarmPool"), times(&forecast, "PutWarmPool")), (1, 1));
    assert_eq!(forecast.launches, 2);
}

/// Without surge one instance after the other is drained, terminated and replaced.
#[test]
fn the_limits_of_a_roll_out_show_in_its_numbers_and_its_time() {
    let mut world = pool().of(3).with_surge(0).lacking_at_most(1).running();
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    let slow = forecast_of(&mut world);
    assert_eq!((slow.least_ready, slow.most_instances, slow.deletions.len()), (2, 3, 3));
    let one = DURATIONS.drain + DURATIONS.launch;
    assert!(slow.takes >= 3 * one && slow.takes < 4 * (one + DURATIONS.termination), "{:?}", slow.takes);
    world.desired.rollout.max_surge = IntOrPercent::Percent(100);
    world.desired.rollout.max_unavailable = IntOrPercent::Count(0);
    let fast = forecast_of(&mut world);
    assert_eq!((fast.least_ready, fast.deletions.len()), (3, 3));
    assert!(fast.most_instances > 3 && fast.takes < slow.takes, "{fast:?}");
}

#[test]
fn a_scale_in_deletes_the_chosen_machines() {
    let mut world = pool().of(5).draining_at_most(2).stabilized().running();
    world.desired.size = Size::Replicas { wanted: 2, ceiling: None };
    let forecast = forecast_of(&mut world);
    assert_eq!((forecast.end, forecast.launches, forecast.least_ready), (End::Settled, 0, 2));
    assert_eq!(deleted(&forecast), play(&mut world));
    assert!(forecast.deletions[0].after >= Duration::from_mins(1), "the stabilization window passes first");
}

#[test]
fn a_scale_up_launches_within_the_maximum() {
    let mut world = pool().of(2).with_ceiling(4).running();
    world.desired.size = Size::Replicas { wanted: 9, ceiling: Some(4) };
    let forecast = forecast_of(&mut world);
    assert_eq!((forecast.launches, forecast.most_instances, forecast.deletions.len()), (2, 4, 0));
    assert_eq!((times(&forecast, "UpdateGroup"), forecast.aws_calls), (1, 1));
}

#[test]
fn what_waits_for_others_is_no_end() {
    let mut world = pool().of(3).running();
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    world.desired.rollout.strategy = Strategy::OnDelete;
    let on_delete = forecast_of(&mut world);
    assert_eq!((on_delete.end, on_delete.deletions.len()), (End::Waiting, 0));
    assert_eq!(times(&on_delete, "CreateTemplateVersion"), 1);
    world.desired.pause = Some(PausedBy::Cluster);
    let paused = forecast_of(&mut world);
    assert_eq!(paused.actions.len(), 0, "{paused:?}");
}

/// Each successor reaches its own lifetime, and so on for ever: a forecast ends before that.
#[test]
fn instances_that_have_expired_are_replaced_and_later_ones_are_not_foreseen() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).living(86_400).running();
    let young = forecast_of(&mut world);
    assert_eq!((young.end, young.takes, young.deletions.len()), (End::Settled, Duration::ZERO, 0));
    world.grow_old(86_400);
    let old = forecast_of(&mut world);
    assert_eq!(
        (old.end, old.deletions.len(), old.launches),
        (End::Settled, 3, 3),
        "{:#?}",
        old.report.conditions
    );
    assert_eq!((old.least_ready, old.most_instances), (3, 4));
    assert_eq!(deleted(&old), play(&mut world));
    // One that reaches its lifetime while a roll-out takes place is replaced by that.
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    world.grow_old(76_000);
    let rolled = forecast_of(&mut world);
    assert_eq!((rolled.end, rolled.deletions.len()), (End::Settled, 3), "{:#?}", rolled.deletions);
}

/// A roll-out that waits for its window is foreseen in it; one that is longer than that waits for the next one, which is not known.
#[test]
fn a_roll_out_is_foreseen_in_its_maintenance_window() {
    let mut world = pool().of(2).running();
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    world.opens_in(7_200);
    let long = Durations { drain: Duration::from_secs(4_000), ..DURATIONS };
    let short = Durations { drain: Duration::from_mins(1), termination: Duration::from_mins(1), ..DURATIONS };
    let observed = world.observe(0);
    let within = forecast(&world.desired, &observed, &world.managers[0].memory, &short);
    assert_eq!((within.end, within.deletions.len()), (End::Settled, 2), "{:#?}", within.report.conditions);
    assert!(within.deletions[0].after >= Duration::from_hours(2), "{:?}", within.deletions);
    let long = forecast(&world.desired, &observed, &world.managers[0].memory, &long);
    assert_eq!((long.end, long.deletions.len()), (End::Waiting, 1), "{:#?}", long.deletions);
    assert_eq!(long.report.rollout.unwrap().message, "waiting for the next maintenance window");
}

/// What has begun before is part of it.
#[test]
fn a_roll_out_that_is_under_way_is_continued() {
    let mut world = pool().of(4).lacking_at_most(2).running();
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    for _ in 0..6 {
        world.step();
    }
    let outdated = world.kube.alive().len();
    let forecast = forecast_of(&mut world);
    assert_eq!(forecast.end, End::Settled, "{:#?}", forecast.report.conditions);
    assert!(forecast.deletions.len() < 4 && outdated > 0, "{forecast:?}");
}

#[test]
fn a_forecast_changes_nothing_and_is_repeatable() {
    let mut world = pool().of(3).running();
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    let (observed, memory) = (world.observe(0), world.managers[0].memory.clone());
    let of = || forecast(&world.desired, &observed, &memory, &DURATIONS);
    assert_eq!(of(), of());
}

/// Sizes that a roll-out needs for a while are not those of its end.
#[test]
fn what_others_changed_is_as_desired_in_the_end() {
    let mut world = pool().of(3).with_surge(1).running();
    let (right, memory) = (world.observe(0), world.managers[0].memory.clone());
    let mut drifted = right.clone();
    let LastRead::At { seen: Some(group), .. } = &mut drifted.group else { panic!("no group") };
    group.sizes = Sizes { min: 2, max: 9, ..group.sizes };
    group.settings.new_instances = Protection::Unprotected;
    group.settings.subnets = BTreeSet::from(["subnet-of-another-user".into()]);
    group.suspended.clear();
    let launched = group.template.take();
    let hook = HookConfig { heartbeat: Seconds(60), ..HookConfig::DRAIN };
    drifted.hook = LastRead::At { at: drifted.now, seen: Some(hook) };
    let forecast_of = |desired: &Desired| forecast(desired, &drifted, &memory, &DURATIONS);
    let settled = forecast_of(&world.desired);
    assert_eq!(settled.end, End::Settled, "{:#?}", settled.report.conditions);
    let (after, right) = (settled.observed.group.seen().unwrap(), right.group.seen().unwrap());
    let (after, right) = (after.as_ref().unwrap(), right.as_ref().unwrap());
    let is_suspended = |group: &Group| group.suspended.contains_key(&Process::AZRebalance);
    assert_eq!((after.sizes, &after.settings), (right.sizes, &right.settings));
    assert_eq!((&after.template, is_suspended(after)), (&launched, is_suspended(right)));
    assert_eq!(settled.observed.hook.seen(), Some(&Some(HookConfig::DRAIN)));
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    let rolled = forecast_of(&world.desired);
    assert_eq!((rolled.end, rolled.most_instances), (End::Settled, 4));
    assert_eq!(rolled.observed.group.seen().unwrap().as_ref().unwrap().sizes, right.sizes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the limits: it ends, replaces each instance once, and stays within what the spec allows.
    #[test]
    fn roll_outs_end_within_their_limits(
        size in 0..12_u32,
        surge in 0..4_u32,
        unavailable in 0..4_u32,
        drains in 1..4_u32,
        min_ready in 0..600_u32,
    ) {
        let mut world = pool().of(size).with_surge(surge).lacking_at_most(unavailable).draining_at_most(drains).running();
        world.desired.template = Wanted::Ready(content("v2", "d2"));
        world.desired.rollout.min_ready = Seconds(min_ready);
        let lacking = world.desired.rollout.unavailable(size);
        let forecast = forecast_of(&mut world);
        prop_assert_eq!(forecast.end, End::Settled, "{:#?}", forecast.report.conditions);
        prop_assert_eq!(forecast.deletions.len(), usize::try_from(size).unwrap());
        prop_assert_eq!(forecast.launches, size);
        prop_assert!(forecast.least_ready + lacking >= size);
        prop_assert!(forecast.most_instances <= size + surge + lacking + drains);
    }
}

/// A forecast does not wait for load balancers, and ends.
#[test]
fn a_roll_out_behind_load_balancers_is_forecast() {
    let mut world = pool().of(2).running();
    world.desired.group.target_groups = Some([TargetGroupArn::new("arn:web")].into());
    world.desired.target_health =
        Some(TargetHealthRules { required: true, replace: true, grace: Seconds(0) });
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    let forecast = forecast_of(&mut world);
    assert_eq!(
        (forecast.end, forecast.deletions.len()),
        (End::Settled, 2),
        "{:#?}",
        forecast.report.conditions
    );
    assert_eq!(times(&forecast, "AttachTrafficSources"), 1);
}

/// A pool of two in a block, whose end comes while the forecast lasts.
fn in_a_block_until(state: &str, ends: Duration) -> World {
    let mut world = pool().of(2).with(|it| it.capacity_block = Some(in_block())).new_world();
    let show = |world: &mut World, state: &str, ends: Duration| {
        let ends = world.aws_clock.remote(world.now.plus(ends));
        world.cloud.capacity_block = Some(block_until(state, ends));
    };
    show(&mut world, "active", Duration::from_hours(24));
    world.settle();
    show(&mut world, state, ends);
    world
}

fn block_of(forecast: &Forecast) -> &Condition {
    let of_block = |it: &&Condition| it.kind == ConditionKind::CapacityBlockReady;
    forecast.report.conditions.iter().find(of_block).unwrap()
}

#[test]
fn neither_the_start_nor_the_end_of_a_capacity_block_follows_from_a_change() {
    let mut world = in_a_block_until("active", Duration::from_secs(3_630));
    world.scale_to(3);
    let open = forecast_of(&mut world);
    assert_eq!((open.end, open.launches, open.deletions.len()), (End::Settled, 1, 0), "{open:#?}");
    assert_eq!(block_of(&open).status, Status::True);

    let mut world = in_a_block_until("scheduled", Duration::from_hours(24));
    world.scale_to(3);
    let coming = forecast_of(&mut world);
    assert_eq!((coming.end, coming.launches, coming.deletions.len()), (End::Waiting, 0, 0), "{coming:#?}");
    assert!(coming.remaining().any(|it| it.kind == ConditionKind::CapacityBlockReady));

    let mut world = in_a_block_until("active", Duration::from_mins(50));
    let ending = forecast_of(&mut world);
    assert_eq!((ending.end, ending.launches, ending.deletions.len()), (End::Waiting, 0, 2), "{ending:#?}");
}
