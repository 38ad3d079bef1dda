//! Rules and names of security groups.

use crate::faults::assert_gone;
use crate::life::calls_since;
use crate::world::*;
use foo_model::network::*;
use foo_model::*;
use foo_network::Desired;
use foo_network::desired::*;

fn node(world: &World) -> &SecurityGroup {
    let mut groups = world.aws.parts.security_groups.values();
    groups
        .find(|it| it.tags.get("infrastructure.foo.com/role").is_some_and(|it| it.ends_with("node")))
        .unwrap()
}

#[test]
fn a_rule_about_a_foreign_group_goes_with_the_spec_and_those_of_controllers_stay() {
    let peer = SecurityGroupId::new("sg-office");
    let mut world = World::new(desired("a"));
    world.settle();
    let foreign = SecurityGroup { id: peer.clone(), tags: Tags::new(), ..node(&world).clone() };
    world.aws.by_hand(|parts| drop(parts.security_groups.insert(peer.clone(), foreign)));
    let plain = world.desired.clone();
    let office = GroupRule { description: "office".to_owned(), ..rule(GroupPeer::GroupId(peer.clone()), 22) };
    world.desired.security_groups[0].ingress.push(office);
    world.rest();
    assert!(node(&world).ingress.iter().any(|it| it.peer == Peer::Group(peer.clone())));
    let balancer = Peer::Group(SecurityGroupId::new("sg-balancer"));
    let controllers = Rule { protocol: Protocol::All, peer: balancer.clone(), description: String::new() };
    let id = node(&world).id.clone();
    world.aws.by_hand(|parts| {
        parts.security_groups.get_mut(&id).unwrap().ingress.insert(controllers);
    });
    world.desired = plain;
    world.rest();
    let ingress = &node(&world).ingress;
    assert!(!ingress.iter().any(|it| it.peer == Peer::Group(peer.clone())), "{ingress:#?}");
    assert!(ingress.iter().any(|it| it.peer == balancer), "{ingress:#?}");
}

#[test]
fn no_two_groups_of_a_vpc_have_one_name_and_none_begins_as_ids_do() {
    let names = |network: &str, cluster: &str| {
        let mut world = World::new(desired("a"));
        world.desired.network_id = network.to_owned();
        world.desired.cluster = cluster.to_owned();
        let mut other = world.desired.security_groups[0].clone();
        (other.name, other.is_for_nodes) = ("NODE".to_owned(), false);
        world.desired.security_groups.push(other);
        world.settle();
        let groups = world.aws.parts.security_groups.into_values().filter(|it| it.name != "default");
        groups.map(|it| it.name.to_lowercase()).collect::<Vec<_>>()
    };
    let mut all = names("1", "sg-a/b-c");
    all.extend(names("2", "sg-a-b/c"));
    assert!(all.iter().all(|it| !it.starts_with("sg-")), "{all:?}");
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), 6, "{all:?}");
}

#[test]
fn a_description_is_edited_in_place_and_put_back() {
    let mut world = World::new(desired("a"));
    world.rest();
    let (id, before) = (node(&world).id.clone(), node(&world).ingress.clone());
    for rule in &mut world.desired.security_groups[0].ingress {
        rule.description = format!("{} edited", rule.description);
    }
    let from = world.aws.calls.len();
    world.rest();
    let expected: std::collections::BTreeSet<Rule> = before
        .iter()
        .map(|rule| Rule { description: format!("{} edited", rule.description), ..rule.clone() })
        .collect();
    assert_eq!(node(&world).ingress, expected);
    let calls: Vec<_> = world.aws.calls[from..].iter().map(|change| change.operation().name()).collect();
    assert_eq!(calls, ["UpdateSecurityGroupRuleDescriptionsIngress"], "no rule is gone in between");
    world.aws.by_hand(|parts| parts.security_groups.get_mut(&id).unwrap().ingress.clone_from(&before));
    world.rest();
    assert_eq!(node(&world).ingress, expected);
}

/// Its controller finds the rule by that description, and deletes it when the load balancer goes: then the network's is added.
#[test]
fn a_requested_rule_that_a_controller_described_keeps_its_description() {
    for description in ["elbv2.k8s.aws/targetGroupBinding=shared", "kubernetes.io/rule/nlb/client=a1b2"] {
        let mut world = World::new(desired("a"));
        world.rest();
        let foreign = Rule {
            protocol: Protocol::Tcp(30000, 32767),
            peer: Peer::V4("192.0.2.0/24".parse().unwrap()),
            description: description.to_owned(),
        };
        let (id, peer) = (node(&world).id.clone(), GroupPeer::V4("192.0.2.0/24".parse().unwrap()));
        let by_hand = |world: &mut World, change: &dyn Fn(&mut SecurityGroup)| {
            world.aws.by_hand(|parts| change(parts.security_groups.get_mut(&id).unwrap()));
        };
        by_hand(&mut world, &|it| _ = it.ingress.insert(foreign.clone()));
        let own = GroupRule { protocol: foreign.protocol, description: "office".to_owned(), ..rule(peer, 0) };
        world.desired.security_groups[0].ingress.push(own);
        world.rest();
        assert!(node(&world).ingress.contains(&foreign), "{}", world.story());
        by_hand(&mut world, &|it| _ = it.ingress.remove(&foreign));
        world.rest();
        let own = Rule { description: "office".to_owned(), ..foreign };
        assert!(node(&world).ingress.contains(&own), "{}", world.story());
    }
}

#[test]
fn two_rules_that_are_one_to_aws_do_not_take_turns() {
    let mut world = World::new(desired("a"));
    let again =
        GroupRule { description: "again".to_owned(), ..world.desired.security_groups[0].ingress[1].clone() };
    world.desired.security_groups[0].ingress.push(again);
    world.rest();
    let sent = world.sent;
    world.rest();
    assert_eq!((world.sent, node(&world).ingress.len()), (sent, 2), "{}", world.story());
}

/// The desired network of a version without the rule, and then of one with it.
#[test]
fn an_outbound_rule_of_a_group_to_itself_is_added_to_a_network_that_exists_and_nothing_is_replaced() {
    for drift in [DriftPolicy::Enforce, DriftPolicy::Warn] {
        let mut world = World::new(Desired { drift, ..desired("a") });
        world.rest();
        if drift == DriftPolicy::Warn {
            add_by_hand(&mut world);
        }
        let before = (node(&world).clone(), world.aws.calls.len());
        let itself = GroupPeer::Group("node".to_owned());
        let rule = GroupRule { protocol: Protocol::All, peer: itself, description: "to nodes".to_owned() };
        world.desired.security_groups[0].own_egress.push(rule.clone());
        world.rest();
        assert_eq!(calls_since(&world, before.1), ["AuthorizeSecurityGroupEgress"], "{}", world.story());
        let mut expected = before.0;
        let peer = Peer::Group(expected.id.clone());
        let added = Rule { protocol: rule.protocol, peer, description: rule.description };
        expected.egress.insert(added.clone());
        assert_eq!(*node(&world), expected, "what a user added stays");
        world.aws.by_hand(|parts| {
            parts.security_groups.get_mut(&expected.id).unwrap().egress.remove(&added);
        });
        world.rest();
        assert_eq!(*node(&world), expected, "{}", world.story());
        world.delete();
        assert_gone(&world);
    }
}

/// A rule in the group for nodes that a user added, which the drift policy `Warn` leaves there.
pub fn add_by_hand(world: &mut World) -> Rule {
    let peer = Peer::V4("192.0.2.0/24".parse().unwrap());
    let rule = Rule { protocol: Protocol::Tcp(22, 22), peer, description: "by hand".to_owned() };
    let id = node(world).id.clone();
    world.aws.by_hand(|parts| _ = parts.security_groups.get_mut(&id).unwrap().ingress.insert(rule.clone()));
    world.rest();
    assert!(node(world).ingress.contains(&rule), "{}", world.story());
    rule
}
