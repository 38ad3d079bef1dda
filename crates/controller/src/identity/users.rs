//! Who uses an identity: an identity in use is not deleted. Pure.

use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::{FooCluster, FooClusterIdentitySpec};
use foo_model::some_names;
use kube::api::ObjectMeta;
use kube::{Resource, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

/// For each identity the FooClusters (`namespace/name`) that depend on it: they name it, or name none where
/// it is the default, or it is a source of the one they name.
pub(super) type Users = BTreeMap<String, BTreeSet<String>>;

/// The part of a FooCluster that names its identity, so that it can be read despite other invalid fields.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
#[resource(inherit = FooCluster)]
pub(super) struct ClusterOfIdentity {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Value,
}

impl ClusterOfIdentity {
    fn identity(&self) -> &str {
        self.spec.pointer("/identityRef/name").and_then(Value::as_str).unwrap_or(DEFAULT_IDENTITY)
    }
}

/// The users of each identity, whether it exists or not. A FooCluster that may not use the identity it names
/// does not count, so no user can block the deletion of another user's identity.
pub(super) fn users<C: Borrow<ClusterOfIdentity>>(
    clusters: &[C],
    specs: &BTreeMap<String, &FooClusterIdentitySpec>,
    may_use: impl Fn(&str, &str) -> bool,
) -> Users {
    let mut users = Users::new();
    for cluster in clusters.iter().map(Borrow::borrow) {
        let namespace = cluster.namespace().unwrap_or_default();
        let user = format!("{namespace}/{}", cluster.name_any());
        let mut next = Some(cluster.identity()).filter(|identity| may_use(identity, &namespace));
        while let Some(identity) = next
            // Sources may form a circle.
            && users.entry(identity.to_owned()).or_default().insert(user.clone())
        {
            let role = specs.get(identity).and_then(|spec| spec.role.as_ref());
            next = role.and_then(|role| role.source.as_ref()).map(|source| source.name.as_str());
        }
    }
    users
}

/// The message of an identity that waits until its users are deleted.
pub(super) fn in_words(users: &BTreeSet<String>) -> String {
    format!(
        "in use by FooClusters, delete them or set another identityRef there: {}",
        some_names(users.iter().map(String::as_str))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cluster(name: &str, identity: Option<&str>) -> ClusterOfIdentity {
        let reference = identity.map(|name| json!({ "name": name }));
        let spec = json!({ "region": 7, "identityRef": reference, "later": {} });
        serde_json::from_value(json!({ "metadata": { "namespace": "ns", "name": name }, "spec": spec }))
            .unwrap()
    }

    fn role(source: &str) -> FooClusterIdentitySpec {
        let role = json!({ "arn": "arn:aws:iam::123456789012:role/x", "source": { "name": source } });
        serde_json::from_value(json!({ "role": role })).unwrap()
    }

    fn seen(clusters: &[ClusterOfIdentity], specs: &[(&str, FooClusterIdentitySpec)]) -> Value {
        let specs = specs.iter().map(|(name, spec)| ((*name).to_owned(), spec)).collect();
        json!(users(clusters, &specs, |identity, namespace| (identity, namespace) != ("closed", "ns")))
    }

    #[test]
    fn sources_of_what_is_named_are_used_too() {
        let clusters = [
            cluster("a", Some("prod")),
            cluster("b", Some("jump")),
            cluster("c", None),
            cluster("nosy", Some("closed")),
        ];
        let specs = [("prod", role("jump")), ("jump", role("keys")), ("idle", role("keys"))];
        let expected = json!({
            "prod": ["ns/a"],
            "jump": ["ns/a", "ns/b"],
            "keys": ["ns/a", "ns/b"],
            "default": ["ns/c"],
        });
        assert_eq!(seen(&clusters, &specs), expected);
    }

    #[test]
    fn a_circle_of_sources_has_an_end() {
        let specs = [("a", role("b")), ("b", role("a"))];
        assert_eq!(seen(&[cluster("x", Some("a"))], &specs), json!({ "a": ["ns/x"], "b": ["ns/x"] }));
        assert_eq!(seen(&[], &specs), json!({}), "it is not used, so nothing blocks it");
    }
}
