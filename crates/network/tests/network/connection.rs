//! The rules between nodes and the cluster security group of EKS.

use crate::faults::assert_gone;
use crate::groups::add_by_hand;
use crate::leftovers::group_of_eks;
use crate::life::{calls_since, settled};
use crate::world::*;
use foo_calls::report::Status;
use foo_model::network::*;
use foo_model::*;
use foo_network::desired::*;
use foo_network::report::ConditionKind;
use foo_network::{Action, Desired, Role, plan, violations};
use std::collections::BTreeSet;
use std::time::Duration;

/// Longer than reads of a group of another owner are apart.
const RARE: Duration = Duration::from_mins(20);

fn node(world: &World) -> &SecurityGroup {
    let is_role = |it: &&SecurityGroup| {
        it.tags.get("infrastructure.foo.com/role").is_some_and(|role| role == "security-group/node")
    };
    world.aws.parts.security_groups.values().find(is_role).unwrap()
}

fn naming<'a>(group: &'a SecurityGroup, named: &SecurityGroupId) -> Vec<&'a Rule> {
    group.ingress.iter().filter(|it| it.peer == Peer::Group(named.clone())).collect()
}

/// How many rules of nodes name the group of EKS, and how many of its rules name nodes; all are about all traffic.
pub fn rules(world: &World, eks: &SecurityGroupId) -> (usize, usize) {
    let nodes = node(world);
    let (in_nodes, in_eks) = (naming(nodes, eks), naming(&world.aws.parts.security_groups[eks], &nodes.id));
    assert!(in_nodes.iter().chain(&in_eks).all(|it| it.protocol == Protocol::All), "{}", world.story());
    (in_nodes.len(), in_eks.len())
}

/// A network whose EKS cluster has just become active.
pub fn with_eks(desired: Desired) -> (World, SecurityGroupId) {
    let mut world = settled(desired);
    let eks = group_of_eks(&mut world, "prod");
    world.desired.connection = Connection::With(eks.clone());
    (world, eks)
}

fn connected() -> (World, SecurityGroupId) {
    let (mut world, eks) = with_eks(desired("a"));
    world.rest();
    (world, eks)
}

/// The same in a VPC of the user.
fn in_users_vpc() -> (World, SecurityGroupId) {
    let mut world = users_vpc();
    world.aws.by_hand(|parts| parts.vpcs.values_mut().for_each(|vpc| vpc.dns_hostnames = Some(true)));
    world.rest();
    let eks = group_of_eks(&mut world, "prod");
    world.desired.connection = Connection::With(eks.clone());
    (world, eks)
}

#[test]
fn nodes_and_the_cluster_security_group_of_eks_allow_all_traffic_of_each_other() {
    let (mut world, eks) = with_eks(desired("a"));
    let (before, from) = (world.aws.parts.security_groups[&eks].clone(), world.aws.calls.len());
    world.rest();
    assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
    assert_eq!(calls_since(&world, from), ["AuthorizeSecurityGroupIngress"; 2], "{}", world.story());
    let after = world.aws.parts.security_groups[&eks].clone();
    assert!(after.ingress.is_superset(&before.ingress), "{after:?}");
    assert_eq!(SecurityGroup { ingress: before.ingress.clone(), ..after }, before, "nothing else is changed");
}

#[test]
fn a_rule_that_another_user_removes_from_either_group_is_added_again() {
    let (mut world, eks) = connected();
    let nodes = node(&world).id.clone();
    for (of, named) in [(&nodes, &eks), (&eks, &nodes)] {
        let peer = Peer::Group(named.clone());
        world.aws.by_hand(|parts| {
            parts.security_groups.get_mut(of).unwrap().ingress.retain(|it| it.peer != peer);
        });
        world.sweep();
        world.run_for(RARE);
        assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
    }
}

#[test]
fn a_connected_network_reads_the_group_of_eks_rarely_and_changes_nothing() {
    let (mut world, _) = connected();
    let (sent, reads) = (world.sent, world.aws.reads);
    world.run_for(Duration::from_hours(2));
    assert_eq!(world.sent, sent, "{}", world.story());
    // Each quarter of an hour, and the attributes of the VPC, which are two calls, each half hour; and what confirms the last changes.
    assert!(world.aws.reads - reads <= 8 + 8 + 8, "{}", world.aws.reads - reads);
}

/// EKS does not delete a group that a rule of another group names.
#[test]
fn while_eks_deletes_the_cluster_no_rule_names_its_group() {
    let (mut world, eks) = connected();
    world.desired.connection = Connection::Ended;
    world.rest();
    world.run_for(RARE);
    assert_eq!(rules(&world, &eks), (0, 0), "{}", world.story());
    assert!(world.process.record.cluster_groups.contains(&eks), "it still exists");
    world.aws.by_hand(|parts| drop(parts.security_groups.remove(&eks)));
    world.run_for(RARE);
    assert_eq!(world.process.record.cluster_groups, BTreeSet::new());
}

#[test]
fn rules_of_others_in_the_group_of_eks_stay() {
    let (mut world, eks) = with_eks(desired("a"));
    let peer = Peer::Group(node(&world).id.clone());
    // As a user adds it by the AWS CLI: it already is what the provider would add.
    let by_hand = Rule { protocol: Protocol::All, peer: peer.clone(), description: String::new() };
    let https = Rule { protocol: Protocol::Tcp(443, 443), peer, description: "nodes to API server".into() };
    let foreign = [by_hand, https];
    world.aws.by_hand(|parts| {
        parts.security_groups.get_mut(&eks).unwrap().ingress.extend(foreign.iter().cloned());
    });
    let before = world.aws.parts.security_groups[&eks].clone();
    for connection in [Connection::With(eks.clone()), Connection::Separate] {
        world.desired.connection = connection;
        world.rest();
        world.run_for(RARE);
        assert_eq!(world.aws.parts.security_groups[&eks], before, "{}", world.story());
    }
}

/// After a move or a restore, the FooControlPlane may exist later than the FooCluster, and its status later still.
#[test]
fn rules_stay_until_it_is_known_which_group_eks_has() {
    let (mut world, eks) = connected();
    let from = world.aws.calls.len();
    world.desired.connection = Connection::Awaited;
    world.moved();
    world.rest();
    world.run_for(RARE);
    assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
    world.desired.connection = Connection::With(eks.clone());
    world.rest();
    assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
    let calls = calls_since(&world, from);
    assert!(!calls.iter().any(|it| it.ends_with("SecurityGroupIngress")), "{calls:?}");
}

#[test]
fn a_cluster_that_is_created_again_is_connected_by_its_new_group() {
    let (mut world, former) = connected();
    let new = group_of_eks(&mut world, "prod2");
    world.desired.connection = Connection::With(new.clone());
    world.rest();
    assert_eq!(rules(&world, &former), (0, 0), "{}", world.story());
    assert_eq!(rules(&world, &new), (1, 1), "{}", world.story());
}

#[test]
fn a_fault_at_either_call_delays_the_connection_only() {
    let (idle, eks) = with_eks(desired("a"));
    for fault in
        [Fault::CrashBefore, Fault::CrashAfter, Fault::LostBefore, Fault::LostAfter(Reason::ResponseLost)]
    {
        for call in 0..2 {
            let mut world = idle.clone();
            world.faults.insert(world.sent + call, fault);
            world.rest();
            assert_eq!(rules(&world, &eks), (1, 1), "{fault:?} {call}: {}", world.story());
            assert!(world.process.record.cluster_groups.contains(&eks));
        }
    }
}

/// The FooCluster was deleted together with the FooControlPlane, so that nothing revoked the rules before.
#[test]
fn the_group_that_eks_could_not_delete_because_nodes_named_it_is_deleted_with_the_network() {
    let (mut world, _) = connected();
    world.delete();
    assert_gone(&world);
    let (mut world, eks) = in_users_vpc();
    world.rest();
    assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
    world.delete();
    let parts = &world.aws.parts;
    assert!(!parts.security_groups.contains_key(&eks), "{}", world.story());
    assert_eq!((parts.vpcs.len(), parts.subnets.len()), (1, 0));
}

/// The EKS cluster was retained, and has interfaces in subnets of the user.
#[test]
fn a_group_of_eks_that_is_in_use_loses_only_the_rule_of_the_provider() {
    let (mut world, eks) = in_users_vpc();
    let vpc = world.aws.parts.security_groups[&eks].vpc.clone();
    let cidr = "10.0.250.0/24".parse().unwrap();
    let subnet = Change::CreateSubnet { vpc, zone: zone('c'), cidr, ipv6: None, tags: Tags::new() };
    let subnet = world.aws.call(&subnet).subnets.into_keys().next().unwrap();
    let interface = world.aws.interface(&subnet, "Amazon EKS prod");
    world.aws.by_hand(|parts| parts.interfaces.get_mut(&interface).unwrap().groups = [eks.clone()].into());
    let before = world.aws.parts.security_groups[&eks].clone();
    world.rest();
    assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
    world.delete();
    assert_eq!(world.aws.parts.security_groups.get(&eks), Some(&before), "{}", world.story());
}

/// It is the user who decides then what happens to the group.
#[test]
fn a_group_that_nodes_are_no_longer_connected_with_is_none_of_the_network_any_more() {
    let (mut world, eks) = in_users_vpc();
    world.rest();
    let before = world.aws.parts.security_groups[&eks].clone();
    world.desired.connection = Connection::Separate;
    world.rest();
    world.run_for(RARE);
    assert_eq!(rules(&world, &eks), (0, 0), "{}", world.story());
    assert_eq!(world.process.record.cluster_groups, BTreeSet::new());
    let without = world.aws.parts.security_groups[&eks].clone();
    assert!(before.ingress.is_superset(&without.ingress));
    world.delete();
    assert_eq!(world.aws.parts.security_groups.get(&eks), Some(&without), "{}", world.story());
}

#[test]
fn under_the_drift_policy_warn_a_connection_comes_and_goes_and_rules_of_users_stay() {
    let mut world = settled(Desired { drift: DriftPolicy::Warn, ..desired("a") });
    let by_hand = add_by_hand(&mut world);
    let (first, second) = (group_of_eks(&mut world, "prod"), group_of_eks(&mut world, "prod2"));
    let (with_first, with_second) = (Connection::With(first.clone()), Connection::With(second.clone()));
    for (connection, of_first, of_second) in [
        (with_first.clone(), 1, 0),
        (Connection::Awaited, 1, 0),
        (with_first, 1, 0),
        (with_second.clone(), 0, 1),
        (Connection::Ended, 0, 0),
        (with_second, 0, 1),
        (Connection::WithoutEks, 0, 0),
        (Connection::Separate, 0, 0),
    ] {
        world.desired.connection = connection;
        world.rest();
        assert_eq!(rules(&world, &first), (of_first, of_first), "{}", world.story());
        assert_eq!(rules(&world, &second), (of_second, of_second), "{}", world.story());
        assert!(node(&world).ingress.contains(&by_hand), "{}", world.story());
    }
}

#[test]
fn a_half_made_connection_is_undone_whatever_the_drift_policy_is() {
    for drift in [DriftPolicy::Enforce, DriftPolicy::Warn] {
        let (mut world, eks) = with_eks(Desired { drift, ..desired("a") });
        world.faults.insert(world.sent + 1, Fault::CrashBefore);
        world.run_until("half made", |it| rules(it, &eks) != (0, 0));
        assert_eq!(rules(&world, &eks), (1, 0), "{}", world.story());
        world.desired.connection = Connection::Ended;
        world.rest();
        assert_eq!(rules(&world, &eks), (0, 0), "{}", world.story());
    }
}

/// The management cluster was restored, and with it the status of the FooControlPlane.
#[test]
fn a_connection_stays_until_reads_show_the_group_that_replaces_it() {
    let (mut world, eks) = connected();
    let (sent, before) = (world.sent, SecurityGroupId::new("sg-before"));
    world.desired.connection = Connection::With(before.clone());
    world.run_for(RARE);
    assert_eq!((rules(&world, &eks), world.sent), ((1, 1), sent), "{}", world.story());
    assert_eq!(world.process.record.cluster_groups, BTreeSet::from([eks.clone()]));
    let condition = world.condition(ConditionKind::SecurityGroupsReady);
    assert!(
        condition.message.contains("does not show the cluster security group sg-before"),
        "{condition:?}"
    );
    world.desired.connection = Connection::With(eks.clone());
    world.rest();
    assert_eq!((rules(&world, &eks), world.sent), ((1, 1), sent), "{}", world.story());
}

#[test]
fn a_connection_that_is_not_possible_is_noted_in_the_condition_of_a_usable_network() {
    let of = |connection| {
        let world = settled(Desired { connection, ..desired("a") });
        assert_eq!(world.condition(ConditionKind::NetworkReady).status, Status::True);
        let condition = world.condition(ConditionKind::SecurityGroupsReady);
        assert_eq!((condition.status, condition.reason), (Status::True, Reason::NetworkAsRequested));
        condition.message
    };
    assert!(of(Connection::Awaited).contains("when the FooControlPlane shows it"));
    assert!(of(Connection::WithoutEks).contains("has no effect"));
    assert_eq!(of(Connection::Separate), "");
}

#[test]
fn a_group_that_does_not_exist_any_more_is_forgotten_while_no_other_is_known() {
    let (mut world, eks) = connected();
    let nodes = node(&world).id.clone();
    world.aws.by_hand(|parts| {
        parts.security_groups.remove(&eks);
        let it = parts.security_groups.get_mut(&nodes).unwrap();
        it.ingress.retain(|rule| rule.peer != Peer::Group(eks.clone()));
    });
    world.desired.connection = Connection::Awaited;
    world.sweep();
    world.run_for(RARE);
    assert_eq!(world.process.record.cluster_groups, BTreeSet::new(), "{}", world.story());
}

#[test]
fn after_a_restart_a_connected_network_is_ready_before_the_group_of_eks_is_read() {
    let (mut world, eks) = connected();
    world.restart();
    world.sweep();
    world.pass();
    let condition = world.condition(ConditionKind::SecurityGroupsReady);
    assert_eq!(condition.status, Status::True, "{condition:?}");
    assert!(!world.report.as_ref().unwrap().settled, "the group is to be read");
    world.rest();
    assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
}

/// The rule in the group for nodes says which group was connected.
#[test]
fn after_a_move_the_group_that_eks_could_not_delete_is_deleted_with_the_network() {
    let (mut world, eks) = in_users_vpc();
    world.rest();
    world.moved();
    world.desired.connection = Connection::Awaited;
    world.delete();
    assert!(!world.aws.parts.security_groups.contains_key(&eks), "{}", world.story());
}

#[test]
fn changes_of_the_group_of_eks_besides_the_connection_break_a_rule() {
    let (world, eks) = connected();
    let nodes = node(&world).id.clone();
    let mut own = world.aws.parts.security_groups.values().filter(|it| !it.tags.is_empty());
    let other = own.find(|it| it.id != nodes && it.id != eks).unwrap().id.clone();
    let broken = |desired: &Desired, change: Change| {
        let (record, memory) = (&world.process.record, &world.process.memory);
        let mut plan = plan(desired, &world.observed, record, memory);
        let role = Role::SecurityGroup("node".to_owned());
        plan.actions = vec![Action { role, change, why: String::new() }];
        !violations(desired, &world.observed, record, memory, &plan).is_empty()
    };
    let of = |protocol, peer: &SecurityGroupId| {
        let description = "nodes to cluster security group of EKS".to_owned();
        BTreeSet::from([Rule { protocol, peer: Peer::Group(peer.clone()), description }])
    };
    let authorize = |rules| Change::AuthorizeSecurityGroupIngress { group: eks.clone(), rules };
    let revoke = |rules| Change::RevokeSecurityGroupIngress { group: eks.clone(), rules };
    let ended = Desired { connection: Connection::Ended, ..world.desired.clone() };
    let all = of(Protocol::All, &nodes);
    assert!(!broken(&world.desired, authorize(all.clone())) && !broken(&ended, revoke(all.clone())));
    assert!(broken(&ended, authorize(all.clone())) && broken(&world.desired, revoke(all)));
    for wrong in [of(Protocol::Tcp(1, 65535), &nodes), of(Protocol::All, &other)] {
        assert!(broken(&world.desired, authorize(wrong.clone())) && broken(&ended, revoke(wrong)));
    }
}
