//! The objects in a FooPlan. The API server does not compare them with their schema.

use foo_api::capi::MachinePool;
use foo_api::plan::FooPlan;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Items of a list in an object that is planned.
const LONGEST_LIST: usize = 100;

/// What a FooPlan is about: one controller responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A pool; also if its objects fit to nothing, or not to each other.
    Pool,
    /// A control plane.
    ControlPlane,
    /// A network.
    Network,
}

impl Subject {
    /// That of a FooPlan.
    pub(crate) fn of(plan: &FooPlan) -> Self {
        let all_are = |kind: &str| plan.spec.objects.iter().all(|object| text(object, "/kind") == kind);
        if all_are(&FooControlPlane::kind(&())) {
            Self::ControlPlane
        } else if all_are(&FooCluster::kind(&())) {
            Self::Network
        } else {
            Self::Pool
        }
    }
}

/// Why an object of this kind is not planned, or not together with the others.
pub(crate) fn not_planned(object: &Value) -> String {
    let (version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    let (pool, machine_pool) = (api_version::<FooMachinePool>(), api_version::<MachinePool>());
    let (control_plane, cluster) = (api_version::<FooControlPlane>(), api_version::<FooCluster>());
    format!(
        "a plan is about a FooMachinePool ({pool}) and its MachinePool ({machine_pool}), about a FooControlPlane ({control_plane}), or \
         about a FooCluster ({cluster}), not about {kind} ({version})"
    )
}

/// What has to be true of every object.
pub(crate) fn check(object: &Value, namespace: &str) -> Result<(), String> {
    check_namespace(object, namespace)?;
    check_lists(object)
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

/// Nothing has compared the object with its schema, whose lists are shorter than this.
fn check_lists(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(items) if items.len() > LONGEST_LIST => {
            Err(format!("a list has {} items, more than {LONGEST_LIST}", items.len()))
        }
        Value::Array(items) => items.iter().try_for_each(check_lists),
        Value::Object(fields) => {
            // Written by the manager, and not read from here.
            let read = fields.iter().filter(|(name, _)| *name != "providerIDList" && *name != "status");
            read.map(|(_, inner)| inner).try_for_each(check_lists)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
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
