//! Which namespaces may use an identity.

use foo_api::identity::AllowedNamespaces;
use kube::core::{Selector, SelectorExt as _};
use std::collections::{BTreeMap, BTreeSet};

/// Namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// None.
    Denied,
    /// Each.
    All,
    /// The listed ones.
    These(BTreeSet<String>),
}

/// Labels of all namespaces.
pub(crate) type Namespaces = BTreeMap<String, BTreeMap<String, String>>;

impl Allowed {
    /// Whether the namespace is one of them.
    pub(crate) fn has(&self, namespace: &str) -> bool {
        match self {
            Self::Denied => false,
            Self::All => true,
            Self::These(names) => names.contains(namespace),
        }
    }
}

/// The namespaces that an identity allows; with an invalid selector, those of its list and what is wrong.
pub(crate) fn allowed(
    rule: Option<&AllowedNamespaces>,
    namespaces: &Namespaces,
) -> (Allowed, Option<String>) {
    let Some(rule) = rule else { return (Allowed::Denied, None) };
    if rule.list.is_none() && rule.selector.is_none() {
        return (Allowed::All, None);
    }
    let mut names: BTreeSet<String> = rule.list.iter().flatten().cloned().collect();
    let mut wrong = None;
    match rule.selector.clone().map(Selector::try_from) {
        None => {}
        // The API server rejects an empty selector; here it allows no namespace.
        Some(Ok(selector)) if selector.selects_all() => {}
        Some(Ok(selector)) => {
            let selected = namespaces.iter().filter(|(_, labels)| selector.matches(*labels));
            names.extend(selected.map(|(name, _)| name.clone()));
        }
        Some(Err(error)) => wrong = Some(error.to_string()),
    }
    (Allowed::These(names), wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn those_of(rule: Value) -> (Allowed, Option<String>) {
        let labelled =
            |name: &str, tier: &str| (name.to_owned(), [("tier".to_owned(), tier.to_owned())].into());
        let namespaces = [labelled("a", "gold"), labelled("b", "tin"), ("c".to_owned(), BTreeMap::new())];
        let rule: Option<AllowedNamespaces> = serde_json::from_value(rule).unwrap();
        allowed(rule.as_ref(), &namespaces.into())
    }

    fn these(names: &[&str]) -> (Allowed, Option<String>) {
        (Allowed::These(names.iter().map(|&name| name.to_owned()).collect()), None)
    }

    #[test]
    fn an_absent_list_allows_none_and_an_empty_one_all() {
        assert_eq!(those_of(Value::Null), (Allowed::Denied, None));
        assert_eq!(those_of(json!({})), (Allowed::All, None));
        assert!(!Allowed::Denied.has("a") && Allowed::All.has("a"));
    }

    #[test]
    fn a_list_and_a_selector_add_up() {
        let gold = json!({"matchLabels": {"tier": "gold"}});
        assert_eq!(those_of(json!({"list": ["b", "not-there-yet"]})), these(&["b", "not-there-yet"]));
        assert_eq!(those_of(json!({"selector": gold})), these(&["a"]));
        assert_eq!(those_of(json!({"list": ["b"], "selector": gold})), these(&["a", "b"]));
        let with_any = json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]});
        assert_eq!(those_of(json!({"selector": with_any})), these(&["a", "b"]));
    }

    #[test]
    fn unreadable_or_accidentally_empty_selectors_allow_no_namespace() {
        assert_eq!(those_of(json!({"selector": {}})), these(&[]));
        let odd = json!({"matchExpressions": [{"key": "tier", "operator": "Resembles"}]});
        let (allowed, wrong) = those_of(json!({"list": ["b"], "selector": odd}));
        assert_eq!(allowed, these(&["b"]).0);
        assert!(wrong.is_some());
    }
}
