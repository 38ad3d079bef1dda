//! Security groups and their rules, in both of EC2's forms: permissions with many peers, and rules with ids of their own.

use super::arn;
use crate::core::chance::Chance;
use crate::core::region::Region;
use crate::wire::ec2::tags;
use crate::wire::xml::Xml;
use foo_model::SecurityGroupId;
use foo_model::network::{Peer, Protocol, Rule, SecurityGroup};
use std::collections::{BTreeMap, BTreeSet};

/// The direction of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire::ec2::network) enum Direction {
    In,
    Out,
}

/// The inside of a `SecurityGroup`.
pub(in crate::wire::ec2::network) fn write(xml: &mut Xml, group: &SecurityGroup, region: &Region) {
    xml.text("ownerId", &region.account);
    xml.text("groupId", group.id.as_str());
    xml.text("groupName", &group.name);
    xml.text("groupDescription", &group.description);
    xml.text("vpcId", group.vpc.as_str());
    xml.value("securityGroupArn", arn_of(group, region));
    write_permissions(xml, "ipPermissions", &group.ingress, region);
    write_permissions(xml, "ipPermissionsEgress", &group.egress, region);
    tags::write(xml, &group.tags);
}

/// The ARN of a group.
pub(in crate::wire::ec2::network) fn arn_of(group: &SecurityGroup, region: &Region) -> String {
    arn(region, "security-group", group.id.as_str())
}

/// Writes rules as permissions: one for each protocol and range of ports, with all peers.
fn write_permissions(xml: &mut Xml, name: &str, rules: &BTreeSet<Rule>, region: &Region) {
    let mut by_protocol: BTreeMap<Protocol, Vec<&Rule>> = BTreeMap::new();
    for rule in rules {
        by_protocol.entry(rule.protocol).or_default().push(rule);
    }
    xml.list(name, "item", by_protocol, |xml, (protocol, rules)| {
        write_protocol(xml, protocol, None);
        for list in ["groups", "ipRanges", "ipv6Ranges", "prefixListIds"] {
            let listed = rules.iter().filter(|rule| list_of(&rule.peer) == list);
            xml.list(list, "item", listed, |xml, rule| write_peer(xml, rule, region));
        }
    });
}

/// The list of a permission that contains a peer.
fn list_of(peer: &Peer) -> &'static str {
    match peer {
        Peer::V4(_) => "ipRanges",
        Peer::V6(_) => "ipv6Ranges",
        Peer::Group(_) => "groups",
        Peer::Prefixes(_) => "prefixListIds",
    }
}

fn write_peer(xml: &mut Xml, rule: &Rule, region: &Region) {
    match &rule.peer {
        Peer::V4(range) => xml.value("cidrIp", range),
        Peer::V6(range) => xml.value("cidrIpv6", range),
        Peer::Group(id) => {
            xml.text("groupId", id.as_str());
            xml.text("userId", &region.account);
        }
        Peer::Prefixes(id) => xml.text("prefixListId", id.as_str()),
    }
    if !rule.description.is_empty() {
        xml.text("description", &rule.description);
    }
}

/// Name and ports of a protocol. In permissions "all traffic" has no ports; in rules with ids everything has some (-1).
fn write_protocol(xml: &mut Xml, protocol: Protocol, without: Option<i32>) {
    let (name, ports) = match protocol {
        Protocol::All => ("-1".to_owned(), without.map(|port| (port, port))),
        Protocol::Tcp(from, to) => ("tcp".to_owned(), Some((from.into(), to.into()))),
        Protocol::Udp(from, to) => ("udp".to_owned(), Some((from.into(), to.into()))),
        Protocol::Icmp => ("icmp".to_owned(), Some((-1, -1))),
        Protocol::Icmpv6 => ("icmpv6".to_owned(), Some((-1, -1))),
        Protocol::Other(1, ports) => ("icmp".to_owned(), ports.or_else(|| without.map(|port| (port, port)))),
        Protocol::Other(58, ports) => {
            ("icmpv6".to_owned(), ports.or_else(|| without.map(|port| (port, port))))
        }
        Protocol::Other(number, ports) => {
            (number.to_string(), ports.or_else(|| without.map(|port| (port, port))))
        }
    };
    xml.text("ipProtocol", name);
    xml.optional("fromPort", ports.map(|(from, _)| from));
    xml.optional("toPort", ports.map(|(_, to)| to));
}

/// The id of a rule, derived from the rule, so that it stays the same while the rule exists.
pub(in crate::wire::ec2::network) fn rule_id(
    group: &SecurityGroupId,
    direction: Direction,
    rule: &Rule,
) -> String {
    let identity = format!("{group} {direction:?} {:?} {:?}", rule.protocol, rule.peer);
    format!("sgr-0{:016x}", Chance::new(0, &identity).bits())
}

/// The inside of a `SecurityGroupRule`.
pub(in crate::wire::ec2::network) fn write_rule(
    xml: &mut Xml,
    group: &SecurityGroupId,
    direction: Direction,
    rule: &Rule,
    region: &Region,
) {
    let id = rule_id(group, direction, rule);
    xml.text("securityGroupRuleId", &id);
    xml.text("groupId", group.as_str());
    xml.text("groupOwnerId", &region.account);
    xml.value("isEgress", direction == Direction::Out);
    write_protocol(xml, rule.protocol, Some(-1));
    write_single_peer(xml, rule, |xml, peer| {
        xml.within("referencedGroupInfo", |xml| {
            xml.text("groupId", peer.as_str());
            xml.text("userId", &region.account);
        });
    });
    xml.value("securityGroupRuleArn", arn(region, "security-group-rule", &id));
}

/// The inside of a `RevokedSecurityGroupRule`.
pub(in crate::wire::ec2::network) fn write_revoked(
    xml: &mut Xml,
    group: &SecurityGroupId,
    direction: Direction,
    rule: &Rule,
) {
    xml.text("securityGroupRuleId", rule_id(group, direction, rule));
    xml.text("groupId", group.as_str());
    xml.value("isEgress", direction == Direction::Out);
    write_protocol(xml, rule.protocol, Some(-1));
    write_single_peer(xml, rule, |xml, peer| xml.text("referencedGroupId", peer.as_str()));
}

fn write_single_peer(xml: &mut Xml, rule: &Rule, group: impl FnOnce(&mut Xml, &SecurityGroupId)) {
    match &rule.peer {
        Peer::V4(range) => xml.value("cidrIpv4", range),
        Peer::V6(range) => xml.value("cidrIpv6", range),
        Peer::Group(id) => group(xml, id),
        Peer::Prefixes(id) => xml.text("prefixListId", id.as_str()),
    }
    if !rule.description.is_empty() {
        xml.text("description", &rule.description);
    }
}

/// The IPv4 ranges in rules.
pub(in crate::wire::ec2::network) fn ranges(rules: &BTreeSet<Rule>) -> Vec<String> {
    let range = |rule: &Rule| if let Peer::V4(range) = &rule.peer { Some(range.to_string()) } else { None };
    rules.iter().filter_map(range).collect()
}

/// The security groups in rules.
pub(in crate::wire::ec2::network) fn peers(rules: &BTreeSet<Rule>) -> Vec<String> {
    let group = |rule: &Rule| if let Peer::Group(id) = &rule.peer { Some(id.to_string()) } else { None };
    rules.iter().filter_map(group).collect()
}
