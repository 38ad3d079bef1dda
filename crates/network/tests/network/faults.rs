//! Each fault at each call: the network becomes complete, no part is created twice, and all of it is deleted again.

use crate::create::{assert_complete, full};
use crate::world::*;
use foo_model::Reason;
use foo_network::Desired;
use foo_network::desired::*;
use std::time::Duration;

/// Nothing of the network is left, and nothing of others was touched.
pub fn assert_gone(world: &World) {
    let parts = &world.aws.parts;
    let left = [
        parts.vpcs.len(),
        parts.subnets.len(),
        parts.internet_gateways.len(),
        parts.egress_only_gateways.len(),
        parts.addresses.len(),
        parts.route_tables.len(),
        parts.security_groups.len(),
        parts.endpoints.len(),
        parts.interfaces.len(),
    ];
    assert_eq!(left, [0; 9], "{}", world.story());
}

const FAULTS: [Fault; 8] = [
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::MoveAfter,
    Fault::LostAfter(Reason::ResponseLost),
    Fault::LostAfter(Reason::AwsInternalError),
    Fault::LostBefore,
    Fault::Refused(Reason::Throttled),
    Fault::Refused(Reason::NotFound),
];

/// Those after which the planner does not know what was created.
const UNANSWERED: [Fault; 3] = [Fault::CrashAfter, Fault::MoveAfter, Fault::LostAfter(Reason::ResponseLost)];

/// One fault at each call of creation and of deletion, one after the other.
fn at_each_call(desired: &Desired, faults: &[Fault], prepare: impl Fn(&mut World)) {
    let mut calm = World::new(desired.clone());
    calm.settle();
    let created = calm.sent;
    calm.delete();
    let all = calm.sent;
    for fault in faults {
        for at in 0..all {
            let mut world = World::new(desired.clone());
            prepare(&mut world);
            world.faults.insert(at, *fault);
            world.thorough = false;
            if at < created {
                world.rest();
                assert_complete(&world);
            } else {
                world.settle();
            }
            world.delete();
            assert_gone(&world);
        }
    }
}

#[test]
fn a_fault_at_each_call_of_the_smallest_network() {
    at_each_call(&desired("a"), &FAULTS, |_| {});
}

#[test]
fn a_fault_at_each_call_of_a_dual_stack_network_with_endpoints() {
    at_each_call(&Desired { nat: NatMode::Single, ..full() }, &[Fault::CrashAfter, UNANSWERED[2]], |_| {});
}

#[test]
fn a_fault_at_each_call_while_reads_lag() {
    at_each_call(&desired("a"), &UNANSWERED, |world| world.aws.set_lag(Duration::from_secs(5)));
}

#[test]
fn a_fault_at_each_call_while_new_parts_are_shown_late() {
    at_each_call(&desired("a"), &UNANSWERED, |world| world.aws.show_new_parts_after(Duration::from_secs(20)));
}

/// No call gets a response: every effect has to be read.
#[test]
fn a_network_without_any_response_is_complete_and_deleted_after_minutes() {
    for reason in [Reason::ResponseLost, Reason::AwsInternalError] {
        for desired in [desired("a"), desired("abc"), Desired { nat: NatMode::Single, ..full() }] {
            let mut world = World::new(desired);
            world.silence = Some(reason);
            let start = world.aws.now;
            world.settle();
            assert_complete(&world);
            let created = world.aws.now;
            world.delete();
            assert_gone(&world);
            let took = [start.until(created), created.until(world.aws.now)];
            println!("{reason:?}: created and deleted in {took:?}");
            assert!(took.iter().all(|it| *it <= Duration::from_mins(6)), "{took:?}\n{}", world.story());
        }
    }
}
