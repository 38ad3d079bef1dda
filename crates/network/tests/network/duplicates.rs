//! Two parts with one role, as a lost response may leave them behind where AWS has no token: the one in use is kept.

use crate::create::assert_complete;
use crate::faults::assert_gone;
use crate::world::*;
use foo_model::network::*;
use foo_model::*;
use foo_network::Recorded;
use std::collections::BTreeSet;

/// The ids of all parts that carry our tag.
fn ids(world: &World) -> BTreeSet<String> {
    let parts = &world.aws.parts;
    let mut ids: BTreeSet<String> = parts.vpcs.keys().map(ToString::to_string).collect();
    ids.extend(parts.subnets.keys().map(ToString::to_string));
    ids.extend(parts.internet_gateways.keys().map(ToString::to_string));
    ids.extend(parts.addresses.keys().map(ToString::to_string));
    let groups = parts.security_groups.values().filter(|it| it.name != "default");
    ids.extend(groups.map(|it| it.id.to_string()));
    ids
}

/// Makes a second one of each part of a kind; by its id it comes before the first one.
fn duplicate(world: &mut World, kind: Kind) {
    world.aws.by_hand(|parts| match kind {
        Kind::Vpc => {
            let mut it = parts.vpcs.values().next().unwrap().clone();
            it.id = VpcId::new("vpc-0000");
            parts.vpcs.insert(it.id.clone(), it);
        }
        Kind::Subnet => {
            for (number, mut it) in parts.subnets.clone().into_values().enumerate() {
                it.id = SubnetId::new(format!("subnet-0000{number}"));
                parts.subnets.insert(it.id.clone(), it);
            }
        }
        Kind::InternetGateway => {
            let mut it = parts.internet_gateways.values().next().unwrap().clone();
            (it.id, it.vpc) = (InternetGatewayId::new("igw-0000"), None);
            parts.internet_gateways.insert(it.id.clone(), it);
        }
        Kind::Address => {
            for (number, mut it) in parts.addresses.clone().into_values().enumerate() {
                (it.id, it.interface) = (AllocationId::new(format!("eipalloc-0000{number}")), None);
                parts.addresses.insert(it.id.clone(), it);
            }
        }
        Kind::SecurityGroup => {
            let groups = parts.security_groups.clone().into_values().filter(|it| it.name != "default");
            for (number, mut it) in groups.enumerate() {
                it.id = SecurityGroupId::new(format!("sg-0000{number}"));
                it.ingress.clear();
                parts.security_groups.insert(it.id.clone(), it);
            }
        }
        other => panic!("{other:?} has a token"),
    });
}

const WITHOUT_TOKEN: [Kind; 5] =
    [Kind::Vpc, Kind::Subnet, Kind::InternetGateway, Kind::Address, Kind::SecurityGroup];

/// What the manager knows when the duplicate shows up.
#[derive(Clone, Copy, Debug)]
enum Knows {
    All,
    Status,
    Nothing,
}

#[test]
fn of_two_parts_for_one_purpose_the_one_in_use_is_kept() {
    for kind in WITHOUT_TOKEN {
        for knows in [Knows::All, Knows::Status, Knows::Nothing] {
            let mut world = World::new(desired("ab"));
            world.rest();
            let before = ids(&world);
            duplicate(&mut world, kind);
            assert!(ids(&world).len() > before.len(), "{kind:?}");
            match knows {
                Knows::All => {}
                Knows::Status => world.restart(),
                Knows::Nothing => {
                    world.process.record = Recorded::default();
                    world.restart();
                }
            }
            world.rest();
            assert_eq!(ids(&world), before, "{kind:?} {knows:?}\n{}", world.story());
            assert_complete(&world);
            world.delete();
            assert_gone(&world);
        }
    }
}

/// The network is deleted while there are two.
#[test]
fn duplicates_are_deleted_with_the_network() {
    for kind in WITHOUT_TOKEN {
        let mut world = World::new(desired("ab"));
        world.rest();
        duplicate(&mut world, kind);
        world.restart();
        world.delete();
        assert_gone(&world);
    }
}
