//! One pass over one pool: gather, observe, plan, execute, publish.
//!
//! Everything that can be wrong before `publish` is a value in the report, so that the status always says why a pool
//! does not move.

use super::execute::{Done, Failure, Hands};
use super::gather::{Caches, Gathered};
use super::publish::{self, Extra};
use super::state::{PoolState, States};
use super::{capacity, content, look, names, overlay, secret, shortage, wish};
use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::backoff::{Backoff, jittered};
use crate::clock::to_kube;
use crate::clouds::{CloudKey, CloudRegion};
use crate::debug::PoolName;
use crate::metrics::{ActionOutcome, Controller, PassResult};
use foo_api::names::managers;
use foo_api::{FooMachine, FooMachinePool};
use foo_cloud::CloudError;
use foo_cloud::lookups::Asking;
use foo_cloud::model::{InstanceId, LifecycleState, MachineName, Timestamp};
use foo_planner::desired::{Blocked, Desired, Goal, GroupWish, Rollout, ScaleIn, Size, VictimPolicy, Wanted};
use foo_planner::memory::Outcome;
use foo_planner::model::{DeletionTimeouts, Seconds};
use foo_planner::observed::{Finalizer, Look};
use foo_planner::report::{Event, Pace, Report, Severity};
use foo_planner::{Action, Observed, Plan};
use futures::{StreamExt, stream};
use kube::runtime::controller::Action as Requeue;
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Plans in one pass: finalizer and template, a look at the template, the group, and one to spare. Each is a plan of
/// its own because the next one needs what the one before brought about.
const ROUNDS: usize = 5;
/// Writes of FooMachine status at a time.
const STATUS_WRITES: usize = 16;
/// After losing a race with another writer: the cache needs a moment.
const AFTER_RACE: Duration = Duration::from_millis(500);

/// The pool controller's own state.
pub(super) struct Pools {
    /// What all controllers share.
    pub(super) context: Context,
    /// The informer caches.
    pub(super) caches: Caches,
    /// What is remembered of each pool.
    pub(super) states: States,
    backoff: Backoff<ObjectRef<FooMachinePool>>,
    pool_status: StatusWriter,
    machine_status: StatusWriter,
    settled_from: Timestamp,
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

/// What a pass came to.
struct Pass {
    plan: Plan,
    failure: Option<(Action, Failure)>,
    raced: bool,
    acted: bool,
    sight: Sight,
}

/// Whether a pass had anything to go by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// The group was looked at, or it is known why not.
    Had,
    /// The first look at the group is under way.
    Awaited,
    /// What came of the last failed try is not seen yet: it has voided the look before it, or its answer was lost. The
    /// failure stands.
    Voided,
}

impl Pass {
    /// The last of several rounds, with what the earlier ones told and did.
    fn after(mut self, mut events: Vec<Event>, acted: bool) -> Self {
        events.append(&mut self.plan.report.events);
        self.plan.report.events = events;
        Self { acted, ..self }
    }
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
            settled_from,
            context,
            caches,
        }
    }

    /// One pass.
    pub(super) async fn reconcile(self: Arc<Self>, pool: Arc<FooMachinePool>) -> Result<Requeue, Error> {
        let key = ObjectRef::from_obj(pool.as_ref());
        let measured = self.context.metrics.pass_starts(Controller::Pool);
        let generation = pool.metadata.generation;
        if let Some(left) = self.backoff.held(&key, generation, Instant::now()) {
            measured.ends(PassResult::Skipped);
            return Ok(Requeue::requeue(left));
        }
        // A Machine that is not in the cache yet would look like one that never existed.
        if self.caches.wait_until_ready().await.is_err() {
            measured.ends(PassResult::Aborted);
            return Ok(Requeue::await_change());
        }
        let result = tokio::time::timeout(self.context.settings.pass_deadline, self.pass(&key, pool)).await;
        match result {
            Ok(Ok((requeue, outcome))) => {
                measured.ends(outcome);
                Ok(requeue)
            }
            Ok(Err(error)) => {
                measured.ends(PassResult::Failed);
                tracing::warn!(pool = %key, error = %error, "the pass failed");
                Ok(Requeue::requeue(self.backoff.failed(&key, generation, Instant::now())))
            }
            Err(_elapsed) => {
                measured.ends(PassResult::Failed);
                tracing::warn!(pool = %key, "the pass took too long and was given up");
                Ok(Requeue::requeue(self.backoff.failed(&key, generation, Instant::now())))
            }
        }
    }

    async fn pass(
        &self,
        key: &ObjectRef<FooMachinePool>,
        pool: Arc<FooMachinePool>,
    ) -> Result<(Requeue, PassResult), Error> {
        let gathered = self.caches.gather(pool);
        if gathered.pool.metadata.deletion_timestamp.is_some()
            && look::finalizer(&gathered) == Finalizer::Absent
        {
            self.forget(key, &gathered).await;
            return Ok((Requeue::await_change(), PassResult::Settled));
        }
        let state = self.states.of(key);
        let mut state = state.lock().await;
        let region = self.region(&gathered).await;
        let types = match &region {
            Ok(Some(region)) => {
                wish::instance_types(&gathered.pool.spec, &region.lookups, asking(&state, &gathered)).await
            }
            Ok(None) | Err(_) => {
                Err(Blocked::new("WaitingForClusterInfrastructure", "the region is not known yet"))
            }
        };
        let pass = match &region {
            Ok(Some(region)) => self.rounds(key, &gathered, region, &types, &mut state).await,
            Ok(None) => self.without_cloud(&gathered, Look::Unknown, &mut state).await,
            Err(error) => {
                let failed = Look::Failed { reason: "Credentials".to_owned(), message: error.to_string() };
                self.without_cloud(&gathered, failed, &mut state).await
            }
        };
        state.asked_for = gathered.pool.metadata.generation;
        let region = region.ok().flatten();
        let extra = Extra {
            capacity: types.as_ref().ok().and_then(|types| capacity::capacity(types)),
            version: gathered.machine_pool.as_ref().and_then(|pool| pool.spec.template.spec.version.clone()),
            instance_type: content::instance_types(&gathered.pool.spec)
                .first()
                .map(|name| name.as_str().to_owned()),
            group: wish::identify(&gathered).map(|wish| wish.identity.group.as_str().to_owned()),
        };
        let removed = is_removed(&pass);
        if removed {
            self.forget_group(&state);
        } else if pass.sight == Sight::Had || gathered.pool.status.is_none() {
            // Else the status stays as an earlier manager left it: that this one has only just started says nothing
            // about the pool.
            self.publish(&gathered, &pass, &extra, region.as_deref()).await?;
        }
        self.tell(&gathered, &pass, &mut state).await;
        self.context.debug.record(
            PoolName { namespace: gathered.namespace(), name: gathered.pool.name_any() },
            self.context.clock.now(),
            Arc::new(pass.plan.clone()),
            pass.failure.as_ref().map(|(_, failure)| failure.to_string()),
        );
        Ok(self.next(key, &gathered, &pass, secret::next_try(&state)))
    }

    /// The cloud the pool lives in: its FooCluster's region, or that of its group when the FooCluster is gone.
    async fn region(
        &self,
        gathered: &Gathered,
    ) -> Result<Option<Arc<CloudRegion>>, crate::clouds::ConnectError> {
        let recorded = gathered.pool.spec.provider_id.as_deref().and_then(names::region_of_arn);
        let region = gathered.foo_cluster.as_ref().map(|cluster| cluster.spec.region.as_str()).or(recorded);
        match region {
            Some(region) => self.context.clouds.get(&CloudKey::default_in(region)).await.map(Some),
            None => Ok(None),
        }
    }

    /// Plans and acts, again as long as an action brought about what the next plan needs.
    async fn rounds(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &Gathered,
        region: &Arc<CloudRegion>,
        types: &Result<Vec<foo_cloud::InstanceTypeInfo>, Blocked>,
        state: &mut PoolState,
    ) -> Pass {
        let Some(identified) = wish::identify(gathered) else {
            return self.without_cloud(gathered, Look::Unknown, state).await;
        };
        let now = self.context.clock.now();
        let data = match identified.goal {
            Goal::Run => {
                let period = jittered(self.context.settings.sync_period, key);
                secret::bootstrap_data(
                    &self.context.client,
                    &self.caches.secrets,
                    gathered,
                    state,
                    now,
                    period,
                )
                .await
            }
            Goal::Remove | Goal::LetGo => wish::BootstrapData::Missing(Blocked::new("Deleting", "")),
        };
        let asking = asking(state, gathered);
        let desired = wish::desired(identified, gathered, data, types, &region.lookups, asking).await;
        self.watch_group(key, &desired, gathered, region, state);
        let stranger = stranger(gathered, region).await;
        let shortage = shortage::words(region, &desired.identity.group, state, now).await;
        let mut acted = false;
        let mut held = look::finalizer(gathered);
        let mut events = Vec::new();
        let mut round = 0;
        loop {
            round += 1;
            let observed = self.observed(&desired, gathered, region, stranger.as_ref(), state);
            // The cache does not show yet what an earlier round wrote.
            let observed = Observed { shortage: shortage.clone(), finalizer: held, ..observed };
            let plan = foo_planner::plan(&desired, &observed, &state.memory);
            let fresh = observed.group.seen_at() > state.memory.ledger.changed_at;
            let mut pass = self.act(&desired, &observed, plan, gathered, region, state).await;
            acted |= pass.acted;
            let went_on = pass.failure.is_none() && !pass.raced && pass.plan.actions.iter().any(brings_news);
            if !went_on || round >= ROUNDS {
                pass.sight = match observed.group {
                    Look::Unknown if state.watched.is_some() => Sight::Awaited,
                    Look::At { .. } if !(fresh && is_clear(&pass)) && refusal_stands(&mut pass, state) => {
                        Sight::Voided
                    }
                    Look::Unknown | Look::Failed { .. } | Look::At { .. } => Sight::Had,
                };
                state.refused =
                    refused(&pass).or_else(|| state.refused.take().filter(|_| pass.sight == Sight::Voided));
                if let Some(error) = look::denied_details(&region.observer, &pass.plan.report) {
                    overlay::blind(&mut pass.plan.report, &error);
                }
                region.observer.pace(&desired.identity.group, pace(&pass));
                return pass.after(events, acted);
            }
            if pass.plan.actions.contains(&Action::AddFinalizer) {
                held = Finalizer::Present;
            }
            events.append(&mut pass.plan.report.events);
        }
    }

    /// Starts watching the group as soon as anything of it can exist.
    fn watch_group(
        &self,
        key: &ObjectRef<FooMachinePool>,
        desired: &Desired,
        gathered: &Gathered,
        region: &CloudRegion,
        state: &mut PoolState,
    ) {
        let group = &desired.identity.group;
        let wanted = (region.key.clone(), group.clone());
        let exists = look::finalizer(gathered) == Finalizer::Present || desired.missing.is_empty();
        if exists && state.watched.as_ref() != Some(&wanted) {
            self.states.watches(key, &region.key, group);
            region.observer.watch(group);
            state.watched = Some(wanted);
        }
    }

    fn observed(
        &self,
        desired: &Desired,
        gathered: &Gathered,
        region: &CloudRegion,
        stranger: Option<&Blocked>,
        state: &PoolState,
    ) -> Observed {
        let now = self.context.clock.now();
        let group = match stranger {
            Some(Blocked { reason, message }) => {
                Look::Failed { reason: reason.clone(), message: message.clone() }
            }
            None => look::group(&region.observer, &desired.identity.group, now),
        };
        let foo_machines = look::foo_machines(gathered);
        // What is looked at with a stranger's eyes is not ours: neither believed nor added to.
        let template = match stranger {
            Some(Blocked { reason, message }) => {
                Look::Failed { reason: reason.clone(), message: message.clone() }
            }
            None => look::template(&region.observer, &desired.identity.group, state.template.as_ref()),
        };
        Observed {
            now,
            template,
            strays: look::strays(&region.observer, &group, &foo_machines),
            machines: look::machines(gathered),
            finalizer: look::finalizer(gathered),
            recorded_arn: gathered.pool.spec.provider_id.clone(),
            settled_from: self.settled_from,
            shortage: None,
            foo_machines,
            group,
        }
    }

    /// A pass for a pool whose cloud is not known: nothing but a report, and the end of a pool that never began.
    async fn without_cloud(
        &self,
        gathered: &Gathered,
        group: Look<Option<foo_cloud::model::Group>>,
        state: &mut PoolState,
    ) -> Pass {
        let desired = wishless(gathered);
        let now = self.context.clock.now();
        let never_began = gathered.pool.spec.provider_id.is_none() && gathered.foo_cluster.is_none();
        let group = match (desired.goal, group) {
            // Without a FooCluster no group was ever made: a FooCluster waits for its pools before it goes.
            (Goal::Remove, Look::Unknown) if never_began => Look::At { at: now, seen: None },
            (_, group) => group,
        };
        let template = match (&group, desired.goal) {
            (Look::At { seen: None, .. }, Goal::Remove) => Look::At { at: now, seen: None },
            _ => Look::Unknown,
        };
        let observed = Observed {
            now,
            group,
            template,
            strays: std::collections::BTreeMap::new(),
            foo_machines: look::foo_machines(gathered),
            machines: look::machines(gathered),
            finalizer: look::finalizer(gathered),
            recorded_arn: gathered.pool.spec.provider_id.clone(),
            settled_from: self.settled_from,
            shortage: None,
        };
        let mut plan = foo_planner::plan(&desired, &observed, &state.memory);
        state.memory = plan.memory.clone();
        let end = plan.actions.contains(&Action::RemoveFinalizer) && plan.actions.len() == 1;
        if !end {
            plan.actions.clear();
            return Pass { plan, failure: None, raced: false, acted: false, sight: Sight::Had };
        }
        let pools: Api<FooMachinePool> = Api::namespaced(self.context.client.clone(), &gathered.namespace());
        let removed =
            apply::remove_finalizer(&pools, gathered.pool.as_ref(), foo_api::names::POOL_FINALIZER).await;
        let failure = removed.err().map(|error| (Action::RemoveFinalizer, Failure::from(error)));
        Pass { plan, failure, raced: false, acted: true, sight: Sight::Had }
    }

    /// Carries a plan out, up to the first failure.
    async fn act(
        &self,
        desired: &Desired,
        observed: &Observed,
        mut plan: Plan,
        gathered: &Gathered,
        region: &CloudRegion,
        state: &mut PoolState,
    ) -> Pass {
        let violations = foo_planner::check::violations(desired, observed, &state.memory, &plan);
        if !violations.is_empty() {
            overlay::refused(&mut plan, &violations, &self.context.metrics);
        }
        state.memory = plan.memory.clone();
        let hands = Hands {
            client: &self.context.client,
            cloud: region.cloud.as_ref(),
            observer: &region.observer,
            pool: &gathered.pool,
            identity: &desired.identity,
            machine_pool: gathered.machine_pool.as_ref().and_then(|pool| pool.metadata.name.as_deref()),
        };
        let mut pass = Pass { failure: None, raced: false, acted: false, sight: Sight::Had, plan };
        let actions = pass.plan.actions.clone();
        for action in actions {
            let now = self.context.clock.now();
            let done = hands.carry_out(&action, now).await;
            let (outcome, counted) = match &done {
                Ok(Done::Carried | Done::Template(_)) => (Outcome::Done, ActionOutcome::Done),
                Ok(Done::Overtaken(why)) => {
                    tracing::info!(action = ?action, why, "not done");
                    (Outcome::Refused, ActionOutcome::Refused)
                }
                Err(failure) => (failure.outcome(), ActionOutcome::Failed),
            };
            self.context.metrics.action((&action).into(), counted);
            state.memory.note(&action, outcome, now);
            pass.acted = true;
            // After a refusal, too: AWS refuses what does not fit the group as it is.
            if action.changes_group() {
                region.observer.look_after(&desired.identity.group, now);
            }
            if action.changes_template() {
                state.template = None;
            }
            match done {
                Ok(Done::Template(template)) => state.template = Some((now, template)),
                Ok(Done::Carried) => tracing::debug!(pool = %desired.identity.pool, ?action, "done"),
                Ok(Done::Overtaken(_)) => pass.raced = true,
                Err(failure) if failure.is_race() => {
                    tracing::debug!(pool = %desired.identity.pool, %failure, "somebody else was first");
                    pass.raced = true;
                    break;
                }
                Err(failure) => {
                    tracing::warn!(pool = %desired.identity.pool, ?action, %failure, "failed");
                    overlay::failed(&mut pass.plan.report, &action, &failure);
                    let stop = !is_independent(&action);
                    pass.failure = Some((action, failure));
                    if stop {
                        break;
                    }
                }
            }
        }
        pass
    }

    async fn publish(
        &self,
        gathered: &Gathered,
        pass: &Pass,
        extra: &Extra,
        region: Option<&CloudRegion>,
    ) -> Result<(), Error> {
        let now = to_kube(self.context.clock.now());
        let client = &self.context.client;
        let report = &pass.plan.report;
        let recorded = pass.plan.actions.iter().find_map(|action| match action {
            Action::RecordArn { arn } => Some(arn.as_str()),
            _ => None,
        });
        let arn = gathered.pool.spec.provider_id.as_deref().or(recorded);
        publish::ids(client, gathered, report, arn).await?;
        let pools: Api<FooMachinePool> = Api::namespaced(client.clone(), &gathered.namespace());
        let status = publish::pool_status(&gathered.pool, report, extra, now);
        self.pool_status
            .apply_if_changed(&pools, gathered.pool.as_ref(), gathered.pool.status.as_ref(), &status)
            .await?;
        if let Some(region) = region {
            self.publish_machines(gathered, report, extra, region, now).await;
        }
        Ok(())
    }

    /// Status of each FooMachine that changed. A failed write is repeated with the next pass, which its own conflict
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
        let in_service: Vec<InstanceId> = report
            .machines
            .iter()
            .filter(|machine| machine.lifecycle == LifecycleState::InService)
            .filter(|machine| !is_published(gathered, &machine.name))
            .map(|machine| machine.instance.clone())
            .filter(|id| region.observer.details(id).is_none())
            .collect();
        if !in_service.is_empty() {
            region.observer.want_details(&group, &in_service, None);
        }
        let known: BTreeSet<InstanceId> = gathered
            .foo_machines
            .iter()
            .map(|machine| InstanceId::new(machine.spec.instance_id.as_str()))
            .collect();
        region.observer.retain_details(&group, &known);
        let paused = wish::identify(gathered).is_some_and(|wish| wish.pause.is_some());
        let machines: Api<FooMachine> = Api::namespaced(self.context.client.clone(), &gathered.namespace());
        let mut writes = Vec::new();
        for machine in &gathered.foo_machines {
            let name = machine.name_any();
            let said = report.machines.binary_search_by(|said| said.name.as_str().cmp(&name));
            let Some(said) = said.ok().and_then(|at| report.machines.get(at)) else { continue };
            let details = region.observer.details(&said.instance).and_then(|(_, details)| details);
            if let Some(status) = publish::machine_status(machine, said, details.as_ref(), paused, now) {
                writes.push(self.write_machine(machines.clone(), Arc::clone(machine), status));
            }
        }
        stream::iter(writes).buffer_unordered(STATUS_WRITES).collect::<()>().await;
    }

    async fn write_machine(
        &self,
        machines: Api<FooMachine>,
        machine: Arc<FooMachine>,
        status: foo_api::FooMachineStatus,
    ) {
        let written = self
            .machine_status
            .apply_if_changed(&machines, machine.as_ref(), machine.status.as_ref(), &status)
            .await;
        if let Err(error) = written {
            tracing::warn!(machine = machine.name_any(), %error, "could not write the status of a FooMachine");
        }
    }

    /// Events: of what was planned, if all of it was done; of a failure, when it is a new one.
    async fn tell(&self, gathered: &Gathered, pass: &Pass, state: &mut PoolState) {
        let object = gathered.pool.object_ref(&());
        if pass.sight == Sight::Voided {
            return;
        }
        let news = state.is_news(pass.failure.as_ref().map(|(_, failure)| failure));
        match &pass.failure {
            None if !pass.raced => {
                for event in &pass.plan.report.events {
                    self.context.events.publish(&object, event.severity, &event.reason, &event.message).await;
                }
            }
            Some((_, failure)) if news => {
                self.context
                    .events
                    .publish(&object, Severity::Warning, "ActionFailed", &failure.to_string())
                    .await;
            }
            None | Some(_) => {}
        }
    }

    /// When to come back.
    fn next(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &Gathered,
        pass: &Pass,
        for_secret: Option<Duration>,
    ) -> (Requeue, PassResult) {
        let generation = gathered.pool.metadata.generation;
        if pass.failure.is_some() {
            let pause = self.backoff.failed(key, generation, Instant::now());
            return (Requeue::requeue(pause), PassResult::Failed);
        }
        if pass.sight != Sight::Voided {
            self.backoff.succeeded(key);
        }
        let sync = jittered(self.context.settings.sync_period, key);
        let timers = [pass.plan.report.next.after, for_secret];
        let after = timers.into_iter().flatten().fold(sync, Ord::min);
        if pass.raced {
            return (Requeue::requeue(after.min(AFTER_RACE)), PassResult::Worked);
        }
        let result = if pass.acted { PassResult::Worked } else { PassResult::Settled };
        (Requeue::requeue(after), result)
    }

    fn forget_group(&self, state: &PoolState) {
        if let Some((cloud, group)) = state.watched.clone() {
            let clouds = Arc::clone(&self.context.clouds);
            tokio::spawn(async move {
                if let Ok(region) = clouds.get(&cloud).await {
                    region.observer.forget(&group);
                }
            });
        }
    }

    async fn forget(&self, key: &ObjectRef<FooMachinePool>, gathered: &Gathered) {
        self.forget_group(&*self.states.of(key).lock().await);
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

/// Why the account we look at is not the one the pool's group was made in, or cannot be told.
///
/// With other credentials the group and all its instances look gone, and every Machine would be deleted for it.
async fn stranger(gathered: &Gathered, region: &CloudRegion) -> Option<Blocked> {
    let made_in = gathered.pool.spec.provider_id.as_deref().and_then(names::account_of_arn)?;
    match region.account().await {
        Ok(account) if account == made_in => None,
        Ok(account) => Some(Blocked::new(
            "WrongAccount",
            format!("the credentials belong to account {account}, the group was made in {made_in}"),
        )),
        Err(error) => {
            let reason: &'static str = error.kind.into();
            Some(Blocked::new(reason, format!("the account cannot be told: {error}")))
        }
    }
}

/// Whether the FooMachine of that name is ready: then its status holds all there is to know of its instance.
fn is_published(gathered: &Gathered, name: &MachineName) -> bool {
    let found = gathered
        .foo_machines
        .binary_search_by(|machine| machine.metadata.name.as_deref().cmp(&Some(name.as_str())));
    let status = found.ok().and_then(|at| gathered.foo_machines.get(at)?.status.as_ref());
    status.is_some_and(|status| status.ready == Some(true))
}

/// A wish for a pool whose cloud is not known.
fn wishless(gathered: &Gathered) -> Desired {
    let waiting =
        Blocked::new("WaitingForClusterInfrastructure", "the FooCluster and its region are not known yet");
    let identified = wish::identify(gathered).unwrap_or_else(|| wish::unidentified(gathered));
    let mut missing = wish::missing(gathered);
    if missing.is_empty() {
        missing.push(waiting.clone());
    }
    Desired {
        identity: identified.identity,
        goal: identified.goal,
        pause: identified.pause,
        missing,
        size: Size::Replicas { wanted: 0, ceiling: None },
        template: Wanted::Blocked(waiting.clone()),
        group: GroupWish {
            subnets: Wanted::Blocked(waiting),
            mix: None,
            tags: std::collections::BTreeMap::new(),
        },
        scale_in: ScaleIn {
            policy: VictimPolicy::Oldest,
            max_concurrent_drains: 1,
            stabilization: Seconds(0),
        },
        rollout: Rollout { max_surge: 0 },
        timeouts: DeletionTimeouts::default(),
        warnings: Vec::new(),
    }
}

/// A spec that changed asks AWS anew about what it names; otherwise what was found before will do.
fn asking(state: &PoolState, gathered: &Gathered) -> Asking {
    if state.asked_for == gathered.pool.metadata.generation { Asking::Again } else { Asking::Anew }
}

/// Whether the action brought about something the next plan needs and no watch will announce.
fn brings_news(action: &Action) -> bool {
    matches!(action, Action::LookAtTemplate) || action.changes_template()
}

/// Whether the rest of a plan does not build on this action: one that AWS keeps refusing must not hold up the rest.
fn is_independent(action: &Action) -> bool {
    matches!(
        action,
        Action::TagGroup { .. }
            | Action::SuspendProcesses { .. }
            | Action::DeleteTemplateVersions { .. }
            | Action::SetMachineTimeouts { .. }
            | Action::PublishReplicas { .. }
    )
}

fn is_removed(pass: &Pass) -> bool {
    pass.failure.is_none() && !pass.raced && pass.plan.actions.contains(&Action::RemoveFinalizer)
}

/// How closely to look: a pool that fails is left alone until its next try.
fn pace(pass: &Pass) -> foo_cloud::observer::Pace {
    match (&pass.failure, pass.sight, pass.plan.report.next.pace) {
        (None, Sight::Had | Sight::Awaited, Pace::Active) => foo_cloud::observer::Pace::Active,
        (None | Some(_), _, _) => foo_cloud::observer::Pace::Quiet,
    }
}

/// What AWS refused in this pass.
fn refused(pass: &Pass) -> Option<(Action, CloudError)> {
    match &pass.failure {
        Some((action, Failure::Cloud(error))) => Some((action.clone(), error.clone())),
        Some((_, Failure::Kubernetes(_))) | None => None,
    }
}

/// Whether nothing is unclear about what became of our calls: one without an answer may still have been carried out.
fn is_clear(pass: &Pass) -> bool {
    let ledger = &pass.plan.memory.ledger;
    ledger.created.is_none() && ledger.desired.is_none() && ledger.leaving.is_empty()
}

/// Whether this pass, which had no fresh look to plan by, leaves what AWS refused before as it was. If so, the report
/// says it again: a status that forgot it would be written twice for each try.
fn refusal_stands(pass: &mut Pass, state: &PoolState) -> bool {
    let tries = pass.failure.is_some() || pass.plan.actions.iter().any(Action::changes_group);
    match &state.refused {
        Some((action, error)) if !tries => {
            overlay::refusal(&mut pass.plan.report, action, error);
            true
        }
        Some(_) | None => false,
    }
}
