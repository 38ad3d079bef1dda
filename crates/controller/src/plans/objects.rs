//! The objects in a FooPlan. The API server does not compare them with their schema.

use foo_api::capi::MachinePool;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Items of a list or map in an object that is planned: as many as the longest list of these kinds may have.
const MOST_ITEMS: usize = 200;
/// Bytes of an object that is planned. Its schema's limits of single texts allow less.
const LARGEST: usize = 256 << 10;

/// Why an object of this kind is not planned, or not together with the others.
pub(crate) fn not_planned(object: &Value) -> String {
    let (version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    let versions = [
        api_version::<FooMachinePool>(),
        api_version::<MachinePool>(),
        api_version::<FooControlPlane>(),
        api_version::<FooCluster>(),
    ];
    let [pool, machine_pool, control_plane, cluster] = versions;
    format!(
        "a FooPlan is about one pool (FooMachinePool of {pool}, MachinePool of {machine_pool}), one FooControlPlane ({control_plane}) \
         or one FooCluster ({cluster}); this one has {kind} ({version}), which does not fit"
    )
}

/// What has to be true of every object.
pub(crate) fn check(object: &Value, namespace: &str) -> Result<(), String> {
    check_namespace(object, namespace)?;
    check_size(object)
}

/// Puts the object of a kind into its place.
pub(crate) fn insert<T>(slot: &mut Option<T>, object: T) -> Result<(), String> {
    match slot.replace(object) {
        None => Ok(()),
        Some(_) => Err("a FooPlan has two objects of one kind".to_owned()),
    }
}

/// The namespace of an object is that of the FooPlan: whoever may create one there need not see others.
fn check_namespace(object: &Value, namespace: &str) -> Result<(), String> {
    match object.pointer("/metadata/namespace").and_then(Value::as_str) {
        Some(other) if other != namespace => Err(format!(
            "an object is in namespace {other}, the FooPlan in {namespace}: both must be in the same one"
        )),
        Some(_) | None => Ok(()),
    }
}

/// Whether it is an object of this kind, in the version that the manager reads: in another one fields have other names.
pub(crate) fn is_of<K: Resource<DynamicType = ()>>(object: &Value) -> bool {
    text(object, "/kind") == K::kind(&()) && text(object, "/apiVersion") == api_version::<K>()
}

fn api_version<K: Resource<DynamicType = ()>>() -> String {
    K::api_version(&()).into_owned()
}

/// Nothing has compared the object with its schema. What is computed from it is to take seconds at most.
fn check_size(object: &Value) -> Result<(), String> {
    let mut left = LARGEST;
    check_items(object, &mut left)
}

fn check_items(value: &Value, left: &mut usize) -> Result<(), String> {
    let mut take = |bytes: usize| {
        *left = left.checked_sub(bytes).ok_or_else(|| format!("an object is larger than {LARGEST} bytes"))?;
        Ok(())
    };
    let count = |items: usize, what: &str| match items {
        0..=MOST_ITEMS => Ok(()),
        items => Err(format!("a {what} has {items} items, more than {MOST_ITEMS}")),
    };
    match value {
        Value::Array(items) => {
            count(items.len(), "list")?;
            items.iter().try_for_each(|inner| check_items(inner, left))
        }
        Value::Object(fields) => {
            count(fields.len(), "map")?;
            // Written by the manager, and not read from here.
            let read = fields.iter().filter(|(name, _)| *name != "providerIDList" && *name != "status");
            read.clone().try_for_each(|(name, _)| take(name.len()))?;
            read.map(|(_, inner)| inner).try_for_each(|inner| check_items(inner, left))
        }
        Value::String(text) => take(text.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn text<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Reads it. It is of the namespace of the FooPlan.
pub(crate) fn parse<T: DeserializeOwned + ResourceExt>(object: &Value, namespace: &str) -> Result<T, String> {
    let mut parsed: T = serde_json::from_value(object.clone())
        .map_err(|error| format!("{} cannot be read: {error}", text(object, "/kind")))?;
    if parsed.meta().name.is_none() {
        return Err(format!("{} has no name", text(object, "/kind")));
    }
    parsed.meta_mut().namespace = Some(namespace.to_owned());
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::CustomResourceExt;
    use serde_json::json;

    /// The largest `maxItems` in a schema.
    fn longest(schema: &Value) -> u64 {
        let own = schema.get("maxItems").and_then(Value::as_u64).unwrap_or_default();
        let inner: Vec<&Value> = match schema {
            Value::Array(items) => items.iter().collect(),
            Value::Object(fields) => fields.values().collect(),
            _ => Vec::new(),
        };
        inner.into_iter().map(longest).max().unwrap_or_default().max(own)
    }

    #[test]
    fn lists_may_be_as_long_as_their_schemas_allow() {
        let crds = [FooMachinePool::crd(), FooControlPlane::crd(), FooCluster::crd()];
        for crd in crds {
            let spec = serde_json::to_value(&crd).unwrap();
            let spec =
                spec.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties").unwrap();
            let mut spec = spec.clone();
            // A list that the manager writes.
            spec.as_object_mut().unwrap().remove("providerIDList");
            assert!(longest(&spec) <= u64::try_from(MOST_ITEMS).unwrap(), "{:?}", crd.spec.names.kind);
        }
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let refused = |object: &Value| check(object, "team").unwrap_err();
        assert_eq!(refused(&json!({ "a": vec![1; 201] })), "a list has 201 items, more than 200");
        let tags: serde_json::Map<String, Value> = (0..201).map(|n| (n.to_string(), json!(""))).collect();
        assert_eq!(refused(&json!({ "tags": tags })), "a map has 201 items, more than 200");
        let long = "x".repeat(2000);
        assert_eq!(refused(&json!({ "a": vec![long; 200] })), "an object is larger than 262144 bytes");
        assert_eq!(check(&json!({ "status": { "a": vec![1; 500] }, "spec": vec![1; 200] }), "team"), Ok(()));
    }
}
