//! Which parts a network is to have: that follows from the spec, and from the zone in which there is a NAT gateway already.

use crate::desired::{Desired, DesiredVpc, NatMode, Tier};
use crate::role::Role;
use foo_model::Zone;
use std::collections::BTreeSet;

/// The roles that are desired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// All of them.
    pub(crate) roles: BTreeSet<Role>,
    /// Zones with a NAT gateway, in the order of the subnets.
    pub(crate) nat_zones: Vec<Zone>,
}

impl Wanted {
    /// `exists`: whether there is a part with that role, or is about to be.
    pub(crate) fn new(desired: &Desired, exists: &dyn Fn(&Role) -> bool) -> Self {
        let public = zones_of(desired, |tier| tier == Tier::Public);
        let private = zones_of(desired, Tier::is_routed_privately);
        let nat_zones = nat_zones(desired.nat, &public, &private, &|zone| exists(&Role::Nat(zone.clone())));
        let mut roles = BTreeSet::new();
        if matches!(desired.vpc, DesiredVpc::Managed { .. }) {
            roles.insert(Role::Vpc);
        }
        for subnet in &desired.subnets {
            roles.insert(Role::Subnet(subnet.key.clone()));
            match subnet.tier {
                Tier::Public => {
                    roles.insert(Role::InternetGateway);
                    roles.insert(Role::PublicRoutes);
                }
                Tier::Private | Tier::Pods => {
                    roles.insert(Role::PrivateRoutes(subnet.zone.clone()));
                    if desired.ipv6 && subnet.ipv6_index.is_some() && desired.nat != NatMode::None {
                        roles.insert(Role::EgressOnlyGateway);
                    }
                }
            }
        }
        for zone in &nat_zones {
            roles.insert(Role::Address(zone.clone()));
            roles.insert(Role::Nat(zone.clone()));
        }
        roles.extend(desired.security_groups.iter().map(|it| Role::SecurityGroup(it.name.clone())));
        roles.extend(desired.endpoints.iter().map(|it| Role::Endpoint(it.name.clone())));
        Self { roles, nat_zones }
    }

    /// The zone of the NAT gateway that a zone's private subnets use.
    pub(crate) fn nat_zone_for(&self, zone: &Zone) -> Option<&Zone> {
        self.nat_zones.iter().find(|it| *it == zone).or_else(|| self.nat_zones.first())
    }
}

/// The zones of the subnets of some tiers, each once, in their order.
fn zones_of(desired: &Desired, is_one: impl Fn(Tier) -> bool) -> Vec<Zone> {
    let mut zones: Vec<Zone> = Vec::new();
    for subnet in desired.subnets.iter().filter(|it| is_one(it.tier)) {
        if !zones.contains(&subnet.zone) {
            zones.push(subnet.zone.clone());
        }
    }
    zones
}

/// The zones of the NAT gateways, of a network with public and privately routed subnets in these zones, each of which is in each list
/// once.
/// `has_one`: whether a NAT gateway is in this zone already, or is about to be.
pub fn nat_zones(
    nat: NatMode,
    public: &[Zone],
    private: &[Zone],
    has_one: &dyn Fn(&Zone) -> bool,
) -> Vec<Zone> {
    if private.is_empty() {
        return Vec::new();
    }
    let one = || {
        let there = public.iter().find(|zone| has_one(zone));
        there.or_else(|| public.first()).cloned().into_iter().collect()
    };
    match nat {
        NatMode::None => Vec::new(),
        NatMode::Single => one(),
        NatMode::PerZone => {
            let both: Vec<Zone> = public.iter().filter(|zone| private.contains(zone)).cloned().collect();
            if both.is_empty() { one() } else { both }
        }
    }
}
