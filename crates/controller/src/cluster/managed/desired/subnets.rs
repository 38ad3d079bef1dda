//! The subnets of a network: computed from sizes, or as they are listed.

use super::known::Known;
use super::ranges::{no_range, unfit};
use super::zones;
use foo_api::cluster as api;
use foo_model::names::{TAG_NETWORK, TAG_ROLE};
use foo_model::network::{CidrState, Subnet, Tags};
use foo_model::{Blocked, Zone};
use foo_network::Role;
use foo_network::addresses::{self, Carving, index_of, indices_of, key};
use foo_network::desired::{DesiredSubnet, Tier};
use ipnet::{Ipv4Net, Ipv6Net};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// What there is of the network's subnets.
#[derive(Clone, Debug, Default)]
pub(super) struct Existing {
    /// By key.
    pub(super) subnets: BTreeMap<String, ExistingSubnet>,
    /// Own ranges that overlap nevertheless: a second one of a role, until it is deleted.
    others: Vec<Ipv4Net>,
    /// Ranges of others in the user's VPC.
    foreign: Vec<Ipv4Net>,
    /// Numbers of the IPv6 ranges of others in the user's VPC.
    foreign_ipv6: BTreeSet<u8>,
}

impl Existing {
    /// Adds one, unless there is one of its key: then only its range counts.
    fn add(&mut self, key: String, subnet: ExistingSubnet) {
        match self.subnets.entry(key) {
            Entry::Vacant(free) => drop(free.insert(subnet)),
            Entry::Occupied(known) if known.get().cidr != subnet.cidr => self.others.push(subnet.cidr),
            Entry::Occupied(_) => {}
        }
    }
}

/// One subnet that exists.
#[derive(Clone, Debug)]
pub(super) struct ExistingSubnet {
    zone: Zone,
    cidr: Ipv4Net,
    ipv6_index: Option<u8>,
}

/// The network's subnets that the status or the reads show. Either can be behind the other.
pub(super) fn existing(known: &Known<'_>) -> Existing {
    let recorded = known.status.into_iter().flat_map(api::NetworkStatus::all_subnets);
    let by_id: BTreeMap<&str, &api::SubnetStatus> =
        recorded.clone().map(|subnet| (subnet.id.as_str(), subnet)).collect();
    let mut existing = Existing::default();
    let (first, rest): (Vec<&Subnet>, Vec<&Subnet>) = known
        .seen
        .subnets
        .values()
        .filter(|subnet| subnet.tags.get(TAG_NETWORK).is_some_and(|id| id == known.id))
        .partition(|subnet| by_id.contains_key(subnet.id.as_str()));
    for subnet in first.into_iter().chain(rest) {
        let Some(Role::Subnet(key)) = subnet.tags.get(TAG_ROLE).and_then(|role| Role::parse(role)) else {
            continue;
        };
        existing.add(key, seen(subnet));
    }
    for subnet in recorded {
        let Some((key, subnet)) = subnet.name.clone().zip(from_status(subnet)) else { continue };
        existing.add(key, subnet);
    }
    for subnet in foreign(known) {
        existing.foreign.push(subnet.cidr);
        let vpc = known.vpc.and_then(|vpc| vpc.ipv6.iter().find(|it| it.state == CidrState::Associated));
        let ipv6 = subnet.ipv6.iter().filter(|it| is_used(it.state));
        for (vpc, range) in vpc.into_iter().flat_map(|vpc| ipv6.clone().map(|it| (vpc.range, it.range))) {
            existing.foreign_ipv6.extend(indices_of(vpc, range));
        }
    }
    existing
}

/// The subnets of others in the user's VPC. One in the status is the provider's, even if a user removed the tag.
fn foreign<'a>(known: &Known<'a>) -> impl Iterator<Item = &'a Subnet> {
    let recorded = known.status.into_iter().flat_map(api::NetworkStatus::all_subnets);
    let recorded: BTreeSet<&str> = recorded.map(|subnet| subnet.id.as_str()).collect();
    let (id, in_vpc) = (known.id, known.vpc_subnets.into_iter().flat_map(|parts| parts.subnets.values()));
    in_vpc.filter(move |subnet| {
        let own = subnet.tags.get(TAG_NETWORK).is_some_and(|network| network == id);
        !own && !recorded.contains(subnet.id.as_str())
    })
}

fn seen(subnet: &Subnet) -> ExistingSubnet {
    let mut ipv6 = subnet.ipv6.iter().filter(|it| is_used(it.state));
    let ipv6_index = ipv6.next().map(|it| index_of(it.range));
    ExistingSubnet { zone: subnet.zone.clone(), cidr: subnet.cidr, ipv6_index }
}

fn is_used(state: CidrState) -> bool {
    match state {
        CidrState::Associating | CidrState::Associated => true,
        CidrState::Disassociating | CidrState::Disassociated | CidrState::Failing | CidrState::Failed => {
            false
        }
    }
}

fn from_status(subnet: &api::SubnetStatus) -> Option<ExistingSubnet> {
    let cidr = subnet.cidr.as_ref()?.parse().ok()?;
    let ipv6 = subnet.ipv6_cidr.as_ref().and_then(|range| range.parse::<Ipv6Net>().ok());
    Some(ExistingSubnet { zone: Zone::new(subnet.zone.as_str()), cidr, ipv6_index: ipv6.map(index_of) })
}

/// The subnets that there are to be, by the names of their zones.
pub(super) fn desired(
    spec: &api::ManagedNetwork,
    known: &Known<'_>,
    ranges: &[Ipv4Net],
    existing: &Existing,
) -> Result<Vec<DesiredSubnet>, Blocked> {
    let mut subnets = match spec.listed_subnets() {
        Some(list) => listed(list, known, ranges, existing)?,
        None => computed(spec, known, ranges, existing)?,
    };
    subnets.sort_by(|one, other| (&one.zone, &one.key).cmp(&(&other.zone, &other.key)));
    if spec.ipv6 {
        number(&mut subnets, existing)?;
    }
    Ok(subnets)
}

fn listed(
    list: &[api::SubnetSpec],
    known: &Known<'_>,
    ranges: &[Ipv4Net],
    existing: &Existing,
) -> Result<Vec<DesiredSubnet>, Blocked> {
    let mut subnets = Vec::new();
    let (mut places, mut new) = (Vec::new(), Vec::new());
    for subnet in list {
        let tier = tier(subnet.subnet_type);
        let name: &'static str = tier.into();
        let cidr = subnet.range().map_err(no_range)?;
        places.push((subnet.name.clone(), cidr));
        let key = format!("{name}/{}", subnet.name);
        if !existing.subnets.contains_key(&key) {
            new.push((subnet.name.clone(), cidr));
        }
        subnets.push(one(key, tier, Zone::new(subnet.zone.as_str()), cidr, subnet.tags.clone()));
    }
    addresses::check_listed(ranges, &places).map_err(unfit)?;
    addresses::check_free(&new, &existing.foreign).map_err(unfit)?;
    zones::exist(subnets.iter().map(|subnet| &subnet.zone), known)?;
    Ok(subnets)
}

fn computed(
    spec: &api::ManagedNetwork,
    known: &Known<'_>,
    ranges: &[Ipv4Net],
    existing: &Existing,
) -> Result<Vec<DesiredSubnet>, Blocked> {
    let zones = zones::chosen(spec.requested_zones(), known, &begun(known, existing))?;
    let types = spec.requested_types().into_iter().map(|(of, size)| (tier(of), size));
    let carving = Carving {
        ranges: ranges.to_vec(),
        sizes: addresses::sizes(types, ranges),
        zones,
        existing: existing.subnets.iter().map(|(key, subnet)| (key.clone(), subnet.cidr)).collect(),
        foreign: existing.others.iter().chain(&existing.foreign).copied().collect(),
    };
    let carved = addresses::carve(&carving).map_err(unfit)?;
    let tags = spec.subnets.as_ref().and_then(|subnets| subnets.tags.clone()).unwrap_or_default();
    let of = |tier: Tier| match tier {
        Tier::Public => tags.public.clone(),
        Tier::Private => tags.private.clone(),
        Tier::Pods => tags.pods.clone(),
    };
    let one = |it: addresses::Carved| one(key(it.tier, &it.zone), it.tier, it.zone, it.range, of(it.tier));
    Ok(carved.into_iter().map(one).collect())
}

/// What happened in zones so far: what was chosen once is not chosen again if the region changes between two creations.
fn begun(known: &Known<'_>, existing: &Existing) -> zones::Begun {
    let mut begun = zones::Begun {
        with_subnets: existing.subnets.values().map(|subnet| subnet.zone.clone()).collect(),
        ..zones::Begun::default()
    };
    for resource in known.status.into_iter().flat_map(|status| &status.resources) {
        let Some(zone) = zone_of(&resource.role, known) else { continue };
        let place = if resource.id.is_some() { &mut begun.with_subnets } else { &mut begun.chosen };
        place.insert(zone);
    }
    let intents = known.status.into_iter().flat_map(|status| &status.intents);
    begun.being_created.extend(intents.filter_map(|intent| zone_of(&intent.role, known)));
    begun
}

/// The zone in which a computed subnet has this role. The roles of listed ones have names in its place.
fn zone_of(role: &str, known: &Known<'_>) -> Option<Zone> {
    let role = Role::parse(role)?;
    let zone = role.subnet()?.split_once('/').map(|(_, zone)| Zone::new(zone))?;
    let is_zone = if known.zones.is_empty() {
        zone.as_str().starts_with(known.region)
    } else {
        known.zones.contains_key(&zone)
    };
    is_zone.then_some(zone)
}

fn tier(of: api::SubnetType) -> Tier {
    match of {
        api::SubnetType::Private => Tier::Private,
        api::SubnetType::Public => Tier::Public,
        api::SubnetType::Pods => Tier::Pods,
    }
}

fn one(key: String, tier: Tier, zone: Zone, cidr: Ipv4Net, tags: Tags) -> DesiredSubnet {
    let public_ip_on_launch = tier == Tier::Public;
    DesiredSubnet { key, tier, zone, cidr, ipv6_index: None, public_ip_on_launch, tags }
}

/// Gives each subnet that has an IPv6 range the number of that.
fn number(subnets: &mut [DesiredSubnet], existing: &Existing) -> Result<(), Blocked> {
    let tiers = subnets.iter().map(|subnet| (subnet.key.clone(), subnet.tier)).collect();
    let taken = existing.subnets.iter().filter_map(|(key, subnet)| Some((key.clone(), subnet.ipv6_index?)));
    let indices = addresses::ipv6_indices(&tiers, &taken.collect(), &existing.foreign_ipv6).map_err(unfit)?;
    for subnet in subnets {
        subnet.ipv6_index = indices.get(&subnet.key).copied();
    }
    Ok(())
}
