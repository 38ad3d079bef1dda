//! The simulated EC2 and Elastic Load Balancing behind the trait of networks.

use super::SimCloud;
use async_trait::async_trait;
use foo_cloud::{CloudError, ErrorKind, Networks, Operation, Result};
use foo_model::network::{Change, Kind, Parts, Quotas, Scope};
use std::collections::BTreeSet;

/// Parts of one page of most kinds, as the adapter asks for them.
const PAGE: usize = 1_000;
/// Egress-only gateways and route tables of one page, which are the most that EC2 gives (EC2 API Reference, MaxResults of
/// DescribeEgressOnlyInternetGateways and DescribeRouteTables).
const EGRESS_ONLY_PAGE: usize = 255;
const TABLES_PAGE: usize = 100;
/// Calls of DescribeVpcAttribute for one VPC: each shows one attribute.
const ATTRIBUTES: usize = 2;

#[async_trait]
impl Networks for SimCloud {
    async fn describe_network(&self, kind: Kind, scope: &Scope) -> Result<Parts> {
        if scope == &Scope::Ids(BTreeSet::new()) {
            return Ok(Parts::default());
        }
        let operation = kind.operation();
        check_scope(kind, scope)?;
        let mut calls_so_far = 0;
        loop {
            let response = self
                .call(operation, format!("{scope:?}"), |region| Ok(region.describe_network(kind, scope)))
                .await?;
            calls_so_far += 1;
            if calls_so_far >= calls(kind, scope, &response) {
                return Ok(response);
            }
        }
    }

    async fn change_network(&self, change: &Change) -> Result<Parts> {
        self.call(change.operation(), format!("{change:?}"), |region| region.change_network(change)).await
    }

    async fn quotas(&self) -> Result<Quotas> {
        let known = Quotas {
            vpcs: self.quota("L-F678F1CE", Kind::Vpc, |it| it.vpcs).await?,
            addresses: self.quota("L-0263D0A3", Kind::Address, |it| it.addresses).await?,
            nat_gateways: self.quota("L-FE5A380F", Kind::NatGateway, |it| it.nat_gateways).await?,
            internet_gateways: self
                .quota("L-A4707A72", Kind::InternetGateway, |it| it.internet_gateways)
                .await?,
        };
        Ok(known)
    }
}

impl SimCloud {
    /// One quota and how much of it is used; `None` if this caller may not read it.
    async fn quota<T: Send>(
        &self,
        code: &str,
        counted: Kind,
        of: fn(Quotas) -> Option<T>,
    ) -> Result<Option<T>> {
        let asked = self.call(Operation::GetServiceQuota, code.to_owned(), |_| Ok(())).await;
        match asked {
            Ok(()) => {
                self.call(counted.operation(), "all".to_owned(), |region| Ok(of(region.network_quotas())))
                    .await
            }
            Err(error)
                if matches!(error.kind, ErrorKind::Denied | ErrorKind::NotFound | ErrorKind::Invalid) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Load balancers can only be queried by VPC, attributes only by ids: everything else is a mistake of the caller.
fn check_scope(kind: Kind, scope: &Scope) -> Result<()> {
    let sensible = match kind {
        Kind::LoadBalancer | Kind::TargetGroup => matches!(scope, Scope::Vpc(_)),
        Kind::VpcAttributes => matches!(scope, Scope::Ids(_)),
        Kind::Vpc
        | Kind::Subnet
        | Kind::InternetGateway
        | Kind::EgressOnlyGateway
        | Kind::Address
        | Kind::NatGateway
        | Kind::RouteTable
        | Kind::SecurityGroup
        | Kind::Endpoint
        | Kind::Interface
        | Kind::Zone => true,
    };
    if sensible {
        return Ok(());
    }
    let message = format!("{} cannot be asked for by {scope:?}", <&str>::from(kind));
    Err(CloudError::new(kind.operation(), ErrorKind::Invalid, None, &message))
}

/// How many calls of AWS a read needs.
fn calls(kind: Kind, scope: &Scope, response: &Parts) -> usize {
    let found = match kind {
        Kind::VpcAttributes => {
            let Scope::Ids(ids) = scope else { return ATTRIBUTES };
            return ids.len().saturating_mul(ATTRIBUTES);
        }
        // One of each of the two APIs.
        Kind::LoadBalancer => return 2,
        Kind::Vpc => response.vpcs.len(),
        Kind::Subnet => response.subnets.len(),
        Kind::InternetGateway => response.internet_gateways.len(),
        Kind::EgressOnlyGateway => return response.egress_only_gateways.len().div_ceil(EGRESS_ONLY_PAGE),
        Kind::Address => response.addresses.len(),
        Kind::NatGateway => response.nat_gateways.len(),
        Kind::RouteTable => return response.route_tables.len().div_ceil(TABLES_PAGE),
        Kind::SecurityGroup => response.security_groups.len(),
        Kind::Endpoint => response.endpoints.len(),
        Kind::Interface => response.interfaces.len(),
        Kind::TargetGroup => response.target_groups.len(),
        Kind::Zone => response.zones.len(),
    };
    found.div_ceil(PAGE)
}
