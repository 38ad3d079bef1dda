//! FooMachines and Machines: an instance as Kubernetes sees it.

use super::ids::{InstanceId, MachineName, SpecHash, Uid, Zone};
use super::time::{Seconds, Timestamp};
use serde::{Deserialize, Serialize};

/// One of our FooMachines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FooMachine {
    /// Its name, which is its Machine's name as well.
    pub name: MachineName,
    /// metadata.uid.
    pub uid: Uid,
    /// The instance it stands for.
    pub instance: InstanceId,
    /// The zone in its provider id.
    pub zone: Zone,
    /// Whether it is being deleted: by core, after the drain, or by us when it has no Machine.
    pub deletion: Deletion,
    /// Whether our finalizer still holds it.
    pub has_finalizer: bool,
    /// The spec hash recorded when the instance was first seen.
    pub spec_hash: Option<SpecHash>,
    /// Since when its instance waits for our terminating hook, as recorded in its status.
    pub hook_waiting_since: Option<Timestamp>,
}

/// Whether a Kubernetes object is on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deletion {
    /// It is not.
    Alive,
    /// It has a deletionTimestamp, this one.
    Since(Timestamp),
}

impl Deletion {
    /// Whether a deletionTimestamp is set.
    pub fn is_deleting(self) -> bool {
        matches!(self, Self::Since(_))
    }
}

/// How far Cluster API is with the deletion of a Machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionStage {
    /// Not begun, or at what comes before the infrastructure: hooks, drain, volumes.
    Preparing,
    /// It waits for the FooMachine to go, or is past that: hooks, drain and volumes are over or excused.
    WaitsForInfrastructure,
}

/// The CAPI Machine of a FooMachine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub name: MachineName,
    /// metadata.uid; deletions carry it as precondition.
    pub uid: Uid,
    /// Whether it is being deleted.
    pub deletion: Deletion,
    /// How far Cluster API is with that.
    pub stage: DeletionStage,
    /// Whether a user marked this one for deletion first.
    pub mark: RemovalMark,
    /// What is known of its Node.
    pub node: NodeState,
    /// Since when its Node is Ready or not, whichever it is.
    pub node_since: Option<Timestamp>,
    /// Why MachineHealthCheck gave up on it (`OwnerRemediated` is False); `None` when it did not.
    pub unhealthy: Option<String>,
    /// Whether `cluster.x-k8s.io/skip-remediation` is set.
    pub spared: bool,
    /// The timeouts in its spec.
    pub timeouts: DeletionTimeouts,
    /// Whether `machine.cluster.x-k8s.io/exclude-node-draining` is set.
    pub drain_excluded: bool,
    /// Whether Cluster API leaves it alone.
    #[serde(default)]
    pub pause: MachinePause,
    /// metadata.creationTimestamp.
    pub created: Timestamp,
}

impl Machine {
    /// What MachineHealthCheck has against it, unless it is spared.
    pub fn unhealthy_because(&self) -> Option<&str> {
        self.unhealthy.as_deref().filter(|_| !self.spared)
    }

    /// Whether Cluster API has released the instance: its deletion is past hooks, drain and volumes.
    pub fn releases_instance(&self) -> bool {
        self.deletion.is_deleting() && self.stage == DeletionStage::WaitsForInfrastructure
    }
}

/// Whether Cluster API leaves a Machine alone (the annotation `cluster.x-k8s.io/paused`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MachinePause {
    /// It acts on it.
    #[default]
    None,
    /// A user paused it.
    ByUser,
    /// The provider paused it; Cluster API may not have seen it yet.
    Requested,
    /// The provider paused it, and Cluster API reports that: it neither drains it nor deletes its Node, whatever happens to it.
    InForce,
    /// The same, and the provider is removing it while its instance stays.
    Removing,
}

/// The annotation `cluster.x-k8s.io/delete-machine`: its presence counts, not its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemovalMark {
    /// Not marked.
    None,
    /// Marked: first to go, once there is an excess.
    DeleteFirst,
}

/// What a Machine says of its Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeState {
    /// No Node has registered.
    None,
    /// Registered and Ready.
    Ready,
    /// Registered, not Ready or not known.
    NotReady,
}

/// Timeouts of a Machine's deletion; `None` leaves Cluster API's default (waits for ever).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionTimeouts {
    /// How long draining may take.
    pub node_drain: Option<Seconds>,
    /// How long waiting for volumes may take.
    pub node_volume_detach: Option<Seconds>,
    /// How long deleting the Node object may take.
    pub node_deletion: Option<Seconds>,
}
