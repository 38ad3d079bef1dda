//! IAM policy documents and their evaluation (IAM User Guide, "Policy evaluation logic" and "IAM JSON policy
//! elements").
//!
//! Only supported documents are accepted: one with an unknown element or condition operator is malformed; nothing is
//! ignored.

use crate::core::wildcard::like;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An identity-based policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Policy {
    /// `2012-10-17`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its statements; their order does not matter.
    pub statement: OneOrMany<Statement>,
}

/// A statement of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Statement {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// Allow or deny.
    pub effect: Effect,
    /// Actions, with wildcards, case-insensitive.
    pub action: OneOrMany<String>,
    /// ARNs, with wildcards.
    pub resource: OneOrMany<String>,
    /// Conditions, which must all be true.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub condition: BTreeMap<Operator, BTreeMap<String, OneOrMany<String>>>,
}

/// Effect of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// It allows its actions.
    Allow,
    /// It denies its actions, even if other statements allow them.
    Deny,
}

/// A condition operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Operator {
    /// `true`: the key must be absent; `false`: it must be present.
    Null,
    /// One of the values, exactly.
    StringEquals,
    /// One of the values, with wildcards.
    StringLike,
    /// `true` or `false`.
    Bool,
    /// One of the ARNs, with wildcards within each of the six parts.
    ArnLike,
    /// None of the key's values is one of these; also true without the key (IAM User Guide, "Multivalued context
    /// keys").
    #[serde(rename = "ForAllValues:StringNotEquals")]
    ForAllValuesStringNotEquals,
}

/// Separates the values of a key with several (`aws:TagKeys`). No tag key may contain it.
pub const VALUES_END: char = '\n';

/// A value or a list of values; policies may contain either.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// A list.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn values(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// A permission that a call needs: one action on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// `ec2:CreateTags`.
    pub action: String,
    /// ARN, or `*` for actions without resources.
    pub resource: String,
    /// The condition keys (`aws:ResourceTag/x`) of the request, and their values.
    pub context: BTreeMap<String, String>,
}

/// The decision of a policy about an [`Ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A statement allows it and none denies it.
    Allowed,
    /// No statement allows it.
    NotAllowed,
    /// A statement denies it.
    Denied,
}

impl Policy {
    /// Evaluates the policy: an explicit denial overrides everything, and what no statement allows is not allowed.
    pub fn judge(&self, ask: &Ask) -> Verdict {
        let mut verdict = Verdict::NotAllowed;
        for statement in self.statement.values().iter().filter(|statement| statement.speaks_of(ask)) {
            match statement.effect {
                Effect::Deny => return Verdict::Denied,
                Effect::Allow => verdict = Verdict::Allowed,
            }
        }
        verdict
    }
}

impl Policy {
    /// Condition keys on which statements about the action and the resource depend, and which the request does not have.
    pub fn missing_keys(&self, ask: &Ask) -> BTreeSet<String> {
        let about = self.statement.values().iter().filter(|statement| statement.names(ask));
        let keys = about.flat_map(|statement| statement.condition.values()).flat_map(BTreeMap::keys);
        keys.filter(|key| value_of(ask, key).is_none()).cloned().collect()
    }
}

impl Statement {
    /// Whether it is about the action and the resource, whatever its conditions.
    fn names(&self, ask: &Ask) -> bool {
        let action = ask.action.to_ascii_lowercase();
        self.action.values().iter().any(|pattern| like(&pattern.to_ascii_lowercase(), &action))
            && self.resource.values().iter().any(|pattern| like(pattern, &ask.resource))
    }

    fn speaks_of(&self, ask: &Ask) -> bool {
        self.names(ask)
            && self.condition.iter().all(|(operator, keys)| {
                keys.iter().all(|(key, values)| operator.holds(value_of(ask, key), values))
            })
    }
}

/// The value of a condition key. Names of keys are case-insensitive, the names of tags in them are not.
fn value_of<'a>(ask: &'a Ask, key: &str) -> Option<&'a str> {
    let parts = |key: &str| match key.split_once('/') {
        Some((name, tag)) => (name.to_ascii_lowercase(), Some(tag.to_owned())),
        None => (key.to_ascii_lowercase(), None),
    };
    let wanted = parts(key);
    ask.context.iter().find(|(name, _)| parts(name) == wanted).map(|(_, value)| value.as_str())
}

impl Operator {
    /// Whether the operator is true for a value. Without a value only `Null` and `ForAllValues` operators can be.
    fn holds(self, value: Option<&str>, patterns: &OneOrMany<String>) -> bool {
        match (self, value) {
            (Self::Null, value) => {
                patterns.values().iter().any(|absent| absent.eq_ignore_ascii_case("true") == value.is_none())
            }
            (Self::ForAllValuesStringNotEquals, value) => {
                let mut values = value.into_iter().flat_map(|values| values.split(VALUES_END));
                values.all(|value| patterns.values().iter().all(|pattern| pattern != value))
            }
            (_, None) => false,
            (Self::StringEquals, Some(value)) => patterns.values().iter().any(|pattern| pattern == value),
            (Self::Bool, Some(value)) => {
                patterns.values().iter().any(|pattern| pattern.eq_ignore_ascii_case(value))
            }
            (Self::StringLike, Some(value)) => patterns.values().iter().any(|pattern| like(pattern, value)),
            (Self::ArnLike, Some(value)) => patterns.values().iter().any(|pattern| arn_like(pattern, value)),
        }
    }
}

fn arn_like(pattern: &str, arn: &str) -> bool {
    let (patterns, parts): (Vec<&str>, Vec<&str>) =
        (pattern.splitn(6, ':').collect(), arn.splitn(6, ':').collect());
    patterns.len() == parts.len() && patterns.iter().zip(&parts).all(|(pattern, part)| like(pattern, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        serde_json::from_str(text).expect("a policy")
    }

    fn ask(action: &str, resource: &str, context: &[(&str, &str)]) -> Ask {
        let context = context.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Ask { action: action.to_owned(), resource: resource.to_owned(), context }
    }

    /// IAM User Guide, "IAM JSON policy elements: Action/Resource": wildcards `*` and `?`.
    #[test]
    fn wildcards_match_as_iam_says() {
        for (pattern, text) in
            [("*", ""), ("a*c", "abbc"), ("a?c", "abc"), ("*:x/*", "arn:aws:x/y"), ("", "")]
        {
            assert!(like(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a?c", "ac"), ("a*c", "abd"), ("", "a"), ("?", "")] {
            assert!(!like(pattern, text), "{pattern} {text}");
        }
        assert!(!like(&"*a".repeat(200), &"b".repeat(2000)));
        assert!(
            arn_like("arn:*:ec2:*:*:x/*", "arn:aws:ec2:r:1:x/y")
                && !arn_like("arn:*:x/*", "arn:aws:ec2:r:1:x/y")
        );
    }

    /// IAM User Guide, "Policy evaluation logic": an explicit deny overrides any allow; the default is to deny.
    #[test]
    fn a_denial_wins_and_silence_denies() {
        let policy = policy(
            r#"{"Statement":[{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"},
                {"Effect":"Deny","Action":["EC2:DescribeImages"],"Resource":["*"]}]}"#,
        );
        assert_eq!(policy.judge(&ask("ec2:DescribeInstances", "*", &[])), Verdict::Allowed);
        assert_eq!(policy.judge(&ask("ec2:DescribeImages", "*", &[])), Verdict::Denied);
        assert_eq!(policy.judge(&ask("ec2:CreateTags", "*", &[])), Verdict::NotAllowed);
    }

    /// IAM User Guide, "Condition operators": all keys and operators must hold, one value each is enough.
    #[test]
    fn conditions_test_keys_that_are_present() {
        let policy = policy(
            r#"{"Statement":{"Effect":"Allow","Action":"a:*","Resource":"*","Condition":{
                "Null":{"aws:ResourceTag/Owner":"false"},"StringLike":{"aws:requesttag/x":["1","b*"]}}}}"#,
        );
        let judge = |context: &[(&str, &str)]| policy.judge(&ask("a:b", "*", context));
        assert_eq!(judge(&[("aws:ResourceTag/Owner", "me"), ("aws:RequestTag/x", "bb")]), Verdict::Allowed);
        assert_eq!(
            judge(&[("aws:ResourceTag/owner", "me"), ("aws:RequestTag/x", "bb")]),
            Verdict::NotAllowed
        );
        assert_eq!(judge(&[("aws:ResourceTag/Owner", "me"), ("aws:RequestTag/x", "2")]), Verdict::NotAllowed);
        assert_eq!(judge(&[("aws:ResourceTag/Owner", "me")]), Verdict::NotAllowed);
    }

    /// IAM User Guide, "Single-valued vs. multivalued context keys".
    #[test]
    fn conditions_on_all_values_hold_for_none() {
        let policy = policy(
            r#"{"Statement":{"Effect":"Allow","Action":"a:b","Resource":"*","Condition":{
                "ForAllValues:StringNotEquals":{"aws:TagKeys":["x","y"]}}}}"#,
        );
        let judge = |context: &[(&str, &str)]| policy.judge(&ask("a:b", "*", context));
        assert_eq!(judge(&[]), Verdict::Allowed);
        assert_eq!(judge(&[("aws:TagKeys", "a\nxy")]), Verdict::Allowed);
        assert_eq!(judge(&[("aws:TagKeys", "a\nx")]), Verdict::NotAllowed);
    }

    #[test]
    fn what_cannot_be_judged_is_malformed() {
        for text in [
            r#"{"Statement":[{"Effect":"Allow","NotAction":"x","Resource":"*"}]}"#,
            r#"{"Statement":[{"Effect":"Allow","Action":"x","Resource":"*","Condition":{"IpAddress":{"a":"b"}}}]}"#,
            r#"{"Statement":[{"Effect":"allow","Action":"x","Resource":"*"}]}"#,
        ] {
            assert!(serde_json::from_str::<Policy>(text).is_err(), "{text}");
        }
    }
}
