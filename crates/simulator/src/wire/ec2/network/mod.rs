//! EC2 networking: VPCs and everything in them.
//!
//! `parse` reads a change from a request, the core carries it out, `responses` and `render` write the result. Describe
//! calls differ only by the description of each kind of part in `kinds`.

mod attributes;
mod describe;
mod kinds;
mod parse;
mod render;
mod responses;
mod rules;
mod services;
pub(super) mod zones;

use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::{Caller, Operation};
use crate::wire::xml::Xml;
use describe::describe;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, NatGateway, RouteTable, SecurityGroup,
    Subnet, Vpc,
};
use parse::Around;
pub(in crate::wire::ec2) use parse::fields::{fixed, only, tags_in, unsupported};

/// All actions of networking, except those of tags.
pub(in crate::wire) const ACTIONS: [(&str, Operation); 54] = [
    ("CreateVpc", change),
    ("ModifyVpcAttribute", change),
    ("AssociateVpcCidrBlock", change),
    ("DisassociateVpcCidrBlock", change),
    ("DeleteVpc", change),
    ("CreateSubnet", change),
    ("ModifySubnetAttribute", change),
    ("AssociateSubnetCidrBlock", change),
    ("DeleteSubnet", change),
    ("CreateInternetGateway", change),
    ("AttachInternetGateway", change),
    ("DetachInternetGateway", change),
    ("DeleteInternetGateway", change),
    ("CreateEgressOnlyInternetGateway", change),
    ("DeleteEgressOnlyInternetGateway", change),
    ("AllocateAddress", change),
    ("ReleaseAddress", change),
    ("CreateNatGateway", change),
    ("DeleteNatGateway", change),
    ("CreateRouteTable", change),
    ("CreateRoute", change),
    ("ReplaceRoute", change),
    ("DeleteRoute", change),
    ("AssociateRouteTable", change),
    ("ReplaceRouteTableAssociation", change),
    ("DisassociateRouteTable", change),
    ("DeleteRouteTable", change),
    ("CreateSecurityGroup", change),
    ("AuthorizeSecurityGroupIngress", change),
    ("AuthorizeSecurityGroupEgress", change),
    ("RevokeSecurityGroupIngress", change),
    ("RevokeSecurityGroupEgress", change),
    ("UpdateSecurityGroupRuleDescriptionsIngress", change),
    ("DeleteSecurityGroup", change),
    ("CreateVpcEndpoint", change),
    ("ModifyVpcEndpoint", change),
    ("DeleteVpcEndpoints", change),
    ("DeleteNetworkInterface", change),
    ("DescribeVpcs", describe::<Vpc>),
    ("DescribeVpcAttribute", attributes::describe),
    ("DescribeSubnets", describe::<Subnet>),
    ("DescribeInternetGateways", describe::<InternetGateway>),
    ("DescribeEgressOnlyInternetGateways", describe::<EgressOnlyGateway>),
    ("DescribeAddresses", describe::<Address>),
    ("DescribeNatGateways", describe::<NatGateway>),
    ("DescribeRouteTables", describe::<RouteTable>),
    ("DescribeSecurityGroups", describe::<SecurityGroup>),
    ("DescribeSecurityGroupRules", rules::describe),
    ("DescribeVpcEndpoints", describe::<Endpoint>),
    ("DescribeVpcEndpointServices", services::endpoints),
    ("DescribePrefixLists", services::prefix_lists),
    ("DescribeNetworkInterfaces", describe::<Interface>),
    ("DescribeAvailabilityZones", zones::describe),
    ("DescribeNetworkAcls", |_, _, _, xml| super::everyday::none(xml, "networkAclSet")),
];

/// All calls that change a network.
fn change(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let token = format!("none-{}", region.next_serial());
    let found = |params: &Params| rules::by_id(region, params);
    let around = Around { zones: &region.network.zones, token, rules: &found };
    let change = parse::change(params.required("Action")?, params, &around)?;
    responses::carry_out(region, &change, params.text("ClientToken"), xml)
}
