//! FooControlPlane: makes an existing Kubernetes API server known to Cluster API.

use crate::patterns;
use crate::shared::ApiEndpoint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::Rule;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A control plane that exists already and is operated outside of Cluster API.
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
pub struct FooControlPlaneSpec {
    /// Kubernetes version that the control plane is expected to have: a semantic version with a leading `v`,
    /// for example `v1.36.3`. The provider does not upgrade the control plane; its owner does.
    /// `status.version` has the version that runs.
    #[schemars(length(min = 1, max = 256))]
    #[x_kube(validation = version_rule())]
    pub version: String,
    /// Endpoint of the API server. Default: the provider copies it from the kubeconfig.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// How to reach the existing API server.
    pub external: External,
}

/// A semantic version with a leading `v`: with anything else every reconcile of the Cluster fails in Cluster
/// API. Its own kinds get the `v` from a webhook; this provider has no webhook, so the user has to write it.
pub(crate) fn version_rule() -> Rule {
    let number = "(0|[1-9][0-9]*)";
    let pre_release = "(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)";
    let core = format!("v{number}[.]{number}[.]{number}");
    let suffix = format!("(-{pre_release}([.]{pre_release})*)?([+][0-9a-zA-Z-]+([.][0-9a-zA-Z-]+)*)?");
    Rule::new(format!("self.matches('^{core}{suffix}$')"))
        .message("version must be a semantic version with a leading v, as in v1.36.3")
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
    /// `controlPlaneInitialized` tells Cluster API that the API server has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ControlPlaneInitialization>,
    /// Whether the API server answers, for clients of Cluster API's v1beta1 contract.
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
    /// `Available`, `Ready`, `KubeconfigReady`, `Paused` and `Deleting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// `status.initialization` of Cluster API's contract for control plane providers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneInitialization {
    /// Whether the API server has answered. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_initialized: Option<bool>,
}

/// One Kubernetes version that the control plane runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlPlaneVersion {
    /// Kubernetes version, for example `v1.36.3`.
    pub version: String,
}
