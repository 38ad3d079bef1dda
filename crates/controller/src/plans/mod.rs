//! Responds to FooPlans: what the manager would do for objects with another content.
//!
//! * this file: which FooPlans get a status, and when they are deleted. The controller of a kind responds to those about it
//!   ([`crate::responders`]), with the forecast of its planner;
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
use crate::passes;
use crate::responders::{Computes, Subject};
use crate::watch::{ChangeFilter, Scope, Watch};
use foo_api::names::{WATCH_LABEL, managers};
use foo_api::plan::{FooPlan, FooPlanStatus, KEPT_FOR};
use foo_cloud::Watchdog;
use foo_model::{Blocked, KubernetesTime};
use futures::StreamExt;
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{interval, sleep, timeout};
use tracing::Instrument;

/// Plans that are made at the same time: each may read from AWS, and compute for seconds.
const AT_A_TIME: usize = 2;
/// Timeout of one plan. What it reads has timeouts of its own.
const DEADLINE: Duration = Duration::from_secs(45);
/// How many seconds a plan waits for its controller to start.
const CONTROLLER_STARTS: u32 = 20;
/// How long a plan waits for a pass over the same object.
const PASS: Duration = Duration::from_secs(20);
/// Between two searches for old FooPlans, and how long one may take.
const SWEEP: Duration = Duration::from_mins(1);

/// Responds to FooPlans about these subjects, whose controllers run in this manager, and deletes old FooPlans, until
/// `shutdown` resolves.
pub async fn run(context: Context, subjects: BTreeSet<Subject>, shutdown: impl Future<Output = ()> + Send) {
    let watch: Watch<FooPlan> =
        Watch::lenient(&context, Watched::FooPlan, Scope::All, ChangeFilter::AllButStatus);
    let plans = Plans {
        status: StatusWriter::new(managers::PLAN_STATUS),
        computes: Computes::default(),
        store: watch.store.clone(),
        subjects,
        context,
    };
    let asked = watch.changes.filter_map(|plan| async { plan.ok() });
    let responses = asked.for_each_concurrent(AT_A_TIME, |plan| plans.serve(plan));
    tokio::select! {
        () = shutdown => {}
        () = responses => {}
        () = plans.delete_old() => {}
    }
}

/// A copy of what is remembered of an object between passes, once no pass over it is under way. `copy`: `None` if no pass
/// over this very object has been yet.
pub(crate) async fn copied<S, T>(
    state: Option<Arc<Mutex<S>>>,
    what: &str,
    copy: impl FnOnce(&S) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(state) = state else { return Ok(None) };
    let state = timeout(PASS, state.lock())
        .await
        .map_err(|_late| format!("a pass over the {what} has not ended in time; try again"))?;
    Ok(copy(&state))
}

/// Why there is no plan, in a user's terms.
pub(crate) fn in_words(blocked: &Blocked) -> String {
    format!("{}: {}", blocked.reason, blocked.message)
}

/// Seconds, as a status has them.
pub(crate) fn whole_seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

/// An assumed time, as a note has it.
pub(crate) fn minutes(duration: Duration) -> String {
    format!("{} min", duration.as_secs() / 60)
}

/// Whether this manager reconciles an object with this content, or would (`--watch-filter`).
pub(crate) fn is_reconciled_here(context: &Context, planned: &impl ResourceExt) -> bool {
    let is_labelled = |filter: &String| planned.labels().get(WATCH_LABEL) == Some(filter);
    context.settings.watch_filter.as_ref().is_none_or(is_labelled)
}

struct Plans {
    context: Context,
    subjects: BTreeSet<Subject>,
    store: Store<FooPlan>,
    status: StatusWriter,
    computes: Computes,
}

impl Plans {
    /// Writes the status of a FooPlan that changed, if it still exists and has none.
    async fn serve(&self, changed: FooPlan) {
        let Some(plan) = self.store.get(&ObjectRef::from_obj(&changed)) else { return };
        let is_new = plan.status.is_none() && plan.metadata.deletion_timestamp.is_none();
        let subject = Subject::of(&plan);
        if !is_new || self.is_old(&plan) || !self.subjects.contains(&subject) {
            return;
        }
        let named = passes::named(plan.namespace().as_deref(), &plan.name_any());
        let span = tracing::error_span!("plan", plan = named);
        let response = Box::pin(self.response(&plan, subject).instrument(span));
        let response = timeout(DEADLINE, response).await;
        let late = || format!("no plan within {} s: AWS or Kubernetes is slow", DEADLINE.as_secs());
        let failed = |error| Some(FooPlanStatus { error: Some(error), ..FooPlanStatus::default() });
        let status = response.unwrap_or_else(|_late| Err(late())).unwrap_or_else(failed);
        let Some(status) = status else { return };
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

    async fn response(&self, plan: &FooPlan, subject: Subject) -> Result<Option<FooPlanStatus>, String> {
        let mut waits = 0;
        loop {
            if let Some(foresees) = self.context.plans.of(subject).await {
                return foresees.foresee(plan, &self.computes).await;
            }
            if waits == CONTROLLER_STARTS {
                let reason =
                    "the manager has just started, or does not have the kind: is its provider installed?";
                return Err(reason.to_owned());
            }
            waits += 1;
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Deletes FooPlans that are no longer needed.
    async fn delete_old(&self) {
        let (tasks, watchdog) = (self.context.metrics.tasks().clone(), Watchdog::default());
        tasks.watch(Task::Plans, &"old FooPlans", &watchdog);
        let mut ticks = interval(SWEEP);
        loop {
            ticks.tick().await;
            let old = async {
                for plan in self.store.state() {
                    self.delete_if_old(&plan).await;
                }
            };
            tasks.within(Task::Plans, &watchdog, SWEEP, old).await;
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
