//! Managed networks, as they are in AWS.

use super::aws::{Aws, REGION};
use anyhow::{Context as _, Result};
use foo_model::names::TAG_CLUSTER;
use foo_model::network::{Change, EndpointState, Kind, NatState, Parts, Scope};

/// The kinds that a managed network has parts of.
const KINDS: [Kind; 9] = [
    Kind::Vpc,
    Kind::Subnet,
    Kind::InternetGateway,
    Kind::EgressOnlyGateway,
    Kind::Address,
    Kind::NatGateway,
    Kind::RouteTable,
    Kind::SecurityGroup,
    Kind::Endpoint,
];

impl Aws {
    /// Everything that is tagged for a cluster, in the usual region. NAT gateways and endpoints that are deleted, which
    /// AWS shows for an hour, are left out. No call of this counts, and none fails by a rule.
    pub fn network(&self, namespace: &str, cluster: &str) -> Result<Parts> {
        self.network_in(REGION, namespace, cluster)
    }

    /// The same in another region.
    pub fn network_in(&self, region: &str, namespace: &str, cluster: &str) -> Result<Parts> {
        self.parts(region, &Scope::Tag(TAG_CLUSTER.to_owned(), format!("{namespace}/{cluster}")))
    }

    /// The same of all clusters.
    pub fn networks(&self) -> Result<Parts> {
        self.parts(REGION, &Scope::TagKey(TAG_CLUSTER.to_owned()))
    }

    fn parts(&self, region: &str, scope: &Scope) -> Result<Parts> {
        let region = self.simulator().region(region);
        let mut all = Parts::default();
        for kind in KINDS {
            add(&mut all, region.with(|region| region.describe_network(kind, scope))?);
        }
        all.nat_gateways.retain(|_, gateway| gateway.state != NatState::Deleted);
        all.endpoints.retain(|_, endpoint| endpoint.state != EndpointState::Deleted);
        Ok(all)
    }

    /// Changes something in the usual region behind the manager's back.
    pub fn change_network(&self, change: &Change) -> Result<Parts> {
        let changed = self.region().with(|region| region.change_network(change))?;
        changed.with_context(|| change.operation())
    }
}

/// What there is, by id.
pub fn ids(parts: &Parts) -> Vec<String> {
    let mut ids = Vec::new();
    ids.extend(parts.vpcs.keys().map(ToString::to_string));
    ids.extend(parts.subnets.keys().map(ToString::to_string));
    ids.extend(parts.internet_gateways.keys().map(ToString::to_string));
    ids.extend(parts.egress_only_gateways.keys().map(ToString::to_string));
    ids.extend(parts.addresses.keys().map(ToString::to_string));
    ids.extend(parts.nat_gateways.keys().map(ToString::to_string));
    ids.extend(parts.route_tables.keys().map(ToString::to_string));
    ids.extend(parts.security_groups.keys().map(ToString::to_string));
    ids.extend(parts.endpoints.keys().map(ToString::to_string));
    ids
}

fn add(all: &mut Parts, more: Parts) {
    all.vpcs.extend(more.vpcs);
    all.subnets.extend(more.subnets);
    all.internet_gateways.extend(more.internet_gateways);
    all.egress_only_gateways.extend(more.egress_only_gateways);
    all.addresses.extend(more.addresses);
    all.nat_gateways.extend(more.nat_gateways);
    all.route_tables.extend(more.route_tables);
    all.security_groups.extend(more.security_groups);
    all.endpoints.extend(more.endpoints);
}
