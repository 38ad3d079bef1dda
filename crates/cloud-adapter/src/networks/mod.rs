//! VPCs and their parts: reads of every kind of part, and every change.
//!
//! * `queries`: ids, filters and pages of reads;
//! * `shapes`, `routes`, `rules`, `endpoints`: conversions of parts between the SDK and `foo_model`;
//! * `reads`: one read per kind of EC2; `load_balancers`, `quotas`: those of other services;
//! * `changes`: one call per change.

mod changes;
mod endpoints;
mod load_balancers;
mod queries;
mod quotas;
mod reads;
mod routes;
mod rules;
mod shapes;

pub(crate) use quotas::allowed;

use crate::AwsCloud;
use async_trait::async_trait;
use foo_cloud::{Networks, Result};
use foo_model::network::{Change, Kind, Parts, Quotas, Scope};

#[async_trait]
impl Networks for AwsCloud {
    async fn describe_network(&self, kind: Kind, scope: &Scope) -> Result<Parts> {
        let ec2 = &self.ec2.repeating;
        match kind {
            Kind::Vpc => reads::vpcs(ec2, scope).await,
            Kind::VpcAttributes => reads::vpc_attributes(ec2, scope).await,
            Kind::Subnet => reads::subnets(ec2, scope).await,
            Kind::InternetGateway => reads::internet_gateways(ec2, scope).await,
            Kind::EgressOnlyGateway => reads::egress_only_gateways(ec2, scope).await,
            Kind::Address => reads::addresses(ec2, scope).await,
            Kind::NatGateway => reads::nat_gateways(ec2, scope).await,
            Kind::RouteTable => reads::route_tables(ec2, scope).await,
            Kind::SecurityGroup => reads::security_groups(ec2, scope).await,
            Kind::Endpoint => reads::endpoints(ec2, scope).await,
            Kind::Interface => reads::interfaces(ec2, scope).await,
            Kind::LoadBalancer => {
                load_balancers::describe(&self.classic.repeating, &self.balancers.repeating, scope).await
            }
            Kind::TargetGroup => {
                load_balancers::describe_target_groups(&self.balancers.repeating, scope).await
            }
            Kind::Zone => reads::zones(ec2).await,
        }
    }

    async fn change_network(&self, change: &Change) -> Result<Parts> {
        changes::send(self, change).await
    }

    async fn quotas(&self) -> Result<Quotas> {
        quotas::quotas(&self.quotas, &self.ec2.repeating).await
    }
}
