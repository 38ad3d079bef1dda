//! Stands in for kubelets, for the scheduler, and for the controllers that clean up after a terminated instance.
//!
//! Given the running instances, it keeps a Node for each, binds pending pods to ready Nodes, runs them, and finishes
//! those that are being deleted, as a kubelet would after the containers ended. It writes down how each pod ended:
//! evicted in time, or lost with its instance ([`Kubelets::undrained`]): what a provider that drains must keep empty.
//!
//! Simplifications: no container runs; placement respects taints, `unschedulable`, node selectors and the number of
//! pods, but not affinity or resources; no DaemonSets, no leases.
//!
//! [`decide`] is pure and holds all rules; [`act`] carries out its actions; this file runs the loop.

mod act;
mod decide;
mod instances;
mod model;
mod objects;
mod pods;

pub use instances::{InstanceList, Instances, NodeSpec};
pub use model::{Join, KubeletOptions, PodDeath, PodEnd};
pub(crate) use objects::node as node_object;

use crate::lock;
use decide::Memory;
use futures::StreamExt as _;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::ListParams;
use kube::runtime::{reflector, watcher};
use kube::{Api, Client};
use model::{Now, View};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// How often the instances are asked for, and timers read. Changes of Nodes and Pods are acted on at once.
const TICK: Duration = Duration::from_millis(200);
/// A burst of watch events is one round, not a hundred.
const GATHER: Duration = Duration::from_millis(10);
/// How long to leave an API server alone that refuses us.
const RETRY: Duration = Duration::from_millis(500);

/// The running stand-in for one cluster. Dropping it ends it; the objects stay as they are.
#[derive(Debug)]
pub struct Kubelets {
    shared: Arc<Shared>,
    /// Aborted when dropped.
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
struct Shared {
    options: Mutex<KubeletOptions>,
    deaths: Mutex<Vec<PodDeath>>,
    wake: Notify,
}

impl Kubelets {
    /// Starts it on the current tokio runtime, with an administrator's client of the workload cluster.
    pub fn start(client: Client, instances: impl Instances, options: KubeletOptions) -> Self {
        let shared =
            Arc::new(Shared { options: Mutex::new(options), deaths: Mutex::default(), wake: Notify::new() });
        let mut tasks = JoinSet::new();
        let (nodes, node_writer) = reflector::store();
        let (pods, pod_writer) = reflector::store();
        tasks.spawn(follow::<Node>(Api::all(client.clone()), node_writer, Arc::clone(&shared)));
        tasks.spawn(follow::<Pod>(Api::all(client.clone()), pod_writer, Arc::clone(&shared)));
        tasks.spawn(keep_going(client, instances, Arc::clone(&shared), nodes, pods));
        Self { shared, _tasks: tasks }
    }

    /// Changes options while it runs, for instance to let new instances never join from now on.
    pub fn adjust(&self, change: impl FnOnce(&mut KubeletOptions)) {
        change(&mut lock(&self.shared.options));
        self.shared.wake.notify_one();
    }

    /// How each pod ended so far, in order.
    pub fn deaths(&self) -> Vec<PodDeath> {
        lock(&self.shared.deaths).clone()
    }

    /// The pods that were lost with their instance although a drain would have moved them first.
    ///
    /// Not among them: pods that had already finished, and pods of DaemonSets and of the Node itself, which a drain
    /// leaves alone.
    pub fn undrained(&self) -> Vec<PodDeath> {
        let mut deaths = self.deaths();
        deaths.retain(PodDeath::is_undrained);
        deaths
    }
}

/// Keeps a store up to date for ever. The watcher resumes by itself after an error.
async fn follow<K>(api: Api<K>, writer: reflector::store::Writer<K>, shared: Arc<Shared>)
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + Send + Sync + 'static,
    K: serde::de::DeserializeOwned,
{
    let events = reflector::reflector(writer, watcher::watcher(api, watcher::Config::default()));
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        match event {
            Ok(_) => shared.wake.notify_one(),
            Err(error) => {
                tracing::debug!(kind = %K::kind(&()), %error, "watch broken");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn keep_going(
    client: Client,
    instances: impl Instances,
    shared: Arc<Shared>,
    nodes: reflector::Store<Node>,
    pods: reflector::Store<Pod>,
) {
    // Without the first lists every Node would seem new and every pod unknown.
    #[expect(clippy::disallowed_methods, reason = "no other task waits for these two")]
    if nodes.wait_until_ready().await.is_err() || pods.wait_until_ready().await.is_err() {
        return;
    }
    let mut memory = Memory::default();
    let mut running = None;
    let mut asked: Option<Instant> = None;
    loop {
        if asked.is_none_or(|at| at.elapsed() >= TICK) {
            asked = Some(Instant::now());
            match instances.running().await {
                Ok(now_running) => running = Some(now_running),
                // Not "none are running": that would kill every pod.
                Err(error) => tracing::warn!("asking for the instances: {error:#}"),
            }
        }
        if let Some(running) = &running
            && one_round(&client, &shared, &mut memory, running, &nodes, &pods).await.is_err()
        {
            tokio::time::sleep(RETRY).await;
        }
        // Woken or not is the same: the next round reads everything again.
        drop(tokio::time::timeout(TICK, shared.wake.notified()).await);
        tokio::time::sleep(GATHER).await;
    }
}

async fn one_round(
    client: &Client,
    shared: &Shared,
    memory: &mut Memory,
    running: &[NodeSpec],
    nodes: &reflector::Store<Node>,
    pods: &reflector::Store<Pod>,
) -> Result<(), act::Failed> {
    let mut pods = pods.state();
    if memory.loses_an_instance(running) {
        // The watch may lag behind the drain that ended a moment before the instance did; a pod must not be called
        // lost because of that.
        let fresh = Api::<Pod>::all(client.clone()).list(&ListParams::default()).await;
        pods = fresh.map_err(|_| act::Failed)?.items.into_iter().map(Arc::new).collect();
    }
    let options = lock(&shared.options).clone();
    let view = View { running, nodes: &nodes.state(), pods: &pods };
    let now = Now { steady: Instant::now(), wall: Timestamp::now() };
    let decided = decide::decide(memory, &view, &options, now);
    for death in &decided.deaths {
        tracing::debug!(pod = death.name, node = death.node, end = ?death.end, "pod ended");
    }
    lock(&shared.deaths).extend(decided.deaths);
    act::all(client, decided.actions).await
}
