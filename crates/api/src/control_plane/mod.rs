//! FooControlPlane: makes an existing Kubernetes API server known to Cluster API, or an EKS cluster that the provider creates.

mod edits;
pub mod eks;
mod eks_status;

pub use eks::Eks;
pub use eks_status::{
    AddonStatus, CountOfUpdates, EksRecord, EksStatus, EntryRole, FailedInEks, ResolvedAddon, Rollback,
    UpdateUnderWay,
};

use crate::patterns;
use crate::shared::ApiEndpoint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::Rule;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A control plane: an API server that exists already and is operated outside of Cluster API, or an EKS cluster that the provider
/// creates.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "controlplane.foo.com",
    version = "v1alpha1",
    kind = "FooControlPlane",
    plural = "foocontrolplanes",
    shortname = "foocp",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    status = "FooControlPlaneStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    validation = edits::same_mode(),
    validation = edits::same("name", "EKS cannot rename a cluster"),
    validation = edits::same("roleARN", "EKS cannot change the role of a cluster"),
    validation = edits::same("serviceCIDR", "EKS cannot change the addresses of Services"),
    validation = edits::same_family(),
    validation = edits::same_key(),
    validation = edits::modes_in_order(),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/cluster-name']"
    ),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(
        name = "Available",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Available")].status"#
    ),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Available")].reason"#
    ),
    printcolumn(
        name = "Endpoint",
        type_ = "string",
        json_path = ".spec.controlPlaneEndpoint.host",
        priority = 1
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = one_mode(),
    validation = Rule::new("has(self.eks) || self.version.startsWith('v')")
        .message("version must begin with v in mode external, as in v1.36.3")
)]
pub struct FooControlPlaneSpec {
    /// Kubernetes version, for example `v1.36.3`. In mode `external` the version that the control plane is expected to have, with a
    /// leading `v`; its owner upgrades it. In mode `eks` the provider upgrades the cluster to its minor version, one minor at a time,
    /// and never downgrades it; a build suffix (`v1.36.2-eks-abc`) is allowed and has no effect. `status.version` has the version
    /// that runs.
    #[schemars(length(min = 1, max = 256))]
    #[x_kube(validation = version_rule())]
    pub version: String,
    /// Endpoint of the API server. Default: the provider copies it from the kubeconfig, or from EKS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// How to reach an existing API server. Set either this or `eks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// An EKS cluster, in the account and region of the FooCluster. Set either this or `external`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eks: Option<Eks>,
}

/// Either of the two modes.
pub(crate) fn one_mode() -> Rule {
    Rule::new("has(self.external) != has(self.eks)").message("set either external or eks")
}

/// A semantic version, with or without a leading `v`.
pub(crate) fn version_rule() -> Rule {
    let number = "(0|[1-9][0-9]*)";
    let pre_release = "(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)";
    let core = format!("v?{number}[.]{number}[.]{number}");
    let suffix = format!("(-{pre_release}([.]{pre_release})*)?([+][0-9a-zA-Z-]+([.][0-9a-zA-Z-]+)*)?");
    Rule::new(format!("self.matches('^{core}{suffix}$')"))
        .message("version must be a semantic version, as in v1.36.3")
}

/// An API server that is operated outside of Cluster API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// Secret with a kubeconfig for the API server.
    pub kubeconfig_secret_ref: SecretReference,
}

/// A Secret in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReference {
    /// Name of the Secret. Its key `value` has the kubeconfig, in which the certificates, keys or token must
    /// be embedded: exec plugins and paths of files are refused.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub name: String,
}

/// What the provider knows about the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooControlPlaneStatus {
    /// `controlPlaneInitialized` reports to Cluster API that the API server has responded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ControlPlaneInitialization>,
    /// Whether the API server responds, for clients of Cluster API's v1beta1 contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Same as `initialization.controlPlaneInitialized`, for clients of Cluster API's v1beta1 contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialized: Option<bool>,
    /// Always true. Without it Cluster API does not drain the Nodes of pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_managed_control_plane: Option<bool>,
    /// Kubernetes version that the API server reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Kubernetes versions that API servers of the control plane report, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["version".into()]))]
    pub versions: Vec<ControlPlaneVersion>,
    /// The EKS cluster, in mode `eks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eks: Option<EksStatus>,
    /// `Available`, `Ready`, `KubeconfigReady`, `Paused` and `Deleting`; in mode `eks` also `Initialized`, `ClusterReady`,
    /// `Upgrading`, `AddonsReady` and `AccessReady`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// `status.initialization` of Cluster API's contract for control plane providers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneInitialization {
    /// Whether the API server has responded. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_initialized: Option<bool>,
}

/// One Kubernetes version that the control plane runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlPlaneVersion {
    /// Kubernetes version, for example `v1.36.3`.
    pub version: String,
}
