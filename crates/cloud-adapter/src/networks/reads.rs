//! Reads of each kind of part in EC2.

use super::queries::{How, Query, all, senseless};
use super::{endpoints, routes, rules, shapes};
use crate::error::{self, Gap};
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{Operation, Result};
use foo_model::VpcId;
use foo_model::network::{Parts, Scope};
use std::collections::BTreeMap;

/// Parts per page, as many as EC2 allows of most kinds.
const PAGE: i32 = 1000;

/// How to read parts that EC2 can filter by VPC.
fn of_vpc(operation: Operation, vpc_filter: &'static str, page: i32) -> How {
    How { operation, vpc_filter: Some(vpc_filter), page: Some(page) }
}

/// What happens if a part cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Odd {
    /// It is skipped with a warning, so that it does not affect the others of the response.
    SetAside,
    /// The read fails: a caller that read this very part must not conclude that it does not exist.
    Fails,
}

impl From<&Scope> for Odd {
    fn from(scope: &Scope) -> Self {
        match scope {
            Scope::Ids(_) => Self::Fails,
            Scope::TagKey(_) | Scope::Tag(..) | Scope::Vpc(_) => Self::SetAside,
        }
    }
}

/// The parts that can be decoded, by id.
pub(super) fn readable<A, K: Ord, P>(
    operation: Operation,
    odd: impl Into<Odd>,
    found: &[A],
    read: impl Fn(&A) -> Result<P, Gap>,
    id: impl Fn(&P) -> K,
) -> Result<BTreeMap<K, P>> {
    let odd = odd.into();
    let mut parts = BTreeMap::new();
    for one in found {
        match (read(one), odd) {
            (Ok(part), _) => drop(parts.insert(id(&part), part)),
            (Err(gap), Odd::Fails) => return Err(gap.during(operation)),
            (Err(Gap(field)), Odd::SetAside) => {
                let operation = operation.name();
                tracing::warn!(operation, field, "AWS returned something without a required field");
            }
        }
    }
    Ok(parts)
}

pub(super) async fn vpcs(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_vpcs().set_vpc_ids(q.ids).set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeVpcs, "vpc-id", PAGE);
    let found = all(how, scope, ask).await?;
    let vpcs = readable(how.operation, scope, &found, shapes::vpc, |it| it.id.clone())?;
    Ok(Parts { vpcs, ..Parts::default() })
}

/// VPCs with the attributes that only DescribeVpcAttribute returns. A VPC that is deleted meanwhile is omitted.
pub(super) async fn vpc_attributes(client: &Client, scope: &Scope) -> Result<Parts> {
    if !matches!(scope, Scope::Ids(_)) {
        return Err(senseless(Operation::DescribeVpcAttribute, "attributes are asked for by ids only"));
    }
    let mut parts = vpcs(client, scope).await?;
    let ids: Vec<VpcId> = parts.vpcs.keys().cloned().collect();
    for id in ids {
        let support = attribute(client, &id, aws::VpcAttributeName::EnableDnsSupport).await?;
        let hostnames = attribute(client, &id, aws::VpcAttributeName::EnableDnsHostnames).await?;
        match (support, hostnames, parts.vpcs.get_mut(&id)) {
            (Some(support), Some(hostnames), Some(vpc)) => {
                vpc.dns_support = Some(support);
                vpc.dns_hostnames = Some(hostnames);
            }
            _ => drop(parts.vpcs.remove(&id)),
        }
    }
    Ok(parts)
}

/// One attribute; none if there is no such VPC.
async fn attribute(client: &Client, vpc: &VpcId, name: aws::VpcAttributeName) -> Result<Option<bool>> {
    const OPERATION: Operation = Operation::DescribeVpcAttribute;
    let call = client.describe_vpc_attribute().vpc_id(vpc.as_str()).attribute(name);
    let response = match call.send().await {
        Ok(response) => response,
        Err(failed) if failed.code() == Some("InvalidVpcID.NotFound") => return Ok(None),
        Err(failed) => return Err(error::of(OPERATION, &failed)),
    };
    let told = response.enable_dns_support.or(response.enable_dns_hostnames);
    let value = told.and_then(|told| told.value).ok_or(Gap("value"));
    value.map(Some).map_err(|gap| gap.during(OPERATION))
}

pub(super) async fn subnets(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call =
            client.describe_subnets().set_subnet_ids(q.ids).set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeSubnets, "vpc-id", PAGE);
    let found = all(how, scope, ask).await?;
    let subnets = readable(how.operation, scope, &found, shapes::subnet, |it| it.id.clone())?;
    Ok(Parts { subnets, ..Parts::default() })
}

pub(super) async fn internet_gateways(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_internet_gateways().set_internet_gateway_ids(q.ids);
        let call = call.set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeInternetGateways, "attachment.vpc-id", PAGE);
    let found = all(how, scope, ask).await?;
    let internet_gateways =
        readable(how.operation, scope, &found, shapes::internet_gateway, |it| it.id.clone())?;
    Ok(Parts { internet_gateways, ..Parts::default() })
}

/// EC2 filters them only by tags: those of a VPC are selected here.
pub(super) async fn egress_only_gateways(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_egress_only_internet_gateways();
        let call = call.set_egress_only_internet_gateway_ids(q.ids);
        let call = call.set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how =
        How { operation: Operation::DescribeEgressOnlyInternetGateways, vpc_filter: None, page: Some(255) };
    let found = all(how, scope, ask).await?;
    let mut egress_only_gateways =
        readable(how.operation, scope, &found, shapes::egress_only_gateway, |it| it.id.clone())?;
    if let Scope::Vpc(vpc) = scope {
        egress_only_gateways.retain(|_, gateway| gateway.vpc == *vpc);
    }
    Ok(Parts { egress_only_gateways, ..Parts::default() })
}

pub(super) async fn addresses(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_addresses().set_allocation_ids(q.ids).set_filters(q.filters);
        async move { call.send().await.map(|response| response.addresses.unwrap_or_default()) }
    };
    let how = How { operation: Operation::DescribeAddresses, vpc_filter: None, page: None };
    let found = all(how, scope, ask).await?;
    let addresses = readable(how.operation, scope, &found, shapes::address, |it| it.id.clone())?;
    Ok(Parts { addresses, ..Parts::default() })
}

pub(super) async fn nat_gateways(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_nat_gateways().set_nat_gateway_ids(q.ids);
        let call = call.set_filter(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeNatGateways, "vpc-id", PAGE);
    let found = all(how, scope, ask).await?;
    let nat_gateways = readable(how.operation, scope, &found, shapes::nat_gateway, |it| it.id.clone())?;
    Ok(Parts { nat_gateways, ..Parts::default() })
}

pub(super) async fn route_tables(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_route_tables().set_route_table_ids(q.ids);
        let call = call.set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeRouteTables, "vpc-id", 100);
    let found = all(how, scope, ask).await?;
    let route_tables = readable(how.operation, scope, &found, routes::route_table, |it| it.id.clone())?;
    Ok(Parts { route_tables, ..Parts::default() })
}

pub(super) async fn security_groups(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_security_groups().set_group_ids(q.ids);
        let call = call.set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeSecurityGroups, "vpc-id", PAGE);
    let found = all(how, scope, ask).await?;
    let security_groups = readable(how.operation, scope, &found, rules::security_group, |it| it.id.clone())?;
    Ok(Parts { security_groups, ..Parts::default() })
}

pub(super) async fn endpoints(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_vpc_endpoints().set_vpc_endpoint_ids(q.ids);
        let call = call.set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeVpcEndpoints, "vpc-id", PAGE);
    let found = all(how, scope, ask).await?;
    let endpoints = readable(how.operation, scope, &found, endpoints::endpoint, |it| it.id.clone())?;
    Ok(Parts { endpoints, ..Parts::default() })
}

pub(super) async fn interfaces(client: &Client, scope: &Scope) -> Result<Parts> {
    let ask = |q: Query| {
        let call = client.describe_network_interfaces().set_network_interface_ids(q.ids);
        let call = call.set_filters(q.filters).set_max_results(q.page);
        call.into_paginator().items().send().collect::<Result<Vec<_>, _>>()
    };
    let how = of_vpc(Operation::DescribeNetworkInterfaces, "vpc-id", PAGE);
    let found = all(how, scope, ask).await?;
    let interfaces = readable(how.operation, scope, &found, shapes::interface, |it| it.id.clone())?;
    Ok(Parts { interfaces, ..Parts::default() })
}

pub(super) async fn zones(client: &Client) -> Result<Parts> {
    const OPERATION: Operation = Operation::DescribeAvailabilityZones;
    let response = client.describe_availability_zones().send().await;
    let response = response.map_err(|failed| error::of(OPERATION, &failed))?;
    let zones = readable(OPERATION, Odd::SetAside, response.availability_zones(), shapes::zone, |it| {
        it.name.clone()
    })?;
    Ok(Parts { zones, ..Parts::default() })
}
