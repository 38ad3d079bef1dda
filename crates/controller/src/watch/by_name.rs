//! The objects of a cache in the order of their names, to find those of one namespace, or whose names have a
//! common prefix, without visiting all others. The cache itself is a hash table, which cannot do that.

use kube::{Resource, ResourceExt};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

/// Objects by namespace and name. Clones share them; kept up to date together with the cache.
#[derive(Debug)]
pub struct ByName<K>(Arc<RwLock<Objects<K>>>);

/// Namespace (empty for kinds without) and name.
type Key = (String, String);
type Objects<K> = BTreeMap<Key, Arc<K>>;

impl<K> Clone for ByName<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> Default for ByName<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Resource> ByName<K> {
    /// The objects of this namespace that match, by name.
    pub fn all_in(&self, namespace: &str, wanted: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        self.beginning_with(namespace, "", wanted)
    }

    /// The objects of this namespace whose names have this prefix and that match, by name. No other object is
    /// visited.
    pub fn beginning_with(&self, namespace: &str, head: &str, wanted: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        let from = Bound::Included((namespace.to_owned(), head.to_owned()));
        let objects = self.0.read().unwrap_or_else(PoisonError::into_inner);
        objects
            .range((from, Bound::Unbounded))
            .take_while(|((of, name), _)| of == namespace && name.starts_with(head))
            .filter(|(_, object)| wanted(object))
            .map(|(_, object)| Arc::clone(object))
            .collect()
    }

    pub(crate) fn insert(&self, object: Arc<K>) {
        self.write(|objects| drop(objects.insert(key(&*object), object)));
    }

    pub(super) fn remove(&self, object: &K) {
        self.write(|objects| drop(objects.remove(&key(object))));
    }

    pub(super) fn replace(&self, by: Vec<Arc<K>>) {
        let by = by.into_iter().map(|object| (key(&*object), object)).collect();
        self.write(|objects| *objects = by);
    }

    fn write(&self, change: impl FnOnce(&mut Objects<K>)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

fn key<K: Resource>(object: &K) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}
