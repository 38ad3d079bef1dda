//! All parts of all networks of a region, and what EC2 knows about them besides what it describes.

use super::mishaps::{EndpointMishap, NatMishap};
use super::pool::AddressPool;
use super::tokens::Tokens;
use crate::core::versioned::Versioned;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, LoadBalancer, NatGateway, RouteTable,
    SecurityGroup, Subnet, TargetGroup, Vpc,
};
use foo_model::{
    AllocationId, AssociationId, EgressOnlyGatewayId, EndpointId, InterfaceId, InternetGatewayId,
    NatGatewayId, RouteTableId, SecurityGroupId, SubnetId, Timestamp, VpcId, Zone,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The networks of a region. Every part is stored as EC2 describes it.
#[derive(Clone, Debug, Serialize)]
pub struct Network {
    pub(crate) vpcs: Versioned<VpcId, Vpc>,
    pub(crate) subnets: Versioned<SubnetId, Subnet>,
    pub(crate) internet_gateways: Versioned<InternetGatewayId, InternetGateway>,
    pub(crate) egress_only_gateways: Versioned<EgressOnlyGatewayId, EgressOnlyGateway>,
    pub(crate) addresses: Versioned<AllocationId, Address>,
    pub(crate) nat_gateways: Versioned<NatGatewayId, NatGateway>,
    pub(crate) route_tables: Versioned<RouteTableId, RouteTable>,
    /// Security groups.
    pub security_groups: Versioned<SecurityGroupId, SecurityGroup>,
    pub(crate) endpoints: Versioned<EndpointId, Endpoint>,
    pub(crate) interfaces: Versioned<InterfaceId, Interface>,
    pub(crate) load_balancers: Versioned<String, LoadBalancer>,
    pub(crate) target_groups: Versioned<String, TargetGroup>,
    /// Zones with their ids (`eu-central-1a` → `euc1-az1`).
    pub zones: BTreeMap<Zone, String>,
    /// Associations of the main route tables, by VPC.
    pub main_associations: BTreeMap<VpcId, AssociationId>,
    /// Load balancers with deletion protection.
    pub(crate) protected_balancers: BTreeSet<String>,
    /// Load balancers by the target groups that they use.
    pub targeted: BTreeMap<String, String>,
    /// The rules for future NAT gateways.
    pub(in crate::core) nat_mishaps: Vec<NatMishap>,
    /// What becomes of future interface endpoints.
    pub(in crate::core) endpoint_mishap: Option<EndpointMishap>,
    /// The assigned addresses of each subnet.
    #[serde(skip)]
    pub(super) pools: BTreeMap<SubnetId, AddressPool>,
    /// When each part was created; parts of the initial network have no entry.
    #[serde(skip)]
    pub(super) made: BTreeMap<String, Timestamp>,
    #[serde(skip)]
    pub(super) tokens: Tokens,
    /// How many Elastic IP addresses and IPv6 ranges were allocated so far.
    #[serde(skip)]
    pub(super) given_addresses: u32,
    #[serde(skip)]
    pub(super) given_ipv6: u16,
}

impl Network {
    /// A network without parts and zones.
    pub(crate) fn empty(lag: Duration) -> Self {
        Self {
            vpcs: Versioned::new(lag),
            subnets: Versioned::new(lag),
            internet_gateways: Versioned::new(lag),
            egress_only_gateways: Versioned::new(lag),
            addresses: Versioned::new(lag),
            nat_gateways: Versioned::new(lag),
            route_tables: Versioned::new(lag),
            security_groups: Versioned::new(lag),
            endpoints: Versioned::new(lag),
            interfaces: Versioned::new(lag),
            load_balancers: Versioned::new(lag),
            target_groups: Versioned::new(lag),
            zones: BTreeMap::new(),
            main_associations: BTreeMap::new(),
            protected_balancers: BTreeSet::new(),
            targeted: BTreeMap::new(),
            nat_mishaps: Vec::new(),
            endpoint_mishap: None,
            pools: BTreeMap::new(),
            made: BTreeMap::new(),
            tokens: Tokens::default(),
            given_addresses: 0,
            given_ipv6: 0,
        }
    }

    /// Sets the present time of all maps.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        self.vpcs.advance(now);
        self.subnets.advance(now);
        self.internet_gateways.advance(now);
        self.egress_only_gateways.advance(now);
        self.addresses.advance(now);
        self.nat_gateways.advance(now);
        self.route_tables.advance(now);
        self.security_groups.advance(now);
        self.endpoints.advance(now);
        self.interfaces.advance(now);
        self.load_balancers.advance(now);
        self.target_groups.advance(now);
    }

    /// Sets the age of the next reads.
    pub(crate) fn read_at_age(&mut self, age: Duration) {
        self.vpcs.read_at_age(age);
        self.subnets.read_at_age(age);
        self.internet_gateways.read_at_age(age);
        self.egress_only_gateways.read_at_age(age);
        self.addresses.read_at_age(age);
        self.nat_gateways.read_at_age(age);
        self.route_tables.read_at_age(age);
        self.security_groups.read_at_age(age);
        self.endpoints.read_at_age(age);
        self.interfaces.read_at_age(age);
        self.load_balancers.read_at_age(age);
        self.target_groups.read_at_age(age);
    }

    /// Keeps the history that reads of this age need.
    pub(crate) fn set_lag(&mut self, lag: Duration) {
        self.vpcs.set_lag(lag);
        self.subnets.set_lag(lag);
        self.internet_gateways.set_lag(lag);
        self.egress_only_gateways.set_lag(lag);
        self.addresses.set_lag(lag);
        self.nat_gateways.set_lag(lag);
        self.route_tables.set_lag(lag);
        self.security_groups.set_lag(lag);
        self.endpoints.set_lag(lag);
        self.interfaces.set_lag(lag);
        self.load_balancers.set_lag(lag);
        self.target_groups.set_lag(lag);
    }
}
