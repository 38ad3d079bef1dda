//! FooCluster: region and network of a cluster. The network exists already; the user names it by ids or tags.

use crate::identity::IdentityReference;
use crate::patterns;
use crate::shared::{ApiEndpoint, Initialization, NetworkReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// AWS region, existing network and credentials of a Cluster.
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
    // Of the object, not of its spec: a template has the same spec, and Cluster API tries changes of it in
    // dry runs.
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
    /// AWS region, for example `eu-central-1`. Immutable.
    #[schemars(length(min = 1, max = 32), regex(pattern = patterns::REGION))]
    pub region: String,
    /// FooClusterIdentity with the AWS credentials that the manager uses for this cluster. Default: the
    /// FooClusterIdentity named `default`; if there is none, the manager's own credentials, unless the
    /// manager runs with `--require-identity`. Credentials of another AWS account do not move pools: a pool
    /// whose group is in the former account changes nothing until the credentials are for that account again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_ref: Option<IdentityReference>,
    /// Existing network that pools launch instances into. The provider creates and deletes nothing in it.
    pub network: Network,
    /// Endpoint of the workload cluster's API server. Set it only if no control plane object provides the
    /// endpoint; a FooControlPlane does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
}

/// An existing network, named by ids or tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// Id of the VPC. Restricts the search for subnets and security groups by tags to this VPC. Default: the
    /// search covers all VPCs of the region.
    #[serde(default, rename = "vpcID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub vpc_id: Option<String>,
    /// Subnets that pools may launch instances into, 1 to 64 entries. All must be in one VPC.
    #[schemars(length(min = 1, max = 64))]
    pub subnets: Vec<NetworkReference>,
    /// Security groups of every instance of the cluster, in addition to those of its pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub security_groups: Vec<NetworkReference>,
}

/// What the provider found in AWS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooClusterStatus {
    /// `provisioned` tells Cluster API that the network was found. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// Same as `initialization.provisioned`, for clients of Cluster API's v1beta1 contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Availability Zones in which the cluster has subnets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    #[schemars(length(max = 100))]
    pub failure_domains: Vec<FailureDomain>,
    /// The network as the provider found it in AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkStatus>,
    /// `Ready`, `Paused`, `CredentialsReady`, `NetworkReady` and `Deleting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// One Availability Zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureDomain {
    /// Name of the zone, for example `eu-central-1a`.
    pub name: String,
    /// Whether Cluster API may place control plane Machines in the zone. Always false: the control plane
    /// exists already.
    pub control_plane: bool,
    /// Further information about the zone. Not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<BTreeMap<String, String>>,
}

/// The network as the provider found it in AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkStatus {
    /// Id of the VPC that the subnets are in.
    #[serde(rename = "vpcID")]
    pub vpc_id: String,
    /// Subnets, sorted by id.
    pub subnets: Vec<SubnetStatus>,
    /// Ids of the security groups, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_groups: Vec<String>,
}

/// One subnet as the provider found it in AWS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetStatus {
    /// Id of the subnet.
    pub id: String,
    /// Availability Zone of the subnet.
    pub zone: String,
    /// Whether instances launched into the subnet get public IP addresses.
    pub public: bool,
}
