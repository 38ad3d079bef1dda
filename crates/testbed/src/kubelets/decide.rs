//! What to do next about Nodes, as a pure function of what is seen; the rules for pods are in `pods`.
//!
//! Each rule looks at the objects as they are and asks for one write, so a write that was lost, or that somebody
//! else undid, is asked for again in the next round. [`Memory`] holds only what objects do not tell: when something
//! was first seen, and what has already been reported.

use super::objects::{NOT_READY, UNREACHABLE, node_ready, provider_id, taints};
use super::{NodeSpec, pods};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod, Taint};
use kube::ResourceExt as _;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When the kubelet of a new instance registers its Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// So long after the instance was first seen running.
    After(Duration),
    /// Never: wrong user data, no network.
    Never,
}

/// How kubelets and pods behave.
#[derive(Clone)]
pub struct KubeletOptions {
    /// Reported by kubelets of instances that do not bring a version of their own.
    pub kubelet_version: String,
    /// Asked for each instance until it has joined.
    pub join: Arc<dyn Fn(&NodeSpec) -> Join + Send + Sync>,
    /// From binding a pod to it being ready.
    pub pod_startup: Duration,
    /// From the deletion of a pod to its containers having ended.
    pub pod_shutdown: Duration,
    /// Room for pods on each Node.
    pub pods_per_node: usize,
    /// After an instance is gone its Node is Ready=Unknown; after this time the Node and its pods are deleted, as the
    /// cloud's node controller and the pod garbage collector would (they need about a minute). None: never.
    /// Cluster API usually deletes the Node first.
    pub node_lingers: Option<Duration>,
}

impl Default for KubeletOptions {
    fn default() -> Self {
        Self {
            kubelet_version: "v1.36.3".to_owned(),
            join: Arc::new(|_| Join::After(Duration::ZERO)),
            pod_startup: Duration::ZERO,
            pod_shutdown: Duration::ZERO,
            pods_per_node: 110,
            node_lingers: Some(Duration::from_secs(10)),
        }
    }
}

impl fmt::Debug for KubeletOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeletOptions")
            .field("kubelet_version", &self.kubelet_version)
            .field("pods_per_node", &self.pods_per_node)
            .field("node_lingers", &self.node_lingers)
            .finish_non_exhaustive()
    }
}

/// How a pod ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodEnd {
    /// Evicted through the eviction API, and its containers ended before its instance did.
    Evicted,
    /// Deleted without an eviction (scaled down, replaced), and its containers ended before its instance did.
    Deleted,
    /// It was being evicted or deleted, but its instance went away before its containers had ended.
    CutShort,
    /// Its instance went away while it ran: nobody had evicted it.
    Lost,
}

/// The end of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodDeath {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// UID of the pod.
    pub uid: String,
    /// Name of the Node it ran on.
    pub node: String,
    /// Instance it ran on, if its Node was known.
    pub provider_id: Option<String>,
    /// Kind of its controller, for instance `ReplicaSet`.
    pub controller: Option<String>,
    /// How it ended.
    pub end: PodEnd,
    /// When that was seen.
    pub at: Timestamp,
}

impl PodDeath {
    /// Whether a drain should have moved it first.
    pub fn is_undrained(&self) -> bool {
        let left_alone = matches!(self.controller.as_deref(), Some("DaemonSet" | "Node"));
        matches!(self.end, PodEnd::CutShort | PodEnd::Lost) && !left_alone
    }
}

/// Everything that is seen in one round.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) running: &'a [NodeSpec],
    pub(super) nodes: &'a [Arc<Node>],
    pub(super) pods: &'a [Arc<Pod>],
    pub(super) silenced: &'a BTreeSet<String>,
}

/// The time, given from outside so that tests need not wait.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) steady: Instant,
    pub(super) wall: Timestamp,
}

/// One write to the API server.
#[derive(Debug)]
pub(super) enum Action {
    CreateNode(NodeSpec),
    SetNodeReady {
        spec: NodeSpec,
        version: String,
        pods: usize,
    },
    SetNodeUnknown(String),
    SetTaints {
        node: Arc<Node>,
        taints: Vec<Taint>,
    },
    DeleteNode(String),
    Bind {
        pod: Arc<Pod>,
        node: String,
    },
    SetPodRunning(Arc<Pod>),
    SetPodUnready(Arc<Pod>),
    /// Deletes the object at once: the containers have ended.
    RemovePod(Arc<Pod>),
}

#[derive(Default)]
pub(super) struct Decided {
    pub(super) actions: Vec<Action>,
    pub(super) deaths: Vec<PodDeath>,
}

/// What one instance is known to have gone through.
#[derive(Debug)]
struct Life {
    spec: NodeSpec,
    since: Instant,
    joined: bool,
    gone: Option<Instant>,
}

#[derive(Default)]
pub(super) struct Memory {
    lives: BTreeMap<String, Life>,
    pub(super) pods: pods::PodMemory,
}

impl Memory {
    /// Whether an instance that ran before does not run any more.
    pub(super) fn loses_an_instance(&self, running: &[NodeSpec]) -> bool {
        let running: BTreeSet<&str> = running.iter().map(|spec| spec.provider_id.as_str()).collect();
        self.lives.iter().any(|(id, life)| life.gone.is_none() && !running.contains(id.as_str()))
    }
}

/// How the kubelet of a Node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kubelet {
    Works,
    Silent,
    /// The instance went away at this time.
    Gone(Instant),
}

/// A Node with an instance that runs or ran.
pub(super) struct Host<'a> {
    pub(super) node: Option<&'a Arc<Node>>,
    pub(super) provider_id: &'a str,
    pub(super) kubelet: Kubelet,
}

pub(super) fn decide(memory: &mut Memory, view: &View<'_>, options: &KubeletOptions, now: Now) -> Decided {
    let mut decided = Decided::default();
    let nodes: BTreeMap<String, &Arc<Node>> = view.nodes.iter().map(|node| (node.name_any(), node)).collect();
    remember_instances(memory, view, &nodes, now.steady);
    forget_the_cleaned_up(memory, &nodes, view);

    let mut hosts = BTreeMap::new();
    for life in memory.lives.values_mut() {
        // A Node of the same name may belong to another instance: an address is used again.
        let node = nodes.get(&life.spec.name).copied();
        let node = node.filter(|node| provider_id(node) == Some(&life.spec.provider_id));
        let kubelet = match life.gone {
            Some(since) => Kubelet::Gone(since),
            None if view.silenced.contains(&life.spec.name) => Kubelet::Silent,
            None => Kubelet::Works,
        };
        match (node, kubelet) {
            (None, Kubelet::Works) => join(life, options, now.steady, &mut decided),
            (None, _) => {}
            (Some(node), Kubelet::Works) => keep_ready(life, node, options, &mut decided),
            (Some(node), Kubelet::Silent) => keep_unknown(node, &mut decided),
            (Some(node), Kubelet::Gone(since)) => {
                let lingered =
                    options.node_lingers.is_some_and(|time| now.steady.duration_since(since) >= time);
                if lingered && node.metadata.deletion_timestamp.is_none() {
                    decided.actions.push(Action::DeleteNode(node.name_any()));
                } else {
                    keep_unknown(node, &mut decided);
                }
            }
        }
        // A running instance wins its name over one that is gone.
        let host = Host { node, provider_id: &life.spec.provider_id, kubelet };
        if life.gone.is_none() || !hosts.contains_key(life.spec.name.as_str()) {
            hosts.insert(life.spec.name.as_str(), host);
        }
    }
    let surroundings = pods::Surroundings { hosts: &hosts, nodes: &nodes, options, now };
    pods::decide(&mut memory.pods, view.pods, &surroundings, &mut decided);
    decided
}

fn remember_instances(
    memory: &mut Memory,
    view: &View<'_>,
    nodes: &BTreeMap<String, &Arc<Node>>,
    now: Instant,
) {
    for spec in view.running {
        let life = memory.lives.entry(spec.provider_id.clone()).or_insert_with(|| Life {
            spec: spec.clone(),
            since: now,
            joined: false,
            gone: None,
        });
        // A kubelet registers once. If somebody deletes the Node of a running instance it stays deleted; only if we
        // started after the kubelet did, its Node is how we know.
        life.joined |= nodes.get(&spec.name).is_some_and(|node| provider_id(node) == Some(&spec.provider_id));
    }
    let running: BTreeSet<&str> = view.running.iter().map(|spec| spec.provider_id.as_str()).collect();
    for (id, life) in &mut memory.lives {
        if running.contains(id.as_str()) {
            life.gone = None;
        } else {
            life.gone.get_or_insert(now);
        }
    }
}

/// Forgets instances that left nothing behind, so that a long demo does not grow.
fn forget_the_cleaned_up(memory: &mut Memory, nodes: &BTreeMap<String, &Arc<Node>>, view: &View<'_>) {
    let hosting: BTreeSet<&str> = view.pods.iter().filter_map(|pod| super::objects::bound_to(pod)).collect();
    memory.lives.retain(|_, life| {
        life.gone.is_none()
            || nodes.contains_key(&life.spec.name)
            || hosting.contains(life.spec.name.as_str())
    });
}

fn join(life: &Life, options: &KubeletOptions, now: Instant, decided: &mut Decided) {
    let due = match (options.join)(&life.spec) {
        Join::After(delay) => now.duration_since(life.since) >= delay,
        Join::Never => false,
    };
    if due && !life.joined {
        decided.actions.push(Action::CreateNode(life.spec.clone()));
    }
}

fn keep_ready(life: &Life, node: &Arc<Node>, options: &KubeletOptions, decided: &mut Decided) {
    if node_ready(node) != Some("True") {
        let version = life.spec.kubelet_version.as_ref().unwrap_or(&options.kubelet_version);
        decided.actions.push(Action::SetNodeReady {
            spec: life.spec.clone(),
            version: version.clone(),
            pods: options.pods_per_node,
        });
        return;
    }
    let mut left = taints(node).to_vec();
    left.retain(|taint| taint.key != NOT_READY && taint.key != UNREACHABLE);
    if left.len() < taints(node).len() {
        decided.actions.push(Action::SetTaints { node: Arc::clone(node), taints: left });
    }
}

fn keep_unknown(node: &Arc<Node>, decided: &mut Decided) {
    if node_ready(node) != Some("Unknown") {
        decided.actions.push(Action::SetNodeUnknown(node.name_any()));
    } else if !taints(node).iter().any(|taint| taint.key == UNREACHABLE) {
        let mut more = taints(node).to_vec();
        more.extend(["NoSchedule", "NoExecute"].map(|effect| Taint {
            key: UNREACHABLE.to_owned(),
            effect: effect.to_owned(),
            ..Taint::default()
        }));
        decided.actions.push(Action::SetTaints { node: Arc::clone(node), taints: more });
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
