//! Service Quotas' actions (Service Quotas API Reference): the quotas of networks that the settings hold. None can be changed
//! here, as AWS changes them only after a while.

use super::json::fields::{number, required, text};
use super::operation::JsonOperation;
use crate::core::Region;
use crate::core::error::{AwsError, AwsResult};
use crate::core::network::NetworkQuotas;
use serde_json::{Value, json};

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

fn in_its_words(mut error: AwsError) -> AwsError {
    if matches!(error.code.as_str(), "MissingParameter" | "InvalidParameterValue") {
        "IllegalArgumentException".clone_into(&mut error.code);
    }
    error
}

fn get(region: &Region, body: &Value) -> AwsResult<Value> {
    let (service, code) = (required(body, "ServiceCode")?, required(body, "QuotaCode")?);
    let found = QUOTAS.iter().find(|(of, known, ..)| *of == service && *known == code);
    let quota = found.ok_or_else(|| {
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
    let mut of_service = QUOTAS.iter().filter(|(of, ..)| *of == service).peekable();
    if of_service.peek().is_none() {
        let text = "The request failed because the specified service does not exist.";
        return Err(AwsError::new("NoSuchResourceException", text));
    }
    let mut behind = of_service.filter(|(_, code, ..)| *code > after);
    let page: Vec<&Quota> = behind.by_ref().take(most).collect();
    let token = page.last().map(|(_, code, ..)| *code).filter(|_| behind.next().is_some());
    let quotas: Vec<Value> = page.iter().map(|quota| show(region, quota)).collect();
    let mut answer = json!({ "Quotas": quotas });
    if let (Some(token), Some(answer)) = (token, answer.as_object_mut()) {
        answer.insert("NextToken".to_owned(), json!(token));
    }
    Ok(answer)
}

fn show(region: &Region, (service, code, name, value): &Quota) -> Value {
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
        "Value": f64::from(value(&region.settings.network_quotas)),
        "Unit": "None",
        "Adjustable": true,
        "GlobalQuota": false,
        "QuotaAppliedAtLevel": "ACCOUNT",
    })
}
