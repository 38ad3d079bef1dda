//! Security groups (VPC User Guide, "Security groups"). Two rules that differ only in their description are the same
//! rule.

use super::given::all_traffic_out;
use super::part::Part;
use super::pins;
use super::quotas::{is_exceeded, is_reached};
use super::state::Network;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{Parts, Peer, Protocol, Rule, SecurityGroup, Tags, Vpc};
use foo_model::{SecurityGroupId, VpcId};
use std::collections::BTreeSet;

/// Longest name and longest description of a group, and longest description of a rule (EC2 API Reference,
/// CreateSecurityGroup, IpRange).
const LONGEST: usize = 255;

/// The direction of a group's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Inbound (ingress).
    In,
    /// Outbound (egress).
    Out,
}

impl Direction {
    fn rules(self, group: &mut SecurityGroup) -> &mut BTreeSet<Rule> {
        match self {
            Self::In => &mut group.ingress,
            Self::Out => &mut group.egress,
        }
    }
}

/// Characters that names and descriptions may have (EC2 API Reference, CreateSecurityGroup).
fn is_plain(text: &str) -> bool {
    (1..=LONGEST).contains(&text.chars().count())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(c))
}

fn same(one: &Rule, other: &Rule) -> bool {
    one.protocol == other.protocol && one.peer == other.peer
}

/// The rule as EC2 stores it: without host bits in its range.
fn canonical(rule: &Rule) -> Rule {
    let peer = match &rule.peer {
        Peer::V4(range) => Peer::V4(range.trunc()),
        Peer::V6(range) => Peer::V6(range.trunc()),
        Peer::Group(id) => Peer::Group(id.clone()),
        Peer::Prefixes(id) => Peer::Prefixes(id.clone()),
    };
    Rule { peer, ..rule.clone() }
}

/// The description of a rule in EC2's messages.
fn described(rule: &Rule) -> String {
    let peer = match &rule.peer {
        Peer::V4(range) => range.to_string(),
        Peer::V6(range) => range.to_string(),
        Peer::Group(id) => id.to_string(),
        Peer::Prefixes(id) => id.to_string(),
    };
    let ports = |from: i32, to: i32| format!(", from port: {from}, to port: {to}");
    let (protocol, ports) = match rule.protocol {
        Protocol::All => ("ALL".to_owned(), String::new()),
        Protocol::Tcp(from, to) => ("TCP".to_owned(), ports(from.into(), to.into())),
        Protocol::Udp(from, to) => ("UDP".to_owned(), ports(from.into(), to.into())),
        Protocol::Icmp => ("ICMP".to_owned(), ports(-1, -1)),
        Protocol::Icmpv6 => ("ICMPv6".to_owned(), ports(-1, -1)),
        Protocol::Other(number, range) => {
            (number.to_string(), range.map_or_else(String::new, |(from, to)| ports(from, to)))
        }
    };
    format!("peer: {peer}, {protocol}{ports}, ALLOW")
}

/// How many rules count towards the quota for IPv4, and how many towards that for IPv6.
fn counted(rules: &BTreeSet<Rule>) -> (usize, usize) {
    let v4 = rules.iter().filter(|rule| !matches!(rule.peer, Peer::V6(_))).count();
    let v6 = rules.iter().filter(|rule| !matches!(rule.peer, Peer::V4(_))).count();
    (v4, v6)
}

impl Networking<'_> {
    /// CreateSecurityGroup. It allows no inbound and all outbound traffic.
    pub(super) fn create_security_group(
        &mut self,
        vpc: &VpcId,
        name: &str,
        description: &str,
        tags: &Tags,
    ) -> AwsResult<Parts> {
        check_group_names(name, description)?;
        let ipv6 = !self.part::<Vpc>(vpc)?.ipv6.is_empty();
        if self.network.of_vpc::<SecurityGroup>(vpc).any(|group| group.name == name) {
            return Err(AwsError::new(
                "InvalidGroup.Duplicate",
                format!("The security group '{name}' already exists for VPC '{vpc}'"),
            ));
        }
        if is_reached(self.network.security_groups.len(), self.settings.network_quotas.security_groups) {
            return Err(AwsError::new(
                "SecurityGroupLimitExceeded",
                "The maximum number of security groups has been reached.",
            ));
        }
        let group = SecurityGroup {
            id: self.new_id("sg"),
            vpc: vpc.clone(),
            name: name.to_owned(),
            description: description.to_owned(),
            ingress: BTreeSet::new(),
            egress: all_traffic_out(ipv6),
            tags: tags.clone(),
        };
        self.network.put_new(group.clone(), self.now);
        Ok(group.alone())
    }

    /// AuthorizeSecurityGroupIngress and -Egress: all of the rules or none.
    pub(super) fn authorize(
        &mut self,
        id: &SecurityGroupId,
        direction: Direction,
        rules: &BTreeSet<Rule>,
    ) -> AwsResult<Parts> {
        let mut group = self.group_to_change(id, rules)?;
        for rule in rules {
            let rule = canonical(rule);
            self.check_rule(&group, &rule)?;
            let present = direction.rules(&mut group);
            if present.iter().any(|it| same(it, &rule)) {
                return Err(AwsError::new(
                    "InvalidPermission.Duplicate",
                    format!("the specified rule \"{}\" already exists", described(&rule)),
                ));
            }
            present.insert(rule);
        }
        let (v4, v6) = counted(direction.rules(&mut group));
        if is_exceeded(v4.max(v6), self.settings.network_quotas.rules) {
            return Err(AwsError::new(
                "RulesPerSecurityGroupLimitExceeded",
                "The maximum number of rules per security group has been reached.",
            ));
        }
        self.network.put(group);
        Ok(Parts::default())
    }

    /// A copy of a group, if there are any rules to change.
    fn group_to_change(&self, id: &SecurityGroupId, rules: &BTreeSet<Rule>) -> AwsResult<SecurityGroup> {
        let group = self.part::<SecurityGroup>(id)?.clone();
        if rules.is_empty() { Err(AwsError::missing("IpPermissions")) } else { Ok(group) }
    }

    fn check_rule(&self, group: &SecurityGroup, rule: &Rule) -> AwsResult<()> {
        if rule.description.chars().count() > LONGEST {
            return Err(AwsError::invalid_value(format!(
                "Invalid rule description. The description is longer than {LONGEST} characters."
            )));
        }
        if let Protocol::Tcp(from, to) | Protocol::Udp(from, to) = rule.protocol
            && from > to
        {
            return Err(AwsError::invalid_value(format!(
                "Invalid value for portRange. The from port {from} must not be greater than the to port {to}."
            )));
        }
        if let Peer::Group(peer) = &rule.peer
            && self.part::<SecurityGroup>(peer)?.vpc != group.vpc
        {
            return Err(AwsError::new(
                "InvalidGroup.NotFound",
                "You have specified two resources that belong to different networks.",
            ));
        }
        Ok(())
    }

    /// RevokeSecurityGroupIngress and -Egress: all of the rules or none. Descriptions do not matter.
    pub(super) fn revoke(
        &mut self,
        id: &SecurityGroupId,
        direction: Direction,
        rules: &BTreeSet<Rule>,
    ) -> AwsResult<Parts> {
        let mut group = self.group_to_change(id, rules)?;
        let present = direction.rules(&mut group);
        for rule in rules {
            let rule = canonical(rule);
            let before = present.len();
            present.retain(|it| !same(it, &rule));
            if present.len() == before {
                return Err(no_such_rule());
            }
        }
        self.network.put(group);
        Ok(Parts::default())
    }

    /// UpdateSecurityGroupRuleDescriptionsIngress: all of the rules or none. One without a description loses it (EC2 API Reference).
    pub(super) fn describe_rules(
        &mut self,
        id: &SecurityGroupId,
        direction: Direction,
        rules: &BTreeSet<Rule>,
    ) -> AwsResult<Parts> {
        let mut group = self.part::<SecurityGroup>(id)?.clone();
        if rules.is_empty() {
            return Err(AwsError::missing("IpPermissions"));
        }
        for rule in rules {
            let rule = canonical(rule);
            self.check_rule(&group, &rule)?;
            let present = direction.rules(&mut group);
            let before = present.len();
            present.retain(|it| !same(it, &rule));
            if present.len() == before {
                return Err(no_such_rule());
            }
            present.insert(rule);
        }
        self.network.put(group);
        Ok(Parts::default())
    }

    /// DeleteSecurityGroup.
    pub(super) fn delete_security_group(&mut self, id: &SecurityGroupId) -> AwsResult<Parts> {
        let group = self.part::<SecurityGroup>(id)?;
        if group.name == "default" {
            return Err(AwsError::new(
                "CannotDelete",
                format!("the specified group: \"{id}\" name: \"default\" cannot be deleted by a user"),
            ));
        }
        if pins::group_in_use(self.network, id) {
            return Err(AwsError::new(
                "DependencyViolation",
                format!("resource {id} has a dependent object"),
            ));
        }
        self.network.remove::<SecurityGroup>(id);
        Ok(Parts::default())
    }
}

fn no_such_rule() -> AwsError {
    AwsError::new("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
}

impl Network {
    /// Removes all rules that refer to a group.
    pub(super) fn forget_rules_of(&mut self, id: &SecurityGroupId) {
        let names = |rule: &Rule| rule.peer == Peer::Group(id.clone());
        let with = |it: &&SecurityGroup| it.ingress.iter().chain(&it.egress).any(names);
        let groups: Vec<SecurityGroup> = self.all::<SecurityGroup>().filter(with).cloned().collect();
        for mut group in groups {
            group.ingress.retain(|rule| !names(rule));
            group.egress.retain(|rule| !names(rule));
            self.put(group);
        }
    }
}

fn check_group_names(name: &str, description: &str) -> AwsResult<()> {
    if description.is_empty() {
        return Err(AwsError::missing("GroupDescription"));
    }
    if name == "default" {
        return Err(AwsError::new(
            "InvalidGroup.Reserved",
            format!("The security group '{name}' is reserved"),
        ));
    }
    let wrong = |parameter: &str, value: &str| {
        let message = format!(
            "Value ({value}) for parameter {parameter} is invalid. Character sets beyond ASCII are not supported, and it \
             has 1 to {LONGEST} characters."
        );
        Err(AwsError::invalid_value(message))
    };
    if !is_plain(name) || name.starts_with("sg-") {
        return wrong("GroupName", name);
    }
    if !is_plain(description) {
        return wrong("GroupDescription", description);
    }
    Ok(())
}
