//! What Services of the workload cluster left in the VPC, and what other clusters of the same name have there.

use crate::aws::Aws;
use crate::faults::assert_gone;
use crate::life::settled;
use crate::world::*;
use foo_calls::report::{Deletion, Status};
use foo_model::network::*;
use foo_model::*;
use foo_network::Desired;
use foo_network::desired::*;
use foo_network::report::ConditionKind;
use foo_simulator_core::core::network::NewLoadBalancer;
use std::collections::BTreeSet;
use std::time::Duration;

/// A network load balancer of a Service, with its interface, group and targets.
fn service(aws: &mut Aws, tagged: &str) {
    let subnet = aws.parts.subnets.keys().next().unwrap().clone();
    let group = service_in(aws, &subnet, tagged, "web");
    // Its controller lets the load balancer reach the nodes.
    let description = "elbv2.k8s.aws/targetGroupBinding=shared".to_owned();
    let rule = Rule { protocol: Protocol::Tcp(80, 80), peer: Peer::Group(group), description };
    aws.by_hand(|parts| {
        let mut groups = parts.security_groups.values_mut();
        groups.find(|it| it.name.ends_with("node")).unwrap().ingress.insert(rule);
    });
}

/// The same in a subnet, by name. The security group of the load balancer.
pub fn service_in(aws: &mut Aws, subnet: &SubnetId, tagged: &str, name: &str) -> SecurityGroupId {
    let vpc = aws.parts.subnets[subnet].vpc.clone();
    let tags = Tags::from([
        (tagged.to_owned(), "prod".to_owned()),
        ("service.k8s.aws/stack".to_owned(), "default/web".to_owned()),
    ]);
    let group = SecurityGroupId::new(format!("sg-{name}"));
    let of_balancer = SecurityGroup {
        id: group.clone(),
        vpc,
        name: format!("k8s-default-{name}"),
        description: String::new(),
        ingress: BTreeSet::new(),
        egress: BTreeSet::new(),
        tags: tags.clone(),
    };
    aws.by_hand(|parts| drop(parts.security_groups.insert(group.clone(), of_balancer)));
    aws.balancer(NewLoadBalancer {
        name: name.to_owned(),
        kind: LoadBalancerKind::Network,
        subnets: [subnet.clone()].into(),
        groups: [group.clone()].into(),
        internet_facing: false,
        deletion_protection: false,
        target_groups: [name.to_owned()].into(),
        tags,
    });
    group
}

#[test]
fn leftovers_are_named_and_waited_for_quietly() {
    let mut world = settled(desired("a"));
    service(&mut world.aws, "elbv2.k8s.aws/cluster");
    world.rest();
    let node = world.aws.parts.security_groups.values().find(|it| it.name.ends_with("node")).unwrap();
    assert_eq!(node.ingress.len(), 3, "the rule of the controller stays");
    world.desired.being_deleted = true;
    world.run_until("waiting", |it| {
        let nothing_else = it.aws.parts.nat_gateways.values().all(|it| it.state == NatState::Deleted);
        nothing_else && it.condition(ConditionKind::Deleting).reason == Reason::ForeignResourcesInVpc
    });
    let message = world.condition(ConditionKind::Deleting).message;
    assert!(
        message.contains("load balancer web (network load balancer of Service default/web)"),
        "{message}"
    );
    let settle = world.aws.now.plus(Duration::from_mins(3));
    world.run_until("quiet", |it| it.aws.now > settle);
    let (calls, start) = (world.aws.reads as usize + world.sent, world.aws.now);
    world.run_until("an hour", |it| it.aws.now > start.plus(Duration::from_hours(1)));
    let calls = world.aws.reads as usize + world.sent - calls;
    assert!(calls <= 120, "{calls} calls in an hour\n{}", world.story());
    assert_eq!(world.aws.parts.load_balancers.len(), 1);
    assert_eq!(world.report.as_ref().unwrap().deletion, Deletion::Pending);
    world.aws.by_hand(|parts| {
        parts.load_balancers.clear();
        parts.interfaces.clear();
        parts.security_groups.retain(|_, it| !it.name.starts_with("k8s"));
        parts.security_groups.values_mut().for_each(|it| it.ingress.clear());
    });
    world.delete();
    world.aws.by_hand(|parts| parts.target_groups.clear());
    assert_gone(&world);
}

#[test]
fn leftovers_are_deleted_if_that_is_requested() {
    let mut world = settled(Desired { leftovers: Leftovers::Delete, ..desired("a") });
    service(&mut world.aws, "elbv2.k8s.aws/cluster");
    world.delete();
    assert_gone(&world);
    assert!(world.aws.parts.load_balancers.is_empty() && world.aws.parts.target_groups.is_empty());
}

/// An idle network in a VPC of the user's, and a subnet there that is not of the network.
pub fn brought() -> (World, SubnetId) {
    let mut world = users_vpc();
    world.run_until("complete", |it| it.condition(ConditionKind::RoutesReady).status == Status::True);
    let DesiredVpc::Existing(vpc) = world.desired.vpc.clone() else { panic!() };
    let subnet = Change::CreateSubnet {
        vpc,
        zone: zone('c'),
        cidr: "10.0.250.0/24".parse().unwrap(),
        ipv6: None,
        tags: Tags::new(),
    };
    let subnet = world.aws.call(&subnet).subnets.into_keys().next().unwrap();
    world.desired.leftovers = Leftovers::Delete;
    (world, subnet)
}

fn balancers(world: &World) -> Vec<&str> {
    world.aws.parts.load_balancers.values().map(|it| it.name.as_str()).collect()
}

#[test]
fn in_a_brought_vpc_what_another_cluster_of_the_same_name_has_is_not_taken() {
    let (mut world, foreign) = brought();
    let own = world.aws.parts.subnets.keys().find(|it| **it != foreign).unwrap().clone();
    let own = service_in(&mut world.aws, &own, "elbv2.k8s.aws/cluster", "web");
    let other = service_in(&mut world.aws, &foreign, "elbv2.k8s.aws/cluster", "web2");
    let idle = world.aws.interface(&foreign, "aws-K8S-i-1");
    world.aws.by_hand(|parts| {
        let it = parts.interfaces.get_mut(&idle).unwrap();
        it.in_use = false;
        it.tags.insert("cluster.k8s.amazonaws.com/name".to_owned(), "prod".to_owned());
    });
    world.delete();
    let parts = &world.aws.parts;
    assert_eq!(balancers(&world), ["web2"], "{}", world.story());
    assert_eq!(parts.interfaces.len(), 2, "its interface, and the one of a node");
    assert_eq!(
        (parts.security_groups.contains_key(&own), parts.security_groups.contains_key(&other)),
        (false, true)
    );
    // The owner of target groups is unknown.
    assert_eq!(parts.target_groups.len(), 2);
    assert_eq!(parts.subnets.keys().collect::<Vec<_>>(), [&foreign]);
}

#[test]
fn parts_of_another_network_are_never_left_overs() {
    let of_prod = |world: &mut World| {
        let mut group = world.aws.parts.security_groups.values().next().unwrap().clone();
        group.id = SecurityGroupId::new("sg-foreign");
        group.name = "foo-prod-node".to_owned();
        (group.ingress, group.egress) = (BTreeSet::new(), BTreeSet::new());
        group.tags = Tags::from([
            ("infrastructure.foo.com/network".to_owned(), "another".to_owned()),
            ("kubernetes.io/cluster/prod".to_owned(), "owned".to_owned()),
        ]);
        world.aws.by_hand(|parts| drop(parts.security_groups.insert(group.id.clone(), group)));
    };
    let (mut world, _) = brought();
    of_prod(&mut world);
    // It uses a group of the network.
    let node = world
        .aws
        .parts
        .security_groups
        .values()
        .find(|it| it.name.ends_with("-node") && it.id.as_str() != "sg-foreign");
    let node = node.unwrap().id.clone();
    let foreign = SecurityGroupId::new("sg-foreign");
    let rule = Rule { protocol: Protocol::All, peer: Peer::Group(node), description: "peers".into() };
    world.aws.by_hand(|parts| parts.security_groups.get_mut(&foreign).unwrap().ingress = [rule].into());
    for mut world in [world, {
        let mut managed = World::new(Desired { leftovers: Leftovers::Delete, ..desired("a") });
        managed.rest();
        of_prod(&mut managed);
        managed
    }] {
        world.desired.being_deleted = true;
        let later = world.aws.now.plus(Duration::from_mins(30));
        world.run_until("later", |it| it.aws.now > later);
        assert!(world.aws.parts.security_groups.contains_key(&foreign), "{}", world.story());
        let message = world.condition(ConditionKind::Deleting).message;
        assert!(message.contains("security group sg-foreign (foo-prod-node)"), "{message}");
        world.aws.by_hand(|parts| drop(parts.security_groups.remove(&foreign)));
        world.delete();
    }
}

/// Another network of this provider is in our VPC, of a cluster that has the same name.
#[test]
fn load_balancers_of_a_network_inside_our_vpc_are_not_taken() {
    let mut world = World::new(Desired { leftovers: Leftovers::Delete, ..desired("a") });
    world.rest();
    let vpc = world.aws.parts.vpcs.keys().next().unwrap().clone();
    let tags = Tags::from([("infrastructure.foo.com/network".to_owned(), "another".to_owned())]);
    let cidr = "10.0.250.0/24".parse().unwrap();
    let subnet = Change::CreateSubnet { vpc, zone: zone('c'), cidr, ipv6: None, tags };
    let subnet = world.aws.call(&subnet).subnets.into_keys().next().unwrap();
    service(&mut world.aws, "elbv2.k8s.aws/cluster");
    service_in(&mut world.aws, &subnet, "elbv2.k8s.aws/cluster", "foreign");
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert_eq!(balancers(&world), ["foreign"], "{}", world.story());
}

/// EKS tags the group of its control plane's interfaces as owned, too, and deletes it itself.
#[test]
fn what_eks_tags_is_never_a_left_over_in_a_brought_vpc() {
    let (mut world, _) = brought();
    let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
    let group = service_in(&mut world.aws, &subnet, "elbv2.k8s.aws/cluster", "web");
    world.aws.by_hand(|parts| {
        let it = parts.security_groups.get_mut(&group).unwrap();
        it.tags.insert("kubernetes.io/cluster/prod".to_owned(), "owned".to_owned());
        it.tags.insert("aws:eks:cluster-name".to_owned(), "prod".to_owned());
    });
    world.delete();
    assert!(world.aws.parts.security_groups.contains_key(&group), "{}", world.story());
}

/// The group that EKS makes for the interfaces of a control plane.
pub fn group_of_eks(world: &mut World, of: &str) -> SecurityGroupId {
    let vpc = world.aws.parts.vpcs.keys().next().unwrap().clone();
    let name = format!("eks-cluster-sg-{of}-1234567890");
    let tags = Tags::from([
        ("aws:eks:cluster-name".to_owned(), of.to_owned()),
        (format!("kubernetes.io/cluster/{of}"), "owned".to_owned()),
    ]);
    let id = SecurityGroupId::new(format!("sg-eks-{of}"));
    let all = Rule { protocol: Protocol::All, peer: Peer::Group(id.clone()), description: String::new() };
    let group = SecurityGroup {
        id: id.clone(),
        vpc,
        name,
        description: "EKS".to_owned(),
        ingress: [all].into(),
        egress: [].into(),
        tags,
    };
    // No call can set EKS's own tag.
    world.aws.by_hand(|parts| drop(parts.security_groups.insert(id.clone(), group)));
    id
}

#[test]
fn the_group_that_eks_leaves_in_our_vpc_is_deleted_once_nothing_uses_it() {
    let mut world = settled(Desired { leftovers: Leftovers::Delete, ..desired("a") });
    let group = group_of_eks(&mut world, "prod");
    let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
    let interface = world.aws.interface(&subnet, "Amazon EKS prod");
    world.aws.by_hand(|parts| parts.interfaces.get_mut(&interface).unwrap().groups = [group.clone()].into());
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert!(world.aws.parts.security_groups.contains_key(&group), "the control plane still has it");
    world.aws.by_hand(|parts| parts.interfaces.clear());
    world.delete();
    assert_gone(&world);
}

#[test]
fn groups_of_eks_of_others_or_without_the_policy_are_named() {
    for (leftovers, of) in [(Leftovers::Delete, "prod2"), (Leftovers::Wait, "prod")] {
        let mut world = settled(Desired { leftovers, ..desired("a") });
        let group = group_of_eks(&mut world, of);
        world.desired.being_deleted = true;
        let later = world.aws.now.plus(Duration::from_mins(30));
        world.run_until("later", |it| it.aws.now > later);
        assert!(world.aws.parts.security_groups.contains_key(&group), "{}", world.story());
        let message = world.condition(ConditionKind::Deleting).message;
        assert!(
            message.contains(&format!("security group {group} (eks-cluster-sg-{of}-1234567890)")),
            "{message}"
        );
    }
}

/// A Cluster `prod` whose EKS cluster is called `team_prod`.
fn on_eks() -> Desired {
    let kubernetes_cluster = Some("team_prod".to_owned());
    Desired { kubernetes_cluster, leftovers: Leftovers::Delete, ..desired("a") }
}

/// Gives what is left of a Service to the cluster of this name.
fn rename(world: &mut World, to: &str) {
    let key = "elbv2.k8s.aws/cluster";
    world.aws.by_hand(|parts| {
        let balancers = parts.load_balancers.values_mut().map(|it| &mut it.tags);
        let groups = parts.security_groups.values_mut().map(|it| &mut it.tags);
        let targets = parts.target_groups.values_mut().map(|it| &mut it.tags);
        for tags in balancers.chain(groups).chain(targets).filter(|tags| tags.contains_key(key)) {
            tags.insert(key.to_owned(), to.to_owned());
            tags.remove("service.k8s.aws/stack");
        }
    });
}

#[test]
fn what_controllers_of_an_eks_cluster_left_is_found_by_the_name_at_eks() {
    for name in ["team_prod", "prod"] {
        let mut world = settled(on_eks());
        service(&mut world.aws, "elbv2.k8s.aws/cluster");
        rename(&mut world, name);
        group_of_eks(&mut world, "team_prod");
        world.delete();
        assert_gone(&world);
        assert!(world.aws.parts.load_balancers.is_empty(), "{name}: {}", world.story());
    }
}

/// A group that EKS created for a cluster that has the Cluster's name at EKS, which the network's has not.
#[test]
fn the_group_of_another_eks_cluster_with_the_name_of_the_cluster_stays() {
    let mut world = settled(on_eks());
    let group = group_of_eks(&mut world, "prod");
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert!(world.aws.parts.security_groups.contains_key(&group), "{}", world.story());
}

#[test]
fn in_a_brought_vpc_only_the_name_at_eks_counts() {
    let (mut world, foreign) = brought();
    world.desired.kubernetes_cluster = Some("team_prod".to_owned());
    let own = world.aws.parts.subnets.keys().find(|it| **it != foreign).unwrap().clone();
    service_in(&mut world.aws, &own, "elbv2.k8s.aws/cluster", "own");
    rename(&mut world, "team_prod");
    service_in(&mut world.aws, &own, "elbv2.k8s.aws/cluster", "of-prod");
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert_eq!(balancers(&world), ["of-prod"], "{}", world.story());
}

#[test]
fn nothing_is_a_left_over_of_a_cluster_whose_name_is_not_known() {
    let mut world = settled(Desired { kubernetes_cluster: None, ..on_eks() });
    service(&mut world.aws, "elbv2.k8s.aws/cluster");
    let group = group_of_eks(&mut world, "team_prod");
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("later", |it| it.aws.now > later);
    assert_eq!(balancers(&world), ["web"], "{}", world.story());
    assert!(world.aws.parts.security_groups.contains_key(&group));
    let message = world.condition(ConditionKind::Deleting).message;
    assert!(message.contains("load balancer web"), "{message}");
    world.desired.kubernetes_cluster = Some("team_prod".to_owned());
    world.delete();
    assert_gone(&world);
}

/// The name becomes known when the control plane's object exists; a former version of the provider tagged with the Cluster's.
#[test]
fn the_tag_of_the_name_is_added_when_it_is_known_and_nothing_else_changes() {
    for (former, drift) in [(None, DriftPolicy::Warn), (Some("prod".to_owned()), DriftPolicy::Enforce)] {
        let mut world = settled(Desired { kubernetes_cluster: former.clone(), drift, ..on_eks() });
        let tagged = |world: &World, key: &str| -> usize {
            let parts = &world.aws.parts;
            let subnets = parts.subnets.values().map(|it| &it.tags);
            let groups = parts.security_groups.values().map(|it| &it.tags);
            subnets.chain(groups).filter(|tags| tags.get(key).is_some_and(|it| it == "owned")).count()
        };
        let before = usize::from(former.is_some()) * 3;
        assert_eq!(tagged(&world, "kubernetes.io/cluster/prod"), before);
        let sent = world.sent;
        world.desired.kubernetes_cluster = Some("team_prod".to_owned());
        world.rest();
        let later = world.aws.now.plus(Duration::from_hours(2));
        world.run_until("later", |it| it.aws.now > later);
        assert_eq!(tagged(&world, "kubernetes.io/cluster/team_prod"), 3, "{}", world.story());
        assert_eq!(tagged(&world, "kubernetes.io/cluster/prod"), before);
        // One call for the subnets, one for the group, or both in one.
        assert!((1..=3).contains(&(world.sent - sent)), "{} calls\n{}", world.sent - sent, world.story());
    }
}

#[test]
fn interfaces_that_the_vpc_cni_left_idle_are_deleted_without_being_asked_for() {
    let mut world = settled(desired("a"));
    let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
    let node =
        world.aws.parts.security_groups.values().find(|it| it.name.ends_with("node")).unwrap().id.clone();
    let idle = world.aws.interface(&subnet, "aws-K8S-i-0123");
    world.aws.by_hand(|parts| {
        let it = parts.interfaces.get_mut(&idle).unwrap();
        it.in_use = false;
        it.groups = [node].into();
    });
    world.delete();
    assert_gone(&world);
}

/// The policy allows only those with the tags of the VPC CNI, which has no name of its cluster unless it was configured.
#[test]
fn the_right_to_delete_an_idle_interface_is_named_if_it_is_missing() {
    let mut world = settled(desired("a"));
    let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
    let idle = world.aws.interface(&subnet, "aws-K8S-i-0123");
    world.aws.by_hand(|parts| parts.interfaces.get_mut(&idle).unwrap().in_use = false);
    world.aws.deny(&["DeleteNetworkInterface"]);
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_hours(1));
    world.run_until("later", |it| it.aws.now > later);
    assert!(world.aws.parts.interfaces.contains_key(&idle));
    let condition = world.condition(ConditionKind::Deleting);
    assert_eq!(condition.reason, Reason::AccessDenied, "{condition:?}");
    let missing = "the IAM action ec2:DeleteNetworkInterface is missing";
    assert!(condition.message.contains(missing), "{condition:?}");
    world.aws.deny(&[]);
    world.delete();
    assert_gone(&world);
}

#[test]
fn idle_interfaces_that_are_not_of_the_vpc_cni_stay() {
    for (description, in_use, requester_managed) in
        [("mine", false, false), ("aws-K8S-i-0123", true, false), ("aws-K8S-i-0123", false, true)]
    {
        let mut world = settled(desired("a"));
        let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
        let id = world.aws.interface(&subnet, description);
        world.aws.by_hand(|parts| {
            let it = parts.interfaces.get_mut(&id).unwrap();
            it.in_use = in_use;
            it.requester_managed = requester_managed;
        });
        world.desired.being_deleted = true;
        let later = world.aws.now.plus(Duration::from_hours(1));
        world.run_until("later", |it| it.aws.now > later);
        assert!(world.aws.parts.interfaces.contains_key(&id), "{description}");
    }
}

/// GuardDuty's endpoint, with an interface in each of some subnets, and the group of these.
fn guardduty(aws: &mut Aws) {
    let subnet = aws.parts.subnets.keys().next().unwrap().clone();
    let vpc = aws.parts.subnets[&subnet].vpc.clone();
    let tags = Tags::from([("GuardDutyManaged".to_owned(), "true".to_owned())]);
    let group = SecurityGroupId::new("sg-guardduty");
    let name = format!("GuardDutyManagedSecurityGroup-{vpc}");
    let of = SecurityGroup {
        id: group.clone(),
        vpc: vpc.clone(),
        name,
        description: String::new(),
        ingress: BTreeSet::new(),
        egress: BTreeSet::new(),
        tags: tags.clone(),
    };
    aws.by_hand(|parts| drop(parts.security_groups.insert(group.clone(), of)));
    let kind =
        EndpointKind::Interface { subnets: [subnet].into(), groups: [group].into(), private_dns: false };
    let service = "com.amazonaws.eu-central-1.guardduty-data".to_owned();
    aws.call(&Change::CreateVpcEndpoint { vpc, service, kind, tags, token: "guardduty".to_owned() });
}

#[test]
fn what_guardduty_created_for_nodes_is_deleted_if_left_overs_are() {
    for kubernetes_cluster in [Some("prod".to_owned()), None] {
        let mut world =
            World::new(Desired { leftovers: Leftovers::Delete, kubernetes_cluster, ..desired("a") });
        world.rest();
        guardduty(&mut world.aws);
        let start = world.aws.now;
        world.delete();
        assert_gone(&world);
        assert!(start.until(world.aws.now) < Duration::from_mins(20), "{}", world.story());
    }
}

#[test]
fn what_guardduty_created_is_named_if_left_overs_are_waited_for() {
    let mut world = settled(desired("a"));
    guardduty(&mut world.aws);
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_hours(1));
    world.run_until("later", |it| it.aws.now > later);
    let message = world.condition(ConditionKind::Deleting).message;
    assert!(message.contains("guardduty-data of Amazon GuardDuty"), "{message}");
}

#[test]
fn endpoints_of_guardduty_in_a_brought_vpc_stay() {
    let (mut world, _) = brought();
    guardduty(&mut world.aws);
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_hours(1));
    world.run_until("later", |it| it.aws.now > later);
    assert!(world.aws.parts.endpoints.values().all(|it| it.state == EndpointState::Available));
}
