//! Hooks at points of a Cluster's life.

use super::Hook;
use super::common::{blocking_hook, request, response};
use crate::Object;
use serde::{Deserialize, Serialize};

/// One step of an upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeStepInfo {
    /// Kubernetes version of the step.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
}

request! {
    /// Request of [`BeforeClusterCreate`].
    BeforeClusterCreateRequest {
        /// The Cluster.
        cluster: Object,
    }
}

blocking_hook! {
    /// Called once the Cluster exists and before any object of its topology does. While it blocks nothing is created,
    /// and the Cluster's condition `TopologyReconciled` shows why.
    BeforeClusterCreate, BeforeClusterCreateRequest, BeforeClusterCreateResponse
}

request! {
    /// Request of [`AfterControlPlaneInitialized`].
    AfterControlPlaneInitializedRequest {
        /// The Cluster.
        cluster: Object,
    }
}

response! {
    /// Response of [`AfterControlPlaneInitialized`].
    AfterControlPlaneInitializedResponse {}
}

/// Called when the control plane is reachable for the first time, again and again until it succeeds. It cannot ask core
/// to wait; while it fails, workers that exist already continue, but changes of the topology wait.
#[derive(Clone, Copy, Debug)]
pub struct AfterControlPlaneInitialized;

impl Hook for AfterControlPlaneInitialized {
    const NAME: &'static str = "AfterControlPlaneInitialized";
    const BLOCKING: bool = false;
    type Request = AfterControlPlaneInitializedRequest;
    type Response = AfterControlPlaneInitializedResponse;
    type Output = ();

    fn respond((): ()) -> AfterControlPlaneInitializedResponse {
        AfterControlPlaneInitializedResponse::default()
    }
}

/// Requests that name the version before and after, and the steps that remain.
macro_rules! upgrade_request {
    ($(#[$about:meta])* $name:ident) => {
        request! {
            $(#[$about])*
            $name {
                /// The Cluster.
                cluster: Object,
                /// Version that runs now.
                from_kubernetes_version: String,
                /// Version that shall run.
                to_kubernetes_version: String,
                /// Steps of the control plane that remain.
                #[serde(default, skip_serializing_if = "Vec::is_empty")]
                control_plane_upgrades: Vec<UpgradeStepInfo>,
                /// Steps of the workers that remain.
                #[serde(default, skip_serializing_if = "Vec::is_empty")]
                workers_upgrades: Vec<UpgradeStepInfo>,
            }
        }
    };
}

/// Requests that name the version that was reached, and the steps that remain.
macro_rules! upgraded_request {
    ($(#[$about:meta])* $name:ident) => {
        request! {
            $(#[$about])*
            $name {
                /// The Cluster.
                cluster: Object,
                /// Version that was reached.
                kubernetes_version: String,
                /// Steps of the control plane that remain.
                #[serde(default, skip_serializing_if = "Vec::is_empty")]
                control_plane_upgrades: Vec<UpgradeStepInfo>,
                /// Steps of the workers that remain.
                #[serde(default, skip_serializing_if = "Vec::is_empty")]
                workers_upgrades: Vec<UpgradeStepInfo>,
            }
        }
    };
}

upgrade_request! {
    /// Request of [`BeforeClusterUpgrade`].
    BeforeClusterUpgradeRequest
}

blocking_hook! {
    /// Called after a user changed the Cluster's version and before the change reaches any object.
    BeforeClusterUpgrade, BeforeClusterUpgradeRequest, BeforeClusterUpgradeResponse
}

upgrade_request! {
    /// Request of [`BeforeControlPlaneUpgrade`].
    BeforeControlPlaneUpgradeRequest
}

blocking_hook! {
    /// Called before each step of the control plane.
    BeforeControlPlaneUpgrade, BeforeControlPlaneUpgradeRequest, BeforeControlPlaneUpgradeResponse
}

upgraded_request! {
    /// Request of [`AfterControlPlaneUpgrade`].
    AfterControlPlaneUpgradeRequest
}

blocking_hook! {
    /// Called after each step of the control plane. While it blocks neither workers nor the next step continue.
    AfterControlPlaneUpgrade, AfterControlPlaneUpgradeRequest, AfterControlPlaneUpgradeResponse
}

upgrade_request! {
    /// Request of [`BeforeWorkersUpgrade`].
    BeforeWorkersUpgradeRequest
}

blocking_hook! {
    /// Called before each step of the workers.
    BeforeWorkersUpgrade, BeforeWorkersUpgradeRequest, BeforeWorkersUpgradeResponse
}

upgraded_request! {
    /// Request of [`AfterWorkersUpgrade`].
    AfterWorkersUpgradeRequest
}

blocking_hook! {
    /// Called after each step of the workers.
    AfterWorkersUpgrade, AfterWorkersUpgradeRequest, AfterWorkersUpgradeResponse
}

request! {
    /// Request of [`AfterClusterUpgrade`].
    AfterClusterUpgradeRequest {
        /// The Cluster.
        cluster: Object,
        /// Version that was reached.
        kubernetes_version: String,
    }
}

blocking_hook! {
    /// Called when control plane and workers run the new version. While it blocks the next upgrade does not begin.
    AfterClusterUpgrade, AfterClusterUpgradeRequest, AfterClusterUpgradeResponse
}

request! {
    /// Request of [`BeforeClusterDelete`].
    BeforeClusterDeleteRequest {
        /// The Cluster.
        cluster: Object,
    }
}

blocking_hook! {
    /// Called when a Cluster is being deleted, before any object of it is.
    BeforeClusterDelete, BeforeClusterDeleteRequest, BeforeClusterDeleteResponse
}
