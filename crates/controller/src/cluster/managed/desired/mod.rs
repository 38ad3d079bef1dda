//! From a FooCluster to what its managed network is to be: every default is decided, every range is carved.
//!
//! Nothing is read here: what is needed of AWS comes in as values. A spec that cannot be realized results in a reason
//! and plain words, before anything is created.

mod endpoints;
mod groups;
mod known;
mod ranges;
mod subnets;
#[cfg(test)]
mod tests;
mod zones;

pub(super) use known::Known;

use foo_api::cluster as api;
use foo_model::{Blocked, VpcId};
use foo_network::desired::{DeletionPolicy, Desired, DesiredVpc, DriftPolicy, Leftovers, NatMode};
use ipnet::Ipv4Net;

pub(super) use groups::{is_connected, named as named_groups};

/// What the network is to be.
///
/// # Errors
///
/// Mistakes in the spec, unless the network is being deleted: what exists of it can be deleted whatever the spec
/// contains.
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
    let ranges = ranges::ranges(spec)?;
    if let Some(vpc) = known.vpc {
        ranges::are_in(vpc, &ranges)?;
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

/// Of a network that is being deleted, and whose spec cannot be realized.
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
        uid: known.uid.to_owned(),
        begun_before: known.begun_before,
        cluster: format!("{namespace}/{name}"),
        kubernetes_cluster: known.kubernetes_cluster.map(str::to_owned),
        installation: known.installation.to_owned(),
        adopt_from: known.adopt_from.map(str::to_owned),
        account: known.account.map(str::to_owned),
        vpc: parts.vpc,
        ipv6: spec.ipv6,
        subnets: parts.subnets,
        nat: nat(spec),
        endpoints: parts.endpoints,
        security_groups: parts.security_groups,
        connection: groups::connection(spec, known.connection),
        tags: spec.tags.clone(),
        drift: match spec.drift_policy {
            api::DriftPolicy::Enforce => DriftPolicy::Enforce,
            api::DriftPolicy::Warn => DriftPolicy::Warn,
        },
        deletion: match spec.deletion_policy {
            foo_api::shared::DeletionPolicy::Delete => DeletionPolicy::Delete,
            foo_api::shared::DeletionPolicy::Retain => DeletionPolicy::Retain,
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
    match spec.nat_gateways() {
        None => NatMode::None,
        Some(api::NatMode::PerZone) => NatMode::PerZone,
        Some(api::NatMode::Single) => NatMode::Single,
    }
}
