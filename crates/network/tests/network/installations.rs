//! Networks that another management cluster has: a restored copy must not take them.

use crate::world::*;
use foo_model::network::*;
use foo_model::*;
use foo_network::desired::*;
use foo_network::report::ConditionKind;

const TAG: &str = "infrastructure.foo.com/installation";

fn says_whose_it_is(world: &mut World) {
    world.run_until("said", |it| {
        it.condition(ConditionKind::VpcReady).reason == Reason::NetworkOfAnotherInstallation
    });
}

/// Another management cluster was restored from a backup of the first one.
fn copied(world: &mut World) {
    "there".clone_into(&mut world.desired.installation);
    world.restart();
    world.process.record = foo_network::Recorded::default();
}

#[test]
fn a_copy_of_a_network_in_a_brought_vpc_changes_and_deletes_nothing() {
    let mut world = users_vpc();
    world.run_until("complete", |it| {
        it.condition(ConditionKind::RoutesReady).status == foo_calls::report::Status::True
    });
    copied(&mut world);
    let (before, sent) = (world.aws.parts.clone(), world.sent);
    world.desired.nat = NatMode::None;
    says_whose_it_is(&mut world);
    world.desired.being_deleted = true;
    for _ in 0..20 {
        world.pass();
        world.wait();
    }
    assert_eq!(world.sent, sent, "{}", world.story());
    assert_eq!(world.aws.parts.subnets, before.subnets);
    world.desired.being_deleted = false;
    world.desired.adopt_from = Some("here".to_owned());
    world.run_until("adopted", |it| it.aws.parts.subnets.values().all(|it| it.tags[TAG] == "there"));
    world.delete();
    assert!(world.aws.parts.subnets.is_empty());
}

#[test]
fn nothing_is_done_before_a_read_shows_the_owner_of_the_vpc() {
    let mut world = World::new(desired("a"));
    world.settle();
    copied(&mut world);
    let sent = world.sent;
    // An older provider tagged the VPC alone.
    world.aws.by_hand(|parts| {
        parts.subnets.values_mut().for_each(|it| drop(it.tags.remove(TAG)));
        parts.addresses.values_mut().for_each(|it| drop(it.tags.remove(TAG)));
        parts.nat_gateways.values_mut().for_each(|it| drop(it.tags.remove(TAG)));
        parts.route_tables.values_mut().for_each(|it| drop(it.tags.remove(TAG)));
        parts.security_groups.values_mut().for_each(|it| drop(it.tags.remove(TAG)));
        parts.internet_gateways.values_mut().for_each(|it| drop(it.tags.remove(TAG)));
    });
    world.sweep();
    world.observed.tagged.begun.remove(&Kind::Vpc);
    world.observed.tagged.parts.vpcs.clear();
    world.desired.being_deleted = true;
    world.pass();
    assert_eq!(world.sent, sent, "{}", world.story());
    let wanted = world.report.as_ref().unwrap().reads.iter().any(|it| it.kind == Kind::Vpc);
    assert!(wanted, "the VPC is read for");
}

#[test]
fn every_part_names_its_management_cluster() {
    let mut world = World::new(crate::create::full());
    world.settle();
    let parts = &world.aws.parts;
    let mut tags: Vec<&Tags> = parts.subnets.values().map(|it| &it.tags).collect();
    tags.extend(parts.addresses.values().map(|it| &it.tags));
    tags.extend(parts.nat_gateways.values().map(|it| &it.tags));
    tags.extend(parts.internet_gateways.values().map(|it| &it.tags));
    tags.extend(parts.egress_only_gateways.values().map(|it| &it.tags));
    tags.extend(parts.endpoints.values().map(|it| &it.tags));
    tags.extend(parts.route_tables.values().filter(|it| !it.main).map(|it| &it.tags));
    tags.extend(parts.security_groups.values().filter(|it| it.name != "default").map(|it| &it.tags));
    assert!(tags.iter().all(|it| it.get(TAG).is_some_and(|id| id == "here")), "{tags:#?}");
}
