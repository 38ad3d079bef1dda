//! docs/reference/iam-policy.json: the least an AWS account has to allow; iam-policy.md: why; deploy/aws/iam.yaml: the same as a
//! CloudFormation stack, narrowed by parameters.
//!
//! The policy follows from [`Operation`]: an operation the provider learns must be given a [`Guard`] here before
//! anything compiles. Facts about resources and condition keys: Service Authorization Reference, "Actions, resources,
//! and condition keys for Amazon EC2 Auto Scaling", "… for Amazon EC2" and "… for Amazon SQS".

use super::Generated;
use anyhow::{Context as _, Result};
use foo_cloud::Operation;
use foo_cloud::queue::TAG_EVENTS;
use foo_model::names::TAG_CLUSTER;
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
    /// Nothing calls it, so it is not allowed.
    NotCalled,
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
        | Operation::SuspendProcesses
        | Operation::ResumeProcesses
        | Operation::SetInstanceProtection
        | Operation::TerminateInstanceInAutoScalingGroup
        | Operation::PutLifecycleHook
        | Operation::RecordLifecycleActionHeartbeat
        | Operation::CompleteLifecycleAction
        | Operation::DeleteAutoScalingGroup => Guard::OwnGroup,
        Operation::DeleteTags => Guard::NotCalled,
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
/// Roles that nodes may get. Whoever may make pools chooses both the instance profile and what runs at the start of an instance,
/// so every role that fits this is theirs.
const NODE_ROLES: &str = "arn:*:iam::*:role/*.nodes.infrastructure.foo.com";
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
enum Effect {
    Allow,
    Deny,
}

/// One statement of the policy and the sentence that goes with it.
struct Statement {
    sid: &'static str,
    effect: Effect,
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
        Generated { path: "deploy/aws/iam.yaml".to_owned(), text: stack(&policy)? },
    ])
}

fn statements() -> Vec<Statement> {
    let granted = Guard::iter().filter(|guard| *guard != Guard::NotCalled);
    let mut statements: Vec<Statement> = granted.map(Guard::statement).collect();
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

/// deploy/aws/iam.yaml.
fn stack(policy: &Value) -> Result<String> {
    let document = serde_json::to_string_pretty(&narrowed(policy.clone())).context("writing the stack")?;
    let document: String = document.lines().flat_map(|line| ["        ", line, "\n"]).collect();
    Ok(format!("{STACK}{document}"))
}

/// What stands before the document; CloudFormation reads JSON in YAML.
const STACK: &str = r#"# Generated by `cargo xtask generate` from crates/xtask/src/generate/iam.rs: the policy that the manager needs, narrowed by
# parameters. What each statement is for: docs/reference/iam-policy.md. Attach the policy to the manager's role or user, or to
# the role of an identity.
#
#   aws cloudformation deploy --stack-name foo-manager-policy --template-file iam.yaml --capabilities CAPABILITY_NAMED_IAM \
#       --parameter-overrides NodeRoles='*.nodes.infrastructure.foo.com' Clusters='team-a/*' Groups='team-a-*'
AWSTemplateFormatVersion: "2010-09-09"
Description: IAM policy of cluster-api-provider-foo

Parameters:
  PolicyName:
    Type: String
    Default: foo-manager
    Description: Name of the policy.
  NodeRoles:
    Type: String
    Default: "*.nodes.infrastructure.foo.com"
    AllowedPattern: ".*[^*].*"
    Description: Names of the roles that instances may get. Whoever may make a pool can run programs with each of them.
  Clusters:
    Type: String
    Default: "*"
    Description: Values of the ownership tag, <namespace>/<cluster>, on what may be made and changed.
  Groups:
    Type: String
    Default: "*"
    Description: Names of groups that may be made and changed.

Outputs:
  PolicyArn:
    Description: To be attached to the manager's role or user
    Value: !Ref Policy

Resources:
  Policy:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      ManagedPolicyName: !Ref PolicyName
      PolicyDocument:
"#;

/// The policy with parameters instead of what is to be narrowed.
fn narrowed(value: Value) -> Value {
    let parameter = |text: &str| json!({"Fn::Sub": text});
    match value {
        Value::String(text) if text == NODE_ROLES => parameter("arn:*:iam::*:role/${NodeRoles}"),
        Value::String(text) if text == GROUPS => {
            parameter("arn:*:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/${Groups}")
        }
        Value::Array(items) => items.into_iter().map(narrowed).collect(),
        Value::Object(mut fields) => {
            for key in ["aws:RequestTag", "aws:ResourceTag"].map(|key| format!("{key}/{TAG_CLUSTER}")) {
                if fields.get("Null") == Some(&json!({&key: "false"})) {
                    fields.remove("Null");
                    fields.insert("StringLike".to_owned(), json!({key: parameter("${Clusters}")}));
                }
            }
            fields.into_iter().map(|(name, value)| (name, narrowed(value))).collect()
        }
        other => other,
    }
}

/// Permissions for what AWS checks or does on behalf of the manager's calls.
fn indirect() -> Vec<Statement> {
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
    fn json(&self) -> Value {
        let mut statement = json!({
            "Sid": self.sid, "Effect": <&str>::from(self.effect), "Action": self.actions, "Resource": self.resources,
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
         Everything the provider makes carries the tag `{TAG_CLUSTER}`, with the value `<namespace>/<cluster>`, and\n\
         the policy allows changes only to what carries it. ARNs begin with `arn:*` so that the policy works in every partition.\n\n\
         [deploy/aws/iam.yaml](../../deploy/aws/iam.yaml) is the same as a CloudFormation stack, with parameters that narrow it:\n\n\
         | Parameter | Default | Narrows |\n|---|---|---|\n\
         | `NodeRoles` | `*.nodes.infrastructure.foo.com` | which roles instances may get |\n\
         | `Clusters` | `*` | values of the ownership tag, such as `team-a/*`: one installation, or one tenant's role, cannot change what \
         is another's |\n\
         | `Groups` | `*` | names of groups, such as `prod-*`. By default a group is called `<namespace>-<cluster>-<pool>`, so namespaces \
         that begin alike can be told from all others |\n\n\
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
         * **A permissions boundary** on the role or user, and for roles of identities a boundary as well: whatever is attached \
         later by\n  mistake, these credentials never become more than this policy.\n\
         * **Tags of instances that run already**: a change of `tags` reaches new instances only.\n",
    );
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowing() -> Vec<Statement> {
        statements().into_iter().filter(|statement| statement.effect == Effect::Allow).collect()
    }

    #[test]
    fn instances_get_no_role_but_those_of_nodes() {
        let passing = |statement: &Statement| statement.actions.contains(&"iam:PassRole".to_owned());
        let resources: Vec<&str> =
            allowing().iter().filter(|it| passing(it)).flat_map(|it| it.resources.clone()).collect();
        assert_eq!(resources, ["arn:*:iam::*:role/*.nodes.infrastructure.foo.com"]);
    }

    #[test]
    fn a_group_is_never_deleted_by_force() {
        let denied = statements().into_iter().find(|it| it.effect == Effect::Deny).unwrap();
        assert_eq!(denied.actions, ["autoscaling:DeleteAutoScalingGroup"]);
        assert_eq!(denied.condition, Some(json!({"Bool": {"autoscaling:ForceDelete": "true"}})));
    }

    /// With its defaults the stack says what the policy says; `StringLike *` asks for the tag as `Null` does.
    #[test]
    fn the_stack_is_the_policy_with_parameters() {
        let files = files().unwrap();
        let text = |path: &str| files.iter().find(|it| it.path == path).unwrap().text.clone();
        let stack = crate::yaml::parse(&text("deploy/aws/iam.yaml")).unwrap().remove(0);
        let parameters = stack["Parameters"].as_object().unwrap();
        let mut document = stack["Resources"]["Policy"]["Properties"]["PolicyDocument"].to_string();
        for (name, parameter) in parameters.iter().filter(|(name, _)| *name != "PolicyName") {
            assert!(document.contains(&format!("${{{name}}}")), "{name} is not used");
            document = document.replace(&format!("${{{name}}}"), parameter["Default"].as_str().unwrap());
        }
        assert!(!document.contains("${"), "{document}");
        let same = text("docs/reference/iam-policy.json");
        let actions = |value: Value| -> Vec<Value> {
            let of = |statement: &Value| json!([statement["Sid"], statement["Effect"], statement["Action"]]);
            value["Statement"].as_array().unwrap().iter().map(of).collect()
        };
        let document: Value = serde_json::from_str(&document).unwrap();
        assert_eq!(actions(document.clone()), actions(serde_json::from_str(&same).unwrap()));
        let document = document.to_string();
        assert!(
            document.contains(NODE_ROLES)
                && document.contains(GROUPS)
                && !document.contains("/cluster\":\"false")
        );
    }

    #[test]
    fn every_operation_is_allowed_by_its_guard_and_by_nothing_else() {
        for operation in Operation::iter() {
            let action = operation.iam_action();
            let allowed: Vec<&str> =
                allowing().iter().filter(|s| s.actions.contains(&action)).map(|s| s.sid).collect();
            if guard(operation) == Guard::NotCalled {
                assert_eq!(allowed, Vec::<&str>::new(), "{action}");
                continue;
            }
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
