//! Responds to FooPlans: what the manager would do for a changed FooMachinePool or MachinePool.
//!
//! * this file: which FooPlans get a status, and when they are deleted;
//! * [`question`]: what is asked, from the objects in the spec;
//! * [`foresee`]: the inputs of a pass over the changed pool, and `foo_planner::forecast` on them. Nothing is written and
//!   no group is observed for it: the state of the pool is a copy ([`super::state::PoolState::for_plan`]);
//! * [`differences`]: what differs in AWS's terms;
//! * [`result`]: the status.
//!
//! Each gets its status once. A FooPlan about a pool of another manager (`--watch-filter`) is left to that one.

mod differences;
mod foresee;
mod question;
mod result;

use super::pools::Pools;
use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::labels::{Task, Watched};
use crate::watch::{ChangeFilter, Scope, Watch};
use foo_api::names::managers;
use foo_api::plan::{FooPlan, FooPlanStatus, KEPT_FOR};
use foo_cloud::Watchdog;
use futures::{FutureExt, StreamExt};
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use question::Question;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{interval, timeout};

/// Plans that are made at the same time: each may read from AWS, and compute for seconds.
const AT_A_TIME: usize = 2;
/// Timeout of one plan. What it reads has timeouts of its own.
const DEADLINE: Duration = Duration::from_secs(45);
/// Between two searches for old FooPlans, and how long one may take.
const SWEEP: Duration = Duration::from_mins(1);

/// The watch on FooPlans. No request is sent before it is polled.
pub(super) fn watch(context: &Context) -> Watch<FooPlan> {
    Watch::lenient(context, Watched::FooPlan, Scope::All, ChangeFilter::AllButStatus)
}

/// Responds to FooPlans for as long as there are passes.
pub(super) async fn run(watch: Watch<FooPlan>, pools: Arc<Pools>) {
    if pools.caches.wait_until_filled().await.is_err() {
        return;
    }
    let plans = Plans {
        status: StatusWriter::new(managers::PLAN_STATUS),
        store: watch.store.clone(),
        computes: Arc::new(Semaphore::new(1)),
        pools,
    };
    let asked = watch.changes.filter_map(|plan| async { plan.ok() });
    let responses = asked.for_each_concurrent(AT_A_TIME, |plan| plans.serve(plan));
    let sweeps = async {
        let (tasks, watchdog) = (plans.pools.context.metrics.tasks().clone(), Watchdog::default());
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
    };
    futures::future::select(responses.boxed(), sweeps.boxed()).await;
}

struct Plans {
    pools: Arc<Pools>,
    store: Store<FooPlan>,
    /// Held while a plan is computed: a computation cannot be cancelled.
    computes: Arc<Semaphore>,
    status: StatusWriter,
}

impl Plans {
    /// Writes the status of a FooPlan that changed, if it still exists and has none.
    async fn serve(&self, changed: FooPlan) {
        let Some(plan) = self.store.get(&ObjectRef::from_obj(&changed)) else { return };
        let is_new = plan.status.is_none() && plan.metadata.deletion_timestamp.is_none();
        if !is_new || self.is_old(&plan) {
            return;
        }
        let is_filtered = self.pools.context.settings.watch_filter.is_some();
        let status = match Question::of(&plan, &self.pools.caches, is_filtered) {
            Err(error) => failed(error),
            Ok(None) => return,
            Ok(Some(question)) if !self.is_reconciled_here(&question) => return,
            Ok(Some(question)) => {
                match timeout(DEADLINE, Box::pin(self.pools.foresee(&question, &self.computes))).await {
                    Ok(Ok(pool)) => FooPlanStatus { error: None, pool: Some(pool) },
                    Ok(Err(error)) => failed(error),
                    Err(_late) => {
                        failed(format!("no plan within {} s: AWS or Kubernetes is slow", DEADLINE.as_secs()))
                    }
                }
            }
        };
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

    /// Whether this manager reconciles the pool, or would.
    fn is_reconciled_here(&self, question: &Question) -> bool {
        let is_labelled =
            |filter: &String| question.planned.labels().get(foo_api::names::WATCH_LABEL) == Some(filter);
        question.present.is_some()
            || self.pools.context.settings.watch_filter.as_ref().is_none_or(is_labelled)
    }

    fn is_old(&self, plan: &FooPlan) -> bool {
        let now = self.pools.context.kubernetes_clock.now();
        let created = plan.metadata.creation_timestamp.as_ref();
        let created = created.map(|at| foo_model::KubernetesTime::from_millis(at.0.as_millisecond()));
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
        Api::namespaced(self.pools.context.client.clone(), &plan.namespace().unwrap_or_default())
    }
}

fn failed(error: String) -> FooPlanStatus {
    FooPlanStatus { error: Some(error), pool: None }
}
