//! Another manager takes over, while reads do not show yet what the one before it did last.

use crate::connection::{rules, with_eks};
use crate::create::assert_complete;
use crate::life::{calls_since, of_role, settled};
use crate::world::*;
use foo_network::desired::*;
use foo_network::{Desired, Role};
use std::collections::BTreeSet;
use std::time::Duration;

/// How old reads are: less than the manager waits for.
const LAG: Duration = Duration::from_secs(20);

/// The key of a tag of one subnet.
const KARPENTER: &str = "karpenter.sh/discovery";

/// Which subnet is private.
fn private(desired: &Desired) -> usize {
    desired.subnets.iter().position(|it| it.tier == Tier::Private).unwrap()
}

#[test]
fn a_new_leader_removes_tags_that_left_the_spec_though_its_first_reads_do_not_show_them() {
    let blue = || "blue".to_owned();
    let mut world = settled(desired("a"));
    let private = private(&world.desired);
    let subnet = Role::Subnet(world.desired.subnets[private].key.clone());
    world.aws.set_lag(LAG);
    world.desired.tags.insert("cost".to_owned(), blue());
    world.desired.subnets[private].tags.insert(KARPENTER.to_owned(), blue());
    let tags = |world: &World| of_role(world, &subnet.to_string()).clone();
    world.run_until("tagged", |it| tags(it).contains_key(KARPENTER) && tags(it).contains_key("cost"));
    world.desired.tags.remove("cost");
    world.desired.subnets[private].tags.clear();
    world.restart();
    world.run_for(Duration::from_secs(5));
    let record = &world.process.record;
    assert!(record.tag_keys.contains("cost"), "{}", world.story());
    assert!(record.own_tag_keys[&subnet].contains(KARPENTER), "{}", world.story());
    world.rest();
    let left = tags(&world);
    assert!(!left.contains_key("cost") && !left.contains_key(KARPENTER), "{}", world.story());
    let record = &world.process.record;
    assert_eq!(record.tag_keys, BTreeSet::from(["team".to_owned()]));
    assert!(record.own_tag_keys.is_empty());
}

#[test]
fn a_new_leader_forgets_a_key_once_a_read_that_is_new_enough_shows_no_such_tag() {
    let mut wanted = desired("a");
    let private = private(&wanted);
    wanted.subnets[private].tags.insert(KARPENTER.to_owned(), "blue".to_owned());
    let mut world = settled(wanted);
    let from = world.aws.calls.len();
    world.aws.by_hand(|parts| parts.subnets.values_mut().for_each(|it| drop(it.tags.remove(KARPENTER))));
    world.desired.subnets[private].tags.clear();
    world.restart();
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.process.record.own_tag_keys.len(), 1, "{}", world.story());
    world.rest();
    assert!(world.process.record.own_tag_keys.is_empty());
    assert_eq!(calls_since(&world, from), [""; 0], "{}", world.story());
}

#[test]
fn a_new_leader_adds_no_second_ipv6_range_while_its_reads_do_not_show_the_first() {
    let mut world = settled(desired("a"));
    world.aws.set_lag(LAG);
    world.desired.ipv6 = true;
    world.run_until("recorded", |it| it.process.record.parts.contains_key(&Role::VpcIpv6));
    world.restart();
    world.rest();
    assert_complete(&world);
    let vpc = world.aws.parts.vpcs.values().next().unwrap();
    assert_eq!(vpc.ipv6.len(), 1, "{}", world.story());
}

#[test]
fn a_new_leader_ends_a_connection_that_its_first_reads_do_not_show() {
    let (mut world, eks) = with_eks(desired("a"));
    world.aws.set_lag(LAG);
    world.run_until("connected", |it| rules(it, &eks) == (1, 1));
    world.desired.connection = Connection::Separate;
    world.restart();
    world.rest();
    world.run_for(Duration::from_mins(20));
    assert_eq!(rules(&world, &eks), (0, 0), "{}", world.story());
}
