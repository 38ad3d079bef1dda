//! What `/readyz` requires: the election runs, and in the leader every cache has been filled once.
//!
//! A standby is ready without caches; otherwise a Deployment with two replicas would never complete a
//! rollout.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What must be complete before the manager is ready. Clones share the same list.
#[derive(Clone, Default)]
pub struct Readiness {
    parts: Arc<Mutex<Vec<Part>>>,
}

struct Part {
    name: String,
    is_ready: Box<dyn Fn() -> bool + Send>,
}

impl Readiness {
    /// Adds a requirement; `is_ready` is called each time and must return at once.
    pub fn wait_for(&self, name: impl Into<String>, is_ready: impl Fn() -> bool + Send + 'static) {
        let part = Part { name: name.into(), is_ready: Box::new(is_ready) };
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    }

    /// Names of the requirements that are not met yet.
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
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn unfilled_caches_are_missing() {
        let readiness = Readiness::default();
        assert!(readiness.missing().is_empty());
        let is_there = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&is_there);
        readiness.wait_for("configmaps", move || there.load(Ordering::Relaxed));
        assert_eq!(readiness.missing(), ["configmaps"]);
        is_there.store(true, Ordering::Relaxed);
        assert!(readiness.missing().is_empty());
    }
}
