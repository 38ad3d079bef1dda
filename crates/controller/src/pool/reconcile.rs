//! One pass over one pool: gather, observe, plan, execute, publish.
//!
//! Everything that can be wrong before `publish` is a value in the report, so that the status always says why a pool
//! does not move.

use super::inputs::gather::Gathered;
use super::inputs::{bootstrap_secret, content, desired, observe, version_skew};
use super::lanes::{LONGEST_BACKLOG, Urgency};
use super::output::publish::Extra;
use super::output::{Error, capacity, instance_details};
use super::pass::{Pass, Sight};
use super::plan_loop::asking;
use super::pools::{Access, Pools, WishPrint};
use super::state::{PoolState, Tenure};
use super::tenure;
use crate::apply::Written;
use crate::backoff::jittered;
use crate::debug::PoolName;
use crate::metrics::{Controller, PassResult};
use crate::passes;
use crate::queue::Action as Requeue;
use foo_api::{FooMachine, FooMachinePool};
use foo_planner::Action;
use foo_planner::desired::Blocked;
use foo_planner::observed::{Finalizer, Look};
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
        for gone in self.states.vanished(&self.caches.pools) {
            self.forget_group(&gone, &mut *self.states.of(&gone).lock().await);
            self.states.forget(&gone);
            self.backoff.succeeded(&gone);
        }
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
        let types = match &region {
            Ok(Some(region)) => {
                desired::instance_types(&gathered.pool.spec, &region.lookups, asking(&state, &gathered)).await
            }
            Ok(None) | Err(_) => {
                Err(Blocked::new("WaitingForClusterInfrastructure", "the region is not known yet"))
            }
        };
        let taken = region.as_ref().ok().and_then(Option::as_ref);
        let taken = taken.and_then(|region| self.taken(&gathered, region));
        state.tenure = if taken.is_some() { Tenure::Anothers } else { Tenure::Own };
        let pass = match (&gathered.unreadable, &region) {
            (Some(blocked), _) => {
                self.without_cloud(&gathered, observe::doubted(blocked), None, &mut state).await
            }
            (None, Ok(Some(region))) => match taken {
                Some(taken) if gathered.pool.metadata.deletion_timestamp.is_none() => {
                    tenure::log_owner(&mut state, key, Some(taken.by));
                    self.refused(key, &gathered, region, &taken.blocked, &mut state).await
                }
                Some(_) | None => self.rounds(key, &gathered, region, &types, &mut state).await,
            },
            (None, Ok(None)) => self.without_cloud(&gathered, Look::Unknown, None, &mut state).await,
            (None, Err(blocked)) => {
                // Nobody may look in the meantime, either. What AWS announced stays true.
                if let Some(place) = self.stop_watching(key, &mut state) {
                    state.left = Some(place);
                }
                self.without_cloud(&gathered, observe::doubted(blocked), Some(blocked), &mut state).await
            }
        };
        state.asked_for = gathered.pool.metadata.generation;
        let region = region.ok().flatten().filter(|_| state.tenure == Tenure::Own);
        let extra = Extra {
            capacity: types.as_ref().ok().and_then(|types| capacity::capacity(types)),
            version: gathered.machine_pool.as_ref().and_then(|pool| pool.spec.template.spec.version.clone()),
            instance_type: content::instance_types(&gathered.pool.spec)
                .first()
                .map(|name| name.as_str().to_owned()),
            group: gathered.identity.as_ref().map(|identity| identity.group.as_str().to_owned()),
            began: state.began,
        };
        let removed = is_removed(&pass);
        let mut written = Written::Unchanged;
        if removed {
            self.forget_group(key, &mut state);
        } else if pass.sight == Sight::Had || gathered.pool.status.is_none() {
            // Else the status stays as an earlier manager left it: that this one has only just started says nothing
            // about the pool.
            written = self.publish(&gathered, &pass, &extra, region.as_deref()).await?;
        }
        self.note_rest(key, &pass, written, &mut state);
        self.tell(&gathered, &pass, &mut state).await;
        self.context.debug.record(
            PoolName { namespace: gathered.namespace(), name: gathered.pool.name_any() },
            self.context.clock.now(),
            Arc::new(pass.plan.clone()),
            pass.failure.as_ref().map(|(_, failure)| failure.to_string()),
        );
        let now = self.context.clock.now();
        let unknown = region.as_deref().and_then(|region| {
            instance_details::next_try(&region.observer, &gathered, &pass.plan.report, now)
        });
        let taken = (state.tenure == Tenure::Anothers).then_some(tenure::ASK_AGAIN);
        let again = gathered.unreadable.as_ref().map(|_| READ_AGAIN);
        let unwatched =
            [bootstrap_secret::next_try(&state), version_skew::next_try(&state), unknown, taken, again];
        Ok(self.next(key, wish, &pass, unwatched.into_iter().flatten().min()))
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
        if pass.sight != Sight::Voided {
            self.backoff.succeeded(key);
        }
        let sync = jittered(self.context.settings.sync_period, key);
        // The observer names the group when it has been seen, and when it has not been for too long. Should it do neither:
        let awaited = (pass.sight == Sight::Awaited).then_some(AWAITED);
        let timers = [pass.plan.report.next.after, unwatched, pass.again, awaited];
        let after = timers.into_iter().flatten().fold(sync, Ord::min);
        if pass.raced {
            return (Requeue::requeue(after.min(AFTER_RACE)), PassResult::Worked);
        }
        let result = if pass.acted { PassResult::Worked } else { PassResult::Settled };
        (Requeue::requeue(after), result)
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

fn is_removed(pass: &Pass) -> bool {
    pass.failure.is_none() && !pass.raced && pass.plan.actions.contains(&Action::RemoveFinalizer)
}
