//! The policy for pools: what the manager may do to groups, launch templates and instances.
//!
//! Facts about resources and condition keys: Service Authorization Reference, "Actions, resources, and condition keys for
//! Amazon EC2 Auto Scaling", "… for Amazon EC2" and "… for Amazon SQS".

use super::guards::Guard;
use super::statement::{Effect, Statement, has_tag, is_owned};
use foo_cloud::Operation;
use foo_cloud::queue::TAG_EVENTS;
use serde_json::json;

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

pub(super) fn statements() -> Vec<Statement> {
    let mut statements = of_operations();
    statements.extend(of_launches());
    statements.extend(of_roles_and_force());
    statements
}

/// A statement for each guard.
fn of_operations() -> Vec<Statement> {
    let mut statements = vec![allow(
        Guard::ReadOnly,
        "Look",
        vec!["*"],
        None,
        "AWS offers neither resources nor conditions for these actions. They change nothing.",
    )];
    statements.extend(of_groups());
    statements.extend(of_templates_and_queues());
    statements
}

/// The statement that allows the operations of a guard.
fn allow(
    guard: Guard,
    sid: &'static str,
    resources: Vec<&'static str>,
    condition: Option<serde_json::Value>,
    why: &'static str,
) -> Statement {
    Statement { sid, effect: Effect::Allow, actions: guard.actions(), resources, condition, why }
}

fn of_groups() -> Vec<Statement> {
    vec![
        Statement {
            // AWS asks for CreateOrUpdateTags as well when a group is made with tags (Auto Scaling User Guide, "Tag Auto Scaling
            // groups and instances"), and a group that is being made has no tag to be checked yet.
            actions: [Operation::CreateAutoScalingGroup, Operation::CreateOrUpdateTags]
                .map(Operation::iam_action)
                .to_vec(),
            ..allow(
                Guard::GroupWithOurTag,
                "MakeGroups",
                vec![GROUPS],
                Some(is_owned("aws:RequestTag")),
                "A group is made with its ownership tag or not at all.",
            )
        },
        allow(
            Guard::OwnGroup,
            "ChangeOwnGroups",
            vec![GROUPS],
            Some(is_owned("aws:ResourceTag")),
            "Groups without the ownership tag cannot be changed. Instances end only through their group \
             (TerminateInstanceInAutoScalingGroup): ec2:TerminateInstances is not granted. This binds the manager's mistakes, \
             not somebody who has its credentials: the statement before lets them put the tag on any group first. Names of \
             groups and values of the tag (below) bind them, too.",
        ),
    ]
}

fn of_templates_and_queues() -> Vec<Statement> {
    vec![
        allow(
            Guard::TemplateWithOurTag,
            "MakeTemplates",
            vec![TEMPLATES],
            Some(is_owned("aws:RequestTag")),
            "A launch template is made with its ownership tag or not at all.",
        ),
        allow(
            Guard::OwnTemplate,
            "ChangeOwnTemplates",
            vec![TEMPLATES],
            Some(is_owned("aws:ResourceTag")),
            "Launch templates without the ownership tag cannot be changed.",
        ),
        allow(
            Guard::TaggedQueue,
            "ReadEvents",
            vec![QUEUES],
            Some(has_tag("aws:ResourceTag", TAG_EVENTS)),
            "The queue of events, which deploy/aws/events.yaml makes with this tag. Remove the statement if there is \
             none, or narrow the resource to the queue's ARN.",
        ),
    ]
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
            condition: Some(is_owned("aws:ResourceTag")),
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
