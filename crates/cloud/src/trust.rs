//! Which services a role's trust policy allows to assume it (IAM User Guide, "IAM JSON policy elements").

use serde_json::Value;
use std::collections::BTreeSet;

/// The action by which a service gets the role's credentials.
const ASSUME_ROLE: &str = "sts:assumerole";

/// The service principals that may assume the role; `*` stands for every principal. A statement with a condition counts as one
/// without. `None` if the document, JSON in percent-encoding (IAM API Reference, Role), cannot be read.
pub fn services(document: &str) -> Option<BTreeSet<String>> {
    let policy: Value = serde_json::from_str(&decoded(document)?).ok()?;
    let (mut allowed, mut denied) = (BTreeSet::new(), BTreeSet::new());
    for statement in several(policy.get("Statement")?) {
        if !several_in(statement, "Action").iter().filter_map(|it| it.as_str()).any(is_assume_role) {
            continue;
        }
        match statement.get("Effect").and_then(Value::as_str) {
            Some("Allow") => allowed.extend(principals(statement)),
            Some("Deny") if statement.get("Condition").is_none() => denied.extend(principals(statement)),
            Some(_) | None => {}
        }
    }
    Some(if denied.contains("*") { BTreeSet::new() } else { &allowed - &denied })
}

fn principals(statement: &Value) -> Vec<String> {
    let principal = statement.get("Principal");
    if principal.and_then(Value::as_str) == Some("*") {
        return vec!["*".to_owned()];
    }
    let services = principal.map(|principal| several_in(principal, "Service")).unwrap_or_default();
    services.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Names of actions may end in a wildcard, and their case does not matter.
fn is_assume_role(action: &str) -> bool {
    let action = action.to_ascii_lowercase();
    match action.split_once('*') {
        Some((beginning, _)) => ASSUME_ROLE.starts_with(beginning),
        None => action == ASSUME_ROLE,
    }
}

/// One value, or an array of several: policies have both.
fn several(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    }
}

fn several_in<'a>(object: &'a Value, key: &str) -> Vec<&'a Value> {
    object.get(key).map(several).unwrap_or_default()
}

/// Text in percent-encoding (RFC 3986). A `%` without two digits stands for itself.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.bytes());
        let digits = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = if let Some((byte, after)) = digits.zip(after.get(2..)) {
            bytes.push(byte);
            after
        } else {
            bytes.push(b'%');
            after
        };
    }
    bytes.extend(rest.bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(statements: &Value) -> Vec<String> {
        let document = json!({"Version": "2012-10-17", "Statement": statements}).to_string();
        let encoded = document.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        assert_eq!(services(&document), services(&encoded), "encoded or not");
        services(&encoded).unwrap().into_iter().collect()
    }

    #[test]
    fn services_are_those_that_may_assume_the_role() {
        let eks = json!({"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"});
        assert_eq!(of(&eks), ["eks.amazonaws.com"]);
        let both = json!([
            {"Effect": "Allow", "Principal": {"Service": ["ec2.amazonaws.com", "eks.amazonaws.com"], "AWS": "arn:aws:iam::1:root"},
             "Action": ["sts:TagSession", "STS:Assume*"], "Condition": {"StringEquals": {"aws:SourceAccount": "1"}}},
            {"Effect": "Allow", "Principal": {"Federated": "arn:aws:iam::1:oidc-provider/x"}, "Action": "sts:AssumeRoleWithWebIdentity"},
        ]);
        assert_eq!(of(&both), ["ec2.amazonaws.com", "eks.amazonaws.com"]);
        assert_eq!(of(&json!([{"Effect": "Allow", "Principal": "*", "Action": "*"}])), ["*"]);
    }

    #[test]
    fn other_actions_and_denials_allow_nothing() {
        let tagging = json!([{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:TagSession"}]);
        assert!(of(&tagging).is_empty());
        let allow =
            json!({"Effect": "Allow", "Principal": {"Service": ["a", "b"]}, "Action": "sts:AssumeRole"});
        let deny =
            |principal: Value| json!({"Effect": "Deny", "Principal": principal, "Action": "sts:AssumeRole"});
        assert_eq!(of(&json!([allow, deny(json!({"Service": "a"}))])), ["b"]);
        assert!(of(&json!([allow, deny(json!("*"))])).is_empty());
    }

    #[test]
    fn a_document_that_is_no_policy_is_not_read() {
        for document in ["", "{", "%7B", "{}", "%FF"] {
            assert_eq!(services(document), None, "{document}");
        }
        assert_eq!(decoded("100%25 %zz %").as_deref(), Some("100% %zz %"));
    }
}
