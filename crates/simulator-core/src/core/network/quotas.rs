//! Quotas of an account for networks in a region (VPC User Guide, "Amazon VPC quotas"; EC2 User Guide, "Elastic IP
//! address quota").

use crate::core::region::Region;
use foo_model::Zone;
use foo_model::network::{Address, InternetGateway, NatGateway, NatState, Quotas, Vpc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Quotas of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkQuotas {
    /// VPCs per region.
    pub vpcs: u32,
    /// Elastic IP addresses per region.
    pub addresses: u32,
    /// NAT gateways per zone.
    pub nat_gateways: u32,
    /// Internet gateways per region.
    pub internet_gateways: u32,
    /// Subnets per VPC.
    pub subnets: u32,
    /// Route tables per VPC.
    pub route_tables: u32,
    /// Security groups per region.
    pub security_groups: u32,
    /// Rules per security group and direction; rules for IPv4 and for IPv6 are counted separately.
    pub rules: u32,
    /// Ranges of IPv4 addresses per VPC.
    pub ranges: u32,
    /// Endpoints per VPC.
    pub endpoints: u32,
}

impl Default for NetworkQuotas {
    fn default() -> Self {
        Self {
            vpcs: 5,
            addresses: 5,
            nat_gateways: 5,
            internet_gateways: 5,
            subnets: 200,
            route_tables: 200,
            security_groups: 2_500,
            rules: 60,
            ranges: 5,
            endpoints: 50,
        }
    }
}

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

impl Region {
    /// The quotas that Service Quotas reports, and how much of each is used.
    pub fn network_quotas(&self) -> Quotas {
        let quotas = self.settings.network_quotas;
        Quotas {
            vpcs: Some((quotas.vpcs, number(self.network.all::<Vpc>()))),
            addresses: Some((quotas.addresses, number(self.network.all::<Address>()))),
            nat_gateways: Some((quotas.nat_gateways, self.nat_gateways_by_zone())),
            internet_gateways: Some((
                quotas.internet_gateways,
                number(self.network.all::<InternetGateway>()),
            )),
        }
    }

    /// How many NAT gateways count towards the quota in each zone: those pending, available and deleting (VPC User
    /// Guide, "Amazon VPC quotas").
    pub(super) fn nat_gateways_by_zone(&self) -> BTreeMap<Zone, u32> {
        let mut count = BTreeMap::new();
        for gateway in self.network.all::<NatGateway>() {
            let counts = match gateway.state {
                NatState::Pending | NatState::Available | NatState::Deleting => true,
                NatState::Failed | NatState::Deleted => false,
            };
            if let Some(subnet) = self.network.subnets.get(&gateway.subnet).filter(|_| counts) {
                *count.entry(subnet.zone.clone()).or_default() += 1;
            }
        }
        count
    }
}
