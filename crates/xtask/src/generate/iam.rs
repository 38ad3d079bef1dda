//! docs/reference/iam-policy.json: the least an AWS account has to allow; iam-policy.md: why; deploy/aws/iam.yaml: the same as a
//! CloudFormation stack, narrowed by parameters.

mod page;
mod stack;
mod statements;

use super::Generated;
use anyhow::{Context as _, Result};
use serde_json::json;
use statements::{Statement, statements};

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
        Generated { path: "docs/reference/iam-policy.md".to_owned(), text: page::page(&statements)? },
        Generated { path: "deploy/aws/iam.yaml".to_owned(), text: stack::stack(&policy)? },
    ])
}

#[cfg(test)]
mod tests {
    use super::statements::{Effect, GROUPS, Guard, NODE_ROLES, guard};
    use super::*;
    use foo_cloud::Operation;
    use serde_json::Value;
    use strum::IntoEnumIterator as _;

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
