//! FooCluster: region and network of a cluster. The network is the user's own, named by ids or tags.

use crate::identity::IdentityReference;
use crate::patterns;
use crate::shared::{ApiEndpoint, Initialization, NetworkReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a cluster lives in AWS.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooCluster",
    plural = "fooclusters",
    shortname = "fooc",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    status = "FooClusterStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    // Of the object, not of its spec: a template has the same spec, and Cluster API tries changes of it in dry runs.
    validation = Rule::new("self.spec.region == oldSelf.spec.region").message("region is immutable"),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/cluster-name']"
    ),
    printcolumn(name = "Region", type_ = "string", json_path = ".spec.region"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct FooClusterSpec {
    /// AWS region (`eu-central-1`); immutable.
    #[schemars(length(min = 1, max = 32), regex(pattern = patterns::REGION))]
    pub region: String,
    /// As whom AWS is called for this cluster; default the FooClusterIdentity `default`, or without one the manager's own
    /// credentials. May change; a pool whose group is in another account than the new credentials waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_ref: Option<IdentityReference>,
    /// The network that pools launch into.
    pub network: Network,
    /// The API server's endpoint, only if this object provides it; usually the control plane does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
}

/// An existing network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// VPC in which tags are searched.
    #[serde(default, rename = "vpcID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub vpc_id: Option<String>,
    /// Subnets that pools may use, all in one VPC.
    #[schemars(length(min = 1, max = 64))]
    pub subnets: Vec<NetworkReference>,
    /// Security groups of every instance, beside those of its pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub security_groups: Vec<NetworkReference>,
}

/// What was found in AWS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooClusterStatus {
    /// Cluster API's signal that the infrastructure is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// The same, for readers of the older contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Zones in which the cluster has subnets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    #[schemars(length(max = 100))]
    pub failure_domains: Vec<FailureDomain>,
    /// The network as found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkStatus>,
    /// `Ready`, `Paused`, `CredentialsReady`, `NetworkReady` and `Deleting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// One zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureDomain {
    /// Availability Zone name.
    pub name: String,
    /// Whether control plane machines may run there: never, the control plane is managed elsewhere.
    pub control_plane: bool,
    /// Free-form facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<BTreeMap<String, String>>,
}

/// The network as found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkStatus {
    /// VPC of the subnets.
    #[serde(rename = "vpcID")]
    pub vpc_id: String,
    /// Subnets, sorted by id.
    pub subnets: Vec<SubnetStatus>,
    /// Security groups, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_groups: Vec<String>,
}

/// One subnet as found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetStatus {
    /// Subnet id.
    pub id: String,
    /// Its zone.
    pub zone: String,
    /// Whether instances get public addresses there.
    pub public: bool,
}
