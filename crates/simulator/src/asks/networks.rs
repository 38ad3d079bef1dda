//! Which permissions a call about networks or load balancers needs (Service Authorization Reference, "Amazon EC2" and
//! "Elastic Load Balancing V2"). Most calls act on several resources; all of them must be allowed.
//!
//! Rules of security groups are not checked: they are resources only when they get tags of their own.

use crate::core::Region;
use crate::core::network::part::Part;
use crate::iam::ask::{arn, ask, knows_tags};
use crate::iam::policy::Ask;
use crate::request::params::{Params, tags_of};
use crate::service::Service;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, LoadBalancer, NatGateway, RouteTable,
    SecurityGroup, Subnet, TargetGroup, Vpc,
};
use std::collections::BTreeMap;

/// Calls that create a resource: the action and the type of the resource.
const CREATIONS: [(&str, &str); 9] = [
    ("AllocateAddress", "elastic-ip"),
    ("CreateEgressOnlyInternetGateway", "egress-only-internet-gateway"),
    ("CreateInternetGateway", "internet-gateway"),
    ("CreateNatGateway", "natgateway"),
    ("CreateRouteTable", "route-table"),
    ("CreateSecurityGroup", "security-group"),
    ("CreateSubnet", "subnet"),
    ("CreateVpc", "vpc"),
    ("CreateVpcEndpoint", "vpc-endpoint"),
];

/// Calls that act on existing resources: the action and the parameters that name them.
const NAMED: [(&str, &[&str]); 36] = [
    ("AssociateRouteTable", &["RouteTableId", "SubnetId", "GatewayId"]),
    ("AssociateSubnetCidrBlock", &["SubnetId"]),
    ("AssociateVpcCidrBlock", &["VpcId"]),
    ("AttachInternetGateway", &["InternetGatewayId", "VpcId"]),
    ("AuthorizeSecurityGroupEgress", &["GroupId"]),
    ("AuthorizeSecurityGroupIngress", &["GroupId"]),
    ("CreateEgressOnlyInternetGateway", &["VpcId"]),
    ("CreateNatGateway", &["SubnetId", "AllocationId", "VpcId"]),
    ("CreateRoute", &["RouteTableId"]),
    ("CreateRouteTable", &["VpcId"]),
    ("CreateSecurityGroup", &["VpcId"]),
    ("CreateSubnet", &["VpcId"]),
    ("CreateVpcEndpoint", &["VpcId", "RouteTableId", "SecurityGroupId", "SubnetId"]),
    ("DeleteEgressOnlyInternetGateway", &["EgressOnlyInternetGatewayId"]),
    ("DeleteInternetGateway", &["InternetGatewayId"]),
    ("DeleteNatGateway", &["NatGatewayId"]),
    ("DeleteNetworkInterface", &["NetworkInterfaceId"]),
    ("DeleteRoute", &["RouteTableId"]),
    ("DeleteRouteTable", &["RouteTableId"]),
    ("DeleteSecurityGroup", &["GroupId"]),
    ("DeleteSubnet", &["SubnetId"]),
    ("DeleteVpc", &["VpcId"]),
    ("DeleteVpcEndpoints", &["VpcEndpointId"]),
    ("DescribeVpcAttribute", &["VpcId"]),
    ("DetachInternetGateway", &["InternetGatewayId", "VpcId"]),
    ("DisassociateRouteTable", &["AssociationId"]),
    ("DisassociateVpcCidrBlock", &["AssociationId"]),
    ("ModifySubnetAttribute", &["SubnetId"]),
    ("ModifyVpcAttribute", &["VpcId"]),
    (
        "ModifyVpcEndpoint",
        &[
            "VpcEndpointId",
            "AddRouteTableId",
            "RemoveRouteTableId",
            "AddSecurityGroupId",
            "RemoveSecurityGroupId",
            "AddSubnetId",
            "RemoveSubnetId",
        ],
    ),
    ("ReleaseAddress", &["AllocationId"]),
    ("ReplaceRoute", &["RouteTableId"]),
    ("ReplaceRouteTableAssociation", &["RouteTableId", "AssociationId"]),
    ("RevokeSecurityGroupEgress", &["GroupId"]),
    ("RevokeSecurityGroupIngress", &["GroupId"]),
    ("UpdateSecurityGroupRuleDescriptionsIngress", &["GroupId"]),
];

/// The permissions for a call of EC2's networking; `None` for calls that are not about networks.
pub(super) fn of_ec2(region: &Region, action: &str, params: &Params) -> Option<Vec<Ask>> {
    let new = CREATIONS.iter().find(|(name, _)| *name == action).map(|(_, kind)| *kind);
    let named = NAMED.iter().find(|(name, _)| *name == action).map(|(_, names)| *names);
    if new.is_none() && named.is_none() {
        return None;
    }
    let full = format!("ec2:{action}");
    let mut asks: Vec<Ask> = new.into_iter().flat_map(|kind| of_new(region, action, kind, params)).collect();
    for name in named.unwrap_or_default() {
        let ids: Vec<String> =
            params.text(name).map(str::to_owned).into_iter().chain(params.texts(name)).collect();
        for id in ids {
            asks.extend(of_id(region, &full, &id, action));
        }
    }
    asks.extend(of_private_names(region, action, params));
    Some(asks)
}

/// Private names of a new interface endpoint are a hosted zone of Amazon's that is associated with the VPC: the caller
/// needs the right to associate it (Service Authorization Reference, "Amazon EC2": dependent actions of CreateVpcEndpoint;
/// "Amazon Route 53": the key `route53:VPCs`). The zone is not known before the call. The reference names no dependent
/// action for ModifyVpcEndpoint, which can enable private names later.
fn of_private_names(region: &Region, action: &str, params: &Params) -> Option<Ask> {
    let has_names = action == "CreateVpcEndpoint"
        && params.text("VpcEndpointType") == Some("Interface")
        && !matches!(params.flag("PrivateDnsEnabled"), Ok(Some(false)));
    let vpc = params.text("VpcId").filter(|_| has_names)?;
    let asked = ask("route53:AssociateVPCWithHostedZone".to_owned(), "arn:aws:route53:::hostedzone/*");
    Some(asked.with("route53:VPCs", format!("VPCId={vpc},VPCRegion={}", region.name)))
}

/// The action on the new resource, and CreateTags on it if it gets tags (EC2 User Guide, "Grant permission to tag resources
/// during creation").
fn of_new(region: &Region, action: &str, kind: &str, params: &Params) -> Vec<Ask> {
    let specs = params.list("TagSpecification").into_iter();
    let tags: BTreeMap<String, String> = specs
        .filter(|spec| spec.text("ResourceType") == Some(kind))
        .flat_map(|spec| tags_of(spec.list("Tag")))
        .collect();
    let creation = |action: &str| {
        ask(format!("ec2:{action}"), arn(region, kind, "*")).with_tags("aws:RequestTag", &tags)
    };
    let mut asks = vec![creation(action)];
    if let (Some(service), Some(first)) = (params.text("ServiceName"), asks.first_mut()) {
        first.context.insert("ec2:VpceServiceName".to_owned(), service.to_owned());
    }
    if !tags.is_empty() {
        asks.push(creation("CreateTags").with("ec2:CreateAction", action));
    }
    asks
}

/// The action on the resource with this id. For an association: on the resources that it connects.
fn of_id(region: &Region, full: &str, id: &str, action: &str) -> Vec<Ask> {
    if id.starts_with("rtbassoc-") {
        return of_association(region, full, id, action);
    }
    if id.contains("-cidr-assoc-") {
        let has = |vpc: &&Vpc| {
            vpc.cidrs.iter().any(|it| it.id.as_str() == id) || vpc.ipv6.iter().any(|it| it.id.as_str() == id)
        };
        let vpc = region.network.all::<Vpc>().find(has);
        let known = vpc.and_then(|vpc| on_part::<Vpc>(region, full, vpc.id.as_str()));
        return vec![known.unwrap_or_else(|| ask(full.to_owned(), arn(region, "vpc", "*")))];
    }
    vec![on(region, full, id).unwrap_or_else(|| ask(full.to_owned(), "*"))]
}

/// The action on the route table and the subnet of an association. A replacement names the new table itself; no
/// permission for the old one is needed.
fn of_association(region: &Region, full: &str, id: &str, action: &str) -> Vec<Ask> {
    let found = region.network.all::<RouteTable>().find_map(|table| {
        table.associations.iter().find(|it| it.id.as_str() == id).map(|association| (table, association))
    });
    let table = match found {
        _ if action == "ReplaceRouteTableAssociation" => None,
        Some((table, _)) => on_part::<RouteTable>(region, full, table.id.as_str()),
        None => Some(ask(full.to_owned(), arn(region, "route-table", "*"))),
    };
    let subnet = found.and_then(|(_, it)| on_part::<Subnet>(region, full, it.subnet.as_str()));
    table.into_iter().chain(subnet).collect()
}

/// An action on a part of a network, whose kind the prefix of the id shows. `None` for an unknown prefix.
pub(super) fn on(region: &Region, full: &str, id: &str) -> Option<Ask> {
    match id.split('-').next().unwrap_or_default() {
        "vpc" => on_part::<Vpc>(region, full, id),
        "subnet" => on_part::<Subnet>(region, full, id),
        "igw" => on_part::<InternetGateway>(region, full, id),
        "eigw" => on_part::<EgressOnlyGateway>(region, full, id),
        "eipalloc" => on_part::<Address>(region, full, id),
        "nat" => on_part::<NatGateway>(region, full, id),
        "rtb" => on_part::<RouteTable>(region, full, id),
        "sg" => on_part::<SecurityGroup>(region, full, id),
        "vpce" => on_part::<Endpoint>(region, full, id),
        "eni" => on_part::<Interface>(region, full, id),
        _ => None,
    }
}

/// An action on a part: with its tags, and with its VPC if the reference has that key. An unknown part has neither.
#[expect(clippy::unnecessary_wraps, reason = "the same form as an id that no part has")]
fn on_part<T: Part>(region: &Region, full: &str, id: &str) -> Option<Ask> {
    let asked = ask(full.to_owned(), arn(region, T::WORDS.resource, id));
    let Some(part) = region.network.get::<T>(&T::Id::from(id.to_owned())) else { return Some(asked) };
    let has_vpc =
        matches!(T::WORDS.resource, "subnet" | "route-table" | "security-group" | "network-interface");
    let asked = match part.vpc().filter(|_| has_vpc) {
        Some(vpc) => asked.with("ec2:Vpc", arn(region, "vpc", vpc.as_str())),
        None => asked,
    };
    let new = region.network.made_at(id).is_some_and(|creation| !knows_tags(region, creation));
    Some(if new { asked } else { asked.on_resource(Service::Ec2, part.tags()) })
}

/// The permissions for a call of Elastic Load Balancing. Describe calls have no resources.
pub(super) fn of_load_balancing(region: &Region, action: &str, params: &Params) -> Vec<Ask> {
    let full = format!("elasticloadbalancing:{action}");
    let named = |resource: &str| {
        format!("arn:aws:elasticloadbalancing:{}:{}:{resource}", region.name, region.account)
    };
    let with = |arn: String, tags: Option<&BTreeMap<String, String>>| {
        let asked = ask(full.clone(), arn);
        vec![match tags {
            Some(tags) => asked.on_resource(Service::ElasticLoadBalancing, tags),
            None => asked,
        }]
    };
    match action {
        "DeleteLoadBalancer" => {
            let name = params.text("LoadBalancerName");
            let id = params.text("LoadBalancerArn").or(name).unwrap_or("*").to_owned();
            let balancer = region.network.get::<LoadBalancer>(&id);
            let arn = if name.is_some() { named(&format!("loadbalancer/{id}")) } else { id.clone() };
            with(arn, balancer.map(|balancer| &balancer.tags))
        }
        "DeleteTargetGroup" => {
            let id = params.text("TargetGroupArn").unwrap_or("*").to_owned();
            let group = region.network.get::<TargetGroup>(&id);
            with(id, group.map(|group| &group.tags))
        }
        _ => vec![ask(full, "*")],
    }
}
