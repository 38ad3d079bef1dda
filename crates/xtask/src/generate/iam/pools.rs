//! The policy for pools: what the manager may do to groups, launch templates and instances.
//!
//! Facts about resources and condition keys: Service Authorization Reference, "Actions, resources, and condition keys for
//! Amazon EC2 Auto Scaling", "… for Amazon EC2" and "… for Amazon SQS".

use super::guards::Guard;
use super::statement::{Effect, Statement, adopts, allow, creates, has_tag, is_owned};
use foo_cloud::Operation;
use foo_cloud::queue::TAG_EVENTS;
use foo_model::names::TAG_CLUSTER;
use serde_json::json;

pub(super) const GROUPS: &str = "arn:*:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*";
/// The queue of deploy/aws/events.yaml, unless its parameter `QueueName` says otherwise.
pub(super) const QUEUES: &str = "arn:*:sqs:*:*:foo-events*";
pub(super) const KEY_PAIRS: &str = "arn:*:ec2:*:*:key-pair/*";
/// As a condition of launches.
const LAUNCH_VPCS: &str = "arn:*:ec2:*:*:vpc/*";
/// Roles that nodes may get. A user who may create pools chooses both the instance profile and what runs at the start of an
/// instance, and so gets the permissions of every role with such a name.
pub(super) const NODE_ROLES: &str = "arn:*:iam::*:role/*.nodes.infrastructure.foo.com";
/// Roles with which Auto Scaling may report the waits of lifecycle hooks.
pub(super) const HOOK_ROLES: &str = "arn:*:iam::*:role/*.hooks.infrastructure.foo.com";
/// Parameters of AWS and of publishers such as Canonical; their ARNs have no account.
pub(super) const PUBLIC_PARAMETERS: &str = "arn:*:ssm:*::parameter/aws/service/*";
pub(super) const PARAMETERS: &str = "arn:*:ssm:*:*:parameter/*";
const TEMPLATES: &str = "arn:*:ec2:*:*:launch-template/*";

/// What a launch uses of a VPC.
const LAUNCHED_INTO: &[&str] = &["arn:*:ec2:*:*:subnet/*", "arn:*:ec2:*:*:security-group/*"];

/// The other resources of a launch besides the template.
const LAUNCHED: &[&str] = &[
    "arn:*:ec2:*:*:instance/*",
    "arn:*:ec2:*:*:volume/*",
    "arn:*:ec2:*:*:network-interface/*",
    KEY_PAIRS,
    "arn:*:ec2:*::image/*",
    "arn:*:ec2:*::snapshot/*",
];

/// What launches take from an account besides its networks (Service Authorization Reference, "Amazon EC2": RunInstances).
const CAPACITY: &[&str] = &[
    "arn:*:ec2:*:*:placement-group/*",
    "arn:*:ec2:*:*:capacity-reservation/*",
    "arn:*:ec2:*:*:secondary-interface/*",
    "arn:*:ec2:*:*:secondary-subnet/*",
    "arn:*:resource-groups:*:*:group/*",
    "arn:*:license-manager:*:*:license-configuration:*",
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
        "Describe",
        Guard::ReadOnly.actions(),
        &["*"],
        None,
        "AWS supports neither resources nor conditions for these actions. They only read.",
    )];
    statements.push(allow(
        "ReadImageParameters",
        Guard::Parameter.actions(),
        &[PUBLIC_PARAMETERS, PARAMETERS],
        None,
        "SSM parameters that name images (`spec.ami`). The manager requests values without decryption, and shows none but ids of \
         images. A user who may create pools chooses the parameter: narrow the second resource to where yours are, or \
         remove it if pools use only public ones.",
    ));
    statements.extend(of_groups());
    statements.extend(of_templates_and_queues());
    statements
}

fn of_groups() -> Vec<Statement> {
    vec![
        // AWS also requires CreateOrUpdateTags when a group is created with tags (Auto Scaling User Guide, "Tag Auto Scaling
        // groups and instances"), and a new group has no tag yet that a condition could check.
        allow(
            "CreateGroups",
            [Operation::CreateAutoScalingGroup, Operation::CreateOrUpdateTags]
                .map(Operation::iam_action)
                .to_vec(),
            &[GROUPS],
            Some(creates()),
            "A group can only be created with its ownership tag. The tags of an adoption need a policy of their own. AWS does not distinguish a creation from \
             tags for a group that exists: this limits mistakes of the manager, but not an attacker with its credentials.",
        ),
        allow(
            "ChangeOwnGroups",
            Guard::OwnGroup.actions(),
            &[GROUPS],
            Some(is_owned("aws:ResourceTag")),
            "Groups without the ownership tag cannot be changed. Instances can be terminated only through their group \
             (TerminateInstanceInAutoScalingGroup): ec2:TerminateInstances is not granted. This limits mistakes of the manager, \
             but not an attacker with its credentials, who can add the tag to any group with the statement before. Names of \
             groups and values of the tag (below) limit an attacker, too.",
        ),
    ]
}

/// The policy for the adoption of groups that exist.
pub(super) fn adoption() -> Vec<Statement> {
    vec![allow(
        "AdoptGroups",
        vec![Operation::CreateOrUpdateTags.iam_action()],
        &[GROUPS],
        Some(adopts()),
        "Only groups that the owner of the account tagged for their adoption. Once a group has the ownership tag, the policy for pools allows \
         the rest.",
    )]
}

fn of_templates_and_queues() -> Vec<Statement> {
    vec![
        allow(
            "CreateTemplates",
            Guard::TemplateWithOurTag.actions(),
            &[TEMPLATES],
            Some(is_owned("aws:RequestTag")),
            "A launch template can only be created with its ownership tag.",
        ),
        allow(
            "ChangeOwnTemplates",
            Guard::OwnTemplate.actions(),
            &[TEMPLATES],
            Some(is_owned("aws:ResourceTag")),
            "Launch templates without the ownership tag cannot be changed.",
        ),
        allow(
            "ReadEvents",
            Guard::TaggedQueue.actions(),
            &[QUEUES],
            Some(has_tag("aws:ResourceTag", TAG_EVENTS)),
            "The queue of events, which deploy/aws/events.yaml creates with this tag. A queue with another name needs its name here. \
             Remove the statement if there is none.",
        ),
    ]
}

/// Permissions that AWS requires of the manager for calls that lead to launches.
fn of_launches() -> Vec<Statement> {
    vec![
        Statement {
            sid: "TagNewTemplates",
            effect: Effect::Allow,
            actions: vec!["ec2:CreateTags".to_owned()],
            resources: vec![TEMPLATES],
            condition: Some(json!({"StringEquals": {"ec2:CreateAction": "CreateLaunchTemplate"}})),
            why: "The ownership tag of a launch template, only at its creation.",
        },
        Statement {
            sid: "LaunchFromOwnTemplates",
            effect: Effect::Allow,
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: vec![TEMPLATES],
            condition: Some(is_owned("aws:ResourceTag")),
            why: "Auto Scaling requires ec2:RunInstances of a caller that creates or updates a group with a launch template \
                  (Auto Scaling User Guide, \"Control Amazon EC2 launch template usage in Auto Scaling groups\"). The \
                  manager never calls it.",
        },
        Statement {
            sid: "LaunchOnlyFromTemplates",
            effect: Effect::Allow,
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: LAUNCHED.to_vec(),
            condition: Some(json!({"ArnLike": {"ec2:LaunchTemplate": TEMPLATES}})),
            why: "The other resources of a launch, and only in a launch from a template.",
        },
        Statement {
            sid: "LaunchWithCapacity",
            effect: Effect::Allow,
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: CAPACITY.to_vec(),
            condition: Some(json!({"ArnLike": {"ec2:LaunchTemplate": TEMPLATES}})),
            why: "What `placement`, `capacityReservation`, `licenseConfigurations` and `launchTemplateOverlay.SecondaryInterfaces` of \
                  FooMachinePools name. Replace the resources by their ARNs, or remove the statement if no pool has these fields.",
        },
        Statement {
            sid: "LaunchIntoOwnNetworks",
            effect: Effect::Allow,
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: LAUNCHED_INTO.to_vec(),
            condition: Some(json!({
                "ArnLike": {"ec2:LaunchTemplate": TEMPLATES},
                "Null": {format!("aws:ResourceTag/{TAG_CLUSTER}"): "false"},
            })),
            why: "Subnets and security groups of a launch: those of managed networks, which have the ownership tag.",
        },
        Statement {
            sid: "LaunchIntoNamedVpcs",
            effect: Effect::Allow,
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: LAUNCHED_INTO.to_vec(),
            condition: Some(json!({"ArnLike": {"ec2:LaunchTemplate": TEMPLATES, "ec2:Vpc": LAUNCH_VPCS}})),
            why: "Subnets and security groups that are not the provider's: of existing networks, and groups of yours in a managed network. \
                  The policy cannot know your VPCs: replace the second condition by their ARNs, or remove the statement if there \
                  are none. The stack allows only those that its parameter `LaunchVpcs` names, by default none.",
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
            why: "Tags of the launch template for instances, their volumes and their network interfaces.",
        },
    ]
}

/// Roles that the manager passes or that AWS creates for it, and what the policy denies.
fn of_roles_and_force() -> Vec<Statement> {
    vec![
        Statement {
            sid: "GiveNodesTheirRole",
            effect: Effect::Allow,
            actions: vec!["iam:PassRole".to_owned()],
            resources: vec![NODE_ROLES],
            condition: Some(json!({"StringLike": {"iam:PassedToService": "ec2.amazonaws.com*"}})),
            why: "Nodes get the role of `iamInstanceProfile`: one whose name ends in `.nodes.infrastructure.foo.com`. Name your node \
                  roles like that, or replace the resource by their ARNs. Never extend it to all roles: a user who may create a \
                  FooMachinePool chooses the profile and the programs that run with it.",
        },
        Statement {
            sid: "GiveHooksTheirRole",
            effect: Effect::Allow,
            actions: vec!["iam:PassRole".to_owned()],
            resources: vec![HOOK_ROLES],
            condition: Some(json!({"StringEquals": {"iam:PassedToService": "autoscaling.amazonaws.com"}})),
            why: "Auto Scaling gets the role of a lifecycle hook in `lifecycleHooks`, with which it sends messages to a topic or queue: one \
                  whose name ends in `.hooks.infrastructure.foo.com`. Name such roles like that, or replace the resource by their ARNs.",
        },
        Statement {
            sid: "NeverByForce",
            effect: Effect::Deny,
            actions: vec![Operation::DeleteAutoScalingGroup.iam_action()],
            resources: vec![GROUPS],
            condition: Some(json!({"Bool": {"autoscaling:ForceDelete": "true"}})),
            why: "The manager deletes a group when it is empty. With ForceDelete AWS would terminate its instances undrained, without \
                  lifecycle hooks; the manager never requests that.",
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
            why: "AWS creates these two roles when an account uses Auto Scaling or spot instances for the first \
                  time, with the permissions of that caller. Remove the statement in accounts that have them.",
        },
    ]
}
