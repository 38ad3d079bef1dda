//! Elastic Fabric Adapters of instances.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Elastic Fabric Adapter (EFA) interfaces of the instances, one on each network card (EC2 User Guide, "Elastic Fabric Adapter").
/// EC2 assigns no public IPv4 address to instances with several interfaces. The security groups must allow all traffic between the
/// instances, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Efa {
    /// Number of EFA interfaces. Default: as many as the instance type supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub interfaces: Option<i32>,
    /// Type of the primary network interface, on the first network card. Default: `EFA`. With `Interface` the EFA interfaces are on
    /// the other network cards: for instance types whose first card does not support EFA.
    #[serde(default)]
    pub primary: PrimaryInterface,
    /// Type of the EFA interfaces on the other network cards. Default: `EFA`.
    #[serde(default)]
    pub others: EfaType,
}

/// Type of a primary network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PrimaryInterface {
    /// EFA, which is also an Elastic Network Adapter.
    #[default]
    #[serde(rename = "EFA")]
    Efa,
    /// An Elastic Network Adapter only.
    Interface,
}

/// Type of an EFA interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EfaType {
    /// EFA with an Elastic Network Adapter: it uses an IP address of the subnet.
    #[default]
    #[serde(rename = "EFA")]
    Efa,
    /// EFA without an Elastic Network Adapter: it uses no IP address.
    #[serde(rename = "EFAOnly")]
    EfaOnly,
}
