//! VPCs and their parts: reads of every kind of part, and every change.
//!
//! * `questions`: ids, filters and pages of reads;
//! * `shapes`, `routes`, `rules`, `endpoints`: conversions of parts between the SDK and `foo_model`;
//! * `looks`: one read per kind of EC2; `load_balancers`, `quotas`: those of other services;
//! * `changes`: one call per change.

mod changes;
mod endpoints;
mod load_balancers;
mod looks;
mod questions;
mod quotas;
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
            Kind::Vpc => looks::vpcs(ec2, scope).await,
            Kind::VpcAttributes => looks::vpc_attributes(ec2, scope).await,
            Kind::Subnet => looks::subnets(ec2, scope).await,
            Kind::InternetGateway => looks::internet_gateways(ec2, scope).await,
            Kind::EgressOnlyGateway => looks::egress_only_gateways(ec2, scope).await,
            Kind::Address => looks::addresses(ec2, scope).await,
            Kind::NatGateway => looks::nat_gateways(ec2, scope).await,
            Kind::RouteTable => looks::route_tables(ec2, scope).await,
            Kind::SecurityGroup => looks::security_groups(ec2, scope).await,
            Kind::Endpoint => looks::endpoints(ec2, scope).await,
            Kind::Interface => looks::interfaces(ec2, scope).await,
            Kind::LoadBalancer => {
                load_balancers::describe(&self.classic.repeating, &self.balancers.repeating, scope).await
            }
            Kind::TargetGroup => {
                load_balancers::describe_target_groups(&self.balancers.repeating, scope).await
            }
            Kind::Zone => looks::zones(ec2).await,
        }
    }

    async fn change_network(&self, change: &Change) -> Result<Parts> {
        changes::send(self, change).await
    }

    async fn quotas(&self) -> Result<Quotas> {
        quotas::quotas(&self.quotas, &self.ec2.repeating).await
    }
}
