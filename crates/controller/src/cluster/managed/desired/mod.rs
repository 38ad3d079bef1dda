//! From a FooCluster to what its managed network is to be: every default is decided, every range is carved.
//!
//! Nothing is asked here: what is needed of AWS comes in as values. What cannot be made of the spec comes back as a reason
//! and plain words, before anything is created.

mod endpoints;
mod groups;
mod subnets;
#[cfg(test)]
mod tests;
mod zones;

use foo_api::cluster as api;
use foo_model::network::{Parts, Vpc, ZoneInfo};
use foo_model::{Reason, VpcId, Zone};
use foo_network::addresses::{self, Unfit};
use foo_network::desired::{DeletionPolicy, Desired, DesiredVpc, DriftPolicy, Leftovers, NatMode};
use foo_planner::desired::Blocked;
use ipnet::Ipv4Net;
use std::collections::BTreeMap;

/// The range of a VPC if the spec names none.
const USUAL_RANGE: &str = "10.0.0.0/16";

/// What is known of a network besides its spec.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    /// Its id.
    pub(super) id: &'a str,
    /// Whether the FooCluster had the id before this process saw it.
    pub(super) begun_before: bool,
    /// Namespace and name of the Cluster.
    pub(super) cluster: (&'a str, &'a str),
    /// AWS region.
    pub(super) region: &'a str,
    /// Id of this management cluster.
    pub(super) installation: &'a str,
    /// Id of the management cluster that gave the network up to this one.
    pub(super) adopt_from: Option<&'a str>,
    /// The account that the credentials belong to, if known.
    pub(super) account: Option<&'a str>,
    /// Zones of the region; empty if nobody looked yet.
    pub(super) zones: &'a BTreeMap<Zone, ZoneInfo>,
    /// What the shared look showed; parts of other networks may be among them.
    pub(super) seen: &'a Parts,
    /// What the status says of the subnets that there are.
    pub(super) status: Option<&'a api::NetworkStatus>,
    /// The user's VPC, if there is one and it was looked at.
    pub(super) vpc: Option<&'a Vpc>,
    /// Whether the FooCluster is being deleted and nothing else of the cluster stands in the way.
    pub(super) being_deleted: bool,
    /// Whether nothing is to be created, changed or deleted.
    pub(super) paused: bool,
}

/// What the network is to be.
///
/// # Errors
///
/// What is wrong with the spec, unless the network is being deleted: what exists of it can be deleted whatever the spec says.
pub(super) fn desired(spec: &api::ManagedNetwork, known: &Known<'_>) -> Result<Desired, Blocked> {
    match parts(spec, known) {
        Ok(parts) => Ok(assembled(spec, known, parts)),
        Err(_) if known.being_deleted => Ok(assembled(spec, known, nothing(spec))),
        Err(blocked) => Err(blocked),
    }
}

/// What depends on zones and ranges.
struct DesiredParts {
    vpc: DesiredVpc,
    subnets: Vec<foo_network::desired::DesiredSubnet>,
    endpoints: Vec<foo_network::desired::DesiredEndpoint>,
    security_groups: Vec<foo_network::desired::DesiredGroup>,
}

fn parts(spec: &api::ManagedNetwork, known: &Known<'_>) -> Result<DesiredParts, Blocked> {
    let ranges = ranges(spec)?;
    if let Some(vpc) = known.vpc {
        is_in(vpc, &ranges)?;
    }
    let existing = subnets::existing(known);
    let subnets = subnets::desired(spec, known, &ranges, &existing)?;
    let endpoints = endpoints::desired(spec, known.region, &subnets)?;
    let security_groups = groups::desired(spec, &ranges, &endpoints)?;
    let vpc = match &spec.vpc_id {
        Some(id) => DesiredVpc::Existing(VpcId::new(id)),
        None => DesiredVpc::Managed {
            cidr: ranges.first().copied().unwrap_or_default(),
            secondary: ranges.get(1..).unwrap_or_default().to_vec(),
        },
    };
    Ok(DesiredParts { vpc, subnets, endpoints, security_groups })
}

/// Of a network that is being deleted, and whose spec cannot be made.
fn nothing(spec: &api::ManagedNetwork) -> DesiredParts {
    let vpc = match &spec.vpc_id {
        Some(id) => DesiredVpc::Existing(VpcId::new(id)),
        None => DesiredVpc::Managed { cidr: Ipv4Net::default(), secondary: Vec::new() },
    };
    DesiredParts { vpc, subnets: Vec::new(), endpoints: Vec::new(), security_groups: Vec::new() }
}

fn assembled(spec: &api::ManagedNetwork, known: &Known<'_>, parts: DesiredParts) -> Desired {
    let (namespace, name) = known.cluster;
    Desired {
        network_id: known.id.to_owned(),
        begun_before: known.begun_before,
        cluster: format!("{namespace}/{name}"),
        kubernetes_cluster: name.to_owned(),
        installation: known.installation.to_owned(),
        adopt_from: known.adopt_from.map(str::to_owned),
        account: known.account.map(str::to_owned),
        vpc: parts.vpc,
        ipv6: spec.ipv6,
        subnets: parts.subnets,
        nat: nat(spec),
        endpoints: parts.endpoints,
        security_groups: parts.security_groups,
        tags: spec.tags.clone(),
        drift: match spec.drift_policy {
            api::DriftPolicy::Enforce => DriftPolicy::Enforce,
            api::DriftPolicy::Warn => DriftPolicy::Warn,
        },
        deletion: match spec.deletion_policy {
            api::DeletionPolicy::Delete => DeletionPolicy::Delete,
            api::DeletionPolicy::Retain => DeletionPolicy::Retain,
        },
        leftovers: match spec.deletion.leftovers {
            api::Leftovers::Wait => Leftovers::Wait,
            api::Leftovers::Delete => Leftovers::Delete,
        },
        being_deleted: known.being_deleted,
        paused: known.paused,
    }
}

fn nat(spec: &api::ManagedNetwork) -> NatMode {
    match (spec.egress, spec.nat) {
        (api::Egress::None, _) | (api::Egress::Nat, Some(api::NatMode::None)) => NatMode::None,
        (api::Egress::Nat, Some(api::NatMode::PerZone) | None) => NatMode::PerZone,
        (api::Egress::Nat, Some(api::NatMode::Single)) => NatMode::Single,
    }
}

/// The ranges of the spec, the first one first.
fn ranges(spec: &api::ManagedNetwork) -> Result<Vec<Ipv4Net>, Blocked> {
    let first = spec.cidr.as_deref().unwrap_or(USUAL_RANGE);
    let ranges: Vec<Ipv4Net> = std::iter::once(first)
        .chain(spec.secondary_cidrs.iter().map(String::as_str))
        .map(range)
        .collect::<Result<_, _>>()?;
    match &spec.vpc_id {
        // What AWS lets into one VPC was asked when the user created it.
        Some(_) => addresses::check_listed(
            &ranges,
            &ranges.iter().map(|range| (range.to_string(), *range)).collect::<Vec<_>>(),
        ),
        None => addresses::check_ranges(&ranges),
    }
    .map_err(unfit)?;
    Ok(ranges)
}

fn range(text: &str) -> Result<Ipv4Net, Blocked> {
    text.parse().map_err(|_| Blocked::new(Reason::RangeUnfit, format!("{text} is not an IPv4 range")))
}

/// Whether the part of the user's VPC that the spec names is one of it.
fn is_in(vpc: &Vpc, ranges: &[Ipv4Net]) -> Result<(), Blocked> {
    let Some(outside) = ranges.iter().find(|range| !vpc.cidrs.iter().any(|it| it.range.contains(*range)))
    else {
        return Ok(());
    };
    let has: Vec<String> = vpc.cidrs.iter().map(|it| it.range.to_string()).collect();
    let message = format!("{outside} is not in VPC {}, which has {}", vpc.id, has.join(", "));
    Err(Blocked::new(Reason::RangeUnfit, message))
}

fn unfit(unfit: Unfit) -> Blocked {
    let reason = match unfit {
        Unfit::NoRoom { .. } | Unfit::NoIpv6(_) => Reason::RangeTooSmall,
        Unfit::Size(_)
        | Unfit::NotItsBeginning(_)
        | Unfit::Public(_)
        | Unfit::Overlap(_, _)
        | Unfit::NotTogether(_, _)
        | Unfit::Outside(_, _) => Reason::RangeUnfit,
    };
    Blocked::new(reason, unfit.to_string())
}
