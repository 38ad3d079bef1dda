//! The simulated EC2 and Elastic Load Balancing behind the trait of networks.

use super::SimCloud;
use async_trait::async_trait;
use foo_cloud::{Networks, Operation, Result};
use foo_model::network::{Change, Kind, Parts, Quotas, Scope};
use std::collections::BTreeSet;

/// Parts of one page.
const PAGE: usize = 1_000;
/// Calls of DescribeVpcAttribute for one VPC: each tells one attribute.
const ATTRIBUTES: usize = 2;

#[async_trait]
impl Networks for SimCloud {
    async fn describe_network(&self, kind: Kind, scope: &Scope) -> Result<Parts> {
        if scope == &Scope::Ids(BTreeSet::new()) {
            return Ok(Parts::default());
        }
        let operation = Operation::from(kind);
        let mut looked = 0;
        loop {
            let answer = self
                .call(operation, format!("{scope:?}"), |region| Ok(region.describe_network(kind, scope)))
                .await?;
            looked += 1;
            if looked >= calls(kind, scope, &answer) {
                return Ok(answer);
            }
        }
    }

    async fn change_network(&self, change: &Change) -> Result<Parts> {
        self.call(change.into(), format!("{change:?}"), |region| region.change_network(change)).await
    }

    async fn quotas(&self) -> Result<Quotas> {
        let mut quotas = Quotas::default();
        for _ in 0..4 {
            quotas = self
                .call(Operation::GetServiceQuota, String::new(), |region| Ok(region.network_quotas()))
                .await?;
        }
        let counted = [Kind::Vpc, Kind::Address, Kind::NatGateway, Kind::InternetGateway];
        for kind in counted {
            self.call(kind.into(), "all".to_owned(), |_| Ok(())).await?;
        }
        Ok(quotas)
    }
}

/// How many calls an answer takes.
fn calls(kind: Kind, scope: &Scope, answer: &Parts) -> usize {
    let found = match kind {
        Kind::VpcAttributes => {
            let Scope::Ids(ids) = scope else { return ATTRIBUTES };
            return ids.len().saturating_mul(ATTRIBUTES);
        }
        // One of each of the two APIs.
        Kind::LoadBalancer => return 2,
        Kind::Vpc => answer.vpcs.len(),
        Kind::Subnet => answer.subnets.len(),
        Kind::InternetGateway => answer.internet_gateways.len(),
        Kind::EgressOnlyGateway => answer.egress_only_gateways.len(),
        Kind::Address => answer.addresses.len(),
        Kind::NatGateway => answer.nat_gateways.len(),
        Kind::RouteTable => answer.route_tables.len(),
        Kind::SecurityGroup => answer.security_groups.len(),
        Kind::Endpoint => answer.endpoints.len(),
        Kind::Interface => answer.interfaces.len(),
        Kind::TargetGroup => answer.target_groups.len(),
        Kind::Zone => answer.zones.len(),
    };
    found.div_ceil(PAGE)
}
