//! A stand-in for Cluster API core, as far as the controller of pools sees it.
//!
//! It does what core v1.14 does to MachinePools, their FooMachinePools, FooMachines and Machines, to Clusters, and what
//! Kubernetes' garbage collector does to all of them. Core's traps are kept: `status.ready` is what counts, an id that
//! leaves `providerIDList` costs its Node, a FooMachine that is being deleted still gets a Machine, a drain is skipped
//! once the FooMachine is being deleted or if the control plane does not show that it is managed externally.
//! It runs over a plain client, so it would work on a real API server as well.
//! Not there: ClusterClass, MachineDeployments, bootstrap providers (tests set `dataSecretName`), MachineHealthChecks
//! (tests call [`FakeCore::mark_unhealthy`]).

mod api;
mod cluster;
mod core;
mod drain;
mod gc;
mod machine;
mod pool;
mod world;

pub use self::core::NodeState;
pub use drain::{DrainOutcome, DrainRecord, DrainTime, SkipReason};

use self::core::{Clock, Core, Memory, Nodes};
use drain::Drains;
use futures::StreamExt;
use jiff::Timestamp;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use kube::core::{DynamicObject, PartialObjectMeta};
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use world::{KINDS, KindName, Lists, World};

/// Changes within this time are worked on together.
const TOGETHER: Duration = Duration::from_millis(5);

impl Core {
    /// Reconciles all objects once.
    async fn pass(&self) -> kube::Result<()> {
        let world = World::read(&self.client, &self.lists).await?;
        let mut first = Ok(());
        let mut note = |what: String, result: kube::Result<()>| {
            if let Err(error) = result {
                self.memory().errors.push(format!("{what}: {error}"));
                if first.is_ok() {
                    first = Err(error);
                }
            }
        };
        for object in world.clusters.iter() {
            note(world::title(object), cluster::reconcile(self, &world, object).await);
        }
        for object in world.pools.iter() {
            note(world::title(object), pool::reconcile(self, &world, object).await);
        }
        for object in world.machines.iter() {
            note(world::title(object), machine::reconcile(self, &world, object).await);
        }
        note("garbage collection".to_owned(), gc::collect(self, &world).await);
        first
    }

    async fn run(self: Arc<Self>) {
        let watches = futures::future::join_all(KINDS.iter().map(|kind| self.follow(*kind)));
        let work = async {
            loop {
                let stopped = self.memory().stopped;
                let soon = if stopped {
                    self.period
                } else if self.pass().await.is_err() {
                    Duration::from_millis(100)
                } else {
                    self.memory().drains.next_end().map_or(self.period, |left| left.min(self.period))
                };
                tokio::select! {
                    () = self.wake.notified() => tokio::time::sleep(TOGETHER).await,
                    () = tokio::time::sleep(soon) => {}
                }
            }
        };
        tokio::join!(watches, work);
    }

    /// Wakes the work whenever an object of the kind changes.
    async fn follow(&self, kind: KindName) {
        let api: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(self.client.clone(), &kind.resource());
        let events = watcher(api, watcher::Config::default()).default_backoff();
        events
            .for_each(|_| {
                self.lists.changed(kind);
                self.wake.notify_one();
                std::future::ready(())
            })
            .await;
    }
}

/// How a core is to be; [`CoreBuilder::start`] starts it.
pub struct CoreBuilder {
    client: Client,
    nodes: Nodes,
    drain_time: DrainTime,
    period: Duration,
    clock: Clock,
}

impl fmt::Debug for CoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreBuilder").field("drain_time", &self.drain_time).finish_non_exhaustive()
    }
}

impl CoreBuilder {
    /// What the workload cluster reports of the Node with a provider id. Asked at every pass, so a change is seen
    /// within the period, or at once after [`FakeCore::nudge`]. Without this every provisioned machine has a Ready
    /// Node.
    #[must_use]
    pub fn nodes(self, nodes: impl Fn(&str) -> NodeState + Send + 'static) -> Self {
        Self { nodes: Box::new(nodes), ..self }
    }

    /// How long drains take; no time by default.
    #[must_use]
    pub fn drains(self, drain_time: DrainTime) -> Self {
        Self { drain_time, ..self }
    }

    /// How often to reconcile when nothing happens, on tokio's clock; every 15 seconds by default.
    #[must_use]
    pub fn period(self, period: Duration) -> Self {
        Self { period, ..self }
    }

    /// Clock for conditions; the system's by default.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Timestamp + Send + 'static) -> Self {
        Self { clock: Box::new(clock), ..self }
    }

    /// Starts it on the current runtime.
    pub fn start(self) -> FakeCore {
        let core = Arc::new(Core {
            client: self.client,
            memory: Mutex::new(Memory {
                nodes: self.nodes,
                node_overrides: BTreeMap::new(),
                deleted_nodes: BTreeSet::new(),
                retired: Vec::new(),
                drains: Drains::new(self.drain_time),
                stopped: false,
                errors: Vec::new(),
                clock: self.clock,
            }),
            lists: Lists::default(),
            wake: Notify::new(),
            period: self.period,
        });
        let end = CancellationToken::new();
        let (running, token) = (Arc::clone(&core), end.clone());
        tokio::spawn(async move { token.run_until_cancelled(running.run()).await });
        FakeCore { core, end }
    }
}

/// A running stand-in for core. It stops when this is dropped.
pub struct FakeCore {
    core: Arc<Core>,
    end: CancellationToken,
}

impl fmt::Debug for FakeCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeCore").finish_non_exhaustive()
    }
}

impl Drop for FakeCore {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

impl FakeCore {
    /// A core with this client, best one with a name of its own (`server.client_as("core")`).
    pub fn builder(client: Client) -> CoreBuilder {
        CoreBuilder {
            client,
            nodes: Box::new(|_| NodeState::Ready),
            drain_time: DrainTime::None,
            period: Duration::from_secs(15),
            clock: Box::new(Timestamp::now),
        }
    }

    /// [`CoreBuilder::start`] with everything as it is.
    pub fn start(client: Client) -> Self {
        Self::builder(client).start()
    }

    fn steer(&self, change: impl FnOnce(&mut Memory)) {
        change(&mut self.core.memory());
        self.nudge();
    }

    /// Causes core to reconcile once.
    pub fn nudge(&self) {
        self.core.wake.notify_one();
    }

    /// Sets the Node of one provider id, whatever [`CoreBuilder::nodes`] returns.
    pub fn set_node(&self, provider_id: &str, state: NodeState) {
        self.steer(|memory| {
            memory.node_overrides.insert(provider_id.to_owned(), state);
        });
    }

    /// Core stops working, as when its Deployment is scaled to zero.
    pub fn pause(&self) {
        self.steer(|memory| memory.stopped = true);
    }

    /// Core works again.
    pub fn resume(&self) {
        self.steer(|memory| memory.stopped = false);
    }

    /// How long drains take that start from now on.
    pub fn set_drain_time(&self, drain_time: DrainTime) {
        self.steer(|memory| memory.drains.set_time(drain_time));
    }

    /// Lets the drain of one Machine end, now or when it starts.
    pub fn release_drain(&self, machine: &str) {
        self.steer(|memory| memory.drains.release(machine));
    }

    /// Lets all running drains end.
    pub fn release_drains(&self) {
        self.steer(|memory| memory.drains.release_running());
    }

    /// Machines being drained now, by name.
    pub fn draining(&self) -> Vec<String> {
        self.core.memory().drains.running()
    }

    /// What became of every Machine that was deleted or lost its FooMachine, in the order it was known.
    pub fn drains(&self) -> Vec<DrainRecord> {
        self.core.memory().drains.records()
    }

    /// Machines with a Node whose FooMachine was deleted before a drain was over. Must be empty at the end of any test.
    pub fn undrained(&self) -> Vec<DrainRecord> {
        self.drains().into_iter().filter(DrainRecord::is_undrained).collect()
    }

    /// Whether an instance may be terminated now: its Machine was drained, needs no drain, or never had a Node.
    /// For assertions inside the simulated cloud.
    pub fn may_terminate(&self, provider_id: &str) -> bool {
        self.core.memory().drains.may_terminate(provider_id)
    }

    /// Provider ids that left a `providerIDList` while their Machine was not drained: their Nodes were deleted at once.
    pub fn retired_nodes(&self) -> Vec<String> {
        self.core.memory().retired.clone()
    }

    /// What went wrong so far; injected faults are among it.
    pub fn errors(&self) -> Vec<String> {
        self.core.memory().errors.clone()
    }

    /// What a MachineHealthCheck writes on a Machine that it marks for remediation.
    pub async fn mark_unhealthy(&self, namespace: &str, machine: &str) -> kube::Result<()> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.core.client.clone(), namespace, &world::MACHINE.resource());
        let condition = |kind: &str, reason: &str| {
            json!({
                "type": kind, "status": "False", "reason": reason, "message": "set by the test",
                "lastTransitionTime": self.core.now(),
            })
        };
        let status = json!({
            "apiVersion": world::MACHINE.api_version(),
            "kind": "Machine",
            "status": { "conditions": [
                condition("HealthCheckSucceeded", "UnhealthyNode"),
                condition("OwnerRemediated", "WaitingForRemediation"),
            ] },
        });
        let params = PatchParams::apply("capi-machinehealthcheck").force();
        api.patch_status(machine, &params, &Patch::Apply(&status)).await?;
        Ok(())
    }
}
