//! What is remembered of each object between passes. All of it can be lost at any time: status, annotations and tags
//! suffice.

use kube::Resource;
use kube_runtime::reflector::{Lookup, ObjectRef, Store};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of all objects of a kind.
pub(crate) struct States<K: Lookup<DynamicType = ()> + 'static, S>(Mutex<HashMap<ObjectRef<K>, Slot<S>>>);

type Slot<S> = Arc<tokio::sync::Mutex<S>>;

impl<K: Resource<DynamicType = ()> + Clone + 'static, S: Default> States<K, S> {
    /// That of one object.
    pub(crate) fn of(&self, key: &ObjectRef<K>) -> Slot<S> {
        Arc::clone(lock(&self.0).entry(key.clone()).or_default())
    }

    /// That of one object, if there is any.
    pub(crate) fn find(&self, key: &ObjectRef<K>) -> Option<Slot<S>> {
        lock(&self.0).get(key).cloned()
    }

    /// Nothing is remembered of objects that do not exist any more.
    pub(crate) fn forget_vanished(&self, existing: &Store<K>) {
        lock(&self.0).retain(|key, _| existing.get(key).is_some());
    }

    /// Nothing is remembered of this one.
    pub(crate) fn forget(&self, key: &ObjectRef<K>) {
        lock(&self.0).remove(key);
    }
}

impl<K: Lookup<DynamicType = ()> + 'static, S> Default for States<K, S> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Lookup<DynamicType = ()> + 'static, S> fmt::Debug for States<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").finish_non_exhaustive()
    }
}

/// A map of what is remembered.
pub(crate) fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}
