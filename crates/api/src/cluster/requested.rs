//! What the spec of a managed network requests, with the defaults of its fields: the manager and the runtime extension
//! read it here. Whether AWS has room for it is not decided here (`foo_network::addresses`).

use super::managed::{Egress, ManagedNetwork, NatMode, SubnetSpec, SubnetType};
use ipnet::Ipv4Net;
use std::collections::BTreeMap;
use std::fmt;

/// The first range of a VPC, if the spec has none.
const DEFAULT_CIDR: &str = "10.0.0.0/16";

/// In how many zones a network has subnets, if the spec does not say.
const DEFAULT_ZONES: usize = 3;

/// A text that is not an IPv4 range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRange(String);

impl fmt::Display for NoRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not an IPv4 range", self.0)
    }
}

/// The zones of computed subnets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedZones<'a> {
    /// These.
    Named(&'a [String]),
    /// As many as this, of the provider's choice.
    Counted(usize),
}

impl RequestedZones<'_> {
    /// How many zones are requested.
    pub fn count(self) -> usize {
        match self {
            Self::Named(names) => names.len(),
            Self::Counted(count) => count,
        }
    }
}

impl ManagedNetwork {
    /// The ranges of the VPC, or with `vpcID` those of which the network has its subnets; the first one first.
    ///
    /// # Errors
    ///
    /// The first text that is not a range.
    pub fn ranges(&self) -> Result<Vec<Ipv4Net>, NoRange> {
        let first = self.cidr.as_deref().unwrap_or(DEFAULT_CIDR);
        std::iter::once(first).chain(self.secondary_cidrs.iter().map(String::as_str)).map(range).collect()
    }

    /// The subnets, if they are listed one by one; they are computed otherwise.
    pub fn listed_subnets(&self) -> Option<&[SubnetSpec]> {
        self.subnets.as_ref().and_then(|subnets| subnets.list.as_deref())
    }

    /// The zones, if the subnets are computed.
    pub fn requested_zones(&self) -> RequestedZones<'_> {
        let zones = self.zones.as_ref();
        if let Some(names) = zones.and_then(|zones| zones.names.as_deref()) {
            return RequestedZones::Named(names);
        }
        let count = zones.and_then(|zones| zones.count).and_then(|count| usize::try_from(count).ok());
        RequestedZones::Counted(count.unwrap_or(DEFAULT_ZONES))
    }

    /// The types of subnets that each zone has, if they are computed, with their prefix lengths where the spec has them.
    pub fn requested_types(&self) -> BTreeMap<SubnetType, Option<u8>> {
        let subnets = self.subnets.as_ref();
        let types = subnets.and_then(|subnets| subnets.types.as_deref());
        let sizes = subnets.and_then(|subnets| subnets.sizes).unwrap_or_default();
        let with_size = |of: &SubnetType| {
            let size = match of {
                SubnetType::Private => sizes.private,
                SubnetType::Public => sizes.public,
                SubnetType::Pods => sizes.pods,
            };
            (*of, size.and_then(|size| u8::try_from(size).ok()))
        };
        types.unwrap_or(&[SubnetType::Private, SubnetType::Public]).iter().map(with_size).collect()
    }

    /// How many NAT gateways it has; `None` if it has none.
    pub fn nat_gateways(&self) -> Option<NatMode> {
        match self.egress {
            Egress::Nat => Some(self.nat.unwrap_or(NatMode::PerZone)),
            Egress::None => None,
        }
    }
}

impl SubnetSpec {
    /// Its range.
    ///
    /// # Errors
    ///
    /// Its text, if it is not a range.
    pub fn range(&self) -> Result<Ipv4Net, NoRange> {
        range(&self.cidr)
    }
}

fn range(text: &str) -> Result<Ipv4Net, NoRange> {
    text.parse().map_err(|_| NoRange(text.to_owned()))
}
