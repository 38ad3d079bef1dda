//! The policies of deploy/aws/iam.yaml, as CloudFormation fills them in. The end-to-end tests have this file, too.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const STACK: &str = include_str!("../../../../deploy/aws/iam.yaml");

/// The statements of these policies of the stack in one policy, with these values of parameters, and the defaults of the
/// others.
pub(super) fn shipped(policies: &[&str], given: &[(&str, &str)]) -> Result<Value> {
    let stack: Value = serde_saphyr::from_str(STACK).context("reading the stack")?;
    let parameters = stack.get("Parameters").and_then(Value::as_object).context("no parameters")?;
    let defaults = parameters.iter().map(|(name, parameter)| {
        let default = parameter.get("Default").and_then(Value::as_str);
        (name.as_str(), default.unwrap_or_default())
    });
    let mut values: BTreeMap<&str, &str> = defaults.collect();
    for (name, value) in given {
        ensure!(values.insert(name, value).is_some(), "the stack has no parameter {name}");
    }
    let mut statements = Vec::new();
    for policy in policies {
        let of_policy = stack.pointer(&format!("/Resources/{policy}/Properties/PolicyDocument/Statement"));
        let of_policy = of_policy.and_then(Value::as_array);
        let of_policy = of_policy.with_context(|| format!("the stack has no policy {policy}"))?;
        statements.extend(of_policy.iter().map(|statement| filled(statement, &values)));
    }
    let policy = json!({"Version": "2012-10-17", "Statement": statements});
    ensure!(!policy.to_string().contains("${"), "a parameter has no value: {policy}");
    Ok(policy)
}

/// A part of the stack with these values in `Fn::Sub`.
fn filled(part: &Value, values: &BTreeMap<&str, &str>) -> Value {
    match part {
        Value::Object(fields) => match fields.get("Fn::Sub").and_then(Value::as_str) {
            Some(text) => values
                .iter()
                .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
                .into(),
            None => fields.iter().map(|(name, field)| (name.clone(), filled(field, values))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, values)).collect(),
        other => other.clone(),
    }
}
