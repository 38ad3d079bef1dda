//! Input of kubelets and pods, their observed state, and the decisions about them.

use super::NodeSpec;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod, Taint};
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
    /// After an instance is terminated its Node is Ready=Unknown; after this time the Node and its pods are deleted, as
    /// the cloud's node controller and the pod garbage collector would (they need about a minute). None: never. Cluster
    /// API usually deletes the Node first.
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
    /// It was being evicted or deleted, but its instance was terminated before its containers had ended.
    CutShort,
    /// Its instance was terminated while it ran: it had not been evicted.
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

/// How the kubelet of a Node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kubelet {
    Works,
    /// The instance was terminated at this time.
    Gone(Instant),
}

/// A Node with an instance that runs or ran.
pub(super) struct Host<'a> {
    pub(super) node: Option<&'a Arc<Node>>,
    pub(super) provider_id: &'a str,
    pub(super) kubelet: Kubelet,
}
