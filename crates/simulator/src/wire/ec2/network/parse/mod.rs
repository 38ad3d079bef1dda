//! Requests about networks: from their parameters to the change that they describe (EC2 API Reference, "Actions").
//!
//! Unsupported parameters are refused, never ignored.

mod endpoints;
pub(super) mod fields;
mod rules;
#[cfg(test)]
mod tests;

use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use fields::{attribute, fixed, id, ids, only, tags_of, v4, v6};
use foo_model::Zone;
use foo_model::network::{Change, DnsAttribute, Rule, SubnetAttribute};
use std::collections::{BTreeMap, BTreeSet};

/// Context of a request: values that it refers to or that EC2 chooses.
pub(super) struct Around<'a> {
    /// The region's zones, with their ids.
    pub(super) zones: &'a BTreeMap<Zone, String>,
    /// A new client token, for a request without one.
    pub(super) token: String,
    /// The rules of these ids (`sgr-…`).
    pub(super) rules: &'a dyn Fn(&Params) -> AwsResult<BTreeSet<Rule>>,
}

/// The change that a request describes.
pub(super) fn change(action: &str, params: &Params, around: &Around<'_>) -> AwsResult<Change> {
    let token = || params.text("ClientToken").filter(|it| !it.is_empty()).unwrap_or(&around.token).to_owned();
    match action {
        "CreateVpc"
        | "ModifyVpcAttribute"
        | "AssociateVpcCidrBlock"
        | "DisassociateVpcCidrBlock"
        | "DeleteVpc" => of_vpc(action, params),
        "CreateSubnet" | "ModifySubnetAttribute" | "AssociateSubnetCidrBlock" | "DeleteSubnet" => {
            of_subnet(action, params, around.zones)
        }
        "CreateRouteTable" | "CreateRoute" | "ReplaceRoute" | "DeleteRoute" | "DeleteRouteTable" => {
            of_table(action, params, token())
        }
        "AssociateRouteTable" | "ReplaceRouteTableAssociation" | "DisassociateRouteTable" => {
            of_association(action, params)
        }
        "CreateSecurityGroup"
        | "AuthorizeSecurityGroupIngress"
        | "AuthorizeSecurityGroupEgress"
        | "RevokeSecurityGroupIngress"
        | "RevokeSecurityGroupEgress"
        | "UpdateSecurityGroupRuleDescriptionsIngress"
        | "DeleteSecurityGroup" => of_group(action, params, around.rules),
        "CreateVpcEndpoint" | "ModifyVpcEndpoint" | "DeleteVpcEndpoints" => {
            endpoints::change(action, params, token())
        }
        _ => of_gateway(action, params, token()),
    }
}

fn of_vpc(action: &str, params: &Params) -> AwsResult<Change> {
    match action {
        "CreateVpc" => {
            only(
                params,
                &["CidrBlock", "AmazonProvidedIpv6CidrBlock", "InstanceTenancy", "TagSpecification"],
            )?;
            fixed(params, "InstanceTenancy", "default")?;
            Ok(Change::CreateVpc {
                cidr: v4(params, "CidrBlock")?,
                ipv6: params.flag("AmazonProvidedIpv6CidrBlock")?.unwrap_or(false),
                tags: tags_of(params, "vpc")?,
            })
        }
        "ModifyVpcAttribute" => {
            only(params, &["VpcId", "EnableDnsSupport", "EnableDnsHostnames"])?;
            let given = [
                (DnsAttribute::Support, attribute(params, "EnableDnsSupport")?),
                (DnsAttribute::Hostnames, attribute(params, "EnableDnsHostnames")?),
            ];
            let (attribute, enabled) = one_attribute(given)?;
            Ok(Change::ModifyVpcAttribute { vpc: id(params, "VpcId")?, attribute, enabled })
        }
        "AssociateVpcCidrBlock" => {
            only(params, &["VpcId", "CidrBlock", "AmazonProvidedIpv6CidrBlock"])?;
            let vpc = id(params, "VpcId")?;
            match (params.text("CidrBlock"), params.flag("AmazonProvidedIpv6CidrBlock")?) {
                (Some(_), Some(true)) => Err(AwsError::new(
                    "InvalidParameterCombination",
                    "Only one of cidrBlock and amazonProvidedIpv6CidrBlock can be specified.",
                )),
                (None, Some(true)) => Ok(Change::AssociateVpcIpv6 { vpc }),
                _ => Ok(Change::AssociateVpcCidrBlock { vpc, cidr: v4(params, "CidrBlock")? }),
            }
        }
        "DisassociateVpcCidrBlock" => {
            only(params, &["AssociationId"])?;
            Ok(Change::DisassociateVpcCidrBlock { association: id(params, "AssociationId")? })
        }
        _ => {
            only(params, &["VpcId"])?;
            Ok(Change::DeleteVpc { vpc: id(params, "VpcId")? })
        }
    }
}

/// "You can only modify one attribute at a time" (EC2 API Reference, ModifySubnetAttribute).
fn one_attribute<A>(given: [(A, Option<bool>); 2]) -> AwsResult<(A, bool)> {
    let mut given = given.into_iter().filter_map(|(attribute, enabled)| enabled.map(|it| (attribute, it)));
    match (given.next(), given.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(AwsError::missing("attribute")),
        (Some(_), Some(_)) => {
            Err(AwsError::new("InvalidParameterCombination", "Fields for multiple attribute types specified"))
        }
    }
}

fn of_subnet(action: &str, params: &Params, zones: &BTreeMap<Zone, String>) -> AwsResult<Change> {
    match action {
        "CreateSubnet" => {
            only(
                params,
                &[
                    "VpcId",
                    "CidrBlock",
                    "Ipv6CidrBlock",
                    "AvailabilityZone",
                    "AvailabilityZoneId",
                    "TagSpecification",
                ],
            )?;
            Ok(Change::CreateSubnet {
                vpc: id(params, "VpcId")?,
                zone: zone(params, zones)?,
                cidr: v4(params, "CidrBlock")?,
                ipv6: v6(params, "Ipv6CidrBlock")?,
                tags: tags_of(params, "subnet")?,
            })
        }
        "ModifySubnetAttribute" => {
            only(params, &["SubnetId", "MapPublicIpOnLaunch", "AssignIpv6AddressOnCreation"])?;
            let given = [
                (SubnetAttribute::PublicIpOnLaunch, attribute(params, "MapPublicIpOnLaunch")?),
                (SubnetAttribute::Ipv6OnCreation, attribute(params, "AssignIpv6AddressOnCreation")?),
            ];
            let (attribute, enabled) = one_attribute(given)?;
            Ok(Change::ModifySubnetAttribute { subnet: id(params, "SubnetId")?, attribute, enabled })
        }
        "AssociateSubnetCidrBlock" => {
            only(params, &["SubnetId", "Ipv6CidrBlock"])?;
            let ipv6 = v6(params, "Ipv6CidrBlock")?.ok_or_else(|| AwsError::missing("ipv6CidrBlock"))?;
            Ok(Change::AssociateSubnetCidrBlock { subnet: id(params, "SubnetId")?, ipv6 })
        }
        _ => {
            only(params, &["SubnetId"])?;
            Ok(Change::DeleteSubnet { subnet: id(params, "SubnetId")? })
        }
    }
}

/// A subnet's zone: by name, by id, or chosen by EC2.
fn zone(params: &Params, zones: &BTreeMap<Zone, String>) -> AwsResult<Zone> {
    match (params.text("AvailabilityZone"), params.text("AvailabilityZoneId")) {
        (Some(name), None) => Ok(Zone::from(name)),
        (None, Some(wanted)) => {
            let found = zones.iter().find(|(_, id)| *id == wanted).map(|(zone, _)| zone.clone());
            found.ok_or_else(|| {
                fields::wrong("AvailabilityZoneId", wanted, "There is no Availability Zone of this ID.")
            })
        }
        (None, None) => zones
            .keys()
            .next()
            .cloned()
            .ok_or_else(|| AwsError::new("InvalidZone.NotFound", "The region has no zones.")),
        (Some(_), Some(_)) => Err(AwsError::new(
            "InvalidParameterCombination",
            "Only one of availabilityZone and availabilityZoneId can be specified.",
        )),
    }
}

/// Internet gateways, and everything that [`of_address`] handles.
fn of_gateway(action: &str, params: &Params, token: String) -> AwsResult<Change> {
    match action {
        "CreateInternetGateway" => {
            only(params, &["TagSpecification"])?;
            Ok(Change::CreateInternetGateway { tags: tags_of(params, "internet-gateway")? })
        }
        "AttachInternetGateway" | "DetachInternetGateway" => {
            only(params, &["InternetGatewayId", "VpcId"])?;
            let (gateway, vpc) = (id(params, "InternetGatewayId")?, id(params, "VpcId")?);
            Ok(if action == "AttachInternetGateway" {
                Change::AttachInternetGateway { gateway, vpc }
            } else {
                Change::DetachInternetGateway { gateway, vpc }
            })
        }
        "DeleteInternetGateway" => {
            only(params, &["InternetGatewayId"])?;
            Ok(Change::DeleteInternetGateway { gateway: id(params, "InternetGatewayId")? })
        }
        "CreateEgressOnlyInternetGateway" => {
            only(params, &["VpcId", "ClientToken", "TagSpecification"])?;
            let tags = tags_of(params, "egress-only-internet-gateway")?;
            Ok(Change::CreateEgressOnlyInternetGateway { vpc: id(params, "VpcId")?, tags, token })
        }
        "DeleteEgressOnlyInternetGateway" => {
            only(params, &["EgressOnlyInternetGatewayId"])?;
            let gateway = id(params, "EgressOnlyInternetGatewayId")?;
            Ok(Change::DeleteEgressOnlyInternetGateway { gateway })
        }
        _ => of_address(action, params, token),
    }
}

/// Elastic IP addresses, NAT gateways and interfaces.
fn of_address(action: &str, params: &Params, token: String) -> AwsResult<Change> {
    match action {
        "AllocateAddress" => {
            only(params, &["Domain", "TagSpecification"])?;
            fixed(params, "Domain", "vpc")?;
            Ok(Change::AllocateAddress { tags: tags_of(params, "elastic-ip")? })
        }
        "ReleaseAddress" => {
            only(params, &["AllocationId"])?;
            Ok(Change::ReleaseAddress { allocation: id(params, "AllocationId")? })
        }
        "CreateNatGateway" => {
            only(
                params,
                &[
                    "SubnetId",
                    "AllocationId",
                    "ClientToken",
                    "ConnectivityType",
                    "AvailabilityMode",
                    "TagSpecification",
                ],
            )?;
            fixed(params, "ConnectivityType", "public")?;
            fixed(params, "AvailabilityMode", "zonal")?;
            let (subnet, allocation) = (id(params, "SubnetId")?, id(params, "AllocationId")?);
            Ok(Change::CreateNatGateway { subnet, allocation, tags: tags_of(params, "natgateway")?, token })
        }
        "DeleteNatGateway" => {
            only(params, &["NatGatewayId"])?;
            Ok(Change::DeleteNatGateway { gateway: id(params, "NatGatewayId")? })
        }
        "DeleteNetworkInterface" => {
            only(params, &["NetworkInterfaceId"])?;
            Ok(Change::DeleteNetworkInterface { interface: id(params, "NetworkInterfaceId")? })
        }
        _ => Err(AwsError::new(
            "InvalidAction",
            format!("The action {action} is not valid for this web service."),
        )),
    }
}

fn of_table(action: &str, params: &Params, token: String) -> AwsResult<Change> {
    match action {
        "CreateRouteTable" => {
            only(params, &["VpcId", "ClientToken", "TagSpecification"])?;
            let tags = tags_of(params, "route-table")?;
            Ok(Change::CreateRouteTable { vpc: id(params, "VpcId")?, tags, token })
        }
        "CreateRoute" | "ReplaceRoute" => {
            only(params, &rules::ROUTE)?;
            let table = id(params, "RouteTableId")?;
            let (destination, target) = (rules::destination(params)?, rules::target(params)?);
            Ok(if action == "CreateRoute" {
                Change::CreateRoute { table, destination, target }
            } else {
                Change::ReplaceRoute { table, destination, target }
            })
        }
        "DeleteRoute" => {
            only(params, rules::ROUTE.split_at(4).0)?;
            let destination = rules::destination(params)?;
            Ok(Change::DeleteRoute { table: id(params, "RouteTableId")?, destination })
        }
        _ => {
            only(params, &["RouteTableId"])?;
            Ok(Change::DeleteRouteTable { table: id(params, "RouteTableId")? })
        }
    }
}

fn of_association(action: &str, params: &Params) -> AwsResult<Change> {
    match action {
        "AssociateRouteTable" => {
            only(params, &["RouteTableId", "SubnetId"])?;
            let (table, subnet) = (id(params, "RouteTableId")?, id(params, "SubnetId")?);
            Ok(Change::AssociateRouteTable { table, subnet })
        }
        "ReplaceRouteTableAssociation" => {
            only(params, &["AssociationId", "RouteTableId"])?;
            let (association, table) = (id(params, "AssociationId")?, id(params, "RouteTableId")?);
            Ok(Change::ReplaceRouteTableAssociation { association, table })
        }
        _ => {
            only(params, &["AssociationId"])?;
            Ok(Change::DisassociateRouteTable { association: id(params, "AssociationId")? })
        }
    }
}

fn of_group(
    action: &str,
    params: &Params,
    by_id: &dyn Fn(&Params) -> AwsResult<BTreeSet<Rule>>,
) -> AwsResult<Change> {
    match action {
        "CreateSecurityGroup" => {
            only(params, &["GroupName", "GroupDescription", "VpcId", "TagSpecification"])?;
            return Ok(Change::CreateSecurityGroup {
                vpc: id(params, "VpcId")?,
                name: params.required("GroupName")?.to_owned(),
                description: params.required("GroupDescription")?.to_owned(),
                tags: tags_of(params, "security-group")?,
            });
        }
        "DeleteSecurityGroup" => {
            only(params, &["GroupId"])?;
            return Ok(Change::DeleteSecurityGroup { group: id(params, "GroupId")? });
        }
        "UpdateSecurityGroupRuleDescriptionsIngress" => {
            only(params, &["GroupId", "IpPermissions"])?;
            let (group, rules) = (id(params, "GroupId")?, rules::rules(params)?);
            return Ok(Change::UpdateSecurityGroupRuleDescriptionsIngress { group, rules });
        }
        _ => {}
    }
    let known =
        ["GroupId", "IpPermissions", "IpProtocol", "FromPort", "ToPort", "CidrIp", "SecurityGroupRuleId"];
    only(params, if action.starts_with("Revoke") { &known } else { known.split_at(6).0 })?;
    let group = id(params, "GroupId")?;
    let rules = if ids::<String>(params, "SecurityGroupRuleId").is_empty() {
        rules::rules(params)?
    } else {
        by_id(params)?
    };
    Ok(match action {
        "AuthorizeSecurityGroupIngress" => Change::AuthorizeSecurityGroupIngress { group, rules },
        "AuthorizeSecurityGroupEgress" => Change::AuthorizeSecurityGroupEgress { group, rules },
        "RevokeSecurityGroupIngress" => Change::RevokeSecurityGroupIngress { group, rules },
        _ => Change::RevokeSecurityGroupEgress { group, rules },
    })
}
