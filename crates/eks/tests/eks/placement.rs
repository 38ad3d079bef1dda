//! In which subnets the control plane is: EKS never changes the zones, and has no control planes in some.

use crate::world::*;
use foo_eks::desired::*;
use foo_eks::report::ConditionKind::*;
use foo_model::eks::*;
use foo_model::*;
use std::collections::BTreeSet;
use std::time::Duration;

fn subnets(world: &World) -> Vec<String> {
    world.cluster().placement.subnets.iter().map(ToString::to_string).collect()
}

#[test]
fn a_zone_added_to_the_network_leaves_the_control_plane_where_it_is() {
    let mut world = World::settled(desired());
    world.desired.placement = Some(placement(&["subnet-a", "subnet-b", "subnet-c"]));
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.condition(ClusterReady).reason, Reason::ClusterAsRequested, "{}", world.story());
    assert_eq!(world.count("UpdateClusterConfig"), 0);
    // A group that is listed later is still applied.
    let groups = BTreeSet::from([SecurityGroupId::new("sg-1")]);
    world.desired.placement.as_mut().unwrap().security_groups.clone_from(&groups);
    world.settle();
    assert_eq!(world.cluster().placement.security_groups, groups);
    assert_eq!(subnets(&world), ["subnet-a", "subnet-b"]);
    assert_eq!(world.count("UpdateClusterConfig"), 1, "{}", world.story());
}

#[test]
fn a_subnet_added_to_a_zone_of_the_control_plane_is_used() {
    let mut world = World::settled(desired());
    world.desired.placement = Some(placement(&["subnet-a", "subnet-a2", "subnet-b", "subnet-c"]));
    world.settle();
    assert_eq!(subnets(&world), ["subnet-a", "subnet-a2", "subnet-b"]);
}

#[test]
fn a_network_that_loses_a_zone_of_the_control_plane_sends_nothing() {
    let mut world = World::settled(desired());
    world.desired.placement = Some(placement(&["subnet-a", "subnet-a2"]));
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.count("UpdateClusterConfig"), 0, "{}", world.story());
}

#[test]
fn listed_subnets_of_other_zones_are_named_and_hold_nothing_else_up() {
    let mut world = World::settled(desired());
    world.desired.subnet_choice = SubnetChoice::Listed;
    world.desired.placement = Some(placement(&["subnet-a", "subnet-c"]));
    let groups = BTreeSet::from([SecurityGroupId::new("sg-1")]);
    world.desired.placement.as_mut().unwrap().security_groups.clone_from(&groups);
    world.run_for(Duration::from_hours(1));
    world.assert_says(
        ClusterReady,
        Reason::ClusterDiffers,
        "eu-central-1a, eu-central-1b and not eu-central-1a, eu-central-1c",
    );
    assert_eq!(world.cluster().placement.security_groups, groups);
    assert_eq!(world.count("UpdateClusterConfig"), 1, "{}", world.story());
}

#[test]
fn zones_without_control_planes_are_left_out_of_a_new_one() {
    let mut desired = desired();
    desired.placement = Some(placement(&["subnet-a", "subnet-b", "subnet-e"]));
    let mut world = World::settled(desired);
    assert_eq!(subnets(&world), ["subnet-a", "subnet-b"]);
    assert_eq!(world.count("CreateCluster"), 2, "{}", world.story());
    world.restart();
    world.settle();
    assert_eq!(world.count("UpdateClusterConfig"), 0);
}

#[test]
fn a_network_with_one_zone_that_has_control_planes_is_reported_with_a_remedy() {
    let mut desired = desired();
    desired.placement = Some(placement(&["subnet-a", "subnet-e"]));
    let mut world = World::new(desired);
    world.run_for(Duration::from_mins(10));
    world.assert_says(ClusterReady, Reason::WaitingForSubnets, "spec.eks.subnets");
    assert_eq!(world.count("CreateCluster"), 1, "{}", world.story());
}

#[test]
fn listed_subnets_in_a_zone_without_control_planes_are_refused_in_the_words_of_eks() {
    let mut desired = desired();
    desired.placement = Some(placement(&["subnet-a", "subnet-e"]));
    desired.subnet_choice = SubnetChoice::Listed;
    let mut world = World::new(desired);
    world.run_for(Duration::from_mins(10));
    world.assert_says(ClusterReady, Reason::RequestInvalid, "choose from these availability zones");
}

#[test]
fn an_ipv6_cluster_is_not_created_in_subnets_without_ipv6_ranges() {
    let mut desired = desired();
    desired.ip_family = IpFamily::Ipv6;
    for subnet in desired.known_subnets.values_mut() {
        subnet.has_ipv6 = Some(false);
    }
    let mut world = World::new(desired);
    world.run_for(Duration::from_mins(10));
    world.assert_says(ClusterReady, Reason::WaitingForSubnets, "IPv6");
    assert_eq!(world.count("CreateCluster"), 0);
    for subnet in world.desired.known_subnets.values_mut() {
        subnet.has_ipv6 = Some(true);
    }
    world.settle();
    assert_eq!(world.count("CreateCluster"), 1);
}
