//! Subnets that the spec no longer requests: they stay until a person deletes them, and what only served them goes.

use crate::faults::assert_gone;
use crate::life::{calls_since, settled};
use crate::world::*;
use foo_model::network::NatState;
use foo_network::Desired;
use foo_network::desired::*;
use std::time::Duration;

fn living_nats(world: &World) -> usize {
    world.aws.parts.nat_gateways.values().filter(|it| it.state != NatState::Deleted).count()
}

/// A person deletes the subnet with this range.
fn take_subnet(world: &mut World, cidr: ipnet::Ipv4Net) {
    world.aws.by_hand(|parts| {
        let id = parts.subnets.values().find(|it| it.cidr == cidr).unwrap().id.clone();
        parts.subnets.remove(&id);
        let tables = parts.route_tables.values_mut();
        tables.for_each(|it| it.associations.retain(|it| it.subnet != id));
    });
}

#[test]
fn without_private_subnets_no_way_out_stays() {
    for nat in [NatMode::PerZone, NatMode::Single] {
        let mut world = settled(Desired { nat, ipv6: true, ..desired("ab") });
        assert_eq!(world.aws.parts.egress_only_gateways.len(), 1);
        world.desired.subnets.retain(|it| it.tier == Tier::Public);
        for (index, zone) in [(0, 'a'), (1, 'b')] {
            take_subnet(&mut world, subnet(Tier::Private, zone, index).cidr);
        }
        world.aws.advance(world.aws.now.plus(Duration::from_mins(5)));
        world.sweep();
        let start = world.aws.now;
        world.run_until("later", |it| it.aws.now > start.plus(Duration::from_mins(30)));
        let left = (world.aws.parts.egress_only_gateways.len(), world.aws.parts.addresses.len());
        assert_eq!((living_nats(&world), left), (0, (0, 0)), "{nat:?}\n{}", world.story());
        world.delete();
        assert_gone(&world);
    }
}

/// The subnets stay until the user deletes them, and so long with their way out; then it goes, although their table is still there.
#[test]
fn the_gateways_of_a_zone_that_is_no_longer_requested_go_once_no_subnet_uses_its_table() {
    for drift in [DriftPolicy::Enforce, DriftPolicy::Warn] {
        let mut world = settled(Desired { drift, ipv6: true, ..desired("ab") });
        world.desired.subnets = Desired { ipv6: true, ..desired("a") }.subnets;
        let start = world.aws.now;
        world.run_until("later", |it| it.aws.now > start.plus(Duration::from_mins(30)));
        assert_eq!((living_nats(&world), world.aws.parts.subnets.len()), (2, 4), "{}", world.story());
        take_subnet(&mut world, subnet(Tier::Private, 'b', 1).cidr);
        let from = world.aws.calls.len();
        world.aws.advance(world.aws.now.plus(Duration::from_mins(5)));
        world.sweep();
        let start = world.aws.now;
        world.run_until("later", |it| it.aws.now > start.plus(Duration::from_mins(30)));
        assert_eq!((living_nats(&world), world.aws.parts.addresses.len()), (1, 1), "{}", world.story());
        let calls = calls_since(&world, from);
        assert_eq!(
            calls,
            ["DeleteRoute", "DeleteRoute", "DeleteNatGateway", "ReleaseAddress"],
            "{}",
            world.story()
        );
    }
}
