//! Subnets for addresses of Pods, which use the routes of their zone.

use crate::create::{assert_complete, full, with_pods};
use crate::faults::assert_gone;
use crate::life::{calls_since, settled};
use crate::world::*;
use foo_model::network::*;
use foo_network::desired::*;

fn of_tier<'a>(world: &'a World, tier: &str) -> Vec<&'a Subnet> {
    let prefix = format!("subnet/{tier}/");
    let is_one = |it: &&Subnet| it.tags["infrastructure.foo.com/role"].starts_with(&prefix);
    world.aws.parts.subnets.values().filter(is_one).collect()
}

#[test]
fn subnets_for_pods_use_the_routes_of_their_zone_and_have_no_tag_of_other_controllers() {
    let mut world = settled(with_pods(full()));
    assert_complete(&world);
    let (pods, private) = (of_tier(&world, "pods"), of_tier(&world, "private"));
    assert_eq!((pods.len(), private.len()), (3, 3));
    for subnet in pods {
        let beside = private.iter().find(|it| it.zone == subnet.zone).unwrap();
        let uses =
            |table: &RouteTable, subnet: &Subnet| table.associations.iter().any(|it| it.subnet == subnet.id);
        let mut tables = world.aws.parts.route_tables.values();
        assert!(tables.any(|it| uses(it, subnet) && uses(it, beside)), "{}", world.story());
        assert!(subnet.cidr.to_string().starts_with("100.64.") && subnet.ipv6.is_empty());
        assert!(!subnet.tags.keys().any(|key| key.starts_with("kubernetes.io/")), "{:?}", subnet.tags);
    }
    world.delete();
    assert_gone(&world);
}

#[test]
fn subnets_for_pods_are_added_to_a_network_and_move_nothing() {
    let mut world = settled(desired("ab"));
    let (before, from) = (world.aws.parts.clone(), world.aws.calls.len());
    world.desired = with_pods(desired("ab"));
    world.rest();
    assert_complete(&world);
    assert!(before.subnets.iter().all(|(id, it)| world.aws.parts.subnets.get(id) == Some(it)));
    let mut calls = calls_since(&world, from);
    calls.sort_unstable();
    let expected = [
        "AssociateRouteTable",
        "AssociateRouteTable",
        "AssociateVpcCidrBlock",
        "CreateSubnet",
        "CreateSubnet",
    ];
    assert_eq!(calls, expected, "{}", world.story());
}

#[test]
fn a_zone_with_a_subnet_for_pods_and_no_private_one_has_a_way_out() {
    let mut desired = with_pods(desired("ab"));
    desired.subnets.retain(|it| it.tier != Tier::Private || it.zone == zone('a'));
    let mut world = settled(desired);
    assert_complete(&world);
    world.delete();
    assert_gone(&world);
}
