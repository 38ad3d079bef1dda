//! What the manager may do in AWS, what narrows it, and why.
//!
//! The policy follows from [`Operation`]: an operation the provider learns must be given a [`Guard`] here before
//! anything compiles. Facts about resources and condition keys: Service Authorization Reference, "Actions, resources,
//! and condition keys for Amazon EC2 Auto Scaling", "… for Amazon EC2" and "… for Amazon SQS".

use foo_cloud::Operation;
use foo_cloud::queue::TAG_EVENTS;
use foo_model::names::TAG_CLUSTER;
use serde_json::{Value, json};
use strum::IntoEnumIterator as _;

/// What narrows the permission for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumIter)]
pub(super) enum Guard {
    /// AWS supports neither resources nor tags for it: it only reads.
    ReadOnly,
    /// Makes a group; the request must carry the ownership tag.
    GroupWithOurTag,
    /// Changes a group that carries the ownership tag.
    OwnGroup,
    /// Makes a launch template; the request must carry the ownership tag.
    TemplateWithOurTag,
    /// Changes a launch template that carries the ownership tag.
    OwnTemplate,
    /// Reads and empties a queue that carries our tag.
    TaggedQueue,
    /// Nothing calls it, so it is not allowed.
    NotCalled,
}

pub(super) fn guard(operation: Operation) -> Guard {
    match operation {
        Operation::DescribeAutoScalingGroups
        | Operation::DescribeLifecycleHooks
        | Operation::DescribeScalingActivities
        | Operation::DescribeLaunchTemplates
        | Operation::DescribeLaunchTemplateVersions
        | Operation::DescribeInstances
        | Operation::DescribeInstanceTypes
        | Operation::DescribeImages
        | Operation::DescribeSubnets
        | Operation::DescribeSecurityGroups
        | Operation::GetCallerIdentity => Guard::ReadOnly,
        Operation::CreateAutoScalingGroup => Guard::GroupWithOurTag,
        Operation::UpdateAutoScalingGroup
        | Operation::CreateOrUpdateTags
        | Operation::SuspendProcesses
        | Operation::ResumeProcesses
        | Operation::SetInstanceProtection
        | Operation::TerminateInstanceInAutoScalingGroup
        | Operation::PutLifecycleHook
        | Operation::RecordLifecycleActionHeartbeat
        | Operation::CompleteLifecycleAction
        | Operation::DeleteAutoScalingGroup => Guard::OwnGroup,
        Operation::DescribeVpcs
        | Operation::DescribeVpcAttribute
        | Operation::DescribeInternetGateways
        | Operation::DescribeEgressOnlyInternetGateways
        | Operation::DescribeAddresses
        | Operation::DescribeNatGateways
        | Operation::DescribeRouteTables
        | Operation::DescribeVpcEndpoints
        | Operation::DescribeNetworkInterfaces
        | Operation::DescribeAvailabilityZones
        | Operation::CreateVpc
        | Operation::ModifyVpcAttribute
        | Operation::AssociateVpcCidrBlock
        | Operation::DisassociateVpcCidrBlock
        | Operation::DeleteVpc
        | Operation::CreateSubnet
        | Operation::ModifySubnetAttribute
        | Operation::AssociateSubnetCidrBlock
        | Operation::DeleteSubnet
        | Operation::CreateInternetGateway
        | Operation::AttachInternetGateway
        | Operation::DetachInternetGateway
        | Operation::DeleteInternetGateway
        | Operation::CreateEgressOnlyInternetGateway
        | Operation::DeleteEgressOnlyInternetGateway
        | Operation::AllocateAddress
        | Operation::ReleaseAddress
        | Operation::CreateNatGateway
        | Operation::DeleteNatGateway
        | Operation::CreateRouteTable
        | Operation::CreateRoute
        | Operation::ReplaceRoute
        | Operation::DeleteRoute
        | Operation::AssociateRouteTable
        | Operation::ReplaceRouteTableAssociation
        | Operation::DisassociateRouteTable
        | Operation::DeleteRouteTable
        | Operation::CreateSecurityGroup
        | Operation::AuthorizeSecurityGroupIngress
        | Operation::AuthorizeSecurityGroupEgress
        | Operation::RevokeSecurityGroupIngress
        | Operation::RevokeSecurityGroupEgress
        | Operation::DeleteSecurityGroup
        | Operation::CreateVpcEndpoint
        | Operation::ModifyVpcEndpoint
        | Operation::DeleteVpcEndpoints
        | Operation::CreateTags
        | Operation::DeleteTags
        | Operation::DeleteNetworkInterface
        | Operation::DescribeLoadBalancers
        | Operation::DescribeTargetGroups
        | Operation::DescribeTags
        | Operation::DeleteLoadBalancer
        | Operation::DeleteTargetGroup
        | Operation::GetServiceQuota => Guard::NotCalled,
        Operation::CreateLaunchTemplate => Guard::TemplateWithOurTag,
        Operation::CreateLaunchTemplateVersion
        | Operation::DeleteLaunchTemplateVersions
        | Operation::DeleteLaunchTemplate => Guard::OwnTemplate,
        Operation::ReceiveMessage | Operation::DeleteMessageBatch | Operation::ChangeMessageVisibility => {
            Guard::TaggedQueue
        }
    }
}

pub(super) const GROUPS: &str = "arn:*:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*";
pub(super) const QUEUES: &str = "arn:*:sqs:*:*:*";
/// Roles that nodes may get. Whoever may make pools chooses both the instance profile and what runs at the start of an instance,
/// so every role that fits this is theirs.
pub(super) const NODE_ROLES: &str = "arn:*:iam::*:role/*.nodes.infrastructure.foo.com";
const TEMPLATES: &str = "arn:*:ec2:*:*:launch-template/*";

/// What a launch touches besides the template.
const LAUNCHED: &[&str] = &[
    "arn:*:ec2:*:*:instance/*",
    "arn:*:ec2:*:*:volume/*",
    "arn:*:ec2:*:*:network-interface/*",
    "arn:*:ec2:*:*:subnet/*",
    "arn:*:ec2:*:*:security-group/*",
    "arn:*:ec2:*:*:key-pair/*",
    "arn:*:ec2:*::image/*",
    "arn:*:ec2:*::snapshot/*",
];

/// What a statement does with what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub(super) enum Effect {
    Allow,
    Deny,
}

/// One statement of the policy and the sentence that goes with it.
pub(super) struct Statement {
    pub(super) sid: &'static str,
    pub(super) effect: Effect,
    pub(super) actions: Vec<String>,
    pub(super) resources: Vec<&'static str>,
    pub(super) condition: Option<Value>,
    pub(super) why: &'static str,
}

pub(super) fn statements() -> Vec<Statement> {
    let granted = Guard::iter().filter(|guard| *guard != Guard::NotCalled);
    let mut statements: Vec<Statement> = granted.map(Guard::statement).collect();
    statements.extend(of_launches());
    statements.extend(of_roles_and_force());
    statements
}

fn exists(key: &str) -> Value {
    has_tag(key, TAG_CLUSTER)
}

fn has_tag(key: &str, tag: &str) -> Value {
    json!({"Null": {format!("{key}/{tag}"): "false"}})
}

impl Guard {
    pub(super) fn statement(self) -> Statement {
        let mut actions: Vec<String> = Operation::iter()
            .filter(|operation| guard(*operation) == self)
            .map(Operation::iam_action)
            .collect();
        if self == Self::GroupWithOurTag {
            // AWS asks for it as well when a group is made with tags (Auto Scaling User Guide, "Tag Auto Scaling groups
            // and instances"), and a group that is being made has no tag to be checked yet.
            actions.push(Operation::CreateOrUpdateTags.iam_action());
        }
        actions.sort();
        let (sid, resources, condition, why) = match self {
            Self::ReadOnly => (
                "Look",
                vec!["*"],
                None,
                "AWS offers neither resources nor conditions for these actions. They change nothing.",
            ),
            Self::GroupWithOurTag => (
                "MakeGroups",
                vec![GROUPS],
                Some(exists("aws:RequestTag")),
                "A group is made with its ownership tag or not at all.",
            ),
            Self::OwnGroup => (
                "ChangeOwnGroups",
                vec![GROUPS],
                Some(exists("aws:ResourceTag")),
                "Groups without the ownership tag cannot be changed. Instances end only through their group \
                 (TerminateInstanceInAutoScalingGroup): ec2:TerminateInstances is not granted. This binds the manager's mistakes, \
                 not somebody who has its credentials: the statement before lets them put the tag on any group first. Names of \
                 groups and values of the tag (below) bind them, too.",
            ),
            Self::TemplateWithOurTag => (
                "MakeTemplates",
                vec![TEMPLATES],
                Some(exists("aws:RequestTag")),
                "A launch template is made with its ownership tag or not at all.",
            ),
            Self::OwnTemplate => (
                "ChangeOwnTemplates",
                vec![TEMPLATES],
                Some(exists("aws:ResourceTag")),
                "Launch templates without the ownership tag cannot be changed.",
            ),
            Self::TaggedQueue => (
                "ReadEvents",
                vec![QUEUES],
                Some(has_tag("aws:ResourceTag", TAG_EVENTS)),
                "The queue of events, which deploy/aws/events.yaml makes with this tag. Remove the statement if there is \
                 none, or narrow the resource to the queue's ARN.",
            ),
            Self::NotCalled => ("NotCalled", Vec::new(), None, ""),
        };
        Statement { sid, effect: Effect::Allow, actions, resources, condition, why }
    }
}

/// Permissions for what AWS checks or does on behalf of the manager's calls that lead to launches.
fn of_launches() -> Vec<Statement> {
    vec![
        Statement {
            sid: "TagNewTemplates",
            effect: Effect::Allow,
            actions: vec!["ec2:CreateTags".to_owned()],
            resources: vec![TEMPLATES],
            condition: Some(json!({"StringEquals": {"ec2:CreateAction": "CreateLaunchTemplate"}})),
            why: "The ownership tag of a launch template, at the moment it is made and never later.",
        },
        Statement {
            sid: "LaunchFromOwnTemplates",
            effect: Effect::Allow,
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: vec![TEMPLATES],
            condition: Some(exists("aws:ResourceTag")),
            why: "Auto Scaling checks ec2:RunInstances for whoever creates or updates a group with a launch template \
                  (Auto Scaling User Guide, \"Control Amazon EC2 launch template usage in Auto Scaling groups\"). The \
                  manager never calls it.",
        },
        Statement {
            sid: "LaunchOnlyFromTemplates",
            effect: Effect::Allow,
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: LAUNCHED.to_vec(),
            condition: Some(json!({"ArnLike": {"ec2:LaunchTemplate": TEMPLATES}})),
            why: "The other things a launch touches, and only in a launch from a template.",
        },
        Statement {
            sid: "TagNewInstances",
            effect: Effect::Allow,
            actions: vec!["ec2:CreateTags".to_owned()],
            resources: vec![
                "arn:*:ec2:*:*:instance/*",
                "arn:*:ec2:*:*:volume/*",
                "arn:*:ec2:*:*:network-interface/*",
            ],
            condition: Some(json!({"StringEquals": {"ec2:CreateAction": "RunInstances"}})),
            why: "Tags that the launch template puts on instances and their volumes.",
        },
    ]
}

/// Roles that are passed on or made on the way, and what is never to happen.
fn of_roles_and_force() -> Vec<Statement> {
    vec![
        Statement {
            sid: "GiveNodesTheirRole",
            effect: Effect::Allow,
            actions: vec!["iam:PassRole".to_owned()],
            resources: vec![NODE_ROLES],
            condition: Some(json!({"StringLike": {"iam:PassedToService": "ec2.amazonaws.com*"}})),
            why: "Nodes get the role of `iamInstanceProfile`: one whose name ends in `.nodes.infrastructure.foo.com`. Name your node \
                  roles so, or replace the resource by their ARNs. Never widen it to all roles: whoever may make a \
                  FooMachinePool chooses the profile and the programs that run with it.",
        },
        Statement {
            sid: "NeverByForce",
            effect: Effect::Deny,
            actions: vec![Operation::DeleteAutoScalingGroup.iam_action()],
            resources: vec![GROUPS],
            condition: Some(json!({"Bool": {"autoscaling:ForceDelete": "true"}})),
            why: "A group is deleted when it is empty. By force its instances would end undrained, without lifecycle hooks; the \
                  manager never asks for that.",
        },
        Statement {
            sid: "FirstUseOfAutoScaling",
            effect: Effect::Allow,
            actions: vec!["iam:CreateServiceLinkedRole".to_owned()],
            resources: vec![
                "arn:*:iam::*:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
                "arn:*:iam::*:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot",
            ],
            condition: Some(json!({"StringEquals": {
                "iam:AWSServiceName": ["autoscaling.amazonaws.com", "spot.amazonaws.com"],
            }})),
            why: "AWS makes these two roles itself when an account uses Auto Scaling or spot instances for the first \
                  time, with the rights of whoever is first. Remove the statement in accounts that have them.",
        },
    ]
}

impl Statement {
    pub(super) fn json(&self) -> Value {
        let mut statement = json!({
            "Sid": self.sid, "Effect": <&str>::from(self.effect), "Action": self.actions, "Resource": self.resources,
        });
        if let (Some(condition), Some(map)) = (&self.condition, statement.as_object_mut()) {
            map.insert("Condition".to_owned(), condition.clone());
        }
        statement
    }
}
