//! How the ranges of a network are carved into subnets.
//!
//! Private subnets get the lowest free place, public ones the highest: the space in between is for zones that
//! are added later. Those for Pods get the lowest free place of ranges that are further ones of the VPC, if it has any.
//! Existing subnets keep their ranges, so another zone moves nothing, and a network that exists in part gets the same
//! ranges as a new one.

use crate::desired::Tier;
use foo_model::Zone;
use ipnet::{Ipv4Net, Ipv6Net};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::Ipv4Addr;

/// Prefix lengths that AWS allows for VPCs and subnets (Amazon VPC User Guide, "VPC CIDR blocks", "Subnet CIDR blocks").
const LARGEST: u8 = 16;
const SMALLEST: u8 = 28;

/// Addresses of each subnet that AWS keeps for itself: the first four and the last ("Subnet CIDR blocks").
const RESERVED: u32 = 5;

/// Where the numbers of public subnets' IPv6 ranges begin: each tier has half of the 256 of a /56.
const FIRST_PUBLIC_INDEX: u8 = 128;

/// What is to be carved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carving {
    /// The ranges, in the order in which they are filled. They do not overlap.
    pub ranges: Vec<Ipv4Net>,
    /// Prefix length of each tier's subnets; a tier that is not in here has none.
    pub sizes: BTreeMap<Tier, u8>,
    /// The zones, each once.
    pub zones: Vec<Zone>,
    /// Ranges of subnets that exist, by [`key`]: they stay as they are.
    pub existing: BTreeMap<String, Ipv4Net>,
    /// Ranges of subnets of others in the VPC.
    pub foreign: Vec<Ipv4Net>,
}

/// One subnet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carved {
    /// Its key.
    pub key: String,
    /// Its tier.
    pub tier: Tier,
    /// Its zone.
    pub zone: Zone,
    /// Its range.
    pub range: Ipv4Net,
}

/// Why ranges cannot be as they are requested. Its text is a sentence without the full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// AWS does not allow its size.
    Size(Ipv4Net),
    /// It has an address in the middle of the range.
    NotItsBeginning(Ipv4Net),
    /// Its addresses are routed in the internet.
    Public(Ipv4Net),
    /// Two have addresses in common.
    Overlap(Ipv4Net, Ipv4Net),
    /// AWS does not let the second one be added to a VPC that has the first one.
    NotTogether(Ipv4Net, Ipv4Net),
    /// A subnet, by name, is in none of the ranges.
    Outside(String, Ipv4Net),
    /// A subnet, by name, has addresses in common with one that the VPC has already.
    Taken(String, Ipv4Net, Ipv4Net),
    /// There is room for the subnets of some of the zones only.
    NoRoom {
        /// Prefix length of the subnets of each tier that uses these ranges.
        sizes: BTreeMap<Tier, u8>,
        /// Where they were to be.
        ranges: Vec<Ipv4Net>,
        /// How many zones there is room for.
        fit: usize,
        /// How many there are.
        zones: usize,
    },
    /// No IPv6 range of the VPC is free for this subnet.
    NoIpv6(String),
}

/// The key of a tier's subnet in a zone.
pub fn key(tier: Tier, zone: &Zone) -> String {
    let tier: &'static str = tier.into();
    format!("{tier}/{zone}")
}

/// Prefix length of a tier's subnets in ranges of which the first has this size, if the spec has none. With private subnets of an
/// eighth and public ones of a 64th, seven zones have room; no region has more than six. With subnets for Pods of an eighth, eight
/// zones have room in a range of their own.
fn usual_size(tier: Tier, range: Ipv4Net) -> u8 {
    let smaller = match tier {
        Tier::Private | Tier::Pods => 3,
        Tier::Public => 6,
    };
    range.prefix_len().saturating_add(smaller).min(SMALLEST)
}

/// Prefix length of each tier's subnets in a VPC with these ranges: the requested one, or one that suits the first range that the
/// tier uses.
pub fn sizes(
    requested: impl IntoIterator<Item = (Tier, Option<u8>)>,
    ranges: &[Ipv4Net],
) -> BTreeMap<Tier, u8> {
    // The first range of other tiers is the same with and without subnets for Pods.
    let first = |tier| ranges_of(tier, ranges, PodSubnets::Requested).first().copied().unwrap_or_default();
    let size =
        |(tier, size): (Tier, Option<u8>)| (tier, size.unwrap_or_else(|| usual_size(tier, first(tier))));
    requested.into_iter().map(size).collect()
}

/// How many addresses of a subnet can be used.
pub fn usable(range: Ipv4Net) -> u32 {
    let all = 1_u32.checked_shl(u32::from(range.max_prefix_len() - range.prefix_len()));
    all.unwrap_or(u32::MAX).saturating_sub(RESERVED)
}

/// Whether a VPC can have these ranges, the first of which is its first.
///
/// # Errors
///
/// The first thing that is wrong with them.
pub fn check_ranges(ranges: &[Ipv4Net]) -> Result<(), Unfit> {
    for (number, range) in ranges.iter().enumerate() {
        check_range(*range)?;
        if !is_private(*range) {
            return Err(Unfit::Public(*range));
        }
        let before = ranges.get(..number).unwrap_or_default();
        if let Some(other) = before.iter().find(|other| overlap(**other, *range)) {
            return Err(Unfit::Overlap(*other, *range));
        }
        if let Some(other) = before.iter().enumerate().find(|(at, other)| !go_together(*at, **other, *range))
        {
            return Err(Unfit::NotTogether(*other.1, *range));
        }
    }
    Ok(())
}

/// Whether subnets that the spec lists, by name, can be in these ranges together.
///
/// # Errors
///
/// The first thing that is wrong with them.
pub fn check_listed(ranges: &[Ipv4Net], subnets: &[(String, Ipv4Net)]) -> Result<(), Unfit> {
    for (number, (name, range)) in subnets.iter().enumerate() {
        check_range(*range)?;
        if !ranges.iter().any(|outer| outer.contains(range)) {
            return Err(Unfit::Outside(name.clone(), *range));
        }
        let before = subnets.get(..number).unwrap_or_default();
        if let Some((_, other)) = before.iter().find(|(_, other)| overlap(*other, *range)) {
            return Err(Unfit::Overlap(*other, *range));
        }
    }
    Ok(())
}

fn check_range(range: Ipv4Net) -> Result<(), Unfit> {
    if !(LARGEST..=SMALLEST).contains(&range.prefix_len()) {
        return Err(Unfit::Size(range));
    }
    if range.addr() != range.network() {
        return Err(Unfit::NotItsBeginning(range));
    }
    Ok(())
}

/// Carves a range for each tier in each zone, in the order of the zones, private ones first.
///
/// # Errors
///
/// [`Unfit::NoRoom`].
pub fn carve(carving: &Carving) -> Result<Vec<Carved>, Unfit> {
    let mut used: Vec<Ipv4Net> = carving.existing.values().chain(&carving.foreign).copied().collect();
    let mut carved = Vec::new();
    for (number, zone) in carving.zones.iter().enumerate() {
        for tier in [Tier::Private, Tier::Public, Tier::Pods] {
            let Some(size) = carving.sizes.get(&tier) else { continue };
            let key = key(tier, zone);
            let kept = carving.existing.get(&key).copied();
            let ranges = carving.ranges_of(tier);
            let Some(range) = kept.or_else(|| first_free(tier, *size, &ranges, &used)) else {
                return Err(no_room(carving, &ranges, number));
            };
            used.push(range);
            carved.push(Carved { key, tier, zone: zone.clone(), range });
        }
    }
    Ok(carved)
}

impl Carving {
    /// The ranges in which a tier has its subnets, in the order in which they are filled.
    fn ranges_of(&self, tier: Tier) -> Vec<Ipv4Net> {
        let requested = self.sizes.contains_key(&Tier::Pods);
        ranges_of(tier, &self.ranges, if requested { PodSubnets::Requested } else { PodSubnets::None })
    }
}

/// Whether a network has subnets for Pods.
#[derive(Clone, Copy)]
enum PodSubnets {
    Requested,
    None,
}

/// The ranges of a VPC in which a tier has its subnets. Further ranges of the blocks that AWS recommends for Pods are for subnets of
/// Pods alone. Without any, these subnets are in the other further ranges, and without those in the first range.
fn ranges_of(tier: Tier, ranges: &[Ipv4Net], pods: PodSubnets) -> Vec<Ipv4Net> {
    let further = ranges.get(1..).unwrap_or_default();
    let (of_pods, others): (Vec<Ipv4Net>, Vec<Ipv4Net>) =
        further.iter().copied().partition(|it| is_for_pods(*it));
    match (tier, pods) {
        (Tier::Pods, PodSubnets::Requested | PodSubnets::None) => {
            let first_of = [of_pods, others].into_iter().find(|ranges| !ranges.is_empty());
            first_of.unwrap_or_else(|| ranges.to_vec())
        }
        (Tier::Private | Tier::Public, PodSubnets::Requested) => {
            ranges.iter().take(1).copied().chain(others).collect()
        }
        (Tier::Private | Tier::Public, PodSubnets::None) => ranges.to_vec(),
    }
}

/// The lowest free place for a private subnet or one for Pods, or the highest for a public one, in the first range that has any.
fn first_free(tier: Tier, size: u8, ranges: &[Ipv4Net], used: &[Ipv4Net]) -> Option<Ipv4Net> {
    let is_free = |place: &Ipv4Net| !used.iter().any(|other| overlap(*other, *place));
    ranges.iter().find_map(|range| {
        let mut places = range.subnets(size).ok()?;
        match tier {
            Tier::Private | Tier::Pods => places.find(is_free),
            Tier::Public => places.filter(is_free).last(),
        }
    })
}

/// What is reported of these ranges, with the tiers that share them.
fn no_room(carving: &Carving, ranges: &[Ipv4Net], fit: usize) -> Unfit {
    let here = carving.sizes.iter().filter(|(tier, _)| carving.ranges_of(**tier) == ranges);
    let sizes = here.map(|(tier, size)| (*tier, *size)).collect();
    Unfit::NoRoom { sizes, ranges: ranges.to_vec(), fit, zones: carving.zones.len() }
}

/// A number for each subnet's /64 in the VPC's /56: existing ones keep foreign, the others get the lowest that is free for their
/// tier, in the order of their keys. Subnets for Pods have none: custom networking is for IPv4 only (Amazon EKS User Guide, "Deploy
/// Pods in alternate subnets with custom networking").
///
/// # Errors
///
/// [`Unfit::NoIpv6`].
pub fn ipv6_indices(
    subnets: &BTreeMap<String, Tier>,
    existing: &BTreeMap<String, u8>,
    foreign: &BTreeSet<u8>,
) -> Result<BTreeMap<String, u8>, Unfit> {
    let mut used: BTreeSet<u8> = existing.values().chain(foreign).copied().collect();
    let mut indices = BTreeMap::new();
    for (key, tier) in subnets {
        let places = match tier {
            Tier::Private => 0..=FIRST_PUBLIC_INDEX - 1,
            Tier::Public => FIRST_PUBLIC_INDEX..=u8::MAX,
            Tier::Pods => continue,
        };
        let free = || places.clone().find(|index| !used.contains(index));
        let index = existing.get(key).copied().or_else(free);
        let index = index.ok_or_else(|| Unfit::NoIpv6(key.clone()))?;
        used.insert(index);
        indices.insert(key.clone(), index);
    }
    Ok(indices)
}

/// The number of a /64 in its /56: the last of the eight bytes that name it.
pub fn index_of(range: Ipv6Net) -> u8 {
    range.network().octets()[7]
}

/// The numbers of the /64s that a subnet's range takes of a VPC's; none if it is not in there. AWS allows subnets of /44 to /64
/// (Amazon VPC User Guide, "Subnet CIDR blocks").
pub fn indices_of(vpc: Ipv6Net, range: Ipv6Net) -> BTreeSet<u8> {
    if !vpc.contains(&range) {
        return BTreeSet::new();
    }
    let first = index_of(range);
    let bits = 64_u8.saturating_sub(range.prefix_len()).min(8);
    let last = 1_u16.checked_shl(u32::from(bits)).map_or(u16::MAX, |count| u16::from(first) + count - 1);
    (first..=u8::try_from(last).unwrap_or(u8::MAX)).collect()
}

/// Whether subnets that are listed, by name, have room beside those that the VPC has already.
///
/// # Errors
///
/// [`Unfit::Taken`].
pub fn check_free(subnets: &[(String, Ipv4Net)], foreign: &[Ipv4Net]) -> Result<(), Unfit> {
    for (name, range) in subnets {
        if let Some(other) = foreign.iter().find(|other| overlap(**other, *range)) {
            return Err(Unfit::Taken(name.clone(), *range, *other));
        }
    }
    Ok(())
}

fn overlap(one: Ipv4Net, other: Ipv4Net) -> bool {
    one.contains(&other) || other.contains(&one)
}

/// Blocks of addresses that are not routed in the internet: RFC 1918, RFC 6598, and the one that the Amazon EKS User Guide names
/// for Pods beside it.
const PRIVATE: [Ipv4Net; 5] = [
    block([10, 0, 0, 0], 8),
    block([172, 16, 0, 0], 12),
    block([192, 168, 0, 0], 16),
    block([100, 64, 0, 0], 10),
    block([198, 19, 0, 0], 16),
];

/// How many of [`PRIVATE`] are of RFC 1918.
const OF_RFC_1918: usize = 3;

const fn block(address: [u8; 4], prefix: u8) -> Ipv4Net {
    let [a, b, c, d] = address;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

fn is_private(range: Ipv4Net) -> bool {
    PRIVATE.iter().any(|block| block.contains(&range))
}

/// Whether it is in one of the blocks that the Amazon EKS User Guide recommends for Pods ("Deploy Pods in alternate subnets with custom
/// networking"): those of [`PRIVATE`] behind RFC 1918.
fn is_for_pods(range: Ipv4Net) -> bool {
    PRIVATE.iter().skip(OF_RFC_1918).any(|block| block.contains(&range))
}

/// Whether AWS adds a range to a VPC that has this one as its `number`th (Amazon VPC User Guide, "IPv4 CIDR block association
/// restrictions").
///
/// Of 198.19.0.0/16 the guides say different things; whether it can be added is left to AWS.
fn go_together(number: usize, has: Ipv4Net, added: Ipv4Net) -> bool {
    let of_rfc_1918 = |range: Ipv4Net| {
        let blocks = PRIVATE.iter().take(OF_RFC_1918);
        blocks.into_iter().position(|block| block.contains(&range))
    };
    let in_block = |range: Ipv4Net, address, prefix| block(address, prefix).contains(&range);
    if in_block(has, [10, 0, 0, 0], 15) && in_block(added, [10, 0, 0, 0], 16) {
        return false;
    }
    match (number, of_rfc_1918(added)) {
        // Of 172.31.0.0/16 nothing is added to a VPC in 172.16.0.0/12.
        (0, Some(block)) => of_rfc_1918(has) == Some(block) && !in_block(added, [172, 31, 0, 0], 16),
        (_, Some(_) | None) => true,
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(range) => {
                write!(f, "{range} is not of a size that AWS allows: /{LARGEST} to /{SMALLEST}")
            }
            Self::NotItsBeginning(range) => {
                write!(f, "{range} is not the beginning of a range: did you mean {}?", range.trunc())
            }
            Self::Public(range) => write!(
                f,
                "{range} is a public range, whose owners the instances could not reach: choose one in {}",
                join(PRIVATE.iter().map(ToString::to_string))
            ),
            Self::Overlap(one, other) => write!(f, "{one} and {other} overlap"),
            Self::NotTogether(has, added) => {
                write!(f, "AWS does not add {added} to a VPC that has {has}: choose another range")
            }
            Self::Outside(name, range) => {
                write!(f, "subnet {name} with {range} is in none of the network's ranges")
            }
            Self::Taken(name, range, other) => {
                write!(f, "subnet {name} with {range} overlaps {other}, a subnet that the VPC has already")
            }
            Self::NoRoom { sizes, ranges, fit, zones } => {
                let sizes = sizes.iter().map(|(tier, size)| {
                    let tier: &'static str = tier.into();
                    format!("{tier} subnets of /{size}")
                });
                write!(
                    f,
                    "{} has room for {} in {fit} of {zones} zones: add a range, or take a larger one or smaller subnets",
                    join(ranges.iter().map(ToString::to_string)),
                    join(sizes)
                )
            }
            Self::NoIpv6(key) => write!(f, "no IPv6 range of the VPC is free for subnet {key}"),
        }
    }
}

impl std::error::Error for Unfit {}

fn join(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
