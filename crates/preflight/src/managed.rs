//! A network that the provider creates: its ranges, its endpoints, and the quotas that it needs before it is begun.
//!
//! Quotas and zones concern new networks only: one that has been begun has its share already, and the manager reports
//! what else it lacks.

use crate::account::Account;
use crate::eks::too_few;
use crate::report::Report;
use crate::topology::Topology;
use foo_api::cluster::{self, ManagedNetwork, NoRange, RequestedZones, SubnetSpec, SubnetType};
use foo_model::Zone;
use foo_model::network::{Kind, Quotas, ZoneInfo};
use foo_network::addresses::{self, Carving};
use foo_network::desired::{NatMode, Tier};
use foo_network::region::{choosable, service_name};
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong with it by itself.
pub(crate) fn read(topology: &Topology, report: &mut Report) {
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
    if let Some(list) = network.listed_subnets() {
        let zones: BTreeSet<&str> = list.iter().map(|subnet| subnet.zone.as_str()).collect();
        return zones.first().filter(|_| zones.len() == 1).map(|zone| too_few(&Zone::new(*zone)));
    }
    match network.requested_zones() {
        RequestedZones::Named([zone]) => Some(too_few(&Zone::new(zone.as_str()))),
        RequestedZones::Counted(1) => Some(
            "the control plane: EKS needs subnets in two zones, and the managed network has one zone"
                .to_owned(),
        ),
        RequestedZones::Named(_) | RequestedZones::Counted(_) => None,
    }
}

fn ranges_fit(network: &ManagedNetwork) -> Result<(), String> {
    let ranges = network.ranges().map_err(|problem| problem.to_string())?;
    if network.vpc_id.is_none() {
        addresses::check_ranges(&ranges).map_err(|unfit| unfit.to_string())?;
    }
    if let Some(list) = network.listed_subnets() {
        let subnets = list.iter().map(|subnet| Ok((subnet.name.clone(), subnet.range()?)));
        let subnets = subnets.collect::<Result<Vec<_>, NoRange>>().map_err(|problem| problem.to_string())?;
        return addresses::check_listed(&ranges, &subnets).map_err(|unfit| unfit.to_string());
    }
    let types = network.requested_types().into_iter().map(|(of, size)| (tier(of), size));
    let sizes = addresses::sizes(types, &ranges);
    // Zone names do not matter here, only their count.
    let zones = (0..network.requested_zones().count()).map(|number| Zone::new(number.to_string())).collect();
    let carving = Carving { ranges, sizes, zones, existing: BTreeMap::new(), foreign: Vec::new() };
    addresses::carve(&carving).map(drop).map_err(|unfit| unfit.to_string())
}

fn tier(of: SubnetType) -> Tier {
    match of {
        SubnetType::Private => Tier::Private,
        SubnetType::Public => Tier::Public,
        SubnetType::Pods => Tier::Pods,
    }
}

/// What AWS has no room for, if the network has not been begun.
pub(crate) async fn check(aws: &dyn Account, topology: &Topology, report: &mut Report) {
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

/// The zones that get a NAT gateway, of a network that has none yet.
fn nat_zones(
    network: &ManagedNetwork,
    region: &str,
    known: &BTreeMap<Zone, ZoneInfo>,
) -> Result<Vec<Zone>, String> {
    let Tiers { public, private } = tiers(network, region, known)?;
    let nat = match network.nat_gateways() {
        None => NatMode::None,
        Some(cluster::NatMode::PerZone) => NatMode::PerZone,
        Some(cluster::NatMode::Single) => NatMode::Single,
    };
    Ok(foo_network::nat_zones(nat, &public, &private, &|_| false))
}

/// The zones of subnets, each once. The manager's subnets are in the order of their zones, too.
struct Tiers {
    public: Vec<Zone>,
    /// Of those that use the route table of private subnets.
    private: Vec<Zone>,
}

/// The zones of the network's subnets, all of which exist.
fn tiers(network: &ManagedNetwork, region: &str, known: &BTreeMap<Zone, ZoneInfo>) -> Result<Tiers, String> {
    let zone = |name: &String| Zone::new(name.as_str());
    let (all, tiers): (Vec<Zone>, Tiers) = if let Some(list) = network.listed_subnets() {
        let (private, public): (Vec<_>, Vec<_>) =
            list.iter().partition(|it| tier(it.subnet_type).is_routed_privately());
        let of = |subnets: &[&SubnetSpec]| in_order(subnets.iter().map(|it| zone(&it.zone)));
        let tiers = Tiers { public: of(&public), private: of(&private) };
        (list.iter().map(|it| zone(&it.zone)).collect(), tiers)
    } else {
        let all: Vec<Zone> = match network.requested_zones() {
            RequestedZones::Named(names) => names.iter().map(zone).collect(),
            RequestedZones::Counted(count) => choosable(known).take(count).cloned().collect(),
        };
        let types = network.requested_types();
        let in_all = |there: bool| in_order(all.iter().filter(|_| there).cloned());
        let private = types.keys().any(|it| tier(*it).is_routed_privately());
        let public = types.contains_key(&SubnetType::Public);
        let tiers = Tiers { public: in_all(public), private: in_all(private) };
        (all, tiers)
    };
    let is_there = |zone: &Zone| known.get(zone).is_some_and(|info| info.is_availability_zone);
    match all.iter().find(|zone| !is_there(zone)) {
        Some(missing) => Err(format!("region {region} has no Availability Zone {missing}")),
        None if network.listed_subnets().is_none() && all.len() < network.requested_zones().count() => {
            let wanted = network.requested_zones().count();
            Err(format!("region {region} has fewer than {wanted} Availability Zones that can be used"))
        }
        None => Ok(tiers),
    }
}

fn in_order(zones: impl Iterator<Item = Zone>) -> Vec<Zone> {
    zones.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A finding for each quota that leaves no room. The amount in use is left out: it changes.
fn lacks(network: &ManagedNetwork, region: &str, with_nat: &[Zone], quotas: &Quotas, report: &mut Report) {
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
    let gateway = match network.listed_subnets() {
        Some(list) => list.iter().any(|subnet| subnet.subnet_type == SubnetType::Public),
        None => network.requested_types().contains_key(&SubnetType::Public),
    };
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
