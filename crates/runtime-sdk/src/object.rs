//! Objects inside requests: raw JSON until they are decoded into a type.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A Kubernetes object as core sent it. Unknown fields stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Object(pub Value);

/// An object that is not what was asked for. The text names the kind and the field, and is the same for the same
/// object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name} cannot be read: {problem}")]
pub struct DecodeError {
    kind: String,
    name: String,
    problem: String,
}

impl Object {
    /// `apiVersion`, or an empty text.
    pub fn api_version(&self) -> &str {
        self.text("/apiVersion")
    }

    /// API group: `apiVersion` up to the slash, empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _version)| group)
    }

    /// `kind`, or an empty text.
    pub fn kind(&self) -> &str {
        self.text("/kind")
    }

    /// `metadata.name`, or an empty text.
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// `metadata.namespace`, or an empty text.
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// An annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.at("/metadata/annotations")?.get(key)?.as_str()
    }

    /// A label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.at("/metadata/labels")?.get(key)?.as_str()
    }

    /// What stands at a JSON pointer (RFC 6901).
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.0.pointer(pointer)
    }

    /// The object as a type.
    ///
    /// # Errors
    ///
    /// When the type does not fit.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        T::deserialize(&self.0).map_err(|error| DecodeError {
            kind: if self.kind().is_empty() { "object".to_owned() } else { self.kind().to_owned() },
            name: self.name().to_owned(),
            problem: error.to_string(),
        })
    }

    /// Whether core sent no object here (optional objects, such as a bootstrap configuration).
    pub fn is_absent(&self) -> bool {
        self.0.is_null()
    }

    fn text(&self, pointer: &str) -> &str {
        self.at(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Which objects a handler acts on: those of one kind of one group, and, if asked, of one namespace.
///
/// A request of the topology hooks has templates of every provider of the Cluster. What does not fit is another
/// provider's and must not be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector<'a> {
    /// API group, without version: versions come and go.
    pub group: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Namespace; `None` for any.
    pub namespace: Option<&'a str>,
}

impl<'a> Selector<'a> {
    /// Objects of a kind, in any namespace.
    pub const fn of(group: &'a str, kind: &'a str) -> Self {
        Self { group, kind, namespace: None }
    }

    /// Only those of a namespace.
    pub const fn in_namespace(self, namespace: &'a str) -> Self {
        Self { namespace: Some(namespace), ..self }
    }

    /// Whether an object is one of them.
    pub fn matches(&self, object: &Object) -> bool {
        object.group() == self.group
            && object.kind() == self.kind
            && self.namespace.is_none_or(|namespace| object.namespace() == namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template() -> Object {
        Object(json!({
            "apiVersion": "infrastructure.example.com/v1",
            "kind": "PoolTemplate",
            "metadata": {"name": "workers", "namespace": "team-a", "annotations": {"a": "b"}},
            "spec": {"size": 3},
        }))
    }

    #[test]
    fn an_object_has_its_kind_and_version() {
        let object = template();
        assert_eq!(
            (object.group(), object.kind(), object.name(), object.namespace(), object.annotation("a")),
            ("infrastructure.example.com", "PoolTemplate", "workers", "team-a", Some("b"))
        );
        assert_eq!(Object(json!({"apiVersion": "v1"})).group(), "");
    }

    #[test]
    fn a_selector_knows_other_providers_objects() {
        let own = Selector::of("infrastructure.example.com", "PoolTemplate");
        assert!(own.matches(&template()));
        assert!(own.in_namespace("team-a").matches(&template()));
        assert!(!own.in_namespace("team-b").matches(&template()));
        assert!(!Selector::of("infrastructure.example.com", "ClusterTemplate").matches(&template()));
        assert!(!Selector::of("example.com", "PoolTemplate").matches(&template()));
        assert!(!own.matches(&Object::default()));
    }

    #[test]
    fn undecodable_fields_are_named() {
        #[derive(Debug, Deserialize)]
        struct Wanted {
            #[expect(dead_code, reason = "only decoded")]
            spec: std::collections::BTreeMap<String, String>,
        }
        let error = template().decode::<Wanted>().unwrap_err().to_string();
        assert!(
            error.starts_with("PoolTemplate workers cannot be read: invalid type: integer `3`"),
            "{error}"
        );
    }
}
