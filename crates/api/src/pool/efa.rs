//! Elastic Fabric Adapters of instances.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Elastic Fabric Adapter (EFA) interfaces of the instances, one on each network card that supports it (EC2 User Guide, "Maximize
/// network bandwidth on Amazon EC2 instances with multiple network cards"). The security groups must allow all traffic between the
/// instances, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Efa {
    /// Number of EFA interfaces. Default: as many as the instance type supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub interfaces: Option<i32>,
    /// Type of the primary network interface. Default: `Interface`, which is none of the EFA interfaces. `EFA` makes it one of them, for
    /// instance types whose first network card supports EFA.
    #[serde(default)]
    pub primary: PrimaryInterface,
    /// Type of the EFA interfaces other than the primary one. Default: `EFAOnly`.
    #[serde(default)]
    pub others: EfaType,
}

/// Type of a primary network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PrimaryInterface {
    /// An Elastic Network Adapter only.
    #[default]
    Interface,
    /// EFA, which is also an Elastic Network Adapter.
    #[serde(rename = "EFA")]
    Efa,
}

/// Type of an EFA interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EfaType {
    /// EFA without an Elastic Network Adapter: it uses no IP address.
    #[default]
    #[serde(rename = "EFAOnly")]
    EfaOnly,
    /// EFA with an Elastic Network Adapter: it uses an IP address of the subnet.
    #[serde(rename = "EFA")]
    Efa,
}
