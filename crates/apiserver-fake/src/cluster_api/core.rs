//! What core remembers between its reads, and what tests steer. What it does is in the other files.

use super::drain::Drains;
use super::world::Lists;
use jiff::Timestamp;
use kube::Client;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// What the workload cluster reports of an instance's Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// There is none.
    Absent,
    /// It is there but not Ready.
    NotReady,
    /// It is Ready.
    Ready,
}

pub(super) type Nodes = Box<dyn Fn(&str) -> NodeState + Send>;
pub(super) type Clock = Box<dyn Fn() -> Timestamp + Send>;

/// What tests steer and what core remembers.
pub(super) struct Memory {
    pub(super) nodes: Nodes,
    pub(super) node_overrides: BTreeMap<String, NodeState>,
    /// Provider ids whose Node core deleted.
    pub(super) deleted_nodes: BTreeSet<String>,
    pub(super) retired: Vec<String>,
    pub(super) drains: Drains,
    pub(super) stopped: bool,
    pub(super) errors: Vec<String>,
    pub(super) clock: Clock,
}

/// Core's memory and its client.
pub(super) struct Core {
    pub(super) client: Client,
    pub(super) memory: Mutex<Memory>,
    pub(super) lists: Lists,
    pub(super) wake: Notify,
    pub(super) period: Duration,
}

impl Core {
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn node(&self, provider_id: &str) -> NodeState {
        let memory = self.memory();
        if memory.deleted_nodes.contains(provider_id) {
            return NodeState::Absent;
        }
        memory.node_overrides.get(provider_id).copied().unwrap_or_else(|| (memory.nodes)(provider_id))
    }

    pub(super) fn now(&self) -> String {
        (self.memory().clock)().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}
