//! Quotas of an account for networks in a region (VPC User Guide, "Amazon VPC quotas"; EC2 User Guide, "Elastic IP
//! address quota").

use serde::{Deserialize, Serialize};

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
