//! What follows from the Capacity Block that the instances of a pool run in: it starts, ends, is extended, or cannot be used.

use crate::world::{Launches, World, block_until, content, in_block, pool};
use foo_model::{Agreement, EventReason, Reason, ReservationKind, Timestamp};
use foo_planner::action::MachineAction;
use foo_planner::capacity_block::max_age;
use foo_planner::desired::{PausedBy, Size, Wanted};
use foo_planner::report::{ConditionKind, Status};
use foo_planner::{Action, LastRead, Plan, Precondition};
use std::time::Duration;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// A moment so many seconds after the present one.
fn later(world: &World, seconds: i64) -> Timestamp {
    Timestamp(world.now.0 + seconds * 1_000)
}

/// EC2 shows the block in this state, with its end in so many seconds.
fn show(world: &mut World, state: &str, seconds: i64) {
    let ends = world.aws_clock.remote(later(world, seconds));
    world.cloud.capacity_block = Some(block_until(state, ends));
}

/// A pool of three, of which one may drain at a time, in a block that ends in a day.
fn in_active_block() -> World {
    let pool = pool().of(3).draining_at_most(1).with(|it| it.capacity_block = Some(in_block()));
    let mut world = pool.new_world();
    show(&mut world, "active", 24 * HOUR);
    world.settle();
    world
}

/// The Machines that a plan deletes because replicas are beyond what is desired.
fn victims(plan: &Plan) -> usize {
    let chosen = |action: &&Action| {
        let unless_raised = Precondition::ReplicasAtMost { replicas: 3 };
        matches!(action, Action::Machine(MachineAction::DeleteMachine { only_if, .. }) if *only_if == unless_raised)
    };
    plan.actions.iter().filter(chosen).count()
}

/// Status, reason and message of the block's condition, and the reason of `Ready`.
fn shown(world: &mut World) -> (Status, Reason, String, Reason) {
    let conditions = world.observe_and_plan().report.conditions;
    let of = |kind| conditions.iter().find(|it| it.kind == kind).unwrap();
    let block = of(ConditionKind::CapacityBlockReady);
    (block.status, block.reason, block.message.clone(), of(ConditionKind::Ready).reason)
}

fn size(world: &World) -> (u32, u32) {
    (world.cloud.sizes().desired, world.cloud.existing())
}

#[test]
fn an_hour_before_a_block_ends_all_machines_are_drained_at_once_and_none_is_launched() {
    let mut world = in_active_block();
    assert_eq!(size(&world), (3, 3));
    show(&mut world, "active", HOUR + 20);
    let (status, reason, message, ready) = shown(&mut world);
    assert_eq!((status, reason, ready), (Status::True, Reason::CapacityBlockActive, Reason::Ready));
    assert!(message.contains("all Machines are drained from"), "{message}");
    assert_eq!(victims(&world.observe_and_plan()), 0);
    world.wait(30);
    let plan = world.observe_and_plan();
    assert_eq!(victims(&plan), 3, "whatever the limit of drains: {:#?}", plan.actions);
    let announced = plan.report.events.iter().filter(|it| it.reason == EventReason::CapacityBlockEnding);
    assert_eq!(announced.count(), 3);
    world.settle();
    assert_eq!((size(&world), world.cloud.sizes().max), ((0, 0), 0), "{}", world.story());
    let (status, reason, message, ready) = shown(&mut world);
    assert_eq!(
        (status, reason, ready),
        (Status::False, Reason::CapacityBlockEnding, Reason::CapacityBlockEnding)
    );
    assert!(message.contains("until it is extended"), "{message}");
    world.scale_to(5);
    world.settle();
    assert_eq!(size(&world), (0, 0), "replicas stay those of the MachinePool");
}

#[test]
fn an_extended_block_has_its_instances_again() {
    let mut world = in_active_block();
    show(&mut world, "active", HOUR - MINUTE);
    world.step();
    assert_eq!(world.kube.alive().len(), 0, "{}", world.story());
    show(&mut world, "active", 25 * HOUR);
    world.settle();
    assert_eq!((size(&world), world.kube.alive().len()), ((3, 3), 3));
    let (status, reason, _, ready) = shown(&mut world);
    assert_eq!((status, reason, ready), (Status::True, Reason::CapacityBlockActive, Reason::Ready));
}

#[test]
fn before_a_block_starts_the_group_is_there_without_instances() {
    let mut world = pool().of(3).with(|it| it.capacity_block = Some(in_block())).new_world();
    show(&mut world, "scheduled", 24 * HOUR);
    let starts = world.aws_clock.remote(later(&world, 10 * HOUR));
    world.cloud.capacity_block.as_mut().unwrap().starts = Some(starts);
    world.settle();
    assert!(world.cloud.group.is_some(), "{}", world.story());
    assert_eq!(size(&world), (0, 0));
    let (status, reason, message, ready) = shown(&mut world);
    assert_eq!(
        (status, reason, ready),
        (Status::False, Reason::CapacityBlockNotStarted, Reason::CapacityBlockNotStarted)
    );
    assert!(message.contains("starts at"), "{message}");
    show(&mut world, "active", 24 * HOUR);
    world.settle();
    assert_eq!(size(&world), (3, 3));
}

#[test]
fn instances_of_another_block_stay_until_the_new_one_has_started() {
    let mut world = in_active_block();
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    show(&mut world, "scheduled", 48 * HOUR);
    let before = world.instances();
    world.settle();
    assert_eq!((world.instances(), size(&world)), (before.clone(), (3, 3)));
    assert_eq!(shown(&mut world).1, Reason::CapacityBlockNotStarted);
    show(&mut world, "active", 48 * HOUR);
    world.settle();
    assert_eq!(size(&world), (3, 3));
    assert!(world.instances().iter().all(|id| !before.contains(id)), "{}", world.story());
}

#[test]
fn after_the_end_of_a_block_nothing_is_launched_and_the_condition_says_what_to_do() {
    let mut world = in_active_block();
    world.cloud.launches = Launches::Fail;
    show(&mut world, "expired", -MINUTE);
    assert_eq!(victims(&world.observe_and_plan()), 0, "EC2 ends them itself");
    for id in world.instances() {
        world.kill(&id);
    }
    world.settle();
    assert_eq!((size(&world), world.kube.alive().len()), ((0, 0), 0), "{}", world.story());
    let (status, reason, message, ready) = shown(&mut world);
    assert_eq!(
        (status, reason, ready),
        (Status::False, Reason::CapacityBlockEnded, Reason::CapacityBlockEnded)
    );
    assert!(message.contains("name another one"), "{message}");
    world.cloud.launches = Launches::Work;
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    show(&mut world, "active", 24 * HOUR);
    world.settle();
    assert_eq!(size(&world), (3, 3));
}

#[test]
fn what_cannot_be_used_or_is_not_known_drains_nothing_and_launches_nothing() {
    type Spoils<'a> = &'a dyn Fn(&mut World);
    let spoiled: [(Spoils<'_>, Reason); 4] = [
        (&|world| world.cloud.capacity_block = None, Reason::CapacityBlockUnknown),
        (
            &|world| world.cloud.capacity_block.as_mut().unwrap().kind = ReservationKind::OnDemand,
            Reason::CapacityBlockUnusable,
        ),
        (
            &|world| world.cloud.capacity_block.as_mut().unwrap().instance_type = "p5.48xlarge".into(),
            Reason::CapacityBlockUnusable,
        ),
        (&|world| world.cloud.capacity_block.as_mut().unwrap().ends = None, Reason::CapacityBlockUnusable),
    ];
    for (spoil, expected) in spoiled {
        let mut world = in_active_block();
        show(&mut world, "active", HOUR - MINUTE);
        spoil(&mut world);
        world.scale_to(5);
        world.settle();
        assert_eq!((size(&world), shown(&mut world).1), ((3, 3), expected), "{}", world.story());
    }
}

#[test]
fn without_agreement_of_awss_clock_no_end_of_a_block_drains_anything() {
    let mut world = in_active_block();
    world.aws_clock.agreement = Agreement::Differ;
    show(&mut world, "active", HOUR - MINUTE);
    assert_eq!(victims(&world.observe_and_plan()), 0);
    world.aws_clock.agreement = Agreement::Agree;
    assert_eq!(victims(&world.observe_and_plan()), 3);
}

#[test]
fn clocks_that_stop_agreeing_while_a_block_ends_drain_no_more_and_launch_nothing() {
    let mut drained = in_active_block();
    show(&mut drained, "active", HOUR - MINUTE);
    drained.settle();
    assert_eq!(size(&drained), (0, 0));
    let mut running = in_active_block();
    show(&mut running, "active", HOUR - MINUTE);
    running.scale_to(5);
    for (mut world, stays) in [(drained, (0, 0)), (running, (3, 3))] {
        world.aws_clock.agreement = Agreement::Differ;
        world.settle();
        assert_eq!(size(&world), stays, "{}", world.story());
        let (status, reason, message, _) = shown(&mut world);
        assert_eq!((status, reason), (Status::False, Reason::CapacityBlockClocksDiffer));
        assert!(message.contains("no Machine is drained and none is launched"), "{message}");
    }
}

#[test]
fn while_a_block_cannot_be_read_released_instances_are_terminated_and_scale_ins_continue() {
    let mut world = in_active_block();
    let name = world.kube.alive()[0].clone();
    world.delete_machine(&name);
    world.cloud.capacity_block = None;
    world.settle();
    assert_eq!(size(&world), (2, 2), "{}", world.story());
    world.scale_to(1);
    world.settle();
    assert_eq!(size(&world), (1, 1), "{}", world.story());
    world.scale_to(5);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    let before = world.instances();
    world.settle();
    assert_eq!((size(&world), world.instances()), ((1, 1), before), "{}", world.story());
    show(&mut world, "active", 24 * HOUR);
    world.settle();
    assert_eq!(size(&world), (5, 5));
}

#[test]
fn a_block_that_is_unavailable_launches_nothing_and_is_drained_before_its_end() {
    let mut world = in_active_block();
    world.scale_to(5);
    show(&mut world, "unavailable", 24 * HOUR);
    world.settle();
    assert_eq!(size(&world), (3, 3), "{}", world.story());
    let (status, reason, message, _) = shown(&mut world);
    assert_eq!((status, reason), (Status::False, Reason::CapacityBlockUnavailable));
    assert!(message.contains("is unavailable"), "{message}");
    show(&mut world, "unavailable", HOUR - MINUTE);
    world.settle();
    assert_eq!((size(&world), shown(&mut world).1), ((0, 0), Reason::CapacityBlockEnding));
}

#[test]
fn an_end_that_has_passed_by_the_clock_is_shown_as_a_time_and_not_as_ec2s_word() {
    let mut world = in_active_block();
    show(&mut world, "active", -MINUTE);
    let (_, reason, message, _) = shown(&mut world);
    assert_eq!(reason, Reason::CapacityBlockEnded);
    assert!(message.contains("cr-1 ended at ") && !message.contains("expired"), "{message}");
    show(&mut world, "cancelled", HOUR);
    assert!(shown(&mut world).2.contains("cr-1 is cancelled"));
}

#[test]
fn a_drain_that_begins_before_the_start_makes_a_block_unusable_but_drains_what_runs() {
    let mut world = pool().of(3).with(|it| it.capacity_block = Some(in_block())).new_world();
    show(&mut world, "scheduled", HOUR);
    let starts = |world: &World, seconds| Some(world.aws_clock.remote(later(world, seconds)));
    let first = starts(&world, MINUTE);
    world.cloud.capacity_block.as_mut().unwrap().starts = first;
    let (status, reason, message, _) = shown(&mut world);
    assert_eq!((status, reason), (Status::False, Reason::CapacityBlockUnusable));
    assert!(message.contains("lower drainLeadSeconds, which is 1800"), "{message}");
    let mut world = in_active_block();
    show(&mut world, "active", HOUR - MINUTE);
    let present = starts(&world, 0);
    world.cloud.capacity_block.as_mut().unwrap().starts = present;
    assert_eq!(victims(&world.observe_and_plan()), 3);
}

#[test]
fn the_condition_announces_no_drain_that_does_not_happen() {
    let mut world = in_active_block();
    show(&mut world, "active", HOUR - MINUTE);
    world.desired.size = Size::Unknown;
    let message = shown(&mut world).2;
    assert!(
        message.contains("no Machine is drained while the replicas of the pool are not known"),
        "{message}"
    );
    world.desired.pause = Some(PausedBy::Annotation);
    let message = shown(&mut world).2;
    assert!(message.contains("no Machine is drained while the pool is paused"), "{message}");
    assert_eq!(world.kube.alive().len(), 3);
}

/// Its owner may have extended the block meanwhile.
#[test]
fn a_read_of_before_a_start_a_drain_or_an_end_is_too_old_once_that_has_come() {
    let mut world = in_active_block();
    show(&mut world, "active", HOUR + 2 * MINUTE);
    let age = |read: i64, now: i64| {
        let seen = world.cloud.capacity_block.clone();
        let read = LastRead::At { at: later(&world, read * MINUTE), seen };
        max_age(&world.desired, &read, &world.aws_clock, later(&world, now * MINUTE))
    };
    let minutes = |number| Some(Duration::from_mins(number));
    assert_eq!(age(0, 1), minutes(5));
    assert_eq!((age(0, 2), age(0, 3), age(0, 20)), (minutes(0), minutes(1), minutes(5)));
    assert_eq!((age(2, 2), age(2, 3)), (minutes(5), minutes(5)), "it was read since");
    let unknown = LastRead::At { at: world.now, seen: None };
    assert_eq!(max_age(&world.desired, &unknown, &world.aws_clock, world.now), minutes(5));
}

#[test]
fn a_first_read_that_fails_is_repeated_after_a_minute() {
    let mut world = in_active_block();
    world.cloud.capacity_block = None;
    assert_eq!(world.observe_and_plan().report.next.after, Some(Duration::from_mins(1)));
}

/// A block costs one call in an hour, and twelve around its start and its end.
#[test]
fn the_planner_comes_back_for_the_next_read_and_for_the_drain() {
    let mut world = in_active_block();
    let after = |world: &mut World| world.observe_and_plan().report.next.after;
    assert_eq!(after(&mut world), Some(Duration::from_hours(1)));
    show(&mut world, "active", HOUR + 30 * MINUTE);
    assert_eq!(after(&mut world), Some(Duration::from_mins(5)));
    show(&mut world, "active", HOUR + 2 * MINUTE);
    let until_drain = u64::try_from(2 * MINUTE).unwrap() - 1;
    assert_eq!(after(&mut world), Some(Duration::from_secs(until_drain)));
}
