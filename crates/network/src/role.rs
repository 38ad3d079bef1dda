//! What a part of the network is for. Its text is the tag `infrastructure.foo.com/role`, by which the part is found again:
//! a part has the same role for as long as it exists.

use foo_model::Zone;
use foo_model::network::Kind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The role of one part. Unique in its network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Role {
    /// `vpc`.
    Vpc,
    /// `vpc/ipv6`: the IPv6 range that is added to a VPC after its creation. It has no tags; its id is that of the association.
    VpcIpv6,
    /// `subnet/<key>`; the key is [`crate::desired::DesiredSubnet::key`], usually `<tier>/<zone>`.
    Subnet(String),
    /// `internet-gateway`.
    InternetGateway,
    /// `egress-only-gateway`.
    EgressOnlyGateway,
    /// `address/<zone>`: the Elastic IP address of the zone's NAT gateway.
    Address(Zone),
    /// `nat/<zone>`.
    Nat(Zone),
    /// `routes/public`: the table of all public subnets.
    PublicRoutes,
    /// `routes/private/<zone>`: the table of the zone's private subnets.
    PrivateRoutes(Zone),
    /// `security-group/<name>`.
    SecurityGroup(String),
    /// `endpoint/<name>`.
    Endpoint(String),
}

impl Role {
    /// The kind of its part; [`Role::VpcIpv6`] is seen on the VPC.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Vpc | Self::VpcIpv6 => Kind::Vpc,
            Self::Subnet(_) => Kind::Subnet,
            Self::InternetGateway => Kind::InternetGateway,
            Self::EgressOnlyGateway => Kind::EgressOnlyGateway,
            Self::Address(_) => Kind::Address,
            Self::Nat(_) => Kind::NatGateway,
            Self::PublicRoutes | Self::PrivateRoutes(_) => Kind::RouteTable,
            Self::SecurityGroup(_) => Kind::SecurityGroup,
            Self::Endpoint(_) => Kind::Endpoint,
        }
    }

    /// The key of its subnet, if it is one.
    pub fn subnet(&self) -> Option<&str> {
        match self {
            Self::Subnet(key) => Some(key),
            Self::Vpc
            | Self::VpcIpv6
            | Self::InternetGateway
            | Self::EgressOnlyGateway
            | Self::Address(_)
            | Self::Nat(_)
            | Self::PublicRoutes
            | Self::PrivateRoutes(_)
            | Self::SecurityGroup(_)
            | Self::Endpoint(_) => None,
        }
    }

    /// The role of that text; `None` for one that no version of the provider at hand writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (family, rest) = text.split_once('/').unwrap_or((text, ""));
        let key = || (!rest.is_empty()).then(|| rest.to_owned());
        match family {
            "vpc" if rest.is_empty() => Some(Self::Vpc),
            "vpc" if rest == "ipv6" => Some(Self::VpcIpv6),
            "internet-gateway" if rest.is_empty() => Some(Self::InternetGateway),
            "egress-only-gateway" if rest.is_empty() => Some(Self::EgressOnlyGateway),
            "subnet" => key().map(Self::Subnet),
            "address" => key().map(|zone| Self::Address(zone.into())),
            "nat" => key().map(|zone| Self::Nat(zone.into())),
            "security-group" => key().map(Self::SecurityGroup),
            "endpoint" => key().map(Self::Endpoint),
            "routes" => match rest.split_once('/') {
                None if rest == "public" => Some(Self::PublicRoutes),
                Some(("private", zone)) if !zone.is_empty() => Some(Self::PrivateRoutes(zone.into())),
                None | Some(_) => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vpc => f.write_str("vpc"),
            Self::VpcIpv6 => f.write_str("vpc/ipv6"),
            Self::Subnet(key) => write!(f, "subnet/{key}"),
            Self::InternetGateway => f.write_str("internet-gateway"),
            Self::EgressOnlyGateway => f.write_str("egress-only-gateway"),
            Self::Address(zone) => write!(f, "address/{zone}"),
            Self::Nat(zone) => write!(f, "nat/{zone}"),
            Self::PublicRoutes => f.write_str("routes/public"),
            Self::PrivateRoutes(zone) => write!(f, "routes/private/{zone}"),
            Self::SecurityGroup(name) => write!(f, "security-group/{name}"),
            Self::Endpoint(name) => write!(f, "endpoint/{name}"),
        }
    }
}

impl From<Role> for String {
    fn from(role: Role) -> Self {
        role.to_string()
    }
}

impl TryFrom<String> for Role {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_as_it_is_written() {
        let zone = || Zone::new("eu-central-1a");
        let roles = [
            Role::Vpc,
            Role::VpcIpv6,
            Role::Subnet("private/eu-central-1a".into()),
            Role::InternetGateway,
            Role::EgressOnlyGateway,
            Role::Address(zone()),
            Role::Nat(zone()),
            Role::PublicRoutes,
            Role::PrivateRoutes(zone()),
            Role::SecurityGroup("node".into()),
            Role::Endpoint("ecr.api".into()),
        ];
        for role in roles {
            assert_eq!(Role::parse(&role.to_string()), Some(role));
        }
        for text in ["", "vpc/", "vpc/x", "subnet/", "routes/private/", "routes/other", "another"] {
            assert!(Role::parse(text).is_none_or(|role| role == Role::Vpc && text == "vpc/"), "{text}");
        }
    }
}
