//! How the Amazon VPC CNI assigns addresses to Pods: how many Pods a Node can have follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the Amazon VPC CNI of the cluster. They describe it and do not configure it: set the same in the
/// configuration of the add-on `vpc-cni`. A change that changes `maxPods` replaces the Nodes of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VpcCni {
    /// Whether network interfaces get prefixes of 16 addresses instead of single ones (`ENABLE_PREFIX_DELEGATION`), as in all
    /// IPv6 clusters. Default: false.
    #[serde(default)]
    pub prefix_delegation: bool,
    /// Whether Pods have addresses of the subnets of ENIConfigs (`AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG`): then the first network
    /// interface has none for them. Not in IPv6 clusters. Default: false.
    #[serde(default)]
    pub custom_networking: bool,
}
