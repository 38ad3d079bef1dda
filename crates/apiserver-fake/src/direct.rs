//! Direct access for tests: typed reads and writes, past the wire, the log and all faults.
//!
//! They follow the same rules as requests (generation, finalizers, ownership under the manager `user`), and watches
//! see them. A type that shows only part of an object, as [`foo_api::capi`] has them, does not lose the rest:
//! [`FakeApiServer::edit`] writes only what was changed.

use crate::failure::{self, ApiError};
use crate::kinds::Kind;
use crate::ownership::{Manager, Operation};
use crate::rules::Part;
use crate::rules::bare;
use crate::selectors::Filter;
use crate::server::FakeApiServer;
use crate::store::{Deletion, Key, Persistence, Store, Writer};
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::sync::Arc;

/// Types that can be read and written directly: those of kube's derive and k8s-openapi.
pub trait Object: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone + Debug {}

impl<K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone + Debug> Object for K {}

impl FakeApiServer {
    /// The object, if it exists and fits the type. The namespace of cluster-scoped kinds is the empty text.
    pub fn get<K: Object>(&self, namespace: &str, name: &str) -> Option<K> {
        serde_json::from_value(self.get_raw::<K>(namespace, name)?).ok()
    }

    /// The same as JSON, with all fields, `managedFields` included.
    pub fn get_raw<K: Object>(&self, namespace: &str, name: &str) -> Option<Value> {
        let key = (namespace.to_owned(), name.to_owned());
        self.touch(|store, kind: &Kind, _| Ok(store.get(kind, &key)), kind_of::<K>)
            .ok()
            .flatten()
            .map(|object| (*object).clone())
    }

    /// All objects of a kind in a namespace, by name.
    pub fn list<K: Object>(&self, namespace: &str) -> Vec<K> {
        self.objects_in(Some(namespace))
    }

    /// All objects of a kind, by namespace and name.
    pub fn objects<K: Object>(&self) -> Vec<K> {
        self.objects_in(None)
    }

    fn objects_in<K: Object>(&self, namespace: Option<&str>) -> Vec<K> {
        let filter = Filter::new(namespace.map(ToOwned::to_owned), None, None).unwrap_or_default();
        let found = self.touch(|store, kind: &Kind, _| Ok(store.list(kind, &filter)), kind_of::<K>);
        let parse = |object: Arc<Value>| serde_json::from_value((*object).clone()).ok();
        found.unwrap_or_default().into_iter().filter_map(parse).collect()
    }

    /// Creates an object; its status too, if it has one (two writes, as a user with a controller's rights would do).
    pub fn create<K: Object>(&self, object: &K) -> Result<K, ApiError> {
        let wanted = to_json(object)?;
        let namespace = object.namespace().unwrap_or_default();
        let created = self.touch(
            |store, kind: &Kind, writer| {
                let made = store.create(kind, &namespace, wanted.clone(), writer)?;
                match wanted.get("status").filter(|status| kind.status && !status.is_null()) {
                    None => Ok(made),
                    Some(status) => {
                        let mut whole = bare(&made);
                        crate::json::set(&mut whole, &["status"], status.clone());
                        store.replace(kind, &key_of(&made), whole, Part::Status, &status_writer(writer))
                    }
                }
            },
            kind_of::<K>,
        )?;
        from_json(&created)
    }

    /// Replaces an object; its resourceVersion, if given, must be the newest. Fields the type does not know are lost.
    pub fn update<K: Object>(&self, object: &K) -> Result<K, ApiError> {
        self.put(object, Part::Main)
    }

    fn put<K: Object>(&self, object: &K, part: Part) -> Result<K, ApiError> {
        let mut wanted = to_json(object)?;
        let key = (object.namespace().unwrap_or_default(), object.name_any());
        let written = self.touch(
            |store, kind: &Kind, writer| {
                let live = store.get(kind, &key).ok_or_else(|| failure::not_found(kind, &key.1))?;
                if object.resource_version().is_none() {
                    crate::json::copy(&mut wanted, &live, &["metadata", "resourceVersion"]);
                }
                let writer = if part == Part::Status { status_writer(writer) } else { writer.clone() };
                store.replace(kind, &key, wanted, part, &writer)
            },
            kind_of::<K>,
        )?;
        from_json(&written)
    }

    /// Changes an object, and its status, in place. Only what `change` changed is written; nothing if it changed
    /// nothing.
    pub fn edit<K: Object>(
        &self,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut K),
    ) -> Result<K, ApiError> {
        let key = (namespace.to_owned(), name.to_owned());
        let written = self.touch(
            |store, kind: &Kind, writer| {
                let live = store.get(kind, &key).ok_or_else(|| failure::not_found(kind, &key.1))?;
                let mut object: K = from_json(&live)?;
                let before = to_json(&object)?;
                change(&mut object);
                let patch =
                    difference(&before, &to_json(&object)?).unwrap_or_else(|| Value::Object(Map::new()));
                let mut wanted = bare(&live);
                json_patch::merge(&mut wanted, &patch);
                let written = store.replace(kind, &key, wanted.clone(), Part::Main, writer)?;
                if !kind.status || patch.get("status").is_none() {
                    return Ok(written);
                }
                crate::json::copy(&mut wanted, &written, &["metadata", "resourceVersion"]);
                store.replace(kind, &key, wanted, Part::Status, &status_writer(writer))
            },
            kind_of::<K>,
        )?;
        from_json(&written)
    }

    /// Changes what is stored of an object, without validation: a real server has such objects too, from older versions
    /// of their kind or through rules that it does not check.
    pub fn corrupt<K: Object>(
        &self,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<(), ApiError> {
        let key = (namespace.to_owned(), name.to_owned());
        self.touch(|store, kind: &Kind, _| store.corrupt(kind, &key, change), kind_of::<K>)
    }

    /// Deletes an object in the background; true if it is removed at once, false if it has finalizers.
    pub fn delete<K: Object>(&self, namespace: &str, name: &str) -> Result<bool, ApiError> {
        let key = (namespace.to_owned(), name.to_owned());
        let delete = |store: &mut Store, kind: &Kind, writer: &Writer| {
            store.delete(kind, &key, &Deletion::default(), writer).map(|(_, gone)| gone)
        };
        self.touch(delete, kind_of::<K>)
    }

    /// Runs something on the store as the user.
    fn touch<T>(
        &self,
        act: impl FnOnce(&mut Store, &Kind, &Writer) -> Result<T, ApiError>,
        kind: impl FnOnce(&Store) -> Option<Arc<Kind>>,
    ) -> Result<T, ApiError> {
        let (result, _) = self.shared.with_store(|store, now| {
            let kind = kind(store).ok_or_else(failure::unknown_path)?;
            let manager = Manager { name: "user".to_owned(), operation: Operation::Update, subresource: "" };
            let writer = Writer { manager, persistence: Persistence::Lasting, now: now.to_owned() };
            act(store, &kind, &writer)
        });
        result
    }
}

fn kind_of<K: Object>(store: &Store) -> Option<Arc<Kind>> {
    store.kinds.find(&K::group(&()), &K::version(&()), &K::plural(&()))
}

fn key_of(object: &Value) -> Key {
    let own = |field| crate::json::text(object, &["metadata", field]).unwrap_or_default().to_owned();
    (own("namespace"), own("name"))
}

fn status_writer(writer: &Writer) -> Writer {
    Writer { manager: Manager { subresource: "status", ..writer.manager.clone() }, ..writer.clone() }
}

fn to_json<K: Object>(object: &K) -> Result<Value, ApiError> {
    serde_json::to_value(object).map_err(|error| failure::bad_request(error.to_string()))
}

fn from_json<K: Object>(object: &Value) -> Result<K, ApiError> {
    serde_json::from_value(object.clone()).map_err(|error| failure::bad_request(error.to_string()))
}

/// The merge patch that turns `before` into `after`; nothing if they are equal.
fn difference(before: &Value, after: &Value) -> Option<Value> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let mut patch = Map::new();
            for (name, new) in after {
                match before.get(name) {
                    None => drop(patch.insert(name.clone(), new.clone())),
                    Some(old) => {
                        difference(old, new).map(|below| patch.insert(name.clone(), below));
                    }
                }
            }
            for name in before.keys().filter(|name| !after.contains_key(*name)) {
                patch.insert(name.clone(), Value::Null);
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        _ => (before != after).then(|| after.clone()),
    }
}
