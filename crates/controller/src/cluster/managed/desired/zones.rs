//! In which zones a network has subnets.

use super::known::Known;
use foo_api::cluster as api;
use foo_model::{Blocked, Reason, Zone};
use foo_network::region::choosable;
use std::collections::BTreeSet;

/// What happened in zones so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Begun {
    /// With a subnet: these stay.
    pub(super) with_subnets: BTreeSet<Zone>,
    /// In which a subnet is just being created: these stay until it is known what became of it.
    pub(super) being_created: BTreeSet<Zone>,
    /// Chosen before, without any subnet so far: these come first if there is a choice.
    pub(super) chosen: BTreeSet<Zone>,
}

/// The zones, in the order of their names. Those that have subnets already are among them, so that the choice stays the
/// same for as long as the network exists, whatever happens to the region.
pub(super) fn chosen(
    requested: api::RequestedZones<'_>,
    known: &Known<'_>,
    begun: &Begun,
) -> Result<Vec<Zone>, Blocked> {
    match requested {
        api::RequestedZones::Named(names) => named(names, known, begun),
        api::RequestedZones::Counted(count) => counted(count, known, begun),
    }
}

/// Whether the region has all of these zones. If they have not been read yet, AWS refuses missing ones when they are
/// used.
pub(super) fn exist<'a>(names: impl Iterator<Item = &'a Zone>, known: &Known<'_>) -> Result<(), Blocked> {
    for zone in names.filter(|_| !known.zones.is_empty()) {
        let what = match known.zones.get(zone) {
            Some(info) if info.is_availability_zone => continue,
            Some(_) => format!("{zone} is a Local Zone or a Wavelength Zone, not an Availability Zone"),
            None => format!("region {} has no Availability Zone {zone}", known.region),
        };
        let message = format!("{what}; there are {}", join(choosable(known.zones)));
        return Err(Blocked::new(Reason::ZoneNotFound, message));
    }
    Ok(())
}

fn named(names: &[String], known: &Known<'_>, begun: &Begun) -> Result<Vec<Zone>, Blocked> {
    let names: BTreeSet<Zone> = names.iter().map(|name| Zone::new(name.as_str())).collect();
    exist(names.iter(), known)?;
    let missing: Vec<&Zone> = begun.with_subnets.difference(&names).collect();
    if missing.is_empty() {
        return Ok(names.union(&begun.being_created).cloned().collect());
    }
    let message = format!(
        "the network has subnets in {}, which spec.network.managed.zones.names does not list: add it, zones with subnets cannot be \
         removed",
        join(missing.into_iter())
    );
    Err(Blocked::new(Reason::ZoneInUse, message))
}

fn counted(count: usize, known: &Known<'_>, begun: &Begun) -> Result<Vec<Zone>, Blocked> {
    let mut chosen: BTreeSet<Zone> = begun.with_subnets.union(&begun.being_created).cloned().collect();
    for zone in &begun.chosen {
        if chosen.len() < count {
            chosen.insert(zone.clone());
        }
    }
    if chosen.len() < count && known.zones.is_empty() {
        let message = format!("which Availability Zones region {} has is not known yet", known.region);
        return Err(Blocked::new(Reason::ZonesUnknown, message));
    }
    for zone in choosable(known.zones) {
        if chosen.len() < count {
            chosen.insert(zone.clone());
        }
    }
    if chosen.len() < count {
        let message = format!(
            "region {} has {} Availability Zones that can be used ({}), and {count} are requested: set \
             spec.network.managed.zones",
            known.region,
            chosen.len(),
            join(chosen.iter())
        );
        return Err(Blocked::new(Reason::ZonesTooFew, message));
    }
    Ok(chosen.into_iter().collect())
}

fn join<'a>(zones: impl Iterator<Item = &'a Zone>) -> String {
    zones.map(Zone::as_str).collect::<Vec<_>>().join(", ")
}
