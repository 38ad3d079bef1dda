//! An object as the API server sent it, whatever it contains: the rest of a list stays usable with one
//! unreadable object in it.
//!
//! The API server accepts times in `managedFields` and in conditions that our `Timestamp` cannot represent,
//! from any user who may write the object. So managedFields, which nothing here reads and which are half of
//! an object's metadata, are dropped before decoding; a time after the end of our calendar becomes its last
//! moment. An object that still cannot be decoded is [`Received::Odd`], with as much of its metadata as is
//! needed to name it.

use bytes::Bytes;
use kube::Resource;
use kube::api::ObjectMeta;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;
use std::borrow::Cow;

/// The last moment of our calendar: `jiff::Timestamp::MAX` in whole seconds.
const LAST: &str = "9999-12-30T22:00:00Z";
/// Prefix of all later moments that Kubernetes can write.
const LATE: &str = "9999-12-3";

/// An object that came from the API server.
#[derive(Clone, Debug)]
pub enum Received<K> {
    /// It could be decoded. Without managedFields.
    Object(K),
    /// It could not be decoded.
    Odd(Box<Odd>),
}

/// An object that cannot be decoded.
#[derive(Clone, Debug)]
pub struct Odd {
    /// Name, namespace, uid and version, as far as it has them.
    pub metadata: ObjectMeta,
    /// The decoding error.
    pub error: String,
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Received<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(read)
    }
}

/// The response to a request for a single object, without times that our types cannot represent. Nearly every
/// response stays unchanged.
pub(crate) fn repaired(json: Bytes) -> Bytes {
    let late = LATE.as_bytes();
    if !json.windows(late.len()).any(|part| part == late) {
        return json;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(&json) else { return json };
    drop_managed_fields(&mut value);
    mend_times(&mut value);
    value.to_string().into()
}

fn drop_managed_fields(value: &mut Value) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

fn read<K: DeserializeOwned>(mut value: Value) -> Received<K> {
    drop_managed_fields(&mut value);
    // By reference: the value is needed again when it does not fit.
    if let Ok(object) = K::deserialize(&value) {
        return Received::Object(object);
    }
    mend_times(&mut value);
    match K::deserialize(&value) {
        Ok(object) => Received::Object(object),
        Err(error) => Received::Odd(Box::new(Odd { metadata: name(&value), error: error.to_string() })),
    }
}

/// Replaces every moment after the end of our calendar by its last moment.
fn mend_times(value: &mut Value) {
    match value {
        Value::String(text) => {
            let is_late = text.starts_with(LATE) && text.get(10..11) == Some("T");
            if is_late && text.parse::<jiff::Timestamp>().is_err() {
                LAST.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mend_times),
        Value::Object(fields) => fields.values_mut().for_each(mend_times),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn name(value: &Value) -> ObjectMeta {
    let text = |field: &str| value.get("metadata")?.get(field)?.as_str().map(str::to_owned);
    ObjectMeta {
        name: text("name"),
        namespace: text("namespace"),
        uid: text("uid"),
        resource_version: text("resourceVersion"),
        ..ObjectMeta::default()
    }
}

impl<K: Resource> Resource for Received<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(dt: &K::DynamicType) -> Cow<'_, str> {
        K::kind(dt)
    }

    fn group(dt: &K::DynamicType) -> Cow<'_, str> {
        K::group(dt)
    }

    fn version(dt: &K::DynamicType) -> Cow<'_, str> {
        K::version(dt)
    }

    fn plural(dt: &K::DynamicType) -> Cow<'_, str> {
        K::plural(dt)
    }

    fn metadata_api() -> bool {
        K::metadata_api()
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Object(object) => object.meta(),
            Self::Odd(odd) => &odd.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Object(object) => object.meta_mut(),
            Self::Odd(odd) => &mut odd.metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::FooMachine;
    use k8s_openapi::api::core::v1::Secret;
    use kube::ResourceExt;
    use kube::core::{ObjectList, PartialObjectMeta};
    use serde_json::json;

    fn secret(name: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": name, "namespace": "ns", "uid": "u", "resourceVersion": "7",
            "managedFields": [{"manager": "x", "operation": "Update", "time": "9999-12-31T23:59:59Z"}],
        }})
    }

    #[test]
    fn times_of_managed_fields_do_not_block_decoding() {
        serde_json::from_value::<Secret>(secret("a")).unwrap_err();
        let list = json!({"apiVersion": "v1", "kind": "SecretList", "metadata": {"resourceVersion": "9"},
            "items": [secret("a"), secret("b")]});
        let list: ObjectList<Received<PartialObjectMeta<Secret>>> = serde_json::from_value(list).unwrap();
        for object in list.items {
            let Received::Object(object) = object else { panic!("{object:?}") };
            assert!(object.metadata.managed_fields.is_none());
            assert_eq!(object.resource_version().as_deref(), Some("7"));
        }
    }

    #[test]
    fn a_time_beyond_our_calendar_is_its_last_moment() {
        let machine = json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachine",
            "metadata": {"name": "m", "namespace": "ns"},
            "spec": {"providerID": "aws:///z/i-1", "instanceID": "i-1"},
            "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "R", "message": "",
                "lastTransitionTime": "9999-12-31T23:59:59Z"}]},
        });
        serde_json::from_value::<FooMachine>(machine.clone()).unwrap_err();
        let Received::Object(machine) = read::<FooMachine>(machine) else { panic!("it is odd") };
        let time = machine.status.unwrap().conditions[0].last_transition_time.0;
        assert_eq!(time, LAST.parse().unwrap());
    }

    #[test]
    fn a_response_with_a_single_object_is_repaired_too() {
        let response = repaired(secret("a").to_string().into());
        let secret: Secret = serde_json::from_slice(&response).unwrap();
        assert_eq!(secret.metadata.name.as_deref(), Some("a"));
        let plain = Bytes::from_static(b"{ \"a\": 1 }");
        assert_eq!(repaired(plain.clone()), plain);
    }

    #[test]
    fn an_object_of_another_shape_is_odd_and_named() {
        let mut machine = secret("m");
        machine["spec"] = json!("none");
        let Received::Odd(odd) = read::<FooMachine>(machine) else { panic!("it is not") };
        assert_eq!(
            (odd.metadata.name.as_deref(), odd.metadata.namespace.as_deref()),
            (Some("m"), Some("ns"))
        );
        assert!(!odd.error.is_empty());
    }
}
