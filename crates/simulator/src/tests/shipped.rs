//! The policies of deploy/aws/iam.yaml, as CloudFormation fills them in.

use crate::Policy;
use serde_json::Value;
use std::collections::BTreeMap;

const STACK: &str = include_str!("../../../../deploy/aws/iam.yaml");

/// A policy of the stack with these values of parameters, and the defaults of the others.
pub(super) fn shipped(resource: &str, given: &[(&str, &str)]) -> Policy {
    let mut parameters = defaults();
    for (name, value) in given {
        let known = parameters.insert(name, value);
        assert!(known.is_some(), "the stack has no parameter {name}");
    }
    let (_, rest) =
        STACK.split_once(&format!("\n  {resource}:\n    Type: AWS::IAM::ManagedPolicy\n")).expect("a policy");
    let (_, rest) = rest.split_once("PolicyDocument:\n").expect("its document");
    let document: String = rest.lines().take_while(|line| line.starts_with("        ")).collect();
    let document: Value = serde_json::from_str(&document).expect("JSON");
    serde_json::from_value(filled(document, &parameters)).expect("a policy")
}

fn defaults() -> BTreeMap<&'static str, &'static str> {
    let (_, rest) = STACK.split_once("\nParameters:\n").expect("parameters");
    let (parameters, _) = rest.split_once("\nConditions:\n").expect("an end");
    let mut found = BTreeMap::new();
    let mut name = "";
    for line in parameters.lines() {
        match (
            line.strip_prefix("    Default: "),
            line.strip_prefix("  ").and_then(|it| it.strip_suffix(':')),
        ) {
            (Some(default), _) => {
                found.insert(name, default.trim_matches('"'));
            }
            (None, Some(next)) => name = next,
            (None, None) => {}
        }
    }
    found
}

fn filled(part: Value, parameters: &BTreeMap<&str, &str>) -> Value {
    match part {
        Value::Object(fields) => match fields.get("Fn::Sub").and_then(Value::as_str) {
            Some(text) => {
                let filled = parameters.iter().fold(text.to_owned(), |text, (name, value)| {
                    text.replace(&format!("${{{name}}}"), value)
                });
                assert!(!filled.contains("${"), "{filled}");
                filled.into()
            }
            None => fields.into_iter().map(|(name, value)| (name, filled(value, parameters))).collect(),
        },
        Value::Array(items) => items.into_iter().map(|item| filled(item, parameters)).collect(),
        other => other,
    }
}
