//! Objects that cannot be decoded although all of their kind must be seen: while a namespace contains one,
//! nothing is decided about the objects in that namespace.

use crate::received::Odd;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The unreadable objects of one kind, each with the reason. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Unreadable(Arc<Mutex<BTreeMap<Key, String>>>);

/// Namespace (empty for kinds without) and name.
type Key = (String, String);

impl Unreadable {
    /// Names of the unreadable objects in this namespace (empty for kinds without), each with the reason.
    pub fn all_in(&self, namespace: &str) -> BTreeMap<String, String> {
        let in_it =
            |((of, name), error): (&Key, &String)| (of == namespace).then(|| (name.clone(), error.clone()));
        self.lock().iter().filter_map(in_it).collect()
    }

    /// Whether there is any.
    pub fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    pub(super) fn insert(&self, odd: &Odd) {
        self.lock().insert(key(odd), odd.error.clone());
    }

    pub(super) fn remove(&self, namespace: Option<&str>, name: &str) {
        let mut all = self.lock();
        // Nearly always the map is empty.
        if !all.is_empty() {
            all.remove(&(namespace.unwrap_or_default().to_owned(), name.to_owned()));
        }
    }

    pub(super) fn replace(&self, by: Vec<Odd>) {
        *self.lock() = by.into_iter().map(|odd| (key(&odd), odd.error)).collect();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(odd: &Odd) -> Key {
    (odd.metadata.namespace.clone().unwrap_or_default(), odd.metadata.name.clone().unwrap_or_default())
}
