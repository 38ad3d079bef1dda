//! Resolves an identity, through its sources, to credentials. Pure: the contents of Secrets are a parameter.

use crate::credentials::{Credentials, Keys, Role, Source};
use foo_api::FooClusterIdentitySpec;
use foo_model::{Blocked, Reason};
use std::collections::BTreeMap;

/// Maximum number of roles in a chain. AWS has no limit, but each costs a call per hour, region and chain.
pub(crate) const LONGEST: usize = 5;
/// Session name of identities that set none.
const SESSION_NAME: &str = "foo-manager";

/// The keys in the Secrets that identities name.
pub(crate) type Secrets = BTreeMap<String, Result<Keys, Blocked>>;

/// The credentials of an identity, or what is wrong with it or one of its sources.
pub(crate) fn credentials(
    name: &str,
    identities: &BTreeMap<String, &FooClusterIdentitySpec>,
    secrets: &Secrets,
) -> Result<Credentials, Blocked> {
    let mut way = Vec::new();
    let mut roles = Vec::new();
    let mut next = Some(name);
    let mut source = Source::Manager;
    while let Some(name) = next {
        let again = way.contains(&name);
        way.push(name);
        if again {
            return Err(invalid(format!("its source identities form a circle: {}", way.join(" > "))));
        }
        let identity = identities.get(name).ok_or_else(|| missing_on(&way))?;
        next = None;
        if let Some(role) = &identity.role {
            if roles.len() == LONGEST {
                return Err(invalid(format!("more than {LONGEST} roles in a chain: {}", way.join(" > "))));
            }
            roles.push(Role {
                arn: role.arn.clone(),
                external_id: role.external_id.clone(),
                session_name: role.session_name.clone().unwrap_or_else(|| SESSION_NAME.to_owned()),
            });
            next = role.source.as_ref().map(|source| source.name.as_str());
        } else if let Some(secret) = &identity.secret {
            let unread =
                || Blocked::new(Reason::IdentitySecretUnreadable, "its Secret has not been read yet");
            let keys = secrets.get(&secret.name).cloned().unwrap_or_else(|| Err(unread()));
            source = Source::Keys(keys.map_err(|blocked| Blocked {
                message: format!("FooClusterIdentity {}: {}", way.join(" > "), blocked.message),
                ..blocked
            })?);
        }
    }
    roles.reverse();
    Ok(Credentials { source, roles })
}

/// The identity does not exist.
pub(crate) fn missing(name: &str) -> Blocked {
    missing_on(&[name])
}

fn missing_on(way: &[&str]) -> Blocked {
    let message = match way {
        [.., of, name] => format!("FooClusterIdentity {name}, the source of {of}, does not exist"),
        way => format!("FooClusterIdentity {} does not exist", way.concat()),
    };
    Blocked::new(Reason::IdentityNotFound, message)
}

fn invalid(message: String) -> Blocked {
    Blocked::new(Reason::IdentityInvalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// `roles` maps a name to its source; `base` has the keys of Secret `keys`.
    fn resolve(name: &str, roles: &[(&str, Value)]) -> Result<Credentials, Blocked> {
        let mut specs: BTreeMap<String, FooClusterIdentitySpec> = BTreeMap::new();
        let spec = |value: Value| serde_json::from_value(value).unwrap();
        specs.insert("base".into(), spec(json!({"secret": {"name": "keys"}})));
        specs.insert("own".into(), spec(json!({"controller": {}})));
        specs.insert("broken".into(), spec(json!({"secret": {"name": "missing"}})));
        for (name, source) in roles {
            let arn = format!("arn:aws:iam::123456789012:role/{name}");
            let source = if source.is_null() { Value::Null } else { json!({"name": source}) };
            specs.insert((*name).to_owned(), spec(json!({"role": {"arn": arn, "source": source}})));
        }
        let specs = specs.iter().map(|(name, spec)| (name.clone(), spec)).collect();
        let keys =
            Keys { access_key_id: "AKIA1".into(), secret_access_key: "hush".into(), session_token: None };
        let gone = Blocked::new(Reason::IdentitySecretNotFound, "Secret missing does not exist");
        credentials(name, &specs, &[("keys".into(), Ok(keys)), ("missing".into(), Err(gone))].into())
    }

    fn refusal(name: &str, roles: &[(&str, Value)]) -> (Reason, String) {
        let blocked = resolve(name, roles).unwrap_err();
        (blocked.reason, blocked.message.clone())
    }

    #[test]
    fn roles_are_assumed_from_the_source_on() {
        let found = resolve("b", &[("a", json!("base")), ("b", json!("a"))]).unwrap();
        let arns: Vec<&str> = found.roles.iter().map(|role| role.arn.as_str()).collect();
        assert_eq!(arns, ["arn:aws:iam::123456789012:role/a", "arn:aws:iam::123456789012:role/b"]);
        assert_eq!(found.roles[0].session_name, "foo-manager");
        assert!(matches!(&found.source, Source::Keys(keys) if keys.access_key_id == "AKIA1"));
    }

    #[test]
    fn a_chain_without_a_source_begins_with_the_manager() {
        assert_eq!(resolve("own", &[]), Ok(Credentials::default()));
        let named = resolve("a", &[("a", json!("own"))]).unwrap();
        assert_eq!(named, resolve("a", &[("a", Value::Null)]).unwrap());
        assert_eq!((named.source, named.roles.len()), (Source::Manager, 1));
    }

    #[test]
    fn circles_are_found_and_shown() {
        let circle = [("a", json!("b")), ("b", json!("c")), ("c", json!("b"))];
        let message = "its source identities form a circle: a > b > c > b";
        assert_eq!(refusal("a", &circle), (Reason::IdentityInvalid, message.into()));
        assert_eq!(refusal("a", &[("a", json!("a"))]).1, "its source identities form a circle: a > a");
    }

    #[test]
    fn a_chain_has_an_end() {
        let names = ["r1", "r2", "r3", "r4", "r5", "r6"];
        let chain: Vec<(&str, Value)> =
            names.iter().zip(std::iter::once(&"base").chain(&names)).map(|(n, s)| (*n, json!(s))).collect();
        assert_eq!(resolve("r5", &chain).unwrap().roles.len(), LONGEST);
        let (reason, message) = refusal("r6", &chain);
        assert_eq!(reason, Reason::IdentityInvalid);
        assert!(message.starts_with("more than 5 roles in a chain: r6 > r5"), "{message}");
    }

    #[test]
    fn a_missing_identity_is_named_with_its_chain() {
        let of = |what: (Reason, String)| what;
        assert_eq!(
            of(refusal("x", &[])),
            (Reason::IdentityNotFound, "FooClusterIdentity x does not exist".into())
        );
        assert_eq!(
            refusal("a", &[("a", json!("x"))]),
            (Reason::IdentityNotFound, "FooClusterIdentity x, the source of a, does not exist".into())
        );
        assert_eq!(
            refusal("a", &[("a", json!("broken"))]),
            (
                Reason::IdentitySecretNotFound,
                "FooClusterIdentity a > broken: Secret missing does not exist".into()
            )
        );
    }
}
