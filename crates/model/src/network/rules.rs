//! Routes and security group rules.

use crate::ids::{
    EgressOnlyGatewayId, EndpointId, InternetGatewayId, NatGatewayId, PrefixListId, SecurityGroupId,
};
use ipnet::{Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};

/// Where a route leads to from which addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Route {
    /// The addresses that it is for.
    pub destination: Destination,
    /// Where it leads.
    pub target: RouteTarget,
    /// Whether its target is gone (`blackhole`).
    pub blackhole: bool,
}

/// What a route is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Destination {
    /// An IPv4 range.
    V4(Ipv4Net),
    /// An IPv6 range.
    V6(Ipv6Net),
    /// The addresses of a prefix list: what a gateway endpoint puts into a table.
    Prefixes(PrefixListId),
}

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RouteTarget {
    /// The VPC itself. Such routes cannot be created or deleted.
    Local,
    /// An internet gateway.
    InternetGateway(InternetGatewayId),
    /// An egress-only internet gateway.
    EgressOnlyGateway(EgressOnlyGatewayId),
    /// A NAT gateway.
    NatGateway(NatGatewayId),
    /// A gateway endpoint. AWS keeps such routes by itself.
    Endpoint(EndpointId),
    /// Anything else, in AWS's words (`tgw-…`, `pcx-…`, `eni-…`). Never made by us.
    Other(String),
}

/// What a security group allows from one peer, or to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// Protocol and ports.
    pub protocol: Protocol,
    /// From whom, or to whom.
    pub peer: Peer,
    /// Description, at most 255 characters. Two rules that differ in nothing else are one to AWS.
    pub description: String,
}

/// Protocol and ports of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// Everything (`-1`).
    All,
    /// TCP, from the first to the last port.
    Tcp(u16, u16),
    /// UDP, from the first to the last port.
    Udp(u16, u16),
    /// ICMP, all types.
    Icmp,
    /// ICMPv6, all types.
    Icmpv6,
    /// Another protocol by number, with ports or types as AWS says them. Never made by us.
    Other(u8, Option<(i32, i32)>),
}

/// The other side of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Peer {
    /// An IPv4 range.
    V4(Ipv4Net),
    /// An IPv6 range.
    V6(Ipv6Net),
    /// Whatever has this security group.
    Group(SecurityGroupId),
    /// The addresses of a prefix list.
    Prefixes(PrefixListId),
}
