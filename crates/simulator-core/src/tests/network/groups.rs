//! Security groups and their rules.

use super::scene::{Net, net, net_with, new_group};
use crate::core::network::NewInterface;
use foo_model::SecurityGroupId;
use foo_model::network::{Change, Peer, Protocol, Rule, Tags};
use std::collections::BTreeSet;

fn rule(protocol: Protocol, peer: Peer, description: &str) -> Rule {
    Rule { protocol, peer, description: description.to_owned() }
}

fn from(range: &str, description: &str) -> Rule {
    rule(Protocol::Tcp(443, 443), Peer::V4(range.parse().expect("a range")), description)
}

fn allow(group: &SecurityGroupId, rules: impl IntoIterator<Item = Rule>) -> Change {
    Change::AuthorizeSecurityGroupIngress { group: group.clone(), rules: rules.into_iter().collect() }
}

fn revoke(group: &SecurityGroupId, rules: impl IntoIterator<Item = Rule>) -> Change {
    Change::RevokeSecurityGroupIngress { group: group.clone(), rules: rules.into_iter().collect() }
}

fn delete(group: &SecurityGroupId) -> Change {
    Change::DeleteSecurityGroup { group: group.clone() }
}

fn ingress(net: &Net, group: &SecurityGroupId) -> BTreeSet<Rule> {
    net.now().security_groups[group].ingress.clone()
}

#[test]
fn a_name_is_had_once_per_vpc_and_default_never() {
    let net = net();
    let (vpc, other) = (net.vpc("10.0.0.0/16"), net.vpc("10.0.0.0/16"));
    net.group(&vpc, "nodes");
    let (code, message) = net.refused(&new_group(&vpc, "nodes"));
    let text = format!("The security group 'nodes' already exists for VPC '{vpc}'");
    assert_eq!((code.as_str(), message), ("InvalidGroup.Duplicate", text));
    net.group(&other, "nodes");
    assert_eq!(net.code(&new_group(&vpc, "default")), "InvalidGroup.Reserved");
    for name in ["sg-nodes", "", "nödes"] {
        assert_eq!(net.code(&new_group(&vpc, name)), "InvalidParameterValue", "{name:?}");
    }
    let mut silent = new_group(&vpc, "silent");
    if let Change::CreateSecurityGroup { description, .. } = &mut silent {
        description.clear();
    }
    assert_eq!(net.code(&silent), "MissingParameter");
}

#[test]
fn rules_are_added_all_or_none_and_not_twice_whatever_their_descriptions() {
    let net = net();
    let group = net.group(&net.vpc("10.0.0.0/16"), "nodes");
    net.done(&allow(&group, [from("10.0.0.0/16", "one")]));
    let (code, message) =
        net.refused(&allow(&group, [from("10.1.0.0/16", "new"), from("10.0.0.0/16", "two")]));
    let text =
        "the specified rule \"peer: 10.0.0.0/16, TCP, from port: 443, to port: 443, ALLOW\" already exists";
    assert_eq!((code.as_str(), message.as_str()), ("InvalidPermission.Duplicate", text));
    assert_eq!(ingress(&net, &group).len(), 1);
    assert_eq!(net.code(&allow(&group, [])), "MissingParameter");
    let backwards = rule(Protocol::Tcp(2, 1), Peer::V4("10.0.0.0/8".parse().expect("a range")), "");
    assert_eq!(net.code(&allow(&group, [backwards])), "InvalidParameterValue");
    assert_eq!(net.code(&allow(&group, [from("10.9.0.0/16", &"x".repeat(256))])), "InvalidParameterValue");
    net.done(&allow(&group, [from("10.2.3.4/16", "")]));
    assert!(ingress(&net, &group).contains(&from("10.2.0.0/16", "")), "without bits behind the prefix");
}

#[test]
fn rules_are_revoked_all_or_none_whatever_their_descriptions() {
    let net = net();
    let group = net.group(&net.vpc("10.0.0.0/16"), "nodes");
    net.done(&allow(&group, [from("10.0.0.0/16", "one"), from("10.1.0.0/16", "two")]));
    let (code, message) = net.refused(&revoke(&group, [from("10.0.0.0/16", "one"), from("10.2.0.0/16", "")]));
    let text = "The specified rule does not exist in this security group.";
    assert_eq!((code.as_str(), message.as_str()), ("InvalidPermission.NotFound", text));
    net.done(&revoke(&group, [from("10.0.0.0/16", "another")]));
    assert_eq!(ingress(&net, &group), [from("10.1.0.0/16", "two")].into());
    let out = rule(Protocol::All, Peer::V4("0.0.0.0/0".parse().expect("a range")), "");
    let change = Change::RevokeSecurityGroupEgress { group: group.clone(), rules: [out.clone()].into() };
    net.done(&change);
    assert!(net.now().security_groups[&group].egress.is_empty());
    net.done(&Change::AuthorizeSecurityGroupEgress { group, rules: [out].into() });
}

#[test]
fn descriptions_are_changed_of_all_rules_or_none() {
    let net = net();
    let group = net.group(&net.vpc("10.0.0.0/16"), "nodes");
    let describe = |rules: &[Rule]| Change::UpdateSecurityGroupRuleDescriptionsIngress {
        group: group.clone(),
        rules: rules.iter().cloned().collect(),
    };
    net.done(&allow(&group, [from("10.0.0.0/16", "one"), from("10.1.0.0/16", "two")]));
    let wrong = describe(&[from("10.0.0.0/16", "new"), from("10.2.0.0/16", "no such rule")]);
    assert_eq!(net.code(&wrong), "InvalidPermission.NotFound");
    assert_eq!(net.code(&describe(&[])), "MissingParameter");
    let long = describe(&[from("10.0.0.0/16", &"x".repeat(256))]);
    assert_eq!(net.code(&long), "InvalidParameterValue");
    assert!(ingress(&net, &group).contains(&from("10.0.0.0/16", "one")), "none of them");
    net.done(&describe(&[from("10.0.0.0/16", "new"), from("10.1.0.0/16", "")]));
    assert_eq!(ingress(&net, &group), [from("10.0.0.0/16", "new"), from("10.1.0.0/16", "")].into());
}

#[test]
fn rules_name_groups_of_the_same_vpc_which_stay_for_so_long() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let (one, two) = (net.group(&vpc, "one"), net.group(&vpc, "two"));
    let of = |group: &SecurityGroupId| rule(Protocol::All, Peer::Group(group.clone()), "");
    net.done(&allow(&one, [of(&one), of(&two)]));
    net.done(&allow(&two, [of(&one)]));
    for group in [&one, &two] {
        let (code, message) = net.refused(&delete(group));
        let text = format!("resource {group} has a dependent object");
        assert_eq!((code.as_str(), message), ("DependencyViolation", text));
    }
    net.done(&revoke(&two, [of(&one)]));
    net.done(&delete(&one));
    net.done(&delete(&two));
    assert_eq!(net.code(&delete(&two)), "InvalidGroup.NotFound");
    let foreign = net.group(&net.vpc("10.0.0.0/16"), "foreign");
    let three = net.group(&vpc, "three");
    let (code, message) = net.refused(&allow(&three, [of(&foreign)]));
    let text = "You have specified two resources that belong to different networks.";
    assert_eq!((code.as_str(), message.as_str()), ("InvalidGroup.NotFound", text));
    assert_eq!(net.code(&allow(&three, [of(&one)])), "InvalidGroup.NotFound");
}

#[test]
fn a_group_of_an_interface_stays_and_the_default_group_always() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    let group = net.group(&vpc, "nodes");
    let new = NewInterface {
        subnet,
        groups: [group.clone()].into(),
        description: String::new(),
        requester_managed: false,
        in_use: false,
        public_ip: None,
        tags: Tags::new(),
    };
    let interface = net.0.with(|region| region.put_foreign_interface(new)).expect("an interface");
    assert_eq!(net.code(&delete(&group)), "DependencyViolation");
    net.done(&Change::DeleteNetworkInterface { interface });
    net.done(&delete(&group));
    let default = super::scene::only(&net.now().security_groups);
    let (code, message) = net.refused(&delete(&default));
    let text = format!("the specified group: \"{default}\" name: \"default\" cannot be deleted by a user");
    assert_eq!((code.as_str(), message), ("CannotDelete", text));
}

#[test]
fn there_are_as_many_rules_and_groups_as_the_quotas_say() {
    let net = net_with(|settings| {
        settings.network_quotas.rules = 2;
        settings.network_quotas.security_groups = 2;
    });
    let vpc = net.vpc("10.0.0.0/16");
    let group = net.group(&vpc, "nodes");
    assert_eq!(net.code(&new_group(&vpc, "more")), "SecurityGroupLimitExceeded");
    let v6 = |range: &str| rule(Protocol::All, Peer::V6(range.parse().expect("a range")), "");
    net.done(&allow(&group, [from("10.0.0.0/16", ""), from("10.1.0.0/16", ""), v6("::/0"), v6("fd00::/8")]));
    let of_itself = rule(Protocol::All, Peer::Group(group.clone()), "");
    for one_more in [from("10.2.0.0/16", ""), v6("fc00::/8"), of_itself] {
        let (code, message) = net.refused(&allow(&group, [one_more]));
        let text = "The maximum number of rules per security group has been reached.";
        assert_eq!((code.as_str(), message.as_str()), ("RulesPerSecurityGroupLimitExceeded", text));
    }
}
