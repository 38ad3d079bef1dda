//! NodeConfig of `node.eks.aws/v1alpha1`, nodeadm's input (amazon-eks-ami, `nodeadm/api/v1alpha1/nodeconfig_types.go`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The version and kind of every document.
pub(crate) const API_VERSION: &str = "node.eks.aws/v1alpha1";
/// The only kind.
pub(crate) const KIND: &str = "NodeConfig";

/// A document. Fields that it does not know are passed over, as nodeadm does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct NodeConfig {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
    pub(crate) spec: Spec,
}

/// What is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Spec {
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) cluster: ClusterDetails,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) containerd: Containerd,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) instance: Instance,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) kubelet: Kubelet,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) feature_gates: BTreeMap<String, bool>,
}

/// The cluster to join.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClusterDetails {
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) name: String,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) api_server_endpoint: String,
    /// Base64 of PEM.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) certificate_authority: String,
    /// The range of Services.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) cidr: String,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) enable_outpost: Option<bool>,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) id: String,
}

/// The container runtime.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Containerd {
    /// TOML.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) config: String,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) base_runtime_spec: Map<String, Value>,
}

/// The kubelet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Kubelet {
    /// A KubeletConfiguration.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) config: Map<String, Value>,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) flags: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) max_pods_expression: String,
}

/// The operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Instance {
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) local_storage: LocalStorage,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) environment: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) network: Network,
}

/// Disks that belong to the instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LocalStorage {
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) strategy: String,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) mount_path: String,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) disabled_mounts: Vec<String>,
}

/// Name resolution of the instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Network {
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) nameservers: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) domains: Vec<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl NodeConfig {
    /// A document with this spec.
    pub(crate) fn of(spec: Spec) -> Self {
        Self { api_version: API_VERSION.into(), kind: KIND.into(), metadata: Map::new(), spec }
    }
}
