//! The policy for managed networks: what the manager may do to VPCs and what is in them. Whoever brings their own networks does
//! not need it.
//!
//! Facts about resources and condition keys: Service Authorization Reference, "Actions, resources, and condition keys for
//! Amazon EC2", "… for Amazon Route 53" and "… for Service Quotas".

use super::guards::Guard;
use super::statement::{Statement, allow};
use foo_cloud::Operation;
use foo_model::names::{TAG_CLUSTER, TAG_INSTALLATION, TAG_NETWORK, TAG_ROLE};
use serde_json::{Value, json};

/// The statement about VPCs that networks may be made in although they are not the provider's.
pub(super) const GIVEN_VPCS: &str = "UseGivenVpcs";

/// Parts that are made out of nothing, in a VPC, and from several others.
const FIRST: &[&str] =
    &["arn:*:ec2:*:*:vpc/*", "arn:*:ec2:*:*:internet-gateway/*", "arn:*:ec2:*:*:elastic-ip/*"];
const OF_VPC: &[&str] =
    &["arn:*:ec2:*:*:subnet/*", "arn:*:ec2:*:*:route-table/*", "arn:*:ec2:*:*:security-group/*"];
const CONNECTIONS: &[&str] = &[
    "arn:*:ec2:*:*:egress-only-internet-gateway/*",
    "arn:*:ec2:*:*:natgateway/*",
    "arn:*:ec2:*:*:vpc-endpoint/*",
];
/// Where conditions say all: a policy has room for 6,144 characters only.
const ANY: &str = "arn:*:ec2:*:*:*/*";
/// Parts that others are made in, or with.
const USED: &[&str] = &[
    "arn:*:ec2:*:*:vpc/*",
    "arn:*:ec2:*:*:subnet/*",
    "arn:*:ec2:*:*:elastic-ip/*",
    "arn:*:ec2:*:*:route-table/*",
    "arn:*:ec2:*:*:security-group/*",
];
pub(super) fn statements() -> Vec<Statement> {
    let mut statements = vec![allow(
        "LookAtNetworks",
        Guard::ReadsNetworks.actions(),
        &["*"],
        None,
        "AWS offers neither resources nor tags for most of these actions. They change nothing. Without servicequotas:GetServiceQuota the \
         manager does not see before it begins that a quota is used up.",
    )];
    statements.extend(of_creations());
    statements.extend(of_parts());
    statements.extend(of_what_is_used());
    statements
}

/// It has the tag of the network and the ownership tag.
fn is_ours(key: &str) -> Value {
    json!({"Null": {format!("{key}/{TAG_CLUSTER}"): "false", format!("{key}/{TAG_NETWORK}"): "false"}})
}

/// The condition, and another one.
fn and(mut condition: Value, operator: &str, keys: Value) -> Value {
    if let Some(operators) = condition.as_object_mut() {
        operators.insert(operator.to_owned(), keys);
    }
    condition
}

/// All parts of networks that the provider makes.
fn parts() -> Vec<&'static str> {
    [FIRST, OF_VPC, CONNECTIONS].concat()
}

/// Creations by what they need besides the new part: a condition on the request holds for all resources that a call is about, so
/// a creation must not be allowed on resources that it only uses.
fn of_creations() -> Vec<Statement> {
    let new = Some(is_ours("aws:RequestTag"));
    vec![
        allow(
            "MakeNetworks",
            Guard::NewPart.actions(),
            FIRST,
            new.clone(),
            "Every part of a network is made with the network's tag and the ownership tag, or not at all.",
        ),
        allow(
            "MakePartsOfVpcs",
            Guard::NewPartOfVpc.actions(),
            OF_VPC,
            new.clone(),
            "The same; the VPC that they are made in is the subject of UseOwnNetworks and UseGivenVpcs.",
        ),
        allow(
            "MakeConnections",
            Guard::NewConnection.actions(),
            CONNECTIONS,
            new,
            "The same; subnets, addresses, route tables and security groups that they use must be the provider's (UseOwnNetworks).",
        ),
    ]
}

fn of_parts() -> Vec<Statement> {
    let creations: Vec<&str> = [Guard::NewPart, Guard::NewPartOfVpc, Guard::NewConnection]
        .into_iter()
        .flat_map(Guard::operations)
        .map(Operation::name)
        .collect();
    let ownership = json!({"aws:TagKeys": [TAG_CLUSTER, TAG_NETWORK, TAG_ROLE, TAG_INSTALLATION]});
    vec![
        allow(
            "TagNewParts",
            vec![Operation::CreateTags.iam_action()],
            &parts(),
            Some(and(is_ours("aws:RequestTag"), "StringEquals", json!({"ec2:CreateAction": creations}))),
            "The tags of a part at the moment it is made. Nothing that is there already gets the network's tag: no statement allows \
             to make something of others ours.",
        ),
        allow(
            "ChangeOwnNetworks",
            Guard::OwnPart.actions(),
            &parts(),
            Some(is_ours("aws:ResourceTag")),
            "Parts without the network's tag and the ownership tag cannot be changed. Where an action is about two parts (a route table \
             and a subnet, a gateway and a VPC) both must have them.",
        ),
        allow(
            "UntagOwnNetworks",
            Guard::TagsOfOwnPart.actions(),
            &[ANY],
            Some(and(is_ours("aws:ResourceTag"), "ForAllValues:StringNotEquals", ownership)),
            "Tags that are no longer in the spec are removed; the provider's own tags never.",
        ),
    ]
}

/// What exists already and is needed to make a part.
fn of_what_is_used() -> Vec<Statement> {
    let made_in_a_vpc = [
        Operation::CreateSubnet,
        Operation::CreateEgressOnlyInternetGateway,
        Operation::CreateNatGateway,
        Operation::CreateRouteTable,
        Operation::CreateSecurityGroup,
        Operation::CreateVpcEndpoint,
    ];
    let names = |operations: &[Operation]| operations.iter().copied().map(Operation::iam_action).collect();
    let mut in_given = made_in_a_vpc.to_vec();
    in_given.extend([Operation::AttachInternetGateway, Operation::DetachInternetGateway]);
    vec![
        allow(
            "UseOwnNetworks",
            names(&made_in_a_vpc),
            USED,
            Some(is_ours("aws:ResourceTag")),
            "AWS also asks for the VPC that a part is made in, the subnet and address of a NAT gateway, and the subnets, security groups \
             and route tables of an endpoint: they must be the provider's.",
        ),
        allow(
            GIVEN_VPCS,
            names(&in_given),
            &["arn:*:ec2:*:*:vpc/*"],
            Some(json!({"Null": {format!("aws:ResourceTag/{TAG_NETWORK}"): "true"}})),
            "A VPC that a FooCluster names (`managed.vpcID`) has no tag of the provider. It is never changed; what is made in it must carry \
             the tags, and only gateways that do are attached to it or detached. Replace the resource by the ARNs of these \
             VPCs, or remove the statement if there are none.",
        ),
        allow(
            "NamesOfEndpoints",
            vec!["route53:AssociateVPCWithHostedZone".to_owned()],
            &["arn:*:route53:::hostedzone/*"],
            Some(json!({"Null": {"route53:VPCs": "false"}})),
            "AWS asks for it when an interface endpoint is made with private names (`CreateVpcEndpoint`, PrivateDnsEnabled): Amazon's \
             zone of the service is associated with the VPC. The manager never calls it. Remove the statement if no FooCluster has `endpoints`.",
        ),
    ]
}
