//! Carries out a change and writes EC2's response.

use super::render::groups::{Direction, write_revoked, write_rule};
use super::render::tables::write_associated;
use super::render::{endpoints, gateways, groups, tables, vpcs};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::wire::ec2::tags;
use crate::wire::xml::Xml;
use foo_model::network::{Change, CidrState, Parts, Rule, Vpc};
use foo_model::{AssociationId, EndpointId, SecurityGroupId};
use std::collections::BTreeSet;

/// Carries out a change and writes the response.
pub(super) fn carry_out(
    region: &mut Region,
    change: &Change,
    token: Option<&str>,
    xml: &mut Xml,
) -> AwsResult<()> {
    match change {
        Change::DeleteVpcEndpoints { endpoints } => {
            delete_endpoints(region, endpoints, xml);
            Ok(())
        }
        Change::DisassociateVpcCidrBlock { association } => {
            let former = range_of(region, association);
            region.change_network(change)?;
            if let Some(mut vpc) = former {
                vpc.cidrs.iter_mut().for_each(|it| it.state = CidrState::Disassociating);
                vpc.ipv6.iter_mut().for_each(|it| it.state = CidrState::Disassociating);
                write_range(xml, &vpc);
            }
            Ok(())
        }
        _ => {
            let done = region.change_network(change)?;
            respond(region, change, &done, xml);
            if let Some(token) = token.filter(|_| change.token().is_some()) {
                xml.text("clientToken", token);
            }
            Ok(())
        }
    }
}

/// The response lists endpoints that cannot be deleted; the call succeeds nevertheless (EC2 API Reference,
/// DeleteVpcEndpoints).
fn delete_endpoints(region: &mut Region, endpoints: &BTreeSet<EndpointId>, xml: &mut Xml) {
    let refused = region.delete_endpoints(endpoints);
    xml.list("unsuccessful", "item", refused, |xml, (endpoint, error)| {
        xml.text("resourceId", endpoint.as_str());
        xml.within("error", |xml| {
            xml.text("code", &error.code);
            xml.text("message", &error.message);
        });
    });
}

/// The VPC of an association, with only that association.
fn range_of(region: &Region, association: &AssociationId) -> Option<Vpc> {
    let has = |vpc: &&Vpc| {
        vpc.cidrs.iter().any(|it| it.id == *association) || vpc.ipv6.iter().any(|it| it.id == *association)
    };
    let mut vpc = region.network.all::<Vpc>().find(has)?.clone();
    vpc.cidrs.retain(|it| it.id == *association);
    vpc.ipv6.retain(|it| it.id == *association);
    Some(vpc)
}

/// Writes the created part, or `true` if EC2's response has nothing else. One table of all changes, hence its length.
fn respond(region: &Region, change: &Change, done: &Parts, xml: &mut Xml) {
    match change {
        Change::CreateVpc { .. }
        | Change::CreateSubnet { .. }
        | Change::CreateInternetGateway { .. }
        | Change::CreateEgressOnlyInternetGateway { .. }
        | Change::AllocateAddress { .. }
        | Change::CreateNatGateway { .. }
        | Change::CreateRouteTable { .. }
        | Change::CreateSecurityGroup { .. }
        | Change::CreateVpcEndpoint { .. } => write_created(region, done, xml),
        Change::AssociateVpcCidrBlock { .. }
        | Change::AssociateVpcIpv6 { .. }
        | Change::DisassociateVpcCidrBlock { .. } => {
            done.vpcs.values().for_each(|vpc| write_range(xml, vpc));
        }
        Change::AssociateSubnetCidrBlock { .. } => {
            for subnet in done.subnets.values() {
                xml.text("subnetId", subnet.id.as_str());
                for range in &subnet.ipv6 {
                    xml.within("ipv6CidrBlockAssociation", |xml| vpcs::write_v6(xml, range));
                }
            }
        }
        Change::AssociateRouteTable { .. } => write_association(xml, "associationId", done, region),
        Change::ReplaceRouteTableAssociation { .. } => {
            write_association(xml, "newAssociationId", done, region);
        }
        Change::DeleteNatGateway { gateway } => xml.text("natGatewayId", gateway.as_str()),
        Change::DeleteEgressOnlyInternetGateway { .. } => xml.text("returnCode", "true"),
        Change::DeleteSecurityGroup { group } => {
            xml.text("return", "true");
            xml.text("groupId", group.as_str());
        }
        Change::AuthorizeSecurityGroupIngress { group, rules } => {
            write_rules(xml, region, group, Direction::In, rules);
        }
        Change::AuthorizeSecurityGroupEgress { group, rules } => {
            write_rules(xml, region, group, Direction::Out, rules);
        }
        Change::RevokeSecurityGroupIngress { group, rules } => {
            write_revoked_rules(xml, group, Direction::In, rules);
        }
        Change::RevokeSecurityGroupEgress { group, rules } => {
            write_revoked_rules(xml, group, Direction::Out, rules);
        }
        Change::UpdateSecurityGroupRuleDescriptionsIngress { .. }
        | Change::ModifyVpcAttribute { .. }
        | Change::DeleteVpc { .. }
        | Change::ModifySubnetAttribute { .. }
        | Change::DeleteSubnet { .. }
        | Change::AttachInternetGateway { .. }
        | Change::DetachInternetGateway { .. }
        | Change::DeleteInternetGateway { .. }
        | Change::ReleaseAddress { .. }
        | Change::CreateRoute { .. }
        | Change::ReplaceRoute { .. }
        | Change::DeleteRoute { .. }
        | Change::DisassociateRouteTable { .. }
        | Change::DeleteRouteTable { .. }
        | Change::ModifyVpcEndpoint { .. }
        | Change::DeleteVpcEndpoints { .. }
        | Change::CreateTags { .. }
        | Change::DeleteTags { .. }
        | Change::DeleteNetworkInterface { .. }
        | Change::DeleteLoadBalancer { .. }
        | Change::DeleteTargetGroup { .. } => xml.text("return", "true"),
    }
}

fn write_created(region: &Region, done: &Parts, xml: &mut Xml) {
    for vpc in done.vpcs.values() {
        xml.within("vpc", |xml| vpcs::write_vpc(xml, vpc, region));
    }
    for subnet in done.subnets.values() {
        xml.within("subnet", |xml| vpcs::write_subnet(xml, subnet, region));
    }
    for gateway in done.internet_gateways.values() {
        xml.within("internetGateway", |xml| gateways::write_internet(xml, gateway, region));
    }
    for gateway in done.egress_only_gateways.values() {
        xml.within("egressOnlyInternetGateway", |xml| gateways::write_egress_only(xml, gateway));
    }
    for address in done.addresses.values() {
        gateways::write_allocated(xml, address, region);
    }
    for gateway in done.nat_gateways.values() {
        xml.within("natGateway", |xml| gateways::write_nat(xml, gateway, region));
    }
    for table in done.route_tables.values() {
        xml.within("routeTable", |xml| tables::write(xml, table, region));
    }
    for group in done.security_groups.values() {
        xml.text("return", "true");
        xml.text("groupId", group.id.as_str());
        xml.value("securityGroupArn", groups::arn_of(group, region));
        tags::write(xml, &group.tags);
    }
    for endpoint in done.endpoints.values() {
        xml.within("vpcEndpoint", |xml| endpoints::write(xml, endpoint, region));
    }
}

/// The association or disassociation of a range; `vpc` contains only that range.
fn write_range(xml: &mut Xml, vpc: &Vpc) {
    xml.text("vpcId", vpc.id.as_str());
    for range in &vpc.cidrs {
        xml.within("cidrBlockAssociation", |xml| vpcs::write_v4(xml, range));
    }
    for range in &vpc.ipv6 {
        xml.within("ipv6CidrBlockAssociation", |xml| vpcs::write_v6(xml, range));
    }
}

/// The association of a route table; the table of `done` contains only that association.
fn write_association(xml: &mut Xml, name: &str, done: &Parts, region: &Region) {
    for table in done.route_tables.values() {
        let with_subnet = table.associations.first().map(|association| &association.id);
        if let Some(id) = with_subnet.or_else(|| tables::main_association(table, region)) {
            xml.text(name, id.as_str());
            write_associated(xml);
        }
    }
}

fn write_rules(
    xml: &mut Xml,
    region: &Region,
    group: &SecurityGroupId,
    direction: Direction,
    rules: &BTreeSet<Rule>,
) {
    xml.text("return", "true");
    xml.list("securityGroupRuleSet", "item", rules, |xml, rule| {
        write_rule(xml, group, direction, rule, region);
    });
}

fn write_revoked_rules(xml: &mut Xml, group: &SecurityGroupId, direction: Direction, rules: &BTreeSet<Rule>) {
    xml.text("return", "true");
    xml.list("revokedSecurityGroupRuleSet", "item", rules, |xml, rule| {
        write_revoked(xml, group, direction, rule);
    });
}
