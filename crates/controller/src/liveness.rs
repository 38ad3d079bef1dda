//! What `/livez` checks: faults that only a restart clears. Kubernetes restarts the container when one of
//! them lasts for a while.
//!
//! Nothing that depends on other systems belongs here: a restart does not bring an unreachable API server
//! back.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Returns what is wrong, if anything is.
type Check = Box<dyn Fn() -> Option<String> + Send>;

/// The checks. Clones share the same list.
#[derive(Clone, Default)]
pub struct Liveness {
    checks: Arc<Mutex<Vec<Check>>>,
}

impl Liveness {
    /// Adds a check: `wrong` is called each time, returns at once, and describes the problem.
    pub fn watch_over(&self, wrong: impl Fn() -> Option<String> + Send + 'static) {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(wrong));
    }

    /// All faults.
    pub fn wrong(&self) -> Vec<String> {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.iter().filter_map(|check| check()).collect()
    }
}

impl fmt::Debug for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Liveness").field("wrong", &self.wrong()).finish()
    }
}
