//! Templates for ClusterClass. Cluster API patches FooMachinePools in place when their template changes, so a
//! FooMachinePoolTemplate may change; the specs of the other templates are immutable (deploy/policy).

use crate::cluster::FooClusterSpec;
use crate::control_plane::{Eks, External, one_mode, version_rule};
use crate::pool::FooMachinePoolSpec;
use crate::shared::TemplateMetadata;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Template that Cluster API creates FooClusters from, for ClusterClass. Its spec is immutable.
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
    /// The object that Cluster API creates.
    pub template: FooClusterTemplateResource,
}

/// A FooCluster that Cluster API creates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FooClusterTemplateResource {
    /// Labels and annotations of the created object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Spec of the created object.
    pub spec: FooClusterSpec,
}

/// Template that Cluster API creates FooMachinePools from, for ClusterClass. When it changes, Cluster API
/// applies the change to the existing FooMachinePools.
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
    /// The object that Cluster API creates.
    pub template: FooMachinePoolTemplateResource,
}

/// A FooMachinePool that Cluster API creates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
pub struct FooMachinePoolTemplateResource {
    /// Labels and annotations of the created object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Spec of the created object, without the fields that belong to a single pool: `providerID`,
    /// `providerIDList`, `groupName`, `launchTemplateName` and `adopt`.
    #[x_kube(
        validation = Rule::new("!has(self.providerID) && !has(self.providerIDList) && !has(self.groupName) && !has(self.launchTemplateName) && !self.adopt")
            .message("providerID, providerIDList, groupName, launchTemplateName and adopt belong to one pool, not to a template")
    )]
    pub spec: FooMachinePoolSpec,
}

/// Template that Cluster API creates FooControlPlanes from, for ClusterClass. Its spec is immutable.
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
    /// The object that Cluster API creates.
    pub template: FooControlPlaneTemplateResource,
}

/// A FooControlPlane that Cluster API creates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FooControlPlaneTemplateResource {
    /// Labels and annotations of the created object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Spec of the created object. Cluster API's topology controller writes the version.
    pub spec: FooControlPlaneTemplateResourceSpec,
}

/// Spec of a FooControlPlane that Cluster API creates: as in a FooControlPlane, with an optional version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = one_mode())]
pub struct FooControlPlaneTemplateResourceSpec {
    /// Kubernetes version, for example `v1.36.3`. Leave it empty: Cluster API's topology controller writes
    /// the version of the Cluster's topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    #[x_kube(validation = version_rule())]
    pub version: Option<String>,
    /// How to reach an existing API server. Set either this or `eks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// An EKS cluster, in the account and region of the FooCluster. Set either this or `external`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eks: Option<Eks>,
}
