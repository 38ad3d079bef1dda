//! Deletion.

use crate::world::*;
use foo_eks::desired::DeletionPolicy;
use foo_eks::report::ConditionKind::*;
use foo_model::names::*;
use foo_model::*;
use std::time::Duration;

#[test]
fn the_cluster_goes_and_its_provider() {
    let mut world = World::settled(desired());
    let start = world.now();
    world.delete();
    world.assert_gone();
    assert_eq!(world.count("DeleteCluster"), 1);
    let taken = start.until(world.now());
    assert!(taken < Duration::from_secs(180 + 45), "{taken:?}");
}

#[test]
fn a_protected_cluster_stays_until_a_person_allows_it() {
    let mut world = World::settled(foo_eks::Desired { deletion_protection: true, ..desired() });
    world.desired.being_deleted = true;
    world.run_for(Duration::from_hours(1));
    world.assert_says(Deleting, Reason::ClusterProtected, "protection");
    assert_eq!(world.count("DeleteCluster"), 0);
    world.desired.may_unprotect = true;
    world.delete();
    world.assert_gone();
}

#[test]
fn a_retained_cluster_only_loses_our_tags() {
    let mut world = World::settled(foo_eks::Desired { deletion: Some(DeletionPolicy::Retain), ..desired() });
    world.delete();
    let cluster = world.cluster();
    assert!(!cluster.tags.contains_key(TAG_CONTROL_PLANE));
    assert_eq!(cluster.tags.get("team"), Some(&"red".to_owned()));
    assert_eq!(world.aws.state().providers.len(), 1);
}

#[test]
fn a_deletion_waits_for_creation_and_for_an_update() {
    let mut world = World::new(desired());
    world.run_until("creating", |it| it.count("CreateCluster") == 1);
    world.delete();
    world.assert_gone();
    let mut world = World::settled(desired());
    world.desired.version = MINOR_34;
    world.run_until("upgrading", |it| it.count("UpdateClusterVersion") == 1);
    world.delete();
    world.assert_gone();
}

const MINOR_34: foo_model::eks::Minor = foo_model::eks::Minor(34);

#[test]
fn nothing_that_never_was_is_deleted_at_once() {
    let mut world = World::new(desired());
    world.delete();
    assert_eq!((world.sent, world.aws.reads.len()), (0, 1));
}

#[test]
fn a_creation_whose_response_was_lost_is_deleted_too() {
    for fault in [Fault::CrashAfter, Fault::LostAfter(Reason::ResponseLost), Fault::MoveAfter] {
        let mut world = World::new(desired());
        world.aws.set_lag(Duration::from_secs(8));
        world.faults.insert(0, fault);
        world.run_until("sent", |it| it.sent == 1);
        world.delete();
        world.assert_gone();
    }
}
