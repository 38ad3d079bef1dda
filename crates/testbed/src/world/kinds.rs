//! The kinds a world reads and writes, and reading and writing them as plain JSON.
//!
//! Not through our own types: a test must also see what these do not know.

use crate::lock;
use crate::wait::{Probe, wait_until};
use anyhow::{Context as _, Result};
use futures::StreamExt as _;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams};
use kube::runtime::watcher;
use kube::{Api, Client};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// Field manager of everything a test writes.
const WRITER: &str = "foo-testbed";

/// A kind that tests read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Cluster API's Cluster.
    Cluster,
    /// Cluster API's MachinePool.
    MachinePool,
    /// Cluster API's Machine.
    Machine,
    /// Our FooCluster.
    FooCluster,
    /// Our FooControlPlane.
    FooControlPlane,
    /// Our FooMachinePool.
    FooMachinePool,
    /// Our FooMachine.
    FooMachine,
    /// Our FooNodeConfig.
    FooNodeConfig,
    /// A Secret.
    Secret,
    /// A Node.
    Node,
}

impl Kind {
    fn resource(self) -> ApiResource {
        let (group, version, kind) = match self {
            Self::Cluster => ("cluster.x-k8s.io", "v1beta2", "Cluster"),
            Self::MachinePool => ("cluster.x-k8s.io", "v1beta2", "MachinePool"),
            Self::Machine => ("cluster.x-k8s.io", "v1beta2", "Machine"),
            Self::FooCluster => ("infrastructure.foo.com", "v1alpha1", "FooCluster"),
            Self::FooControlPlane => ("controlplane.foo.com", "v1alpha1", "FooControlPlane"),
            Self::FooMachinePool => ("infrastructure.foo.com", "v1alpha1", "FooMachinePool"),
            Self::FooMachine => ("infrastructure.foo.com", "v1alpha1", "FooMachine"),
            Self::FooNodeConfig => ("bootstrap.foo.com", "v1alpha1", "FooNodeConfig"),
            Self::Secret => ("", "v1", "Secret"),
            Self::Node => ("", "v1", "Node"),
        };
        // The plural of each of these is the usual one.
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
    }

    /// The objects of this kind in a namespace.
    pub fn api(self, client: Client, namespace: &str) -> Api<DynamicObject> {
        match self {
            Self::Node => Api::all_with(client, &self.resource()),
            _ => Api::namespaced_with(client, namespace, &self.resource()),
        }
    }
}

/// Reads one object; `None` if there is none.
pub async fn read(client: Client, kind: Kind, namespace: &str, name: &str) -> Result<Option<Value>> {
    let found = kind.api(client, namespace).get_opt(name).await;
    let found = found.with_context(|| format!("reading {kind:?} {namespace}/{name}"))?;
    found.map(serde_json::to_value).transpose().map_err(Into::into)
}

/// Reads all objects of a kind in a namespace, sorted by name; those with these labels, if any are given.
pub async fn list(client: Client, kind: Kind, namespace: &str, labels: &str) -> Result<Vec<Value>> {
    let found = kind.api(client, namespace).list(&ListParams::default().labels(labels)).await;
    let found = found.with_context(|| format!("listing {kind:?}s in {namespace}"))?;
    let mut objects: Vec<Value> =
        found.items.into_iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    objects.sort_by(|a, b| text(a, "/metadata/name").cmp(text(b, "/metadata/name")));
    Ok(objects)
}

/// Changes part of an object by a merge patch.
pub async fn patch(client: Client, kind: Kind, namespace: &str, name: &str, change: &Value) -> Result<()> {
    let params = PatchParams { field_manager: Some(WRITER.to_owned()), ..PatchParams::default() };
    let patched = kind.api(client, namespace).patch(name, &params, &Patch::Merge(change)).await;
    patched.map(drop).with_context(|| format!("changing {kind:?} {namespace}/{name}"))
}

/// Deletes an object; fine if there is none.
pub async fn delete(client: Client, kind: Kind, namespace: &str, name: &str) -> Result<()> {
    match kind.api(client, namespace).delete(name, &kube::api::DeleteParams::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error).with_context(|| format!("deleting {kind:?} {namespace}/{name}")),
    }
}

/// Every version of the objects of one kind in a namespace, as the API server announces them.
#[derive(Debug)]
pub struct History {
    versions: Arc<Mutex<Vec<Value>>>,
    /// Aborted when dropped.
    _task: JoinSet<()>,
}

impl History {
    /// Follows from now on.
    pub async fn of(client: Client, kind: Kind, namespace: &str) -> Result<Self> {
        let versions = Arc::<Mutex<Vec<Value>>>::default();
        let mut events = Box::pin(watcher::watcher(kind.api(client, namespace), watcher::Config::default()));
        // The first list is over: nothing that happens from now on is missed.
        while let Some(event) = events.next().await {
            if note(&versions, event.with_context(|| format!("watching {kind:?}s in {namespace}"))?) {
                break;
            }
        }
        let mut task = JoinSet::new();
        let noted = Arc::clone(&versions);
        task.spawn(async move {
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => drop(note(&noted, event)),
                    Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
                }
            }
        });
        Ok(Self { versions, _task: task })
    }

    /// All versions so far, in order.
    pub fn versions(&self) -> Vec<Value> {
        lock(&self.versions).clone()
    }
}

/// Returns whether the first list has ended.
fn note(versions: &Mutex<Vec<Value>>, event: watcher::Event<DynamicObject>) -> bool {
    match event {
        watcher::Event::Apply(object)
        | watcher::Event::InitApply(object)
        | watcher::Event::Delete(object) => {
            lock(versions).extend(serde_json::to_value(object));
            false
        }
        watcher::Event::Init => false,
        watcher::Event::InitDone => true,
    }
}

/// A text in an object, by its JSON pointer; empty if there is none.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A number in an object, by its JSON pointer.
pub fn number(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer).and_then(Value::as_i64)
}

/// A condition of an object: status, reason and message. One that was observed for an earlier generation of the object
/// does not count: it does not concern the present spec.
///
/// Controllers of Cluster API write conditions before the rest of the status, in a request of its own. A test that
/// reads another field of the status waits for that field, not for a condition.
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let found = conditions.iter().find(|condition| text(condition, "/type") == kind)?;
    let generation = |value: &Value, pointer| value.pointer(pointer).and_then(Value::as_i64);
    let observed = generation(found, "/observedGeneration");
    let is_current = observed.is_none_or(|it| Some(it) >= generation(object, "/metadata/generation"));
    is_current.then(|| (text(found, "/status"), text(found, "/reason"), text(found, "/message")))
}

/// Waits until a condition of an object, for the spec as it is, matches, and returns the object.
///
/// # Errors
/// The object cannot be read, or the condition does not match in time: the error has all conditions.
pub async fn until_condition(
    what: &str,
    time: Duration,
    read: impl AsyncFn() -> Result<Value>,
    kind: &str,
    is_so: impl Fn((&str, &str, &str)) -> bool,
) -> Result<Value> {
    wait_until(what, time, async || Ok(with_condition(read().await?, kind, &is_so))).await
}

/// The object if a condition, for the spec as it is, matches; else all its conditions.
pub fn with_condition(object: Value, kind: &str, is_so: impl Fn((&str, &str, &str)) -> bool) -> Probe<Value> {
    if condition(&object, kind).is_some_and(is_so) {
        return Probe::Done(object);
    }
    Probe::NotYet(object.pointer("/status/conditions").map_or_else(String::new, Value::to_string))
}

/// Whether an object is being deleted.
pub fn is_deleting(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_of_an_earlier_generation_does_not_count() {
        let object = |generation: i64, observed: Option<i64>| {
            let mut ready = json!({"type": "Ready", "status": "True", "reason": "Ready", "message": ""});
            if let Some(observed) = observed {
                ready["observedGeneration"] = json!(observed);
            }
            json!({"metadata": {"generation": generation}, "status": {"conditions": [ready]}})
        };
        let is_ready = |generation, observed| condition(&object(generation, observed), "Ready").is_some();
        assert!(is_ready(2, Some(2)) && is_ready(2, None) && is_ready(2, Some(3)));
        assert!(!is_ready(2, Some(1)));
        assert_eq!(condition(&object(1, Some(1)), "Paused"), None);
    }
}
