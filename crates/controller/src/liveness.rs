//! What `/livez` watches over: things that only a restart puts right. Kubernetes restarts the container when one of them is
//! wrong for a while.
//!
//! Nothing that depends on others belongs here: an API server that is away is not put right by a restart.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Says what is wrong, if anything is.
type Check = Box<dyn Fn() -> Option<String> + Send>;

/// Things that must stay well. Clones share the same list.
#[derive(Clone, Default)]
pub struct Liveness {
    checks: Arc<Mutex<Vec<Check>>>,
}

impl Liveness {
    /// Adds something to watch over: `wrong` is asked each time, answers at once, and says in words what is wrong.
    pub fn watch_over(&self, wrong: impl Fn() -> Option<String> + Send + 'static) {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(wrong));
    }

    /// All that is wrong.
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
