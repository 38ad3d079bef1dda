//! Responds to FooPlans: what the manager would do for objects with another content.
//!
//! * this file: which FooPlans get a status, and when they are deleted. Each controller responds to those about its kind
//!   ([`Foresees`]), with the forecast of its planner;
//! * [`objects`]: the objects in a FooPlan, whose content nothing has validated; [`changed`]: one of them beside the object
//!   that exists;
//! * [`fields`]: what differs between two states, field by field;
//! * [`calls`]: the status, for domains that consist of calls of AWS.
//!
//! Each gets its status once. A FooPlan about an object of another manager (`--watch-filter`) is left to that one.

pub(crate) mod calls;
pub(crate) mod changed;
pub(crate) mod fields;
pub(crate) mod objects;

use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::labels::{Task, Watched};
use crate::watch::{ChangeFilter, Filled, Scope, Watch};
use foo_api::names::{WATCH_LABEL, managers};
use foo_api::plan::{FooPlan, FooPlanStatus, KEPT_FOR};
use foo_cloud::Watchdog;
use foo_model::{Blocked, KubernetesTime};
use futures::StreamExt;
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{interval, timeout};

/// Plans that one controller makes at the same time: each may read from AWS, and compute for seconds.
const AT_A_TIME: usize = 2;
/// Timeout of one plan. What it reads has timeouts of its own.
const DEADLINE: Duration = Duration::from_secs(45);
/// How long a plan waits for a pass over the same object.
const PASS: Duration = Duration::from_secs(20);
/// Between two searches for old FooPlans, and how long one may take.
const SWEEP: Duration = Duration::from_mins(1);

/// A controller that responds to FooPlans.
pub(crate) trait Foresees: Send + Sync {
    /// What a FooPlan about its kind asks.
    type Question: Send + Sync;

    /// The question, or why there can be no plan. `None`: another controller responds, or another manager, whose objects
    /// this one does not see.
    fn question(&self, plan: &FooPlan) -> Result<Option<Self::Question>, String>;

    /// The response, or why there is none. It writes nothing, and changes nothing that passes use. `computes` is held
    /// while something is computed that takes long.
    fn foresee(
        &self,
        question: &Self::Question,
        computes: &Arc<Semaphore>,
    ) -> impl Future<Output = Result<FooPlanStatus, String>> + Send;
}

/// The watch on FooPlans. No request is sent before it is polled.
pub(crate) fn watch(context: &Context) -> Watch<FooPlan> {
    Watch::lenient(context, Watched::FooPlan, Scope::All, ChangeFilter::AllButStatus)
}

/// Responds to FooPlans until the future is dropped. `filled`: the caches that questions and responses need.
pub(crate) async fn respond(
    watch: Watch<FooPlan>,
    context: &Context,
    filled: &[Filled],
    foresees: &impl Foresees,
) {
    for filled in filled {
        if filled.wait().await.is_err() {
            return;
        }
    }
    let plans = Plans { context, store: watch.store, status: StatusWriter::new(managers::PLAN_STATUS) };
    let computes = Arc::new(Semaphore::new(1));
    let asked = watch.changes.filter_map(|plan| async { plan.ok() });
    asked.for_each_concurrent(AT_A_TIME, |plan| plans.serve(plan, foresees, &computes)).await;
}

/// Deletes FooPlans that are no longer needed, until the future is dropped.
pub(crate) async fn delete_old(store: Store<FooPlan>, context: &Context) {
    let plans = Plans { context, store, status: StatusWriter::new(managers::PLAN_STATUS) };
    let (tasks, watchdog) = (context.metrics.tasks().clone(), Watchdog::default());
    tasks.watch(Task::Plans, &"old FooPlans", &watchdog);
    let mut ticks = interval(SWEEP);
    loop {
        ticks.tick().await;
        let old = async {
            for plan in plans.store.state() {
                plans.delete_if_old(&plan).await;
            }
        };
        tasks.within(Task::Plans, &watchdog, SWEEP, old).await;
    }
}

/// A copy of what is remembered of an object between passes, once no pass over it is under way. `copy`: `None` if no pass
/// has been yet.
pub(crate) async fn copied<S, T>(
    state: &Mutex<S>,
    what: &str,
    copy: impl FnOnce(&S) -> Option<T>,
) -> Result<T, String> {
    let state = timeout(PASS, state.lock())
        .await
        .map_err(|_late| format!("a pass over the {what} has not ended in time; try again"))?;
    copy(&state)
        .ok_or_else(|| format!("the manager has not reconciled the {what} yet; try again in a minute"))
}

/// Computes something that takes long, for instance thousands of plans: one at a time, and not on the threads of the
/// passes. A computation cannot be cancelled.
pub(crate) async fn computed<T: Send + 'static>(
    computes: &Arc<Semaphore>,
    compute: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let permit = Arc::clone(computes).acquire_owned().await;
    let computed = spawn_blocking(move || {
        let _held_until_the_end = permit;
        compute()
    });
    computed.await.map_err(|_panic| "planning failed; the log of the manager has the reason".to_owned())
}

/// Why there is no plan, in a user's terms.
pub(crate) fn in_words(blocked: &Blocked) -> String {
    format!("{}: {}", blocked.reason, blocked.message)
}

/// Seconds, as a status has them.
pub(crate) fn whole_seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

/// Whether this manager reconciles an object with this content, or would (`--watch-filter`).
pub(crate) fn is_reconciled_here(context: &Context, planned: &impl ResourceExt) -> bool {
    let is_labelled = |filter: &String| planned.labels().get(WATCH_LABEL) == Some(filter);
    context.settings.watch_filter.as_ref().is_none_or(is_labelled)
}

struct Plans<'a> {
    context: &'a Context,
    store: Store<FooPlan>,
    status: StatusWriter,
}

impl Plans<'_> {
    /// Writes the status of a FooPlan that changed, if it still exists and has none.
    async fn serve(&self, changed: FooPlan, foresees: &impl Foresees, computes: &Arc<Semaphore>) {
        let Some(plan) = self.store.get(&ObjectRef::from_obj(&changed)) else { return };
        let is_new = plan.status.is_none() && plan.metadata.deletion_timestamp.is_none();
        if !is_new || self.is_old(&plan) {
            return;
        }
        let status = match foresees.question(&plan) {
            Err(error) => Err(error),
            Ok(None) => return,
            Ok(Some(question)) => {
                let late =
                    || Err(format!("no plan within {} s: AWS or Kubernetes is slow", DEADLINE.as_secs()));
                let response = timeout(DEADLINE, Box::pin(foresees.foresee(&question, computes))).await;
                response.unwrap_or_else(|_late| late())
            }
        };
        let status =
            status.unwrap_or_else(|error| FooPlanStatus { error: Some(error), ..FooPlanStatus::default() });
        let api = self.api(&plan);
        match self.status.apply_if_changed(&api, plan.as_ref(), plan.status.as_ref(), &status).await {
            // Whoever asked does not wait any more.
            Err(apply::Error::Kube(error)) if apply::is_not_found(&error) || apply::is_conflict(&error) => {}
            Err(error) => {
                tracing::warn!(plan = plan.name_any(), %error, "could not write the status of a FooPlan");
            }
            Ok(_) => {}
        }
    }

    fn is_old(&self, plan: &FooPlan) -> bool {
        let now = self.context.kubernetes_clock.now();
        let created = plan.metadata.creation_timestamp.as_ref();
        let created = created.map(|at| KubernetesTime::from_millis(at.0.as_millisecond()));
        created.is_some_and(|created| created.until(now) >= KEPT_FOR)
    }

    async fn delete_if_old(&self, plan: &FooPlan) {
        if !self.is_old(plan) || plan.metadata.deletion_timestamp.is_some() {
            return;
        }
        let uid = Preconditions { uid: plan.uid(), resource_version: None };
        let params = DeleteParams { preconditions: Some(uid), ..DeleteParams::default() };
        match self.api(plan).delete(&plan.name_any(), &params).await {
            Err(error) if !apply::is_not_found(&error) && !apply::is_conflict(&error) => {
                tracing::warn!(plan = plan.name_any(), %error, "could not delete an old FooPlan");
            }
            Ok(_) | Err(_) => {}
        }
    }

    fn api(&self, plan: &FooPlan) -> Api<FooPlan> {
        Api::namespaced(self.context.client.clone(), &plan.namespace().unwrap_or_default())
    }
}
