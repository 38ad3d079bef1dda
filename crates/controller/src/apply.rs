//! The only way to write to Kubernetes: server-side apply, with one field manager per kind of write.
//!
//! * Always with `force`, except [`apply_unless_owned`]: the applied fields belong to this provider by contract. Other
//!   fields are not in the patch.
//! * Never apply an object that was read: the provider would become the owner of all its fields.
//! * The API server removes fields that were applied before and are missing now: each field manager
//!   ([`foo_api::names::managers`]) must always apply *all* of its fields.
//!
//! A status that equals the present one is not written ([`StatusWriter`]); times of conditions do not count.

use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The field manager that adds and removes finalizers. They are written by merge patches with a precondition,
/// not applied: the ownership of an applied list can be lost, and the removal of the last finalizer must not
/// depend on it.
const FINALIZER_MANAGER: &str = "foo/finalizer";

/// Whether an object was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Yes.
    Yes,
    /// No: the object has these values already.
    Unchanged,
}

/// Applies `fields` (everything except apiVersion, kind and name) to the object of that name as `manager`;
/// creates the object if it does not exist.
///
/// With `uid` in `fields.metadata` an object of another uid, or none at all, is a conflict (409).
pub async fn apply<K>(api: &Api<K>, name: &str, manager: &str, mut fields: Value) -> kube::Result<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    complete::<K>(&mut fields, name);
    api.patch(name, &PatchParams::apply(manager).force(), &Patch::Apply(&fields)).await
}

/// Applies a field that belongs to the provider only while no other manager owns another value of it: then the response
/// is a conflict (409), and nothing is written.
///
/// With `uid` in `fields.metadata`, as [`apply`].
pub async fn apply_unless_owned<K>(
    api: &Api<K>,
    name: &str,
    manager: &str,
    mut fields: Value,
) -> kube::Result<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    complete::<K>(&mut fields, name);
    api.patch(name, &PatchParams::apply(manager), &Patch::Apply(&fields)).await
}

/// Writes the status of objects of one kind if it differs from the present one.
///
/// A pass compares with the object in the cache, which may be older than our own last write: status A, written B, A is
/// required again, and the cache still shows A. Nothing would trigger another pass, since status changes do not. So the
/// writer remembers what it wrote last for each object, and skips a write only when both the cache and its own record
/// equal the required status. It skips one, too, that the API server has acknowledged and that the cache does not show
/// yet: a slow API server is not asked twice.
#[derive(Debug)]
pub struct StatusWriter {
    manager: &'static str,
    last: Mutex<LastWrites>,
}

/// The last written status by uid. An entry matters only while the cache may be older than the write, which
/// is seconds. Objects that are reconciled now and then keep their entries; entries of deleted objects are
/// dropped.
#[derive(Debug, Default)]
struct LastWrites {
    entries: HashMap<String, LastWrite>,
    swept: Option<Instant>,
}

/// The last write to an object.
#[derive(Debug)]
struct LastWrite {
    digest: u64,
    asked: Instant,
    /// The resourceVersion after the write, and when the API server acknowledged it.
    done: Option<(u64, Instant)>,
}

/// How long a cache is believed to be behind an acknowledged write. If it is not, as after a restore of etcd, the
/// status is written again after this.
const BEHIND: Duration = Duration::from_mins(1);

/// Longer than a cache can be out of date.
const REMEMBERED: Duration = Duration::from_hours(1);

impl LastWrites {
    /// Whether the newest write to the object had another content.
    fn differs(&mut self, uid: &str, digest: u64, now: Instant) -> bool {
        let Some(last) = self.entries.get_mut(uid) else { return false };
        last.asked = now;
        last.digest != digest
    }

    /// Whether this content was written, and an object of this resourceVersion was read before that.
    fn is_done(&self, uid: &str, digest: u64, read: Option<u64>, now: Instant) -> bool {
        let last = self.entries.get(uid).filter(|last| last.digest == digest);
        let done = last.and_then(|last| last.done);
        read.zip(done)
            .is_some_and(|(read, (written, at))| read < written && now.saturating_duration_since(at) < BEHIND)
    }

    fn acknowledged(&mut self, uid: &str, digest: u64, version: Option<u64>, now: Instant) {
        if let Some(last) = self.entries.get_mut(uid).filter(|last| last.digest == digest) {
            last.done = version.map(|version| (version, now));
        }
    }

    fn note(&mut self, uid: String, digest: u64, now: Instant) {
        if self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= REMEMBERED) {
            self.entries.retain(|_, last| now.saturating_duration_since(last.asked) < REMEMBERED);
            self.swept = Some(now);
        }
        self.entries.insert(uid, LastWrite { digest, asked: now, done: None });
    }
}

impl StatusWriter {
    /// Writes as `manager`, one of [`foo_api::names::managers`].
    pub fn new(manager: &'static str) -> Self {
        Self { manager, last: Mutex::default() }
    }

    /// Sets `object`'s status to `wanted`, which must contain every field that this field manager ever
    /// writes. `cached` is the status of the object as it was read.
    ///
    /// A conflict (409) means that another object has this name now; 404 means that the object was deleted.
    pub async fn apply_if_changed<K, S>(
        &self,
        api: &Api<K>,
        object: &K,
        cached: Option<&S>,
        wanted: &S,
    ) -> Result<Written, Error>
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
        S: Serialize,
    {
        let name = object.name_any();
        let uid = object.uid().unwrap_or_default();
        let status = serde_json::to_value(wanted)?;
        let meaning = without_times(status.clone());
        let cached = cached.map(serde_json::to_value).transpose()?.map(without_times);
        let digest = digest(&meaning);
        let written_since = self.lock().differs(&uid, digest, Instant::now());
        if cached.as_ref() == Some(&meaning) && !written_since {
            return Ok(Written::Unchanged);
        }
        if self.lock().is_done(&uid, digest, version(object), Instant::now()) {
            return Ok(Written::Unchanged);
        }
        let mut patch = json!({ "metadata": { "uid": uid }, "status": status });
        complete::<K>(&mut patch, &name);
        // Recorded before the write: the API server may have carried it out even if the response is lost.
        self.lock().note(uid.clone(), digest, Instant::now());
        let params = PatchParams::apply(self.manager).force();
        let written = api.patch_status(&name, &params, &Patch::Apply(&patch)).await?;
        self.lock().acknowledged(&uid, digest, version(&written), Instant::now());
        Ok(Written::Yes)
    }

    /// The object was deleted.
    pub fn forget(&self, uid: &str) {
        self.lock().entries.remove(uid);
    }

    fn lock(&self) -> MutexGuard<'_, LastWrites> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server rejected the write or could not be reached.
    #[error(transparent)]
    Kube(#[from] kube::Error),
    /// The status cannot be serialized as JSON.
    #[error("the status cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Whether the API server shows that the object does not exist.
pub fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// Whether the API server reports a conflict or that a precondition does not hold.
pub fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// Adds a finalizer to the object, by a merge patch with the object's resourceVersion: a change in between is
/// a conflict, and the next pass tries again.
pub async fn add_finalizer<K>(api: &Api<K>, object: &K, finalizer: &str) -> kube::Result<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let mut finalizers = object.finalizers().to_vec();
    finalizers.push(finalizer.to_owned());
    set_finalizers(api, object, &finalizers).await
}

/// Removes a finalizer from the object. A deleted object is no error.
pub async fn remove_finalizer<K>(api: &Api<K>, object: &K, finalizer: &str) -> kube::Result<()>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let left: Vec<String> = object.finalizers().iter().filter(|own| *own != finalizer).cloned().collect();
    match set_finalizers(api, object, &left).await {
        Err(error) if is_not_found(&error) => Ok(()),
        answer => answer.map(drop),
    }
}

async fn set_finalizers<K>(api: &Api<K>, object: &K, finalizers: &[String]) -> kube::Result<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let patch = json!({
        "metadata": {
            "uid": object.uid(),
            "resourceVersion": object.resource_version(),
            "finalizers": finalizers,
        }
    });
    let params = PatchParams { field_manager: Some(FINALIZER_MANAGER.to_owned()), ..PatchParams::default() };
    api.patch(&object.name_any(), &params, &Patch::Merge(&patch)).await
}

fn complete<K: Resource<DynamicType = ()>>(fields: &mut Value, name: &str) {
    if let Value::Object(fields) = fields {
        fields.insert("apiVersion".to_owned(), json!(K::api_version(&())));
        fields.insert("kind".to_owned(), json!(K::kind(&())));
        let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            metadata.insert("name".to_owned(), json!(name));
        }
    }
}

/// The value without what differs between passes although it means the same: times of conditions.
fn without_times(mut status: Value) -> Value {
    if let Some(Value::Array(conditions)) = status.get_mut("conditions") {
        for condition in conditions {
            if let Value::Object(condition) = condition {
                condition.remove("lastTransitionTime");
            }
        }
    }
    status
}

/// The resourceVersion of an object, which can be compared (Kubernetes API Concepts, "Resource versions").
fn version<K: Resource>(object: &K) -> Option<u64> {
    object.meta().resource_version.as_ref()?.parse().ok()
}

fn digest(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_writes_are_not_repeated_while_the_cache_is_behind() {
        let (mut last, start) = (LastWrites::default(), Instant::now());
        last.note("a".to_owned(), 1, start);
        assert!(!last.is_done("a", 1, Some(5), start), "it may not have happened");
        last.acknowledged("a", 1, Some(9), start);
        assert!(last.is_done("a", 1, Some(8), start));
        assert!(!last.is_done("a", 2, Some(8), start), "another content");
        assert!(!last.is_done("a", 1, Some(9), start), "another client has changed it since");
        assert!(!last.is_done("a", 1, None, start));
        assert!(!last.is_done("a", 1, Some(8), start + BEHIND), "after a restore of etcd");
    }

    #[test]
    fn writes_to_deleted_objects_are_forgotten() {
        let (mut last, start) = (LastWrites::default(), Instant::now());
        last.note("gone".to_owned(), 1, start);
        last.note("here".to_owned(), 1, start);
        assert!(last.differs("here", 2, start + REMEMBERED / 2), "that the cache may not show yet");
        last.note("new".to_owned(), 1, start + REMEMBERED);
        let left: std::collections::BTreeSet<&str> = last.entries.keys().map(String::as_str).collect();
        assert_eq!(left, ["here", "new"].into());
    }
}
