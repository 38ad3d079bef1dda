//! What the provider does when AWS announces that instances of a FooMachinePool are at risk.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the provider does when AWS announces that an instance is at risk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interruption {
    /// What the provider does on a rebalance recommendation, which EC2 sends when a spot instance is at
    /// elevated risk of interruption. Default: `Ignore`.
    #[serde(default)]
    pub rebalance: RebalancePolicy,
}

/// What the provider does on a rebalance recommendation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RebalancePolicy {
    /// Does nothing; the instance runs until EC2 interrupts it.
    #[default]
    Ignore,
    /// Cordons the Node, so that it gets no new pods, and leaves running pods alone. The provider does not
    /// uncordon it later. It uses the kubeconfig of the cluster in the Secret `<cluster>-kubeconfig`.
    Cordon,
    /// Replaces the Machine within the limits of `rollout`. A new set of replacements begins at most every
    /// ten minutes.
    Replace,
}
