//! Instances of a pool that are started before they are needed.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Warm pool of the Auto Scaling group: instances that were started once and wait. The next scale-out takes them first. They are no
/// Machines and no replicas, and do not count for `maxSize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.maxPreparedCapacity) || self.minSize <= self.maxPreparedCapacity")
    .message("minSize must not exceed maxPreparedCapacity"))]
pub struct WarmPool {
    /// The fewest instances that wait, 0 to 10000, also while the MachinePool has 0 replicas. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    pub min_size: i32,
    /// How many instances serve and wait together (AWS: MaxGroupPreparedCapacity), 0 to 10000: the more serve, the fewer wait, down
    /// to `minSize`. Instances that a roll-out adds for a while count. Default: `minSize` instances wait; in a pool whose desired
    /// capacity is set outside of Cluster API (annotation `cluster.x-k8s.io/replicas-managed-by` of the MachinePool), as many as
    /// `autoscaling.maxSize` leaves room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub max_prepared_capacity: Option<i32>,
    /// In which state they wait. Default: `Stopped`.
    #[serde(default)]
    pub state: WarmPoolState,
}

/// State of an instance that waits in a warm pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WarmPoolState {
    /// Stopped: AWS charges for its volumes and addresses. Its root volume has to be an EBS volume.
    #[default]
    Stopped,
    /// Running: it serves sooner, and costs as one that serves.
    Running,
}
