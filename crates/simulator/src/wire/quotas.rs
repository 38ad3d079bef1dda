//! Service Quotas' actions (Service Quotas API Reference): the quotas of networks in the settings, and those of vCPUs that are set; a vCPU
//! quota that is not set does not exist. The API cannot change them, because AWS changes them only after a review.

use super::json_fields::{number, required, text};
use super::operation::JsonOperation;
use crate::core::Region;
use crate::core::error::{AwsError, AwsResult};
use crate::core::network::NetworkQuotas;
use foo_cloud::VcpuQuota;
use serde_json::{Value, json};
use strum::IntoEnumIterator as _;

/// All actions.
pub(super) const ACTIONS: [(&str, JsonOperation); 2] = [
    ("GetServiceQuota", |region, body, _| get(region, body).map_err(in_its_words)),
    ("ListServiceQuotas", |region, body, _| list(region, body).map_err(in_its_words)),
];

/// A quota: its service, code, name and value.
type Quota = (&'static str, &'static str, &'static str, fn(&NetworkQuotas) -> u32);

/// Codes and names as AWS has them (Service Quotas console, "Amazon VPC" and "Amazon EC2").
const QUOTAS: [Quota; 10] = [
    ("ec2", "L-0263D0A3", "EC2-VPC Elastic IPs", |quotas| quotas.addresses),
    ("vpc", "L-0EA8095F", "Inbound or outbound rules per security group", |quotas| quotas.rules),
    ("vpc", "L-29B6F2EB", "Interface VPC endpoints per VPC", |quotas| quotas.endpoints),
    ("vpc", "L-407747CB", "Subnets per VPC", |quotas| quotas.subnets),
    ("vpc", "L-589F43AA", "Route tables per VPC", |quotas| quotas.route_tables),
    ("vpc", "L-83CA0A9D", "IPv4 CIDR blocks per VPC", |quotas| quotas.ranges),
    ("vpc", "L-A4707A72", "Internet gateways per Region", |quotas| quotas.internet_gateways),
    ("vpc", "L-E79EC296", "VPC security groups per Region", |quotas| quotas.security_groups),
    ("vpc", "L-F678F1CE", "VPCs per Region", |quotas| quotas.vpcs),
    ("vpc", "L-FE5A380F", "NAT gateways per Availability Zone", |quotas| quotas.nat_gateways),
];

/// A quota and its value.
struct Told {
    service: &'static str,
    code: &'static str,
    name: &'static str,
    value: u32,
}

/// All quotas of a service, by code.
fn of_service(region: &Region, service: &str) -> Vec<Told> {
    let networks = QUOTAS.iter().map(|(service, code, name, value)| {
        let value = value(&region.settings.network_quotas);
        Told { service, code, name, value }
    });
    let vcpus = VcpuQuota::iter().filter_map(|quota| {
        let value = region.vcpu_quota(quota)?;
        Some(Told { service: "ec2", code: quota.code(), name: quota.name(), value })
    });
    let mut all: Vec<Told> = networks.chain(vcpus).filter(|quota| quota.service == service).collect();
    all.sort_by_key(|quota| quota.code);
    all
}

fn in_its_words(mut error: AwsError) -> AwsError {
    if matches!(error.code.as_str(), "MissingParameter" | "InvalidParameterValue") {
        "IllegalArgumentException".clone_into(&mut error.code);
    }
    error
}

fn get(region: &Region, body: &Value) -> AwsResult<Value> {
    let (service, code) = (required(body, "ServiceCode")?, required(body, "QuotaCode")?);
    let all = of_service(region, service);
    let quota = all.iter().find(|quota| quota.code == code).ok_or_else(|| {
        AwsError::new(
            "NoSuchResourceException",
            "The request failed because the specified quota does not exist.",
        )
    })?;
    Ok(json!({ "Quota": show(region, quota) }))
}

fn list(region: &Region, body: &Value) -> AwsResult<Value> {
    let service = required(body, "ServiceCode")?;
    let most = usize::try_from(number(body, "MaxResults", 1, 100)?.unwrap_or(100)).unwrap_or(100);
    let after = text(body, "NextToken")?.unwrap_or_default();
    let all = of_service(region, service);
    if all.is_empty() {
        let text = "The request failed because the specified service does not exist.";
        return Err(AwsError::new("NoSuchResourceException", text));
    }
    let mut behind = all.iter().filter(|quota| quota.code > after);
    let page: Vec<&Told> = behind.by_ref().take(most).collect();
    let token = page.last().map(|quota| quota.code).filter(|_| behind.next().is_some());
    let quotas: Vec<Value> = page.iter().map(|quota| show(region, quota)).collect();
    let mut response = json!({ "Quotas": quotas });
    if let (Some(token), Some(response)) = (token, response.as_object_mut()) {
        response.insert("NextToken".to_owned(), json!(token));
    }
    Ok(response)
}

fn show(region: &Region, Told { service, code, name, value }: &Told) -> Value {
    let service_name = if *service == "ec2" {
        "Amazon Elastic Compute Cloud (Amazon EC2)"
    } else {
        "Amazon Virtual Private Cloud (Amazon VPC)"
    };
    json!({
        "ServiceCode": service,
        "ServiceName": service_name,
        "QuotaArn": format!("arn:aws:servicequotas:{}:{}:{service}/{code}", region.name, region.account),
        "QuotaCode": code,
        "QuotaName": name,
        "Value": f64::from(*value),
        "Unit": "None",
        "Adjustable": true,
        "GlobalQuota": false,
        "QuotaAppliedAtLevel": "ACCOUNT",
    })
}
