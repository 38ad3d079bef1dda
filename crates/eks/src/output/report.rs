//! What is true of a cluster and what it waits for, as data: conditions, status and the next looks all come from here, so that status,
//! logs and the plugin say the same.

use foo_model::eks::{Addon, Cluster, Question};
use foo_model::{Reason, Timestamp};
use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoStaticStr};

/// The outcome of a pass besides its actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// One of each [`ConditionKind`], in their order. None while paused: what was published stays.
    pub conditions: Vec<Condition>,
    /// The cluster as the newest answer shows it, once it is known to be ours.
    pub cluster: Option<Box<Cluster>>,
    /// Its add-ons that are requested or ours, by name, as the newest answers show them.
    pub addons: Vec<Addon>,
    /// Whether an update of the version is under way, or is next.
    pub upgrading: bool,
    /// Looks that the next plan needs.
    pub looks: Vec<LookRequest>,
    /// Plan again at this moment even if nothing happens and no look comes. `None`: nothing is waited for.
    pub again_at: Option<Timestamp>,
    /// Whether everything is as requested: there are no actions and none is waited for. An add-on that only waits for nodes does not
    /// count.
    pub settled: bool,
    /// How far the deletion is.
    pub deletion: Deletion,
}

/// A look that the next plan needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LookRequest {
    /// What is asked.
    pub question: Question,
    /// The look has to begin at this moment or later; as soon as that is possible.
    pub from: Timestamp,
}

/// How far the deletion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deletion {
    /// Not asked for.
    NotAsked,
    /// The cluster, or something of ours that belongs to it, still exists, or may.
    Pending,
    /// Nothing of ours is left, or it is retained: the finalizer may go.
    Done,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Which.
    pub kind: ConditionKind,
    /// Whether it holds.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// Sentences for people; may be empty when the condition is as it should be.
    pub message: String,
}

/// The conditions of an EKS cluster, by the names that the FooControlPlane's status has them by. `Available`, `Initialized`,
/// `KubeconfigReady` and `Paused` come from the controller, which alone talks to the API server.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumIter, IntoStaticStr,
)]
pub enum ConditionKind {
    /// The cluster exists, is ACTIVE and without issues, and its configuration is as requested.
    ClusterReady,
    /// Whether its version changes, or is to.
    Upgrading,
    /// Add-ons. Says nothing about the control plane: an add-on without nodes is not ready.
    AddonsReady,
    /// Access entries, pod identity associations and the OIDC provider.
    AccessReady,
    /// What still exists. False when the control plane is not being deleted.
    Deleting,
}

/// Status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
pub enum Status {
    /// It holds.
    True,
    /// It does not.
    False,
    /// AWS has not been asked yet, or did not answer.
    Unknown,
}
