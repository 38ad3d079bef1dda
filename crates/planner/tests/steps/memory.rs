use crate::world::pool;
use foo_model::{Decrement, GroupChange, GroupName, InstanceId, Timestamp};
use foo_planner::action::{GroupAction, InstanceAction};
use foo_planner::{Action, Memory, WriteOutcome};

fn note(memory: &mut Memory, action: &Action, outcome: WriteOutcome, now: Timestamp) {
    let in_flight = memory.sent(&[action], now);
    memory.completed(in_flight, [(action, outcome)], now);
}

fn end(id: &str) -> Action {
    Action::Instance(InstanceAction::TerminateInstance {
        group: GroupName::new("g"),
        id: InstanceId::new(id),
        decrement: Decrement::Shrink,
        why: String::new(),
    })
}

fn set_desired(desired: u32) -> Action {
    let change = GroupChange { desired: Some(desired), ..GroupChange::default() };
    Action::Group(GroupAction::UpdateGroup { name: GroupName::new("g"), change, why: String::new() })
}

#[test]
fn every_write_to_the_group_voids_what_was_seen_before_even_a_refused_one() {
    for outcome in [WriteOutcome::Done, WriteOutcome::MayHaveHappened, WriteOutcome::Refused] {
        let mut memory = Memory::default();
        note(&mut memory, &end("i-1"), outcome, Timestamp(7));
        assert_eq!(memory.ledger.changed_at, Some(Timestamp(7)));
        assert_eq!(
            memory.ledger.leaving.contains_key(&InstanceId::new("i-1")),
            outcome != WriteOutcome::Refused
        );
    }
}

#[test]
fn decrements_count_from_what_the_call_before_left() {
    let mut memory = Memory::default();
    note(&mut memory, &set_desired(5), WriteOutcome::Done, Timestamp(1));
    note(&mut memory, &end("i-1"), WriteOutcome::Done, Timestamp(2));
    note(&mut memory, &end("i-2"), WriteOutcome::MayHaveHappened, Timestamp(3));
    assert_eq!(memory.ledger.desired, Some((3, Timestamp(3))));
}

#[test]
fn a_decrement_after_a_raise_that_was_lost_counts_from_what_was_seen() {
    let mut world = pool().of(2).running();
    let now = world.now;
    note(&mut world.managers[0].memory, &set_desired(3), WriteOutcome::MayHaveHappened, now);
    world.observe_and_plan();
    let (now, memory) = (world.now, &mut world.managers[0].memory);
    note(memory, &end("i-00000001"), WriteOutcome::Done, now);
    // Counted from 3, a late read of 2 would pass for the effect of the decrement, and another one would follow.
    assert_eq!(memory.ledger.desired, Some((1, now)));
}

#[test]
fn observed_effects_are_removed_and_missing_ones_time_out_after_a_minute() {
    let mut world = pool().of(3).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.kube.drain(world.now, &world.cloud);
    world.observe_and_plan();
    let ledger = |world: &crate::world::World| world.managers[0].memory.ledger.clone();
    assert_eq!((ledger(&world).desired.map(|it| it.0), ledger(&world).leaving.len()), (Some(2), 1));
    world.observe_and_plan();
    assert_eq!((ledger(&world).desired, ledger(&world).leaving.len()), (None, 1), "desired is seen");
    world.cloud.work(world.now);
    world.observe_and_plan();
    assert_eq!(ledger(&world).leaving.len(), 0, "and the instance is gone");

    let now = world.now;
    note(&mut world.managers[0].memory, &end("i-00000002"), WriteOutcome::MayHaveHappened, now);
    world.wait(58);
    world.observe_and_plan();
    assert_eq!(ledger(&world).leaving.len(), 1);
    world.observe_and_plan();
    assert_eq!((ledger(&world).desired, ledger(&world).leaving.len()), (None, 0));
}
