//! Templates for ClusterClass. Pools made from a FooMachinePoolTemplate are patched in place when it changes, so it may change;
//! the specs of the others are immutable (deploy/policy).

use crate::cluster::FooClusterSpec;
use crate::control_plane::{External, version_rule};
use crate::pool::FooMachinePoolSpec;
use crate::shared::TemplateMetadata;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Template of FooClusters.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooClusterTemplate",
    plural = "fooclustertemplates",
    shortname = "fooct",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1")
)]
pub struct FooClusterTemplateSpec {
    /// What is made.
    pub template: FooClusterTemplateResource,
}

/// A FooCluster to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FooClusterTemplateResource {
    /// Labels and annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Its spec.
    pub spec: FooClusterSpec,
}

/// Template of FooMachinePools.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooMachinePoolTemplate",
    plural = "foomachinepooltemplates",
    shortname = "foompt",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1")
)]
pub struct FooMachinePoolTemplateSpec {
    /// What is made.
    pub template: FooMachinePoolTemplateResource,
}

/// A FooMachinePool to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
pub struct FooMachinePoolTemplateResource {
    /// Labels and annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Its spec, without what the provider writes itself.
    #[x_kube(
        validation = Rule::new("!has(self.providerID) && !has(self.providerIDList) && !has(self.groupName)")
            .message("providerID, providerIDList and groupName belong to one pool, not to a template")
    )]
    pub spec: FooMachinePoolSpec,
}

/// Template of FooControlPlanes.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "controlplane.foo.com",
    version = "v1alpha1",
    kind = "FooControlPlaneTemplate",
    plural = "foocontrolplanetemplates",
    shortname = "foocpt",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1")
)]
pub struct FooControlPlaneTemplateSpec {
    /// What is made.
    pub template: FooControlPlaneTemplateResource,
}

/// A FooControlPlane to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FooControlPlaneTemplateResource {
    /// Labels and annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Its spec. The version is written by the topology controller.
    pub spec: FooControlPlaneTemplateResourceSpec,
}

/// Spec of a FooControlPlane to be made: as in a FooControlPlane, the version optional.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooControlPlaneTemplateResourceSpec {
    /// Version; usually left to the topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    #[x_kube(validation = version_rule())]
    pub version: Option<String>,
    /// The existing API server.
    pub external: External,
}
