//! Quotas (Service Quotas), and how much of each is used (EC2).

use super::reads;
use crate::error;
use aws_sdk_ec2::Client as Ec2;
use aws_sdk_ec2::types as aws;
use aws_sdk_servicequotas::Client;
use foo_cloud::quotas::{ADDRESSES, INTERNET_GATEWAYS, NAT_GATEWAYS, VPCS};
use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use foo_model::Zone;
use foo_model::network::{Quotas, Scope};
use std::collections::BTreeMap;

/// The quotas that AWS returns. For a quota that is unknown or not readable the usage is not read either.
pub(super) async fn quotas(quotas: &Client, ec2: &Ec2) -> Result<Quotas> {
    let mut known = Quotas::default();
    if let Some(most) = allowed(quotas, VPCS).await? {
        known.vpcs = Some((most, vpcs(ec2).await?));
    }
    if let Some(most) = allowed(quotas, ADDRESSES).await? {
        known.addresses = Some((most, addresses(ec2).await?));
    }
    if let Some(most) = allowed(quotas, NAT_GATEWAYS).await? {
        known.nat_gateways = Some((most, nat_gateways(ec2).await?));
    }
    if let Some(most) = allowed(quotas, INTERNET_GATEWAYS).await? {
        known.internet_gateways = Some((most, internet_gateways(ec2).await?));
    }
    Ok(known)
}

/// The value of a quota, by its service and code, if AWS shows it.
pub(crate) async fn allowed(client: &Client, (service, code): (&str, &str)) -> Result<Option<u32>> {
    let response = client.get_service_quota().service_code(service).quota_code(code).send().await;
    match response {
        Ok(response) => Ok(response.quota.and_then(|quota| quota.value).and_then(whole)),
        Err(failed) => match error::of(Operation::GetServiceQuota, &failed) {
            error if is_silence(&error) => Ok(None),
            error => Err(error),
        },
    }
}

/// `None` without the permission, and if the service or the quota does not exist in the region. That is not an error:
/// AWS refuses creations above the quota.
fn is_silence(error: &CloudError) -> bool {
    match error.kind {
        ErrorKind::Denied | ErrorKind::NotFound | ErrorKind::Invalid => true,
        ErrorKind::Throttled
        | ErrorKind::Credentials
        | ErrorKind::AlreadyExists
        | ErrorKind::LimitExceeded
        | ErrorKind::InUse
        | ErrorKind::LostResponse
        | ErrorKind::Unreachable
        | ErrorKind::Internal => false,
    }
}

/// Service Quotas returns floating-point numbers; these quotas are whole numbers.
fn whole(value: f64) -> Option<u32> {
    format!("{value:.0}").parse().ok()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

async fn vpcs(ec2: &Ec2) -> Result<u32> {
    let found = ec2.describe_vpcs().max_results(1000).into_paginator().items().send();
    let found = found.collect::<Result<Vec<_>, _>>().await;
    let found = found.map_err(|failed| error::of(Operation::DescribeVpcs, &failed))?;
    Ok(number(found.len()))
}

async fn internet_gateways(ec2: &Ec2) -> Result<u32> {
    let found = ec2.describe_internet_gateways().max_results(1000).into_paginator().items().send();
    let found = found.collect::<Result<Vec<_>, _>>().await;
    let found = found.map_err(|failed| error::of(Operation::DescribeInternetGateways, &failed))?;
    Ok(number(found.len()))
}

/// Addresses of Amazon's pool; the account's own (BYOIP) do not count (Amazon EC2 User Guide, "Elastic IP
/// addresses").
async fn addresses(ec2: &Ec2) -> Result<u32> {
    let response = ec2.describe_addresses().send().await;
    let response = response.map_err(|failed| error::of(Operation::DescribeAddresses, &failed))?;
    let is_amazons = |it: &&aws::Address| it.public_ipv4_pool().is_none_or(|pool| pool == "amazon");
    Ok(number(response.addresses().iter().filter(is_amazons).count()))
}

/// NAT gateways that count, by zone: those pending, available and deleting. Their subnets have the zone.
async fn nat_gateways(ec2: &Ec2) -> Result<BTreeMap<Zone, u32>> {
    const OPERATION: Operation = Operation::DescribeNatGateways;
    let states = ["pending", "available", "deleting"].map(str::to_owned).to_vec();
    let counting = aws::Filter::builder().name("state").set_values(Some(states)).build();
    let found =
        ec2.describe_nat_gateways().filter(counting).max_results(1000).into_paginator().items().send();
    let found = found.collect::<Result<Vec<_>, _>>().await.map_err(|failed| error::of(OPERATION, &failed))?;
    let mut zones = BTreeMap::new();
    let subnets = found.iter().filter_map(|gateway| gateway.subnet_id().map(str::to_owned)).collect();
    let subnets = reads::subnets(ec2, &Scope::Ids(subnets)).await?.subnets;
    let zone_of = |gateway: &aws::NatGateway| Some(&subnets.get(&gateway.subnet_id()?.into())?.zone);
    for zone in found.iter().filter_map(zone_of) {
        let count: &mut u32 = zones.entry(zone.clone()).or_default();
        *count = count.saturating_add(1);
    }
    Ok(zones)
}
