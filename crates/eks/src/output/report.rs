//! What is true of a cluster and what it waits for, as data: conditions, status and the next reads all come from here, so that status,
//! logs and the plugin say the same.

use foo_calls::report::Deletion;
use foo_model::Timestamp;
use foo_model::eks::{Addon, Cluster, Query};
use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoStaticStr};

/// The outcome of a pass besides its actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// One of each [`ConditionKind`], in their order. None while paused: what was published stays.
    pub conditions: Vec<Condition>,
    /// The cluster as the newest response shows it, once it is known to be the provider's.
    pub cluster: Option<Box<Cluster>>,
    /// Its add-ons that are requested or the provider's, by name, as the newest responses show them.
    pub addons: Vec<Addon>,
    /// Whether an update of the version is under way, or is next.
    pub upgrading: bool,
    /// Reads that the next plan needs.
    pub reads: Vec<ReadRequest>,
    /// Plan again at this moment even if nothing happens and no read comes. `None`: nothing is waited for.
    pub again_at: Option<Timestamp>,
    /// Whether everything is as requested: there are no actions and none is waited for. An add-on that only waits for nodes does not
    /// count.
    pub settled: bool,
    /// Whether something waits for a maintenance window, and nothing is under way until then. Something else may have failed.
    pub awaits_window: bool,
    /// How far the deletion is.
    pub deletion: Deletion,
}

/// A read that the next plan needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReadRequest {
    /// What is asked.
    pub query: Query,
    /// The read has to begin at this moment or later; as soon as that is possible.
    pub from: Timestamp,
}

/// One condition.
pub type Condition = foo_calls::report::Condition<ConditionKind>;

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
    /// Access entries, pod identity associations, the OIDC provider and the identity provider.
    AccessReady,
    /// What still exists. False when the control plane is not being deleted.
    Deleting,
}

impl foo_calls::report::ConditionKinds for ConditionKind {
    const READY: Self = Self::ClusterReady;
    const DELETING: Self = Self::Deleting;
}

impl foo_calls::report::Report for Report {
    type Kind = ConditionKind;

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn conditions_mut(&mut self) -> &mut [Condition] {
        &mut self.conditions
    }

    fn deletion(&self) -> Deletion {
        self.deletion
    }

    fn set_deletion(&mut self, deletion: Deletion) {
        self.deletion = deletion;
    }
}
