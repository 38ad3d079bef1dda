//! VPC endpoints of a network: from the names of services to the endpoints that AWS has for them.

use super::groups::ENDPOINT;
use foo_api::cluster::{self as api, EndpointName, EndpointType};
use foo_model::{Blocked, Reason, Zone};
use foo_network::desired::{DesiredEndpoint, DesiredEndpointKind, DesiredSubnet, Tier};
use foo_network::region;
use std::collections::{BTreeMap, BTreeSet};

/// The endpoints. A service that is listed twice, by its short and by its whole name, is one endpoint: AWS refuses a
/// second gateway to one service in a route table, and a second private name of one service in a VPC. A gateway and an
/// interface to one service (S3) are two.
pub(super) fn desired(
    spec: &api::ManagedNetwork,
    region: &str,
    subnets: &[DesiredSubnet],
) -> Result<Vec<DesiredEndpoint>, Blocked> {
    let mut endpoints: BTreeMap<(String, EndpointType), DesiredEndpoint> = BTreeMap::new();
    for endpoint in &spec.endpoints {
        let some = match (endpoint.name, &endpoint.service) {
            (Some(name), _) => of_name(name, region, subnets)?,
            (None, Some(service)) => vec![of_service(service, endpoint.endpoint_type, region, subnets)],
            (None, None) => Vec::new(),
        };
        for endpoint in some {
            let key = (endpoint.service.clone(), type_of(&endpoint));
            // The short name counts, wherever in the list it is.
            if endpoint.name != endpoint.service || !endpoints.contains_key(&key) {
                endpoints.insert(key, endpoint);
            }
        }
    }
    let mut endpoints: Vec<DesiredEndpoint> = endpoints.into_values().collect();
    endpoints.sort_by(|one, other| one.name.cmp(&other.name));
    apart(endpoints)
}

fn type_of(endpoint: &DesiredEndpoint) -> EndpointType {
    match endpoint.kind {
        DesiredEndpointKind::Gateway => EndpointType::Gateway,
        DesiredEndpointKind::Interface { .. } => EndpointType::Interface,
    }
}

/// The endpoints, if no two have one name: the name is what an endpoint is found again by.
fn apart(endpoints: Vec<DesiredEndpoint>) -> Result<Vec<DesiredEndpoint>, Blocked> {
    let mut pairs = endpoints.iter().zip(endpoints.iter().skip(1));
    let twice = pairs.find(|(one, other)| one.name == other.name).map(|(one, _)| &one.name);
    match twice {
        None => Ok(endpoints),
        Some(name) => {
            let message = format!(
                "{name} is listed as a gateway and as an interface: list one of them by its short name \
                 (spec.network.managed.endpoints[].name)"
            );
            Err(Blocked::new(Reason::EndpointTwice, message))
        }
    }
}

/// The parts of the service names, after the region.
fn services(name: EndpointName) -> &'static [&'static str] {
    match name {
        EndpointName::S3 => &["s3"],
        EndpointName::DynamoDB => &["dynamodb"],
        EndpointName::ECR => &["ecr.api", "ecr.dkr"],
        EndpointName::EC2 => &["ec2"],
        EndpointName::STS => &["sts"],
        EndpointName::SSM => &["ssm", "ssmmessages", "ec2messages"],
        EndpointName::AutoScaling => &["autoscaling"],
        EndpointName::EKS => &["eks"],
        EndpointName::EKSAuth => &["eks-auth"],
        EndpointName::ElasticLoadBalancing => &["elasticloadbalancing"],
        EndpointName::SQS => &["sqs"],
        EndpointName::Logs => &["logs"],
    }
}

fn endpoint_type(name: EndpointName) -> EndpointType {
    match name {
        EndpointName::S3 | EndpointName::DynamoDB => EndpointType::Gateway,
        EndpointName::ECR
        | EndpointName::EC2
        | EndpointName::STS
        | EndpointName::SSM
        | EndpointName::AutoScaling
        | EndpointName::EKS
        | EndpointName::EKSAuth
        | EndpointName::ElasticLoadBalancing
        | EndpointName::SQS
        | EndpointName::Logs => EndpointType::Interface,
    }
}

fn of_name(
    name: EndpointName,
    region: &str,
    subnets: &[DesiredSubnet],
) -> Result<Vec<DesiredEndpoint>, Blocked> {
    let endpoint = |service: &&str| {
        let whole = service_name(region, service)?;
        let kind = kind(endpoint_type(name), subnets, true);
        Ok(DesiredEndpoint { name: (*service).to_owned(), service: whole, kind })
    };
    services(name).iter().map(endpoint).collect()
}

/// A service that the user named whole. Its usual name leads to the endpoint if it is one of AWS's own; S3 does that
/// for gateways only.
fn of_service(
    service: &str,
    endpoint_type: Option<EndpointType>,
    region: &str,
    subnets: &[DesiredSubnet],
) -> DesiredEndpoint {
    let short = service.split_once(&format!("amazonaws.{region}.")).map(|(_, short)| short);
    let private_dns = short.is_some_and(|short| short != "s3");
    let kind = kind(endpoint_type.unwrap_or_default(), subnets, private_dns);
    DesiredEndpoint { name: service.to_owned(), service: service.to_owned(), kind }
}

fn kind(endpoint_type: EndpointType, subnets: &[DesiredSubnet], private_dns: bool) -> DesiredEndpointKind {
    match endpoint_type {
        EndpointType::Gateway => DesiredEndpointKind::Gateway,
        EndpointType::Interface => DesiredEndpointKind::Interface {
            subnets: one_per_zone(subnets),
            groups: [ENDPOINT.to_owned()].into(),
            private_dns,
        },
    }
}

/// The first private subnet of each zone, by key.
fn one_per_zone(subnets: &[DesiredSubnet]) -> BTreeSet<String> {
    let mut first: BTreeMap<&Zone, &String> = BTreeMap::new();
    for subnet in subnets.iter().filter(|subnet| subnet.tier == Tier::Private) {
        first.entry(&subnet.zone).or_insert(&subnet.key);
    }
    first.into_values().cloned().collect()
}

/// The whole name of a service in a region.
fn service_name(region: &str, service: &str) -> Result<String, Blocked> {
    region::service_name(region, service).ok_or_else(|| {
        let message = format!(
            "the names of AWS's endpoints in region {region} are not known: name {service} by its whole name \
             (spec.network.managed.endpoints[].service)"
        );
        Blocked::new(Reason::EndpointUnknown, message)
    })
}
