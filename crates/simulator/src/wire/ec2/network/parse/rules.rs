//! Rules of security groups (`IpPermissions`), and destinations and targets of routes.

use super::fields::{range, unsupported, wrong};
use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use foo_model::SecurityGroupId;
use foo_model::network::{Destination, Peer, Protocol, RouteTarget, Rule};
use ipnet::{Ipv4Net, Ipv6Net};
use std::collections::BTreeSet;

/// The lists of peers in a permission, each with the member that names the peer.
const PEERS: [(&str, &str); 4] = [
    ("IpRanges", "CidrIp"),
    ("Ipv6Ranges", "CidrIpv6"),
    ("Groups", "GroupId"),
    ("PrefixListIds", "PrefixListId"),
];

/// The rules of a request: `IpPermissions`, or the one rule that its older parameters describe.
pub(super) fn rules(params: &Params) -> AwsResult<BTreeSet<Rule>> {
    let listed = params.list("IpPermissions");
    if params.text("IpProtocol").is_some() {
        if !listed.is_empty() {
            let text = "The parameter ipPermissions may not be used with the parameter ipProtocol";
            return Err(AwsError::new("InvalidParameterCombination", text));
        }
        let peer = peer("CidrIp", params.required("CidrIp")?)?;
        let rule = Rule { protocol: protocol(params)?, peer, description: String::new() };
        return Ok(BTreeSet::from([rule]));
    }
    let mut rules = BTreeSet::new();
    for permission in listed {
        rules.extend(permission_rules(permission)?);
    }
    if rules.is_empty() {
        return Err(AwsError::missing("ipPermissions"));
    }
    Ok(rules)
}

fn permission_rules(permission: &Params) -> AwsResult<Vec<Rule>> {
    let protocol = protocol(permission)?;
    let mut rules = Vec::new();
    for (list, member) in PEERS {
        for item in permission.list(list) {
            let description = item.text("Description").unwrap_or_default().to_owned();
            check_description(&description)?;
            if item.text("GroupName").is_some() || item.text("VpcPeeringConnectionId").is_some() {
                return Err(unsupported(list, "GroupName or VpcPeeringConnectionId"));
            }
            rules.push(Rule { protocol, peer: peer(member, item.required(member)?)?, description });
        }
    }
    Ok(rules)
}

/// EC2 API Reference, IpRange: up to 255 characters of a-z, A-Z, 0-9, spaces, and `._-:/()#,@[]+=&;{}!$*`.
fn check_description(text: &str) -> AwsResult<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(c);
    if text.chars().count() > 255 || !text.chars().all(allowed) {
        let text = "Invalid rule description. Valid descriptions are strings less than 256 characters from the \
                    following set:  a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*";
        return Err(AwsError::invalid_value(text));
    }
    Ok(())
}

fn peer(member: &str, text: &str) -> AwsResult<Peer> {
    match member {
        "CidrIp" => range(member, text).map(|range: Ipv4Net| Peer::V4(range.trunc())),
        "CidrIpv6" => range(member, text).map(|range: Ipv6Net| Peer::V6(range.trunc())),
        "GroupId" => Ok(Peer::Group(SecurityGroupId::from(text))),
        _ => Ok(Peer::Prefixes(text.into())),
    }
}

/// Protocol and ports: names or numbers of IANA, `-1` for all (EC2 API Reference, IpPermission).
fn protocol(permission: &Params) -> AwsResult<Protocol> {
    let name = permission.required("IpProtocol")?;
    let (from, to) = (port(permission, "FromPort")?, port(permission, "ToPort")?);
    let ports = from.zip(to);
    match name.to_ascii_lowercase().as_str() {
        "-1" | "all" => Ok(Protocol::All),
        "tcp" | "6" => tcp_ports(ports).map(|(from, to)| Protocol::Tcp(from, to)),
        "udp" | "17" => tcp_ports(ports).map(|(from, to)| Protocol::Udp(from, to)),
        "icmp" | "1" if matches!(ports, None | Some((-1, -1))) => Ok(Protocol::Icmp),
        "icmpv6" | "58" if matches!(ports, None | Some((-1, -1))) => Ok(Protocol::Icmpv6),
        "icmp" => Ok(Protocol::Other(1, ports)),
        "icmpv6" => Ok(Protocol::Other(58, ports)),
        number => match number.parse() {
            Ok(number @ (1 | 58)) => Ok(Protocol::Other(number, ports)),
            Ok(number) => Ok(Protocol::Other(number, None)),
            Err(_) => Err(AwsError::invalid_value(format!(
                "Invalid value '{name}' for IP protocol. Unknown protocol."
            ))),
        },
    }
}

fn tcp_ports(ports: Option<(i32, i32)>) -> AwsResult<(u16, u16)> {
    let Some((from, to)) = ports else {
        let text = "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.";
        return Err(AwsError::invalid_value(text));
    };
    match (u16::try_from(from), u16::try_from(to)) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err(AwsError::invalid_value(format!("Invalid TCP/UDP port range ({from}:{to})"))),
    }
}

fn port(permission: &Params, name: &str) -> AwsResult<Option<i32>> {
    let text = permission.text(name);
    text.map(|text| text.parse().map_err(|_| wrong(name, text, "This is not an integer."))).transpose()
}

/// The destination of a route, from exactly one of three parameters.
pub(super) fn destination(params: &Params) -> AwsResult<Destination> {
    let v4 = params.text("DestinationCidrBlock");
    let v6 = params.text("DestinationIpv6CidrBlock");
    let prefixes = params.text("DestinationPrefixListId");
    match (v4, v6, prefixes) {
        (Some(text), None, None) => {
            range("DestinationCidrBlock", text).map(|range: Ipv4Net| Destination::V4(range.trunc()))
        }
        (None, Some(text), None) => {
            range("DestinationIpv6CidrBlock", text).map(|range: Ipv6Net| Destination::V6(range.trunc()))
        }
        (None, None, Some(id)) => Ok(Destination::Prefixes(id.into())),
        (None, None, None) => Err(AwsError::missing("destinationCidrBlock or destinationIpv6CidrBlock")),
        _ => Err(AwsError::new(
            "InvalidParameterCombination",
            "Only one of the destinations of a route can be specified.",
        )),
    }
}

/// The target of a route, from exactly one parameter.
pub(super) fn target(params: &Params) -> AwsResult<RouteTarget> {
    const PARAMETERS: [&str; 8] = [
        "GatewayId",
        "EgressOnlyInternetGatewayId",
        "NatGatewayId",
        "VpcEndpointId",
        "TransitGatewayId",
        "NetworkInterfaceId",
        "InstanceId",
        "VpcPeeringConnectionId",
    ];
    let given: Vec<(&str, &str)> =
        PARAMETERS.iter().filter_map(|name| params.text(name).map(|id| (*name, id))).collect();
    match given.as_slice() {
        [] => Err(AwsError::missing("gatewayId, natGatewayId or another target")),
        [("GatewayId", "local")] => Ok(RouteTarget::Local),
        [("GatewayId", id)] if id.starts_with("igw-") => Ok(RouteTarget::InternetGateway((*id).into())),
        [("EgressOnlyInternetGatewayId", id)] => Ok(RouteTarget::EgressOnlyGateway((*id).into())),
        [("NatGatewayId", id)] => Ok(RouteTarget::NatGateway((*id).into())),
        [("VpcEndpointId", id)] => Ok(RouteTarget::Endpoint((*id).into())),
        [(_, id)] => Ok(RouteTarget::Other((*id).to_owned())),
        _ => Err(AwsError::new(
            "InvalidParameterCombination",
            "Only one of the targets of a route can be specified.",
        )),
    }
}

/// All parameters of routes.
pub(super) const ROUTE: [&str; 12] = [
    "RouteTableId",
    "DestinationCidrBlock",
    "DestinationIpv6CidrBlock",
    "DestinationPrefixListId",
    "GatewayId",
    "EgressOnlyInternetGatewayId",
    "NatGatewayId",
    "VpcEndpointId",
    "TransitGatewayId",
    "NetworkInterfaceId",
    "InstanceId",
    "VpcPeeringConnectionId",
];
