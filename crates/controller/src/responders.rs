//! Which controller responds to FooPlans about what. [`crate::plans`] has the service that asks them.

use crate::filled::Filled;
use foo_api::plan::{FooPlan, FooPlanStatus};
use foo_api::{FooCluster, FooControlPlane};
use futures::future::BoxFuture;
use kube::Resource;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// What a FooPlan is about: one controller responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A pool; also if its objects fit to nothing, or not to each other.
    Pool,
    /// A control plane.
    ControlPlane,
    /// A network.
    Network,
}

impl Subject {
    /// That of a FooPlan.
    pub(crate) fn of(plan: &FooPlan) -> Self {
        let all_are = |kind: &str| plan.spec.objects.iter().all(|object| object["kind"] == kind);
        if all_are(&FooControlPlane::kind(&())) {
            Self::ControlPlane
        } else if all_are(&FooCluster::kind(&())) {
            Self::Network
        } else {
            Self::Pool
        }
    }
}

/// A controller that responds to FooPlans about its kind.
pub(crate) trait Foresees: Send + Sync {
    /// The response. It writes nothing, and changes nothing that passes use. `None`: another manager responds, whose objects
    /// this one does not see.
    ///
    /// # Errors
    /// Why there is no plan, in a user's terms.
    fn foresee<'a>(&'a self, plan: &'a FooPlan, computes: &'a Computes) -> Foreseen<'a>;
}

/// What [`Foresees::foresee`] returns.
pub(crate) type Foreseen<'a> = BoxFuture<'a, Result<Option<FooPlanStatus>, String>>;

/// Computes what takes long, for instance thousands of plans: one thing at a time, and not on the threads of the passes.
#[derive(Clone, Debug)]
pub(crate) struct Computes(Arc<Semaphore>);

impl Default for Computes {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Computes {
    /// The result. A computation cannot be cancelled.
    pub(crate) async fn result<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let computed = spawn_blocking(move || {
            let _held_until_the_end = permit;
            compute()
        });
        computed.await.map_err(|_panic| "planning failed; the log of the manager has the reason".to_owned())
    }
}

/// The controllers that respond to FooPlans.
#[derive(Clone, Default)]
pub struct Responders(Arc<Mutex<BTreeMap<Subject, Responder>>>);

#[derive(Clone)]
struct Responder {
    /// It ends with its controller.
    foresees: Weak<dyn Foresees>,
    /// The caches that responses need.
    filled: Vec<Filled>,
}

impl Responders {
    /// From now on a controller responds to FooPlans about this.
    pub(crate) fn add<F: Foresees + 'static>(
        &self,
        subject: Subject,
        foresees: &Arc<F>,
        filled: Vec<Filled>,
    ) {
        let foresees: Weak<F> = Arc::downgrade(foresees);
        self.lock().insert(subject, Responder { foresees, filled });
    }

    /// The controller that responds, once its caches are filled; `None`: there is none.
    pub(crate) async fn of(&self, subject: Subject) -> Option<Arc<dyn Foresees>> {
        let responder = self.lock().get(&subject).cloned()?;
        for filled in &responder.filled {
            filled.wait().await.ok()?;
        }
        responder.foresees.upgrade()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Subject, Responder>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Responders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responders").finish_non_exhaustive()
    }
}
