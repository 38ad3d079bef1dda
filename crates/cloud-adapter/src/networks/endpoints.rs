//! Conversions of VPC endpoints between the SDK and `foo_model`.

use super::shapes::tags;
use crate::error::Gap;
use aws_sdk_ec2::types as aws;
use foo_model::network::{Endpoint, EndpointKind, EndpointState};

pub(super) fn endpoint(endpoint: &aws::VpcEndpoint) -> Result<Endpoint, Gap> {
    Ok(Endpoint {
        id: endpoint.vpc_endpoint_id().ok_or(Gap("vpcEndpointId"))?.into(),
        vpc: endpoint.vpc_id().ok_or(Gap("vpcId"))?.into(),
        service: endpoint.service_name().unwrap_or_default().to_owned(),
        kind: kind(endpoint),
        state: state(endpoint.state()),
        failure: failure(endpoint),
        tags: tags(endpoint.tags()),
    })
}

fn kind(endpoint: &aws::VpcEndpoint) -> EndpointKind {
    match endpoint.vpc_endpoint_type() {
        Some(aws::VpcEndpointType::Gateway) => EndpointKind::Gateway {
            tables: endpoint.route_table_ids().iter().map(|id| id.as_str().into()).collect(),
        },
        Some(aws::VpcEndpointType::Interface) => EndpointKind::Interface {
            subnets: endpoint.subnet_ids().iter().map(|id| id.as_str().into()).collect(),
            groups: endpoint.groups().iter().filter_map(|group| group.group_id().map(Into::into)).collect(),
            private_dns: endpoint.private_dns_enabled() == Some(true),
        },
        other => EndpointKind::Other(other.map(aws::VpcEndpointType::as_str).unwrap_or_default().to_owned()),
    }
}

/// EC2 writes states with a small first letter (`available`, `pendingAcceptance`), the SDK's names begin with a
/// capital; both are accepted.
fn state(state: Option<&aws::State>) -> EndpointState {
    match state.map(aws::State::as_str).unwrap_or_default().to_ascii_lowercase().as_str() {
        "available" => EndpointState::Available,
        "deleting" => EndpointState::Deleting,
        "deleted" => EndpointState::Deleted,
        "rejected" => EndpointState::Rejected,
        "failed" => EndpointState::Failed,
        "expired" => EndpointState::Expired,
        "pendingacceptance" => EndpointState::PendingAcceptance,
        _ => EndpointState::Pending,
    }
}

fn failure(endpoint: &aws::VpcEndpoint) -> Option<String> {
    let last = endpoint.last_error().and_then(aws::LastError::message);
    last.or_else(|| endpoint.failure_reason()).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_in_both_spellings() {
        for (text, expected) in [
            ("available", EndpointState::Available),
            ("Available", EndpointState::Available),
            ("pendingAcceptance", EndpointState::PendingAcceptance),
            ("PendingAcceptance", EndpointState::PendingAcceptance),
            ("deleting", EndpointState::Deleting),
            ("failed", EndpointState::Failed),
            ("partial", EndpointState::Pending),
        ] {
            assert_eq!(state(Some(&aws::State::from(text))), expected, "{text}");
        }
    }
}
