//! One pass over one pool: gather, observe, plan, execute, publish.
//!
//! Everything that can be wrong before `publish` is a value in the report, so that the status always says why a pool
//! does not move.

use super::inputs::gather::Gathered;
use super::inputs::{Inputs, bootstrap_secret, observe, version_skew};
use super::lanes::Urgency;
use super::output::{Error, instance_details};
use super::pass::{Observation, Pass, Remainder};
use super::pools::{Access, LONGEST_BACKLOG, Pools, WishPrint};
use super::state::{PoolState, Tenure};
use super::tenure;
use crate::backoff::jittered;
use crate::clouds::CloudRegion;
use crate::debug::PoolName;
use crate::metrics::{Controller, PassResult};
use crate::passes;
use crate::queue::Action as Requeue;
use foo_api::{FooMachine, FooMachinePool};
use foo_planner::desired::Blocked;
use foo_planner::observed::Finalizer;
use kube::ResourceExt;
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A pool in line for room is named when there is some; should that be missed, it asks itself.
const IN_LINE: Duration = Duration::from_secs(30);
/// A group that has not been looked at yet is asked after again.
const AWAITED: Duration = Duration::from_secs(15);
/// After losing a race with another writer: the cache needs a moment.
const AFTER_RACE: Duration = Duration::from_millis(500);
/// While an object cannot be read: whoever mends it wakes only its own pool.
const READ_AGAIN: Duration = Duration::from_secs(30);
/// After giving up to wait for the caches.
const AFTER_WAITING: Duration = Duration::from_secs(10);

impl Pools {
    /// One pass.
    pub(super) async fn reconcile(self: Arc<Self>, pool: Arc<FooMachinePool>) -> Result<Requeue, Error> {
        let key = ObjectRef::from_obj(pool.as_ref());
        let measured = self.context.metrics.pass_starts(Controller::Pool);
        // The pass ends by itself between two actions; the deadline is for one that does not.
        let deadline = self.context.settings.last_deadline();
        let mut wish = None;
        let ended = passes::within(deadline, &key, self.attempt(&key, pool, &mut wish)).await;
        let result = match ended {
            Some(Ok((requeue, result))) => {
                measured.ends(result);
                return Ok(requeue);
            }
            Some(Err(error)) => {
                tracing::warn!(pool = %key, error = %error, "the pass failed");
                PassResult::Failed
            }
            None => PassResult::GivenUp,
        };
        measured.ends(result);
        let pause = wish.map_or(AFTER_WAITING, |wish| self.backoff.failed(&key, wish, Instant::now()));
        Ok(Requeue::requeue(pause))
    }

    /// Waits for the caches, then works on the pool if it may be worked on; notes in `wish` what was asked for.
    async fn attempt(
        &self,
        key: &ObjectRef<FooMachinePool>,
        pool: Arc<FooMachinePool>,
        wish: &mut Option<WishPrint>,
    ) -> Result<(Requeue, PassResult), Error> {
        // A Machine that is not in the cache yet would look like one that never existed.
        if self.caches.wait_until_filled().await.is_err() {
            return Ok((Requeue::await_change(), PassResult::Aborted));
        }
        self.context.identities.wait_until_known().await;
        let gathered = self.caches.gather(pool);
        let access = self.access(&gathered);
        let wish = wish.insert(WishPrint::of(&gathered, &self.context.announcements, &access));
        if let Some(left) = self.backoff.held(key, wish, Instant::now()) {
            return Ok((Requeue::requeue(left), PassResult::Skipped));
        }
        let urgency = urgency(&gathered, wish);
        let clouds = self.context.clouds.in_use();
        let room = wish.cloud.as_ref().map(|cloud| self.lanes.enter(cloud, key, urgency, clouds));
        if matches!(room, Some(None)) {
            return Ok((Requeue::requeue(IN_LINE), PassResult::Skipped));
        }
        self.pass(key, gathered, access, wish, urgency).await
    }

    async fn pass(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: Gathered,
        access: Result<Option<Access>, Blocked>,
        wish: &WishPrint,
        urgency: Urgency,
    ) -> Result<(Requeue, PassResult), Error> {
        if gathered.pool.metadata.deletion_timestamp.is_some()
            && observe::finalizer(&gathered) == Finalizer::Absent
        {
            self.forget(key, &gathered).await;
            return Ok((Requeue::await_change(), PassResult::Settled));
        }
        self.forget_vanished().await;
        let state = self.states.of(key);
        let mut state = state.lock().await;
        if state.uid != gathered.pool.uid() {
            self.forget_group(key, &mut state);
            *state = PoolState { uid: gathered.pool.uid(), ..PoolState::default() };
        }
        let region = self.region(access).await;
        let backlog = region.iter().flatten().next().map_or(Duration::ZERO, |region| region.backlog());
        if backlog > LONGEST_BACKLOG && urgency == Urgency::Usual {
            // Others of the account wait for its calls already. Whoever waits with them holds up the pools of others.
            return Ok((Requeue::requeue(backlog), PassResult::Skipped));
        }
        let aws = self.aws(key, &gathered, &region, &mut state);
        let region = region.as_ref().ok().and_then(Option::as_deref);
        let mut inputs = self.inputs(key, &gathered, region, aws, &mut state).await;
        let pass = self.plan_and_act(key, &mut inputs, &mut state).await;
        state.asked_generation = gathered.pool.metadata.generation;
        let region = region.filter(|_| state.tenure == Tenure::Own);
        self.publish(key, &inputs, &pass, region, &mut state).await?;
        Ok(self.next(key, wish, &pass, self.asks_again(&inputs, &pass, region, &state)))
    }

    /// When to come back for what no watch and no observer will name.
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
            details,
            (state.tenure == Tenure::Anothers).then_some(tenure::ASK_AGAIN),
            inputs.gathered.unreadable.as_ref().map(|_| READ_AGAIN),
        ];
        timers.into_iter().flatten().min()
    }

    /// Forgets the pools that went without a pass.
    async fn forget_vanished(&self) {
        for gone in self.states.vanished(&self.caches.pools) {
            self.forget_group(&gone, &mut *self.states.of(&gone).lock().await);
            self.states.forget(&gone);
            self.backoff.succeeded(&gone);
        }
    }

    /// When to come back.
    fn next(
        &self,
        key: &ObjectRef<FooMachinePool>,
        wish: &WishPrint,
        pass: &Pass,
        unwatched: Option<Duration>,
    ) -> (Requeue, PassResult) {
        if pass.failure.is_some() {
            let pause = self.backoff.failed(key, wish.clone(), Instant::now());
            return (Requeue::requeue(pause), PassResult::Failed);
        }
        if pass.observation != Observation::Stale {
            self.backoff.succeeded(key);
        }
        let sync = jittered(self.context.settings.sync_period, key);
        // The observer names the group when it has been seen, and when it has not been for too long. Should it do neither:
        let awaited = (pass.observation == Observation::Pending).then_some(AWAITED);
        let left = match pass.remainder {
            Remainder::Nothing => None,
            Remainder::Later(after) => Some(after),
            Remainder::PlanAgain => Some(AFTER_RACE),
        };
        let timers = [pass.plan.report.next.after, unwatched, left, awaited];
        let after = timers.into_iter().flatten().fold(sync, Ord::min);
        let worked = pass.tried > 0 || pass.remainder == Remainder::PlanAgain;
        (Requeue::requeue(after), if worked { PassResult::Worked } else { PassResult::Settled })
    }

    async fn forget(&self, key: &ObjectRef<FooMachinePool>, gathered: &Gathered) {
        self.forget_group(key, &mut *self.states.of(key).lock().await);
        self.states.forget(key);
        self.backoff.succeeded(key);
        if let Some(uid) = gathered.pool.uid() {
            self.pool_status.forget(&uid);
        }
        self.context
            .debug
            .forget(&PoolName { namespace: gathered.namespace(), name: gathered.pool.name_any() });
    }
}

/// An instance that AWS takes back has two minutes, and one that waits in its hook is kept by heartbeats.
fn urgency(gathered: &Gathered, wish: &WishPrint) -> Urgency {
    let waits =
        |machine: &Arc<FooMachine>| machine.status.as_ref().is_some_and(|status| status.drain_hook.is_some());
    if wish.taken.is_empty() && !gathered.foo_machines.iter().any(waits) {
        Urgency::Usual
    } else {
        Urgency::Urgent
    }
}
