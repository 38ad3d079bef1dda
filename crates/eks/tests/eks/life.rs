//! The manager is killed after, or before, any call; or loses its status.

use crate::world::*;
use foo_eks::Desired;
use foo_model::eks::*;
use std::collections::BTreeSet;

/// Creation, changes and deletion.
fn live(world: &mut World) -> [usize; 3] {
    world.settle();
    world.assert_complete();
    let created = world.sent;
    world.desired.version = Minor(34);
    world.desired.logging = BTreeSet::from([LogType::Audit]);
    world.desired.identity_provider = Some(identity_provider());
    world.desired.entries.clear();
    world.desired.entries.insert(crate::aws::role_arn("people"), entry());
    world.settle();
    world.assert_complete();
    let changed = world.sent;
    world.delete();
    world.assert_gone();
    [created, changed, world.sent]
}

#[test]
fn killed_between_any_two_calls() {
    let calm = live(&mut World::new(desired()));
    println!(
        "calls: {} to create, {} to change, {} to delete",
        calm[0],
        calm[1] - calm[0],
        calm[2] - calm[1]
    );
    for fault in [
        Fault::CrashAfter,
        Fault::CrashBefore,
        Fault::MoveAfter,
        Fault::LostAfter(foo_model::Reason::ResponseLost),
        Fault::LostBefore,
    ] {
        for at in 0..calm[2] {
            let mut world = World::new(desired());
            world.faults.insert(at, fault);
            live(&mut world);
            assert_eq!(
                world
                    .aws
                    .calls
                    .iter()
                    .filter(|(_, it)| it.operation().name() == "CreateCluster")
                    .count()
                    .min(2),
                world.count("CreateCluster"),
                "{fault:?} {at}"
            );
        }
    }
}

#[test]
fn killed_after_every_call() {
    let mut world = World::new(Desired { deletion_protection: true, may_unprotect: true, ..desired() });
    world.faults = (0..2000).map(|at| (at, Fault::CrashAfter)).collect();
    live(&mut world);
}
