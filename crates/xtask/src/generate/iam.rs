//! docs/reference/iam-policy.json: the least an AWS account has to allow, and iam-policy.md: why.
//!
//! The policy follows from [`Operation`]: an operation the provider learns must be given a [`Guard`] here before
//! anything compiles. Facts about resources and condition keys: Service Authorization Reference, "Actions, resources,
//! and condition keys for Amazon EC2 Auto Scaling", "… for Amazon EC2" and "… for Amazon SQS".

use super::Generated;
use anyhow::{Context as _, Result};
use foo_cloud::Operation;
use foo_cloud::queue::TAG_EVENTS;
use foo_planner::desired::TAG_CLUSTER;
use serde_json::{Value, json};
use std::fmt::Write as _;
use strum::IntoEnumIterator as _;

/// What narrows the permission for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumIter)]
enum Guard {
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
}

fn guard(operation: Operation) -> Guard {
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
        | Operation::DeleteTags
        | Operation::SuspendProcesses
        | Operation::ResumeProcesses
        | Operation::SetInstanceProtection
        | Operation::TerminateInstanceInAutoScalingGroup
        | Operation::PutLifecycleHook
        | Operation::RecordLifecycleActionHeartbeat
        | Operation::CompleteLifecycleAction
        | Operation::DeleteAutoScalingGroup => Guard::OwnGroup,
        Operation::CreateLaunchTemplate => Guard::TemplateWithOurTag,
        Operation::CreateLaunchTemplateVersion
        | Operation::DeleteLaunchTemplateVersions
        | Operation::DeleteLaunchTemplate => Guard::OwnTemplate,
        Operation::ReceiveMessage | Operation::DeleteMessageBatch | Operation::ChangeMessageVisibility => {
            Guard::TaggedQueue
        }
    }
}

const GROUPS: &str = "arn:*:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*";
const QUEUES: &str = "arn:*:sqs:*:*:*";
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

/// One statement of the policy and the sentence that goes with it.
struct Statement {
    sid: &'static str,
    actions: Vec<String>,
    resources: Vec<&'static str>,
    condition: Option<Value>,
    why: &'static str,
}

pub(super) fn files() -> Result<Vec<Generated>> {
    let statements = statements();
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": statements.iter().map(Statement::json).collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&policy).context("writing the policy")?;
    text.push('\n');
    Ok(vec![
        Generated { path: "docs/reference/iam-policy.json".to_owned(), text },
        Generated { path: "docs/reference/iam-policy.md".to_owned(), text: page(&statements)? },
    ])
}

fn statements() -> Vec<Statement> {
    let mut statements: Vec<Statement> = Guard::iter().map(Guard::statement).collect();
    statements.extend(indirect());
    statements
}

fn exists(key: &str) -> Value {
    has_tag(key, TAG_CLUSTER)
}

fn has_tag(key: &str, tag: &str) -> Value {
    json!({"Null": {format!("{key}/{tag}"): "false"}})
}

impl Guard {
    fn statement(self) -> Statement {
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
                "Groups without the ownership tag cannot be changed, whatever the manager believes. Instances end only \
                 through their group (TerminateInstanceInAutoScalingGroup): ec2:TerminateInstances is not granted.",
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
        };
        Statement { sid, actions, resources, condition, why }
    }
}

/// Permissions for what AWS checks or does on behalf of the manager's calls.
fn indirect() -> Vec<Statement> {
    vec![
        Statement {
            sid: "TagNewTemplates",
            actions: vec!["ec2:CreateTags".to_owned()],
            resources: vec![TEMPLATES],
            condition: Some(json!({"StringEquals": {"ec2:CreateAction": "CreateLaunchTemplate"}})),
            why: "The ownership tag of a launch template, at the moment it is made and never later.",
        },
        Statement {
            sid: "LaunchFromOwnTemplates",
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: vec![TEMPLATES],
            condition: Some(exists("aws:ResourceTag")),
            why: "Auto Scaling checks ec2:RunInstances for whoever creates or updates a group with a launch template \
                  (Auto Scaling User Guide, \"Control Amazon EC2 launch template usage in Auto Scaling groups\"). The \
                  manager never calls it.",
        },
        Statement {
            sid: "LaunchOnlyFromTemplates",
            actions: vec!["ec2:RunInstances".to_owned()],
            resources: LAUNCHED.to_vec(),
            condition: Some(json!({"ArnLike": {"ec2:LaunchTemplate": TEMPLATES}})),
            why: "The other things a launch touches, and only in a launch from a template.",
        },
        Statement {
            sid: "TagNewInstances",
            actions: vec!["ec2:CreateTags".to_owned()],
            resources: vec![
                "arn:*:ec2:*:*:instance/*",
                "arn:*:ec2:*:*:volume/*",
                "arn:*:ec2:*:*:network-interface/*",
            ],
            condition: Some(json!({"StringEquals": {"ec2:CreateAction": "RunInstances"}})),
            why: "Tags that the launch template puts on instances and their volumes.",
        },
        Statement {
            sid: "GiveNodesTheirRole",
            actions: vec!["iam:PassRole".to_owned()],
            resources: vec!["arn:*:iam::*:role/*"],
            condition: Some(json!({"StringLike": {"iam:PassedToService": "ec2.amazonaws.com*"}})),
            why: "Nodes get the role of `iamInstanceProfile`. **Narrow this one**: replace the resource by the ARNs of \
                  your node roles. As it stands, the manager could start an instance with any role that trusts EC2.",
        },
        Statement {
            sid: "FirstUseOfAutoScaling",
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
    fn json(&self) -> Value {
        let mut statement = json!({
            "Sid": self.sid, "Effect": "Allow", "Action": self.actions, "Resource": self.resources,
        });
        if let (Some(condition), Some(map)) = (&self.condition, statement.as_object_mut()) {
            map.insert("Condition".to_owned(), condition.clone());
        }
        statement
    }
}

fn page(statements: &[Statement]) -> Result<String> {
    let mut page = format!(
        "# IAM policy of the manager\n\n\
         Generated by `cargo xtask generate` from the list of operations the provider can call. The policy itself is\n\
         [iam-policy.json](iam-policy.json): attach it to the role or user whose credentials the manager has.\n\n\
         Everything the provider makes carries the tag `{TAG_CLUSTER}`, and the policy allows changes only to\n\
         what carries it. ARNs begin with `arn:*` so that the policy works in every partition.\n\n\
         | Statement | Actions | Why |\n|---|---|---|\n"
    );
    for statement in statements {
        let actions: Vec<String> = statement.actions.iter().map(|action| format!("`{action}`")).collect();
        writeln!(page, "| {} | {} | {} |", statement.sid, actions.join("<br>"), statement.why)?;
    }
    page.push_str(
        "\n## Not in the policy\n\n\
         * **Volumes encrypted with a key of your own**: the key's policy must let the service-linked role\n  \
         `AWSServiceRoleForAutoScaling` use it and make grants, otherwise every launch fails. The manager itself needs no\n  \
         right to the key.\n\
         * **`sts:AssumeRole`**: whoever assumes a role of a FooClusterIdentity needs it, for that role's ARN; the role itself\n  \
         needs the policy above. See [identities](../operations/identities.md#in-aws).\n\
         * **Images shared by another account**: launch permission is given on the image, not here.\n\
         * **Tags of instances that run already**: a change of `tags` reaches new instances only.\n",
    );
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_allowed_by_its_guard_and_by_nothing_else() {
        for operation in Operation::iter() {
            let action = operation.iam_action();
            let allowed: Vec<&str> =
                statements().iter().filter(|s| s.actions.contains(&action)).map(|s| s.sid).collect();
            let mut expected = vec![guard(operation).statement().sid];
            if operation == Operation::CreateOrUpdateTags {
                // Of a group that is made: by the tag in the request; of one that is there: by its own tag.
                expected.insert(0, Guard::GroupWithOurTag.statement().sid);
            }
            assert_eq!(allowed, expected, "{action}");
        }
    }

    #[test]
    fn everything_that_changes_something_has_a_condition() {
        for statement in statements() {
            let reads_only = statement.actions.iter().all(|action| {
                Operation::iter().any(|known| known.iam_action() == *action && !known.is_mutation())
            });
            assert_eq!(statement.condition.is_none(), reads_only, "{}", statement.sid);
            assert!(statement.actions.iter().all(|action| !action.contains('*')), "{}", statement.sid);
        }
    }

    #[test]
    fn operations_that_change_something_are_guarded_as_such() {
        for operation in Operation::iter() {
            assert_eq!(guard(operation) == Guard::ReadOnly, !operation.is_mutation(), "{operation:?}");
        }
    }

    #[test]
    fn it_fits_into_one_managed_policy() {
        let text = &files().unwrap()[0].text;
        // IAM and AWS STS quotas: 6,144 characters, white space not counted.
        assert!(text.chars().filter(|c| !c.is_whitespace()).count() <= 6144);
    }

    #[test]
    fn instances_cannot_be_ended_but_through_their_group() {
        let text = &files().unwrap()[0].text;
        for action in
            ["ec2:TerminateInstances", "autoscaling:SetDesiredCapacity", "autoscaling:DetachInstances"]
        {
            assert!(!text.contains(action), "{action}");
        }
    }
}
