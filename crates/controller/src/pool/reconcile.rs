//! One pass over one pool: gather, observe, plan, act, publish.
//!
//! Everything that can be wrong before `publish` is a value in the report, so the status always shows why a
//! pool has no progress.

use super::gather::Gathered;
use super::inputs::{Inputs, bootstrap_secret, observe, version_skew};
use super::milestones::Ended;
use super::output::{Error, instance_details};
use super::pass::{Observation, Pass, Remainder};
use super::pools::{Access, InputFingerprint, LONGEST_BACKLOG, Pools};
use super::state::{PoolState, Tenure};
use super::tenure;
use crate::backoff::jittered;
use crate::clouds::{CloudKey, CloudRegion};
use crate::debug;
use crate::harness::{PassOutcome, Reconciler, Urgency};
use crate::labels::Controller;
use crate::queue::Action as Requeue;
use foo_api::{FooMachine, FooMachinePool};
use foo_model::Blocked;
use foo_model::operation::Priority;
use foo_planner::observed::Finalizer;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;
use std::time::Duration;

/// How soon a group that was not observed yet is checked again.
const AWAITED: Duration = Duration::from_secs(15);
/// The pause after losing a race with another writer: the cache needs a moment.
const AFTER_RACE: Duration = Duration::from_millis(500);
/// The pause while an object cannot be read: repairing it causes a pass only of its own pool.
const READ_AGAIN: Duration = Duration::from_secs(30);

/// The inputs of the first phase.
pub(super) struct Start {
    key: ObjectRef<FooMachinePool>,
    gathered: Gathered,
    access: Result<Option<Access>, Blocked>,
    target: InputFingerprint,
    urgency: Urgency,
    awaits: Priority,
}

impl Reconciler for Pools {
    type Object = FooMachinePool;
    type Gathered = Start;
    type Fingerprint = InputFingerprint;
    type Error = Error;

    fn gather(&self, pool: Arc<FooMachinePool>) -> Start {
        let key = ObjectRef::from_obj(pool.as_ref());
        let gathered = self.caches.gather(pool);
        let access = self.access(&gathered);
        let target = InputFingerprint::of(&gathered, &self.context.announcements, &access);
        let (urgency, awaits) = (urgency(&gathered, &target), awaits(&target));
        Start { key, gathered, access, target, urgency, awaits }
    }

    fn fingerprint(&self, start: &Start) -> InputFingerprint {
        start.target.clone()
    }

    fn cloud(&self, start: &Start) -> Option<(CloudKey, Urgency)> {
        Some((start.target.cloud.clone()?, start.urgency))
    }

    fn conditions(pool: &FooMachinePool) -> Option<&[Condition]> {
        Some(pool.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default())
    }

    async fn pass(&self, start: Start) -> Result<PassOutcome, Error> {
        self.pass_over(start).await
    }
}

impl Pools {
    async fn pass_over(&self, start: Start) -> Result<PassOutcome, Error> {
        let Start { key, mut gathered, access, target: _, urgency, awaits } = start;
        let key = &key;
        if gathered.pool.metadata.deletion_timestamp.is_some()
            && observe::finalizer(&gathered) == Finalizer::Absent
        {
            self.forget(key, &gathered).await;
            return Ok(PassOutcome::settled(Requeue::await_change()));
        }
        self.forget_vanished().await;
        let state = self.states.of(key);
        let mut state = state.lock().await;
        if state.uid != gathered.pool.uid() {
            self.forget_group(key, &mut state);
            *state = PoolState { uid: gathered.pool.uid(), ..PoolState::default() };
        }
        let region = self.region(access).await;
        let backlog = region.iter().flatten().next().map_or(Duration::ZERO, |region| region.backlog(awaits));
        if backlog > LONGEST_BACKLOG && urgency == Urgency::Usual {
            // Other calls of the account wait already; waiting with them would delay the pools of others.
            return Ok(PassOutcome::skipped(Requeue::requeue(backlog)));
        }
        let image = self.image(key, &mut gathered, &region, &mut state).await;
        let aws = self.aws(key, &gathered, &region, &mut state);
        let region = region.as_ref().ok().and_then(Option::as_deref);
        let mut inputs = self.inputs(key, &gathered, region, aws, image, &mut state).await;
        let pass = self.plan_and_act(key, &mut inputs, &mut state).await;
        let rollout = pass.plan.report.rollout.as_ref();
        for ended in state.milestones.pass(&inputs.desired, &inputs.observed, rollout) {
            match ended {
                Ended::Launch(outcome, took) => self.context.metrics.launched(outcome, took),
                Ended::Drain(took) => self.context.metrics.drained(took),
                Ended::Rollout(outcome, took, count) => self.context.metrics.rolled_out(outcome, took, count),
            }
        }
        state.asked_generation = gathered.pool.metadata.generation;
        let region = region.filter(|_| state.tenure == Tenure::Own);
        self.publish(key, &inputs, &pass, region, &mut state).await?;
        Ok(self.next(key, &pass, self.asks_again(&inputs, &pass, region, &state)))
    }

    /// When to come back for what no watch and no observer reports.
    fn asks_again(
        &self,
        inputs: &Inputs<'_>,
        pass: &Pass,
        region: Option<&CloudRegion>,
        state: &PoolState,
    ) -> Option<Duration> {
        let now = self.context.clock.now();
        let details = region.and_then(|region| {
            instance_details::next_try(&region.observer, inputs.gathered, &pass.plan.report, now)
        });
        let timers = [
            bootstrap_secret::next_try(&state.reads),
            version_skew::next_try(inputs.control_plane),
            inputs.image.next_try,
            details,
            (state.tenure == Tenure::Anothers).then_some(tenure::ASK_AGAIN),
            inputs.gathered.unreadable.as_ref().map(|_| READ_AGAIN),
        ];
        timers.into_iter().flatten().min()
    }

    /// Forgets pools that vanished without a pass.
    async fn forget_vanished(&self) {
        for vanished in self.states.vanished(&self.caches.pools) {
            self.forget_group(&vanished, &mut *self.states.of(&vanished).lock().await);
            self.states.forget(&vanished);
        }
    }

    /// When to come back.
    fn next(&self, key: &ObjectRef<FooMachinePool>, pass: &Pass, unwatched: Option<Duration>) -> PassOutcome {
        if pass.failure.is_some() {
            return PassOutcome::failed();
        }
        let sync = jittered(self.context.settings.sync_period, key);
        // The observer reports the group once it was observed, and if that takes too long. If it does
        // neither:
        let awaited = (pass.observation == Observation::Pending).then_some(AWAITED);
        let left = match pass.remainder {
            Remainder::Nothing => None,
            Remainder::Later(after) => Some(after),
            Remainder::PlanAgain => Some(AFTER_RACE),
        };
        let timers = [pass.plan.report.next.after, unwatched, left, awaited];
        let after = timers.into_iter().flatten().fold(sync, Ord::min);
        let worked = pass.tried > 0 || pass.remainder == Remainder::PlanAgain;
        let next = Requeue::requeue(after);
        let outcome = if worked { PassOutcome::worked(next) } else { PassOutcome::settled(next) };
        if pass.observation == Observation::Stale { outcome.without_news_of_failures() } else { outcome }
    }

    async fn forget(&self, key: &ObjectRef<FooMachinePool>, gathered: &Gathered) {
        self.forget_group(key, &mut *self.states.of(key).lock().await);
        self.states.forget(key);
        if let Some(uid) = gathered.pool.uid() {
            self.pool_status.forget(&uid);
        }
        self.context.debug.forget(&debug::Key::of(Controller::Pool, gathered.pool.as_ref()));
    }
}

/// Which calls of the account a pass waits for before it begins: those that are as urgent as the most urgent one that the
/// pass is known to need, or more.
fn awaits(target: &InputFingerprint) -> Priority {
    if target.leaving.is_empty() { Priority::Read } else { Priority::Termination }
}

/// Instances that AWS interrupts have two minutes, and instances that wait in the hook need heartbeats.
fn urgency(gathered: &Gathered, target: &InputFingerprint) -> Urgency {
    let waits =
        |machine: &Arc<FooMachine>| machine.status.as_ref().is_some_and(|status| status.drain_hook.is_some());
    if target.taken.is_empty() && !gathered.foo_machines.iter().any(waits) {
        Urgency::Usual
    } else {
        Urgency::Urgent
    }
}
