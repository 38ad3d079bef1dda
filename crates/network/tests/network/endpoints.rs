//! What VPC endpoints are connected with.

use crate::world::*;
use foo_model::network::*;
use foo_model::*;
use foo_network::desired::*;
use std::collections::BTreeSet;

/// An interface endpoint in these subnets.
pub fn sts(keys: &[&str]) -> DesiredEndpoint {
    let kind = DesiredEndpointKind::Interface {
        subnets: keys.iter().map(ToString::to_string).collect(),
        groups: ["node".to_owned()].into(),
        private_dns: true,
    };
    endpoint("sts", kind)
}

fn subnets_of_endpoint(world: &World) -> BTreeSet<SubnetId> {
    let endpoint = world.aws.parts.endpoints.values().next().unwrap();
    let EndpointKind::Interface { subnets, .. } = &endpoint.kind else { panic!("{endpoint:?}") };
    subnets.clone()
}

#[test]
fn an_endpoint_stays_in_its_subnet_when_one_that_sorts_first_is_added_to_the_zone() {
    let mut world = World::new(desired("ab"));
    world.desired.endpoints = vec![sts(&["private/eu-central-1a", "private/eu-central-1b"])];
    world.rest();
    let before = subnets_of_endpoint(&world);
    assert_eq!(before.len(), 2);
    let first = DesiredSubnet { key: "private/a".to_owned(), ..subnet(Tier::Private, 'a', 60) };
    world.desired.subnets.insert(0, first);
    world.desired.endpoints = vec![sts(&["private/a", "private/eu-central-1b"])];
    let sent = world.sent;
    world.rest();
    assert_eq!(subnets_of_endpoint(&world), before, "{}", world.story());
    let moved = world.aws.calls.iter().any(|it| matches!(it, Change::ModifyVpcEndpoint { .. }));
    assert!(!moved && world.sent > sent, "only the subnet is added\n{}", world.story());
    // Once its subnet is no longer requested, it moves.
    world.desired.subnets.retain(|it| it.key != "private/eu-central-1a");
    world.rest();
    let after = subnets_of_endpoint(&world);
    assert_eq!((after.len(), after.intersection(&before).count()), (2, 1), "{}", world.story());
}

#[test]
fn a_zone_more_is_one_interface_more() {
    let mut world = World::new(desired("ab"));
    world.desired.endpoints = vec![sts(&["private/eu-central-1a"])];
    world.rest();
    let before = subnets_of_endpoint(&world);
    world.desired.endpoints = vec![sts(&["private/eu-central-1a", "private/eu-central-1b"])];
    world.rest();
    let after = subnets_of_endpoint(&world);
    assert!(after.len() == 2 && after.is_superset(&before), "{}", world.story());
}
