//! What follows from what AWS announces about the instances of a FooMachinePool.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What follows from what AWS announces about instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interruption {
    /// What follows from a recommendation to rebalance, which EC2 gives when a spot instance is at an elevated risk.
    #[serde(default)]
    pub rebalance: RebalancePolicy,
}

/// What follows from a recommendation to rebalance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RebalancePolicy {
    /// Nothing.
    #[default]
    Ignore,
    /// The Node is cordoned: it gets no new pods, and those it has stay. Nobody uncordons it. The manager uses the kubeconfig that
    /// Cluster API has of the cluster.
    Cordon,
    /// The Machine is replaced within the budgets of `rollout`; at most one round of replacements in ten minutes.
    Replace,
}
