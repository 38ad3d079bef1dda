//! One pass over one pool: gather, observe, plan, execute, publish.
//!
//! Everything that can be wrong before `publish` is a value in the report, so that the status always says why a pool
//! does not move.

use super::gather::{Caches, Gathered};
use super::lanes::{Lanes, Urgency};
use super::pass::{Pass, Sight};
use super::publish::{self, Extra};
use super::rounds::asking;
use super::state::{PoolState, States, Tenure};
use super::{capacity, content, details, look, names, secret, skew, upkeep, wish};
use super::{tenure, twins};
use crate::Context;
use crate::announcements::{Announcements, Place};
use crate::apply::{self, StatusWriter, Written};
use crate::backoff::{Backoff, jittered};
use crate::clock::to_kube;
use crate::clouds::{CloudKey, CloudRegion};
use crate::credentials::Credentials;
use crate::debug::PoolName;
use crate::metrics::{Controller, Invariant, PassResult};
use crate::passes;
use crate::queue::Action as Requeue;
use foo_api::names::managers;
use foo_api::{FooCluster, FooMachine, FooMachinePool};
use foo_cloud::model::{InstanceId, Timestamp};
use foo_planner::Action;
use foo_planner::desired::Blocked;
use foo_planner::observed::{Finalizer, Look};
use foo_planner::report::{Report, Severity};
use futures::{StreamExt, stream};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Writes of FooMachine status at a time.
const STATUS_WRITES: usize = 16;
/// A pool in line for room is named when there is some; should that be missed, it asks itself.
const IN_LINE: Duration = Duration::from_secs(30);
/// With more calls of the account waiting than this, a pass does not begin, or go on to its next action.
pub(super) const LONGEST_BACKLOG: Duration = Duration::from_secs(5);
/// A group that has not been looked at yet is asked after again.
const AWAITED: Duration = Duration::from_secs(15);
/// After losing a race with another writer: the cache needs a moment.
const AFTER_RACE: Duration = Duration::from_millis(500);
/// While an object cannot be read: whoever mends it wakes only its own pool.
const READ_AGAIN: Duration = Duration::from_secs(30);
/// After giving up to wait for the caches.
const AFTER_WAITING: Duration = Duration::from_secs(10);

/// The pool controller's own state.
pub(super) struct Pools {
    /// What all controllers share.
    pub(super) context: Context,
    /// The informer caches.
    pub(super) caches: Caches,
    /// What is remembered of each pool.
    pub(super) states: States,
    /// Passes under way, by cloud.
    pub(super) lanes: Lanes,
    backoff: Backoff<ObjectRef<FooMachinePool>, WishPrint>,
    pool_status: StatusWriter,
    machine_status: StatusWriter,
    pub(super) settled_from: Timestamp,
}

/// What people and controllers ask of a pool: when it changes, a pool that failed is tried again at once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WishPrint {
    /// Generations of the FooMachinePool and of its MachinePool.
    generations: (Option<i64>, Option<i64>),
    /// Whether it is paused: `clusterctl move` waits for what a paused pool has to say.
    paused: bool,
    /// The FooMachines that are being deleted: their instances wait to be ended.
    leaving: Vec<String>,
    /// Instances that AWS takes back: there are two minutes.
    taken: Vec<InstanceId>,
    /// Where AWS is called, and as whom: what others may not do, these may.
    cloud: Option<CloudKey>,
}

/// Where AWS is called for a pool, and as whom.
pub(super) struct Access {
    credentials: Arc<Credentials>,
    region: String,
}

impl Access {
    pub(super) fn key(&self) -> CloudKey {
        CloudKey::of(&self.credentials, &self.region)
    }
}

impl WishPrint {
    fn of(
        gathered: &Gathered,
        announcements: &Announcements,
        access: &Result<Option<Access>, Blocked>,
    ) -> Self {
        let access = access.as_ref().ok().and_then(Option::as_ref);
        let cloud = access.map(Access::key);
        let group = wish::identify(gathered).map(|wish| wish.identity.group);
        let place = cloud.as_ref().zip(group).map(|(cloud, group)| Place::of(cloud, &group));
        let leaving = |machine: &&Arc<FooMachine>| machine.metadata.deletion_timestamp.is_some();
        Self {
            generations: (
                gathered.pool.metadata.generation,
                gathered.machine_pool.as_ref().and_then(|pool| pool.metadata.generation),
            ),
            paused: wish::pause(gathered).is_some(),
            leaving: gathered.foo_machines.iter().filter(leaving).map(|machine| machine.name_any()).collect(),
            taken: place.map(|place| announcements.taken(&place)).unwrap_or_default(),
            cloud,
        }
    }
}

/// A pass that could not be finished because of the API server.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A write of ours failed.
    #[error(transparent)]
    Write(#[from] apply::Error),
    /// A request failed.
    #[error(transparent)]
    Kube(#[from] kube::Error),
}

impl Pools {
    /// A controller that has just started, or just taken the lead.
    pub(super) fn new(context: Context, caches: Caches) -> Self {
        let settled_from = context.clock.now().plus(context.settings.settle_time);
        Self {
            backoff: Backoff::new(context.settings.seed),
            pool_status: StatusWriter::new(managers::POOL_STATUS),
            machine_status: StatusWriter::new(managers::MACHINE_STATUS),
            states: States::default(),
            lanes: Lanes::new(context.settings.concurrency.into()),
            settled_from,
            context,
            caches,
        }
    }

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
                tracing::warn!(pool = %key, error = %error, "the reconcile failed");
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
            && look::finalizer(&gathered) == Finalizer::Absent
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
                wish::instance_types(&gathered.pool.spec, &region.lookups, asking(&state, &gathered)).await
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
                self.without_cloud(&gathered, look::doubted(blocked), None, &mut state).await
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
                self.without_cloud(&gathered, look::doubted(blocked), Some(blocked), &mut state).await
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
            group: wish::identify(&gathered).map(|wish| wish.identity.group.as_str().to_owned()),
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
        let unknown = region
            .as_deref()
            .and_then(|region| details::next_try(&region.observer, &gathered, &pass.plan.report, now));
        let taken = (state.tenure == Tenure::Anothers).then_some(tenure::ASK_AGAIN);
        let again = gathered.unreadable.as_ref().map(|_| READ_AGAIN);
        let unwatched = [secret::next_try(&state), skew::next_try(&state), unknown, taken, again];
        Ok(self.next(key, wish, &pass, unwatched.into_iter().flatten().min()))
    }

    /// Where the pool lives and as whom it is looked after: as its FooCluster says. When that is gone, where its group
    /// is, as anybody who names no identity.
    fn access(&self, gathered: &Gathered) -> Result<Option<Access>, Blocked> {
        self.access_of(&gathered.pool, gathered.foo_cluster.as_deref())
    }

    /// The same for any pool and its FooCluster.
    pub(super) fn access_of(
        &self,
        pool: &FooMachinePool,
        cluster: Option<&FooCluster>,
    ) -> Result<Option<Access>, Blocked> {
        let recorded = pool.spec.provider_id.as_deref().and_then(names::region_of_arn);
        let Some(region) = cluster.map(|cluster| cluster.spec.region.as_str()).or(recorded) else {
            return Ok(None);
        };
        let identity = cluster.and_then(|cluster| cluster.spec.identity_ref.as_ref());
        let name = identity.map(|reference| reference.name.as_str());
        let namespace = pool.namespace().unwrap_or_default();
        let credentials = self.context.identities.credentials(name, &namespace, region)?;
        Ok(Some(Access { credentials, region: region.to_owned() }))
    }

    async fn region(
        &self,
        access: Result<Option<Access>, Blocked>,
    ) -> Result<Option<Arc<CloudRegion>>, Blocked> {
        let Some(Access { credentials, region }) = access? else { return Ok(None) };
        let connected = self.context.clouds.get(&credentials, &region).await;
        connected.map(Some).map_err(|error| Blocked::new("Credentials", error.to_string()))
    }

    async fn publish(
        &self,
        gathered: &Gathered,
        pass: &Pass,
        extra: &Extra,
        region: Option<&CloudRegion>,
    ) -> Result<Written, Error> {
        let now = to_kube(self.context.clock.now());
        let client = &self.context.client;
        let report = &pass.plan.report;
        let recorded = pass.plan.actions.iter().find_map(|action| match action {
            Action::RecordArn { arn } => Some(arn.as_str()),
            _ => None,
        });
        let arn = gathered.pool.spec.provider_id.as_deref().or(recorded);
        let paused = wish::pause(gathered).is_some();
        if !paused {
            publish::ids(client, gathered, report, arn).await?;
        }
        let pools: Api<FooMachinePool> = Api::namespaced(client.clone(), &gathered.namespace());
        let while_paused = || publish::paused_pool_status(&gathered.pool, report, now);
        let status = Some(()).filter(|()| paused).and_then(|()| while_paused());
        let status = status.unwrap_or_else(|| publish::pool_status(&gathered.pool, report, extra, now));
        let written = self
            .pool_status
            .apply_if_changed(&pools, gathered.pool.as_ref(), gathered.pool.status.as_ref(), &status)
            .await?;
        if let Some(region) = region {
            self.publish_machines(gathered, report, extra, region, now).await;
        }
        Ok(written)
    }

    /// Counts a pass that goes on doing what nothing calls for.
    fn note_rest(
        &self,
        key: &ObjectRef<FooMachinePool>,
        pass: &Pass,
        written: Written,
        state: &mut PoolState,
    ) {
        // The observer paces itself what it is asked for.
        let calls = |action: &Action| !matches!(action, Action::LookAtStrays { .. });
        let worked = pass.plan.actions.iter().any(calls) || written == Written::Yes;
        let did = pass.failure.is_none() && !pass.raced && pass.again.is_none() && worked;
        if state.rest.ends(did, self.context.clock.now()) {
            tracing::error!(pool = %key, actions = ?pass.plan.actions, ?written, "the pool does not settle: it keeps writing although nothing changes; please report this");
            self.context.metrics.invariant_violated(Invariant::I10);
        }
    }

    /// Metadata and status of each FooMachine that changed. A failed write is repeated with the next pass, which its own conflict
    /// or the sync period brings.
    async fn publish_machines(
        &self,
        gathered: &Gathered,
        report: &Report,
        extra: &Extra,
        region: &CloudRegion,
        now: jiff::Timestamp,
    ) {
        let Some(group) = extra.group.as_deref().map(Into::into) else { return };
        let since = details::Since { began: extra.began, now: self.context.clock.now() };
        details::want(&region.observer, &group, gathered, report, since);
        let known: BTreeSet<InstanceId> = gathered
            .foo_machines
            .iter()
            .map(|machine| InstanceId::new(machine.spec.instance_id.as_str()))
            .collect();
        region.observer.retain_details(&group, &known);
        let paused = wish::pause(gathered).is_some();
        let machines: Api<FooMachine> = Api::namespaced(self.context.client.clone(), &gathered.namespace());
        let mut writes = Vec::new();
        for machine in &gathered.foo_machines {
            let name = machine.name_any();
            let said = report.machines.binary_search_by(|said| said.name.as_str().cmp(&name));
            let said = said.ok().and_then(|at| report.machines.get(at));
            let outside = report.outside.iter().find(|said| said.name.as_str() == name);
            let paused = paused || look::is_paused(machine);
            let status = match (said, outside) {
                _ if paused => Some(publish::paused_machine_status(machine, now)),
                (Some(said), _) => {
                    let known = region.observer.details(&said.instance);
                    let details = known.as_ref().and_then(|(_, word)| word.details());
                    publish::machine_status(machine, said, details, now)
                }
                (None, Some(said)) => {
                    let group = extra.group.as_deref().unwrap_or_default();
                    publish::status_outside(machine, said, group, now)
                }
                (None, None) => None,
            };
            let repair = Some(machine).filter(|_| !paused);
            let repair = repair.and_then(|machine| upkeep::repair(machine, gathered, said));
            writes.push(self.write_machine(machines.clone(), Arc::clone(machine), repair, status));
        }
        stream::iter(writes).buffer_unordered(STATUS_WRITES).collect::<()>().await;
    }

    async fn write_machine(
        &self,
        machines: Api<FooMachine>,
        machine: Arc<FooMachine>,
        repair: Option<serde_json::Value>,
        status: Option<foo_api::FooMachineStatus>,
    ) {
        if let Some(repair) = repair {
            upkeep::keep(&machines, &machine, repair).await;
        }
        let Some(status) = status else { return };
        let written = self
            .machine_status
            .apply_if_changed(&machines, machine.as_ref(), machine.status.as_ref(), &status)
            .await;
        if let Err(error) = written {
            tracing::warn!(machine = machine.name_any(), %error, "could not write the status of a FooMachine");
        }
    }

    /// Events: of what was done; of a failure, when it is a new one.
    async fn tell(&self, gathered: &Gathered, pass: &Pass, state: &mut PoolState) {
        let object = gathered.pool.object_ref(&());
        if pass.sight == Sight::Voided {
            return;
        }
        let warning = twins::warning(gathered);
        if let Some(warning) = warning.as_ref().filter(|it| state.warned.as_ref() != Some(it))
            && !twins::is_told(gathered, warning)
        {
            let (reason, message) = (&warning.reason, &warning.message);
            self.context.events.publish(&object, Severity::Warning, reason, message).await;
        }
        state.warned = warning;
        let news = state.is_news(pass.failure.as_ref().map(|(_, failure)| failure));
        for event in &pass.plan.report.events {
            self.context.events.publish(&object, event.severity, &event.reason, &event.message).await;
        }
        if let Some((_, failure)) = &pass.failure
            && news
        {
            self.context
                .events
                .publish(&object, Severity::Warning, "ActionFailed", &failure.to_string())
                .await;
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

    fn forget_group(&self, key: &ObjectRef<FooMachinePool>, state: &mut PoolState) {
        let watched = self.stop_watching(key, state);
        if state.tenure == Tenure::Anothers {
            return;
        }
        for (cloud, group) in watched.into_iter().chain(state.left.take()) {
            self.context.announcements.forget(&Place::of(&cloud, &group));
        }
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
