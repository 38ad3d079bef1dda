//! FooControlPlane in its external mode: an existing Kubernetes API server, made known to Cluster API.

use crate::patterns;
use crate::shared::ApiEndpoint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::Rule;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A control plane that exists already.
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
    /// Kubernetes version the control plane is meant to have (`v1.36.3`): a semantic version with a `v` before it, as
    /// Cluster API writes versions. An external control plane is upgraded by its owner; this object reports what it really
    /// runs.
    #[schemars(length(min = 1, max = 256))]
    #[x_kube(validation = version_rule())]
    pub version: String,
    /// Endpoint of the API server; written by the provider from the kubeconfig when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// The existing API server.
    pub external: External,
}

/// A semantic version behind a `v`: Cluster API fails over anything else in each pass over the Cluster. Its own kinds get the
/// `v` from a webhook; there is none here, so it has to be written.
pub(crate) fn version_rule() -> Rule {
    let number = "(0|[1-9][0-9]*)";
    let pre_release = "(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)";
    let core = format!("v{number}[.]{number}[.]{number}");
    let suffix = format!("(-{pre_release}([.]{pre_release})*)?([+][0-9a-zA-Z-]+([.][0-9a-zA-Z-]+)*)?");
    Rule::new(format!("self.matches('^{core}{suffix}$')"))
        .message("version must be a semantic version behind a v, as in v1.36.3")
}

/// An API server that somebody else runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// Secret with a kubeconfig for it.
    pub kubeconfig_secret_ref: SecretReference,
}

/// A Secret in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReference {
    /// Its name. The kubeconfig stands under the key `value`; it must hold a client certificate or a token, since
    /// Cluster API refuses exec plugins.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub name: String,
}

/// What is known of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooControlPlaneStatus {
    /// Cluster API's signal that the control plane answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ControlPlaneInitialization>,
    /// The same, for readers of the older contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The same, for readers of the older contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialized: Option<bool>,
    /// Always true: without it Cluster API would not drain the Nodes of pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_managed_control_plane: Option<bool>,
    /// Version the API server reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The same as a list, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["version".into()]))]
    pub versions: Vec<ControlPlaneVersion>,
    /// `Available`, `Ready`, `KubeconfigReady`, `Paused` and `Deleting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// `status.initialization` of the contract for control planes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneInitialization {
    /// Whether the API server answers. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_initialized: Option<bool>,
}

/// One version that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlPlaneVersion {
    /// Kubernetes version.
    pub version: String,
}
