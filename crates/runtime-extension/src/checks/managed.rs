//! A network that the provider creates: its ranges, its endpoints, and the quotas that it needs before it is begun.
//!
//! Quotas and zones concern new networks only: one that has been begun has its share already, and the manager reports
//! what else it lacks.

use super::eks::too_few;
use super::report::Report;
use crate::clouds::Connected;
use crate::topology::Topology;
use foo_api::cluster::{Egress, ManagedNetwork, ManagedSubnets, NatMode, SubnetSpec, SubnetType};
use foo_model::Zone;
use foo_model::names::TAG_CLUSTER;
use foo_model::network::{Kind, Quotas, Scope, ZoneInfo};
use foo_network::addresses::{self, Carving, USUAL_RANGE, usual_size};
use foo_network::desired::Tier;
use foo_network::region::{USUAL_ZONES, choosable, service_name};
use ipnet::Ipv4Net;
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong with it by itself.
pub(super) fn read(topology: &Topology, report: &mut Report) {
    let Some(network) = &topology.managed else { return };
    if let Err(problem) = ranges_fit(network) {
        report.finds(format!("the managed network: {problem}"));
    }
    if topology.eks.as_ref().is_some_and(|eks| eks.subnets.is_empty())
        && let Some(problem) = has_one_zone(network)
    {
        report.finds(problem);
    }
    // Every name of a service is known in a region, or none is.
    if network.endpoints.iter().any(|endpoint| endpoint.name.is_some())
        && service_name(&topology.region, "s3").is_none()
    {
        report.finds(format!(
            "the managed network: the names of AWS's endpoints in region {} are not known: name services by their whole names",
            topology.region
        ));
    }
}

/// What is reported of a network with one zone.
fn has_one_zone(network: &ManagedNetwork) -> Option<String> {
    if let Some(list) = listed(network) {
        let zones: BTreeSet<&str> = list.iter().map(|subnet| subnet.zone.as_str()).collect();
        return zones.first().filter(|_| zones.len() == 1).map(|zone| too_few(&Zone::new(*zone)));
    }
    if zone_count(network) != 1 {
        return None;
    }
    let names = network.zones.as_ref().and_then(|zones| zones.names.as_ref());
    Some(match names.and_then(|names| names.first()) {
        Some(zone) => too_few(&Zone::new(zone)),
        None => "the control plane: EKS needs subnets in two zones, and the managed network has one zone"
            .to_owned(),
    })
}

fn ranges_fit(network: &ManagedNetwork) -> Result<(), String> {
    let first = network.cidr.as_deref().unwrap_or(USUAL_RANGE);
    let ranges = std::iter::once(first).chain(network.secondary_cidrs.iter().map(String::as_str));
    let ranges = ranges.map(range).collect::<Result<Vec<_>, _>>()?;
    if network.vpc_id.is_none() {
        addresses::check_ranges(&ranges).map_err(|unfit| unfit.to_string())?;
    }
    if let Some(list) = listed(network) {
        let subnets = list.iter().map(|subnet| Ok((subnet.name.clone(), range(&subnet.cidr)?)));
        let subnets = subnets.collect::<Result<Vec<_>, String>>()?;
        return addresses::check_listed(&ranges, &subnets).map_err(|unfit| unfit.to_string());
    }
    let sizes = sizes(network, ranges.first().copied().unwrap_or_default());
    // Zone names do not matter here, only their count.
    let zones = (0..zone_count(network)).map(|number| Zone::new(number.to_string())).collect();
    let carving = Carving { ranges, sizes, zones, existing: BTreeMap::new(), foreign: Vec::new() };
    addresses::carve(&carving).map(drop).map_err(|unfit| unfit.to_string())
}

fn range(text: &str) -> Result<Ipv4Net, String> {
    text.parse().map_err(|_no_range| format!("{text} is not an IPv4 range"))
}

fn listed(network: &ManagedNetwork) -> Option<&Vec<SubnetSpec>> {
    network.subnets.as_ref().and_then(|subnets| subnets.list.as_ref())
}

fn zone_count(network: &ManagedNetwork) -> usize {
    let zones = network.zones.as_ref();
    let named = zones.and_then(|zones| zones.names.as_ref()).map(Vec::len);
    let counted = zones.and_then(|zones| zones.count).and_then(|count| usize::try_from(count).ok());
    named.or(counted).unwrap_or(USUAL_ZONES)
}

fn has_public(subnets: Option<&ManagedSubnets>) -> bool {
    let types = subnets.and_then(|subnets| subnets.types.as_ref());
    types.is_none_or(|types| types.contains(&SubnetType::Public))
}

fn sizes(network: &ManagedNetwork, first: Ipv4Net) -> BTreeMap<Tier, u8> {
    let subnets = network.subnets.as_ref();
    let sizes = subnets.and_then(|subnets| subnets.sizes).unwrap_or_default();
    let size = |tier, chosen: Option<i32>| {
        let chosen = chosen.and_then(|size| u8::try_from(size).ok());
        (tier, chosen.unwrap_or_else(|| usual_size(tier, first)))
    };
    let public = has_public(subnets).then(|| size(Tier::Public, sizes.public));
    std::iter::once(size(Tier::Private, sizes.private)).chain(public).collect()
}

/// What AWS has no room for, if the network has not been begun.
pub(super) async fn check(aws: &Connected, topology: &Topology, report: &mut Report) {
    let Some(network) = &topology.managed else { return };
    let kind = if network.vpc_id.is_some() { Kind::Subnet } else { Kind::Vpc };
    if report.result("the network", aws.has_begun(&topology.cluster, kind).await) != Some(false) {
        return;
    }
    let (zones, quotas) = tokio::join!(aws.zones(), aws.quotas());
    let zones = report.result("Availability Zones", zones);
    let quotas = report.result("quotas", quotas).unwrap_or_default();
    let Some(zones) = zones else { return };
    match nat_zones(network, &topology.region, &zones) {
        Ok(with_nat) => lacks(network, &topology.region, &with_nat, &quotas, report),
        Err(problem) => report.finds(format!("the managed network: {problem}")),
    }
}

/// The VPC it is in: the named one, or the one that has the Cluster's tag.
pub(super) async fn vpc_of(aws: &Connected, topology: &Topology, network: &ManagedNetwork) -> Option<String> {
    if let Some(named) = &network.vpc_id {
        return Some(named.clone());
    }
    let tag = Scope::Tag(TAG_CLUSTER.to_owned(), topology.cluster.clone());
    let parts = aws.cloud.describe_network(Kind::Vpc, &tag).await.ok()?;
    parts.vpcs.into_keys().next().map(|id| id.to_string())
}

/// The zones that get a NAT gateway. The rule is the manager's, for a network that has none yet (`foo_network`,
/// `situation/wanted.rs`).
fn nat_zones(
    network: &ManagedNetwork,
    region: &str,
    known: &BTreeMap<Zone, ZoneInfo>,
) -> Result<BTreeSet<Zone>, String> {
    let Tiers { public, private } = tiers(network, region, known)?;
    if private.is_empty() {
        return Ok(BTreeSet::new());
    }
    let one = || public.first().cloned().into_iter().collect();
    Ok(match (network.egress, network.nat.unwrap_or(NatMode::PerZone)) {
        (Egress::None, _) => BTreeSet::new(),
        (Egress::Nat, NatMode::Single) => one(),
        (Egress::Nat, NatMode::PerZone) => {
            let both: BTreeSet<Zone> = public.intersection(&private).cloned().collect();
            if both.is_empty() { one() } else { both }
        }
    })
}

/// The zones of subnets. The manager's subnets are in the order of their zones, too.
struct Tiers {
    public: BTreeSet<Zone>,
    private: BTreeSet<Zone>,
}

/// The zones of the network's subnets, all of which exist.
fn tiers(network: &ManagedNetwork, region: &str, known: &BTreeMap<Zone, ZoneInfo>) -> Result<Tiers, String> {
    let (all, tiers): (Vec<Zone>, Tiers) = if let Some(list) = listed(network) {
        let zone = |subnet: &SubnetSpec| Zone::new(subnet.zone.as_str());
        let of = |tier| list.iter().filter(|subnet| subnet.subnet_type == tier).map(zone).collect();
        let tiers = Tiers { public: of(SubnetType::Public), private: of(SubnetType::Private) };
        (list.iter().map(zone).collect(), tiers)
    } else {
        let names = network.zones.as_ref().and_then(|zones| zones.names.as_ref());
        let all: Vec<Zone> = match names {
            Some(names) => names.iter().map(|name| Zone::new(name.as_str())).collect(),
            None => choosable(known).take(zone_count(network)).cloned().collect(),
        };
        // Only a list can be without private subnets.
        let private: BTreeSet<Zone> = all.iter().cloned().collect();
        let public = if has_public(network.subnets.as_ref()) { private.clone() } else { BTreeSet::new() };
        (all, Tiers { public, private })
    };
    let is_there = |zone: &Zone| known.get(zone).is_some_and(|info| info.is_availability_zone);
    match all.iter().find(|zone| !is_there(zone)) {
        Some(missing) => Err(format!("region {region} has no Availability Zone {missing}")),
        None if listed(network).is_none() && all.len() < zone_count(network) => {
            let wanted = zone_count(network);
            Err(format!("region {region} has fewer than {wanted} Availability Zones that can be used"))
        }
        None => Ok(tiers),
    }
}

/// A finding for each quota that leaves no room. The amount in use is left out: it changes.
fn lacks(
    network: &ManagedNetwork,
    region: &str,
    with_nat: &BTreeSet<Zone>,
    quotas: &Quotas,
    report: &mut Report,
) {
    let mut check = |what: &str, quota: Option<(u32, u32)>, needed: usize| {
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        if let Some((quota, there)) = quota
            && needed > 0
            && there.saturating_add(needed) > quota
        {
            report.finds(format!(
                "the managed network: the quota of {quota} {what} in {region} leaves no room for {needed} more"
            ));
        }
    };
    let created = network.vpc_id.is_none();
    check("VPCs", quotas.vpcs, usize::from(created));
    let listed_public = listed(network)
        .is_some_and(|list| list.iter().any(|subnet| subnet.subnet_type == SubnetType::Public));
    let gateway = listed_public || (listed(network).is_none() && has_public(network.subnets.as_ref()));
    check("internet gateways", quotas.internet_gateways, usize::from(created && gateway));
    check("Elastic IP addresses", quotas.addresses, with_nat.len());
    for zone in with_nat {
        let quota = quotas.nat_gateways.as_ref();
        let quota = quota.map(|(most, by_zone)| (*most, by_zone.get(zone).copied().unwrap_or(0)));
        check(&format!("NAT gateways of zone {zone}"), quota, 1);
    }
}

#[cfg(test)]
mod tests;
