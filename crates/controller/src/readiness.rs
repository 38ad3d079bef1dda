//! What `/readyz` waits for: the election runs, and in the leader every cache has been filled once.
//!
//! A standby is ready without caches, otherwise a Deployment with two replicas would never finish rolling out.

use futures::FutureExt;
use kube::runtime::reflector::{Lookup, Store};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Things that must be there before the manager is ready. Clones share the same list.
#[derive(Clone, Default)]
pub struct Readiness {
    parts: Arc<Mutex<Vec<Part>>>,
}

struct Part {
    name: String,
    is_ready: Box<dyn Fn() -> bool + Send>,
}

impl Readiness {
    /// Adds something to wait for; `is_ready` is asked each time and must answer at once.
    pub fn wait_for(&self, name: impl Into<String>, is_ready: impl Fn() -> bool + Send + 'static) {
        let part = Part { name: name.into(), is_ready: Box::new(is_ready) };
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    }

    /// Adds a cache to wait for.
    pub fn wait_for_store<K>(&self, name: impl Into<String>, store: Store<K>)
    where
        K: Lookup + Clone + Send + Sync + 'static,
        K::DynamicType: Eq + Hash + Clone + Send + Sync,
    {
        self.wait_for(name, move || matches!(store.wait_until_ready().now_or_never(), Some(Ok(()))));
    }

    /// Names of what is not there yet.
    pub fn missing(&self) -> Vec<String> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.iter().filter(|part| !(part.is_ready)()).map(|part| part.name.clone()).collect()
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readiness").field("missing", &self.missing()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::runtime::{reflector, watcher};

    #[test]
    fn a_cache_is_missing_until_it_was_filled_once() {
        let readiness = Readiness::default();
        assert!(readiness.missing().is_empty());
        let (store, mut writer) = reflector::store::<ConfigMap>();
        readiness.wait_for_store("configmaps", store);
        assert_eq!(readiness.missing(), ["configmaps"]);
        writer.apply_watcher_event(&watcher::Event::Init);
        assert_eq!(readiness.missing(), ["configmaps"]);
        writer.apply_watcher_event(&watcher::Event::InitDone);
        assert!(readiness.missing().is_empty());
    }
}
