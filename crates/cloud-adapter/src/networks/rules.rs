//! Conversions of security groups and their rules: AWS groups peers by protocol and ports, `foo_model` has one rule
//! per peer.

use super::shapes::tags;
use crate::error::Gap;
use aws_sdk_ec2::types as aws;
use foo_model::network::{Peer, Protocol, Rule, SecurityGroup};
use std::collections::BTreeSet;

/// Numbers of protocols that have a name (IANA, "Assigned Internet Protocol Numbers").
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

pub(super) fn security_group(group: &aws::SecurityGroup) -> Result<SecurityGroup, Gap> {
    Ok(SecurityGroup {
        id: group.group_id().ok_or(Gap("groupId"))?.into(),
        vpc: group.vpc_id().unwrap_or_default().into(),
        name: group.group_name().unwrap_or_default().to_owned(),
        description: group.description().unwrap_or_default().to_owned(),
        ingress: rules(group.ip_permissions()),
        egress: rules(group.ip_permissions_egress()),
        tags: tags(group.tags()),
    })
}

/// One rule for each peer of each permission.
fn rules(permissions: &[aws::IpPermission]) -> BTreeSet<Rule> {
    permissions.iter().flat_map(rules_of).collect()
}

fn rules_of(permission: &aws::IpPermission) -> Vec<Rule> {
    let Some(protocol) = protocol(permission) else { return Vec::new() };
    let rule = |peer: Option<Peer>, description: Option<&str>| {
        Some(Rule { protocol, peer: peer?, description: description.unwrap_or_default().to_owned() })
    };
    let v4 = permission
        .ip_ranges()
        .iter()
        .map(|it| rule(it.cidr_ip().and_then(|range| range.parse().ok()).map(Peer::V4), it.description()));
    let v6 = permission
        .ipv6_ranges()
        .iter()
        .map(|it| rule(it.cidr_ipv6().and_then(|range| range.parse().ok()).map(Peer::V6), it.description()));
    let groups = permission
        .user_id_group_pairs()
        .iter()
        .map(|it| rule(it.group_id().map(|id| Peer::Group(id.into())), it.description()));
    let lists = permission
        .prefix_list_ids()
        .iter()
        .map(|it| rule(it.prefix_list_id().map(|id| Peer::Prefixes(id.into())), it.description()));
    v4.chain(v6).chain(groups).chain(lists).flatten().collect()
}

fn protocol(permission: &aws::IpPermission) -> Option<Protocol> {
    let number = match permission.ip_protocol()? {
        "-1" => return Some(Protocol::All),
        "icmp" => ICMP,
        "tcp" => TCP,
        "udp" => UDP,
        "icmpv6" => ICMPV6,
        number => number.parse().ok()?,
    };
    let numbers = permission.from_port().zip(permission.to_port());
    let ports = numbers.and_then(|(from, to)| Some((u16::try_from(from).ok()?, u16::try_from(to).ok()?)));
    // -1 means every type of ICMP, and so does an absent value.
    let all_types = numbers.is_none_or(|(from, _)| from == -1);
    Some(match (number, ports) {
        (TCP, Some((from, to))) => Protocol::Tcp(from, to),
        (UDP, Some((from, to))) => Protocol::Udp(from, to),
        (ICMP, _) if all_types => Protocol::Icmp,
        (ICMPV6, _) if all_types => Protocol::Icmpv6,
        _ => Protocol::Other(number, numbers),
    })
}

/// Whether a request contains the descriptions of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It sets the description.
    Authorize,
    /// The description does not identify a rule, so the request does not need it (EC2 API Reference,
    /// RevokeSecurityGroupIngress).
    Revoke,
}

/// One permission for each rule.
pub(super) fn permissions(rules: &BTreeSet<Rule>, purpose: Purpose) -> Vec<aws::IpPermission> {
    rules.iter().map(|rule| permission(rule, purpose)).collect()
}

fn permission(rule: &Rule, purpose: Purpose) -> aws::IpPermission {
    let (protocol, numbers) = parameters(rule.protocol);
    let permission = aws::IpPermission::builder()
        .ip_protocol(protocol)
        .set_from_port(numbers.map(|(from, _)| from))
        .set_to_port(numbers.map(|(_, to)| to));
    let description = match purpose {
        Purpose::Authorize => Some(rule.description.clone()).filter(|text| !text.is_empty()),
        Purpose::Revoke => None,
    };
    match &rule.peer {
        Peer::V4(range) => permission.ip_ranges(
            aws::IpRange::builder().cidr_ip(range.to_string()).set_description(description).build(),
        ),
        Peer::V6(range) => permission.ipv6_ranges(
            aws::Ipv6Range::builder().cidr_ipv6(range.to_string()).set_description(description).build(),
        ),
        Peer::Group(id) => permission.user_id_group_pairs(
            aws::UserIdGroupPair::builder().group_id(id.as_str()).set_description(description).build(),
        ),
        Peer::Prefixes(list) => permission.prefix_list_ids(
            aws::PrefixListId::builder().prefix_list_id(list.as_str()).set_description(description).build(),
        ),
    }
    .build()
}

fn parameters(protocol: Protocol) -> (String, Option<(i32, i32)>) {
    let ports = |from: u16, to: u16| Some((i32::from(from), i32::from(to)));
    match protocol {
        Protocol::All => ("-1".to_owned(), None),
        Protocol::Tcp(from, to) => ("tcp".to_owned(), ports(from, to)),
        Protocol::Udp(from, to) => ("udp".to_owned(), ports(from, to)),
        Protocol::Icmp => ("icmp".to_owned(), Some((-1, -1))),
        Protocol::Icmpv6 => ("icmpv6".to_owned(), Some((-1, -1))),
        Protocol::Other(number, numbers) => (number.to_string(), numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_comes_back_as_it_was_sent() {
        for protocol in [
            Protocol::All,
            Protocol::Tcp(443, 443),
            Protocol::Tcp(0, u16::MAX),
            Protocol::Udp(53, 54),
            Protocol::Icmp,
            Protocol::Icmpv6,
            Protocol::Other(50, None),
            Protocol::Other(ICMP, Some((8, -1))),
        ] {
            for peer in [
                Peer::V4("10.0.0.0/16".parse().unwrap()),
                Peer::V6("fd00::/64".parse().unwrap()),
                Peer::Group("sg-1".into()),
                Peer::Prefixes("pl-1".into()),
            ] {
                let rule = Rule { protocol, peer, description: "why".into() };
                let all = BTreeSet::from([rule.clone()]);
                assert_eq!(rules(&permissions(&all, Purpose::Authorize)), all, "{rule:?}");
                let without = BTreeSet::from([Rule { description: String::new(), ..rule }]);
                assert_eq!(rules(&permissions(&all, Purpose::Revoke)), without);
            }
        }
    }

    #[test]
    fn aws_may_give_a_protocol_by_number_and_leave_out_types() {
        let shown =
            |protocol: &str| self::protocol(&aws::IpPermission::builder().ip_protocol(protocol).build());
        assert_eq!(shown("58"), Some(Protocol::Icmpv6));
        assert_eq!(shown("icmp"), Some(Protocol::Icmp));
        assert_eq!(shown("6"), Some(Protocol::Other(6, None)));
        assert_eq!(shown("something"), None);
    }
}
