//! Requests for VPC endpoints.

use super::fields::{fixed, id, ids, only, tags_of, unsupported};
use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use foo_model::network::{Change, EndpointChange, EndpointKind};

/// The change that a request for endpoints describes.
pub(super) fn change(action: &str, params: &Params, token: String) -> AwsResult<Change> {
    match action {
        "CreateVpcEndpoint" => create(params, token),
        "ModifyVpcEndpoint" => modify(params),
        _ => {
            only(params, &["VpcEndpointId"])?;
            let endpoints = ids(params, "VpcEndpointId");
            if endpoints.is_empty() {
                return Err(AwsError::missing("vpcEndpointId"));
            }
            Ok(Change::DeleteVpcEndpoints { endpoints })
        }
    }
}

fn create(params: &Params, token: String) -> AwsResult<Change> {
    only(
        params,
        &[
            "VpcId",
            "ServiceName",
            "VpcEndpointType",
            "RouteTableId",
            "SubnetId",
            "SecurityGroupId",
            "PrivateDnsEnabled",
            "IpAddressType",
            "ClientToken",
            "TagSpecification",
        ],
    )?;
    fixed(params, "IpAddressType", "ipv4")?;
    let kind = match params.text("VpcEndpointType").unwrap_or("Gateway") {
        "Gateway" => gateway(params)?,
        "Interface" => {
            not_with(params, "RouteTableId", "Interface")?;
            EndpointKind::Interface {
                subnets: ids(params, "SubnetId"),
                groups: ids(params, "SecurityGroupId"),
                private_dns: params.flag("PrivateDnsEnabled")?.unwrap_or(true),
            }
        }
        other => return Err(unsupported("VpcEndpointType", other)),
    };
    Ok(Change::CreateVpcEndpoint {
        vpc: id(params, "VpcId")?,
        service: params.required("ServiceName")?.to_owned(),
        kind,
        tags: tags_of(params, "vpc-endpoint")?,
        token,
    })
}

fn gateway(params: &Params) -> AwsResult<EndpointKind> {
    not_with(params, "SubnetId", "Gateway")?;
    not_with(params, "SecurityGroupId", "Gateway")?;
    if params.flag("PrivateDnsEnabled")? == Some(true) {
        let text = "Private DNS can only be enabled for Interface endpoints.";
        return Err(AwsError::new("InvalidParameter", text));
    }
    Ok(EndpointKind::Gateway { tables: ids(params, "RouteTableId") })
}

/// Refuses a list that endpoints of this type do not have.
fn not_with(params: &Params, list: &str, kind: &str) -> AwsResult<()> {
    if params.texts(list).is_empty() {
        return Ok(());
    }
    let text = format!("{list}s cannot be specified for endpoints of type {kind}.");
    Err(AwsError::new("InvalidParameter", text))
}

fn modify(params: &Params) -> AwsResult<Change> {
    only(
        params,
        &[
            "VpcEndpointId",
            "AddRouteTableId",
            "RemoveRouteTableId",
            "AddSubnetId",
            "RemoveSubnetId",
            "AddSecurityGroupId",
            "RemoveSecurityGroupId",
            "PrivateDnsEnabled",
        ],
    )?;
    let change = EndpointChange {
        add_tables: ids(params, "AddRouteTableId"),
        remove_tables: ids(params, "RemoveRouteTableId"),
        add_subnets: ids(params, "AddSubnetId"),
        remove_subnets: ids(params, "RemoveSubnetId"),
        add_groups: ids(params, "AddSecurityGroupId"),
        remove_groups: ids(params, "RemoveSecurityGroupId"),
        private_dns: params.flag("PrivateDnsEnabled")?,
    };
    Ok(Change::ModifyVpcEndpoint { endpoint: id(params, "VpcEndpointId")?, change })
}
