//! The hook of chained upgrades.

use super::Hook;
use super::common::{request, response};
use super::lifecycle::UpgradeStepInfo;
use crate::Object;

request! {
    /// Request of [`GenerateUpgradePlan`].
    GenerateUpgradePlanRequest {
        /// The Cluster.
        #[serde(default, skip_serializing_if = "Object::is_absent")]
        cluster: Object,
        /// Version of the control plane now.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        from_control_plane_kubernetes_version: String,
        /// Lowest version of the workers now; empty: there are none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        from_workers_kubernetes_version: String,
        /// Version that shall run.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        to_kubernetes_version: String,
    }
}

response! {
    /// Response of [`GenerateUpgradePlan`].
    GenerateUpgradePlanResponse {
        /// Steps of the control plane: at least one for each minor up to the version that shall run, which is the last.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        control_plane_upgrades: Vec<UpgradeStepInfo>,
        /// Steps of the workers; empty: core finds the fewest that the skew policy allows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        workers_upgrades: Vec<UpgradeStepInfo>,
    }
}

/// What a handler of [`GenerateUpgradePlan`] returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpgradePlan {
    /// Versions of the control plane, in order, the last one the version that shall run.
    pub control_plane: Vec<String>,
    /// Versions of the workers; empty: core decides.
    pub workers: Vec<String>,
}

/// Called while a Cluster has not reached its version, if its ClusterClass names the handler: once for each pair of
/// versions of control plane and workers on the way.
#[derive(Clone, Copy, Debug)]
pub struct GenerateUpgradePlan;

impl Hook for GenerateUpgradePlan {
    const NAME: &'static str = "GenerateUpgradePlan";
    const BLOCKING: bool = false;
    type Request = GenerateUpgradePlanRequest;
    type Response = GenerateUpgradePlanResponse;
    type Output = UpgradePlan;

    fn respond(plan: UpgradePlan) -> GenerateUpgradePlanResponse {
        let steps =
            |versions: Vec<String>| versions.into_iter().map(|version| UpgradeStepInfo { version }).collect();
        GenerateUpgradePlanResponse {
            control_plane_upgrades: steps(plan.control_plane),
            workers_upgrades: steps(plan.workers),
            ..GenerateUpgradePlanResponse::default()
        }
    }
}
