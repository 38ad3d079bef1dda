//! Network interfaces of instances besides the primary one and those of [`super::Efa`].

use crate::shared::NetworkReference;
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// Network interfaces on one network card of each instance. They are in the subnet of the instance, and are deleted with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterface {
    /// Index of the network card, 0 to 63; the first one, which has the primary interface, has 0. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 63))]
    pub network_card: i32,
    /// Number of interfaces, 1 to 63. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 63))]
    pub count: i32,
    /// Security groups of these interfaces, in place of those of the pool and of the FooCluster. Default: all of those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub security_groups: Vec<NetworkReference>,
}

impl Default for NetworkInterface {
    fn default() -> Self {
        Self { network_card: 0, count: one(), security_groups: Vec::new() }
    }
}

fn one() -> i32 {
    1
}
