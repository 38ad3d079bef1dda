//! Quotas of an account for networks in a region (VPC User Guide, "Amazon VPC quotas"; EC2 User Guide, "Elastic IP
//! address quota").

use super::reads::NetworkReads;
use super::state::Network;
use foo_model::Zone;
use foo_model::network::{Address, InternetGateway, NatGateway, NatState, Quotas, Vpc};
use std::collections::BTreeMap;

/// Whether a quota leaves no room for another one.
pub(super) fn is_reached(count: usize, quota: u32) -> bool {
    u32::try_from(count).unwrap_or(u32::MAX) >= quota
}

/// Whether the number is above the quota.
pub(super) fn is_exceeded(count: usize, quota: u32) -> bool {
    u32::try_from(count).unwrap_or(u32::MAX) > quota
}

fn number<T>(parts: impl Iterator<Item = T>) -> u32 {
    u32::try_from(parts.count()).unwrap_or(u32::MAX)
}

impl NetworkReads<'_> {
    /// The quotas that Service Quotas reports, and how much of each is used.
    pub(crate) fn quotas(self) -> Quotas {
        let quotas = self.settings.network_quotas;
        Quotas {
            vpcs: Some((quotas.vpcs, number(self.network.all::<Vpc>()))),
            addresses: Some((quotas.addresses, number(self.network.all::<Address>()))),
            nat_gateways: Some((quotas.nat_gateways, self.network.nat_gateways_by_zone())),
            internet_gateways: Some((
                quotas.internet_gateways,
                number(self.network.all::<InternetGateway>()),
            )),
        }
    }
}

impl Network {
    /// How many NAT gateways count towards the quota in each zone: those pending, available and deleting (VPC User
    /// Guide, "Amazon VPC quotas").
    pub(super) fn nat_gateways_by_zone(&self) -> BTreeMap<Zone, u32> {
        let mut count = BTreeMap::new();
        for gateway in self.all::<NatGateway>() {
            let counts = match gateway.state {
                NatState::Pending | NatState::Available | NatState::Deleting => true,
                NatState::Failed | NatState::Deleted => false,
            };
            if let Some(subnet) = self.subnets.get(&gateway.subnet).filter(|_| counts) {
                *count.entry(subnet.zone.clone()).or_default() += 1;
            }
        }
        count
    }
}
