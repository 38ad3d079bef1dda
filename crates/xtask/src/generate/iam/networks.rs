//! The policy for managed networks: what the manager may do to VPCs and their parts. Existing networks do not need it.
//!
//! Facts about resources and condition keys: Service Authorization Reference, "Actions, resources, and condition keys for
//! Amazon EC2", "… for Amazon Route 53" and "… for Service Quotas".

use super::guards::Guard;
use super::statement::{Statement, allow, has_tags};
use foo_cloud::Operation;
use foo_model::names::{TAG_CLUSTER, TAG_INSTALLATION, TAG_NETWORK, TAG_ROLE};
use serde_json::{Value, json};

/// The statement about VPCs of users in which the provider may create networks.
pub(super) const GIVEN_VPCS: &str = "UseGivenVpcs";

/// On interfaces of the VPC CNI: the instance, from their creation on.
const TAG_CNI_INSTANCE: &str = "node.k8s.amazonaws.com/instance_id";
/// On the same: the name of the cluster as the VPC CNI knows it (`CLUSTER_NAME`), which EKS sets (amazon-vpc-cni-k8s, README).
pub(super) const TAG_CNI_CLUSTER: &str = "cluster.k8s.amazonaws.com/name";

/// Parts that need no other part, parts that need a VPC, and parts that need several others.
const FIRST: &[&str] =
    &["arn:*:ec2:*:*:vpc/*", "arn:*:ec2:*:*:internet-gateway/*", "arn:*:ec2:*:*:elastic-ip/*"];
const OF_VPC: &[&str] =
    &["arn:*:ec2:*:*:subnet/*", "arn:*:ec2:*:*:route-table/*", "arn:*:ec2:*:*:security-group/*"];
const CONNECTIONS: &[&str] = &[
    "arn:*:ec2:*:*:egress-only-internet-gateway/*",
    "arn:*:ec2:*:*:natgateway/*",
    "arn:*:ec2:*:*:vpc-endpoint/*",
];
/// For statements whose conditions are narrow enough: a policy has at most 6,144 characters.
const ANY: &str = "arn:*:ec2:*:*:*/*";
/// Parts in which, or with which, others are created.
const USED: &[&str] = &[
    "arn:*:ec2:*:*:vpc/*",
    "arn:*:ec2:*:*:subnet/*",
    "arn:*:ec2:*:*:elastic-ip/*",
    "arn:*:ec2:*:*:route-table/*",
    "arn:*:ec2:*:*:security-group/*",
];
pub(super) fn statements() -> Vec<Statement> {
    let mut statements = vec![allow(
        "DescribeNetworks",
        Guard::ReadsNetworks.actions(),
        &["*"],
        None,
        "AWS supports neither resources nor tags for most of these actions. They only read. Without servicequotas:GetServiceQuota the \
         manager cannot check quotas before it begins to create a network.",
    )];
    statements.extend(of_creations());
    statements.extend(of_parts());
    statements.extend(of_what_is_used());
    statements
}

/// The condition that a resource or request has the tag of the network and the ownership tag.
fn is_own(key: &str) -> Value {
    has_tags(key, &[TAG_CLUSTER, TAG_NETWORK])
}

/// A condition with another operator added.
fn and(mut condition: Value, operator: &str, keys: Value) -> Value {
    if let Some(operators) = condition.as_object_mut() {
        operators.insert(operator.to_owned(), keys);
    }
    condition
}

/// All parts of networks that the provider creates.
fn parts() -> Vec<&'static str> {
    [FIRST, OF_VPC, CONNECTIONS].concat()
}

/// Creations, by what they need besides the new part. A condition on the request applies to all resources of a call, so these
/// statements must not allow a creation on resources that it only uses.
fn of_creations() -> Vec<Statement> {
    let new = Some(is_own("aws:RequestTag"));
    vec![
        allow(
            "CreateNetworks",
            Guard::NewPart.actions(),
            FIRST,
            new.clone(),
            "A part of a network can only be created with the network's tag and the ownership tag.",
        ),
        allow(
            "CreatePartsOfVpcs",
            Guard::NewPartOfVpc.actions(),
            OF_VPC,
            new.clone(),
            "The same. UseOwnNetworks and UseGivenVpcs are about the VPC in which the part is created.",
        ),
        allow(
            "CreateConnections",
            Guard::NewConnection.actions(),
            CONNECTIONS,
            new,
            "The same. Subnets, addresses, route tables and security groups that they use must be the provider's (UseOwnNetworks).",
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
            Some(and(is_own("aws:RequestTag"), "StringEquals", json!({"ec2:CreateAction": creations}))),
            "The tags of a part at its creation. No statement allows the network's tag on an existing resource, so the manager cannot \
             take over resources of others.",
        ),
        allow(
            "ChangeOwnNetworks",
            Guard::OwnPart.actions(),
            &parts(),
            Some(is_own("aws:ResourceTag")),
            "Parts without the network's tag and the ownership tag cannot be changed. If an action is about two parts (a route table \
             and a subnet, a gateway and a VPC) both must have them.",
        ),
        allow(
            "UntagOwnNetworks",
            Guard::TagsOfOwnPart.actions(),
            &[ANY],
            Some(and(is_own("aws:ResourceTag"), "ForAllValues:StringNotEquals", ownership)),
            "The manager removes tags that are no longer in the spec, but never the provider's own tags.",
        ),
        allow(
            "DeleteIdleInterfacesOfNodes",
            vec![Operation::DeleteNetworkInterface.iam_action()],
            &["arn:*:ec2:*:*:network-interface/*"],
            Some(has_tags("aws:ResourceTag", &[TAG_CNI_INSTANCE, TAG_CNI_CLUSTER])),
            "Interfaces that the VPC CNI created for an instance and that stayed when it terminated. They have the security group of the Nodes, \
             and keep it and their subnet from being deleted. AWS deletes no interface that is attached. A policy cannot know the VPC of a \
             managed network, but the VPC CNI tags what it creates with the instance, and with the name of its cluster if it knows that \
             (`CLUSTER_NAME`, which EKS sets): the parameter `ControlPlaneNames` of the stack limits these names.",
        ),
    ]
}

/// Existing resources that the creation of a part needs.
fn of_what_is_used() -> Vec<Statement> {
    let created_in_a_vpc = [
        Operation::CreateSubnet,
        Operation::CreateEgressOnlyInternetGateway,
        Operation::CreateNatGateway,
        Operation::CreateRouteTable,
        Operation::CreateSecurityGroup,
        Operation::CreateVpcEndpoint,
    ];
    let names = |operations: &[Operation]| operations.iter().copied().map(Operation::iam_action).collect();
    let mut in_given = created_in_a_vpc.to_vec();
    in_given.extend([Operation::AttachInternetGateway, Operation::DetachInternetGateway]);
    vec![
        allow(
            "UseOwnNetworks",
            names(&created_in_a_vpc),
            USED,
            Some(is_own("aws:ResourceTag")),
            "AWS also requires permissions for the VPC in which a part is created, the subnet and address of a NAT gateway, and the subnets, security groups \
             and route tables of an endpoint: they must be the provider's.",
        ),
        allow(
            GIVEN_VPCS,
            names(&in_given),
            &["arn:*:ec2:*:*:vpc/*"],
            Some(json!({"Null": {format!("aws:ResourceTag/{TAG_NETWORK}"): "true"}})),
            "A VPC that a FooCluster names (`managed.vpcID`) has no tag of the provider. The manager never changes it. What it creates there must carry \
             the tags, and it attaches and detaches only gateways with the tags. Replace the resource by the ARNs of these \
             VPCs, or remove the statement if there are none.",
        ),
        allow(
            "NamesOfEndpoints",
            vec!["route53:AssociateVPCWithHostedZone".to_owned()],
            &["arn:*:route53:::hostedzone/*"],
            Some(json!({"Null": {"route53:VPCs": "false"}})),
            "AWS requires it for an interface endpoint with private names (`CreateVpcEndpoint`, PrivateDnsEnabled), because it associates its hosted \
             zone of the service with the VPC. The manager never calls it. Remove the statement if no FooCluster has `endpoints`.",
        ),
    ]
}
