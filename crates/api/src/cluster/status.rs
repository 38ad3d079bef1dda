//! What the status of a FooCluster says about its network.

use crate::shared::Initialization;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the provider found in AWS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooClusterStatus {
    /// `provisioned` reports to Cluster API that the network was found or created. Once true it stays true.
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
    /// The network as the provider found it in AWS, or as far as the provider has created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkStatus>,
    /// `Ready`, `Paused`, `CredentialsReady`, `NetworkReady` and `Deleting`; of a managed network also `VPCReady`,
    /// `SubnetsReady`, `RoutesReady`, `NATReady`, `SecurityGroupsReady` and `EndpointsReady`.
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
    /// Whether Cluster API may place control plane Machines in the zone: in those in which a managed network has a
    /// private subnet. False for an existing network, whose control plane exists already.
    pub control_plane: bool,
    /// Of a managed network: `zoneID` (the same in every AWS account), `privateSubnets` and `publicSubnets` (ids,
    /// separated by commas).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<BTreeMap<String, String>>,
}

/// The network as the provider found it in AWS, or as far as the provider has created it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkStatus {
    /// Id of the VPC that the subnets are in. Absent until a managed network has its VPC.
    #[serde(default, rename = "vpcID", skip_serializing_if = "String::is_empty")]
    pub vpc_id: String,
    /// Of a managed network: the IPv4 ranges that the VPC has, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), inner(length(max = 18)))]
    pub cidrs: Vec<String>,
    /// Subnets into which instances can be launched, sorted by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subnets: Vec<SubnetStatus>,
    /// Of a managed network: subnets of type `Pods`, sorted by id. No instance is launched into them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub pod_subnets: Vec<SubnetStatus>,
    /// Ids of the security groups that every instance of the cluster gets, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_groups: Vec<String>,
    /// Of a managed network: its id, the value of the tag `infrastructure.foo.com/network` of everything that the
    /// provider created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Of a managed network: everything that the provider created or uses, sorted by role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["role".into()]))]
    #[schemars(length(max = 500))]
    pub resources: Vec<NetworkResource>,
    /// Internal, of a managed network: what the provider is about to create by calls that AWS does not know again if they
    /// are repeated. Written before each call, so that nothing is created twice after a crash. Can change in any release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["role".into()]))]
    #[schemars(length(max = 500))]
    pub intents: Vec<NetworkIntent>,
    /// Internal, of a managed network: keys of the user's tags that the provider put on its resources. Can change in any
    /// release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub tag_keys: Vec<String>,
    /// Of a managed network: cluster name in the tag `kubernetes.io/cluster/<name>` that controllers in the workload
    /// cluster put on what they create, and by which the provider finds what they left: the name of the EKS cluster, or of
    /// the Cluster. Absent until it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub kubernetes_cluster: Option<String>,
    /// Of a managed network: ids of the cluster security groups of EKS that nodes were connected with
    /// (`securityGroups.clusterSecurityGroup`), as long as they exist and that is requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub cluster_security_groups: Vec<String>,
}

impl NetworkStatus {
    /// The subnets of instances, and then those of Pods.
    pub fn all_subnets(&self) -> impl Iterator<Item = &SubnetStatus> + Clone {
        self.subnets.iter().chain(&self.pod_subnets)
    }

    /// The subnets of a pool whose spec names none: those in its failure domains, or in all zones if it has no failure domains;
    /// of these the private ones, unless all are public.
    pub fn default_subnets(&self, failure_domains: &[String]) -> Vec<&SubnetStatus> {
        let eligible = |it: &&SubnetStatus| failure_domains.is_empty() || failure_domains.contains(&it.zone);
        let private: Vec<_> = self.subnets.iter().filter(eligible).filter(|it| !it.public).collect();
        if private.is_empty() { self.subnets.iter().filter(eligible).collect() } else { private }
    }
}

/// One subnet as the provider found or created it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetStatus {
    /// Id of the subnet.
    pub id: String,
    /// Availability Zone of the subnet.
    pub zone: String,
    /// Whether instances launched into the subnet get public IP addresses.
    pub public: bool,
    /// Of a managed network: name of the subnet, as in its role (`private/eu-central-1a`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of a managed network: IPv4 range of the subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr: Option<String>,
    /// Of a managed network with IPv6: IPv6 range of the subnet.
    #[serde(default, rename = "ipv6CIDR", skip_serializing_if = "Option::is_none")]
    pub ipv6_cidr: Option<String>,
}

/// One resource of a managed network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkResource {
    /// What it is for, for example `vpc`, `subnet/private/eu-central-1a` or `nat/eu-central-1a`: the value of its tag
    /// `infrastructure.foo.com/role`.
    #[schemars(length(min = 1, max = 128))]
    pub role: String,
    /// Its id in AWS. Absent if there is none at present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub id: Option<String>,
    /// How far it is: `Missing`, `Pending`, `Ready`, `Failed`, `Deleting`, `Deleted` if it is no longer requested, or
    /// `NotRequested` if it is no longer requested and stays.
    #[schemars(length(max = 64))]
    pub state: String,
    /// What is wrong with it, in AWS's words if AWS said any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
    /// When AWS returned the id, or first showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Internal: whether AWS has shown it since it returned the id. Can change in any release.
    #[serde(default, skip_serializing_if = "is_false")]
    pub seen: bool,
    /// Internal: how many of this role have been created before the next one. Can change in any release.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub attempts: i32,
    /// Internal: hash of the content (routes, rules, …) that it was last given: content that differs from it was changed
    /// by another user or controller. Can change in any release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub reached: Option<String>,
    /// Internal: keys of the user's tags of this resource alone. Can change in any release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub tag_keys: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &i32) -> bool {
    *value == 0
}

/// A resource of a managed network that the provider is about to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkIntent {
    /// What it is for; see `resources[].role`.
    #[schemars(length(min = 1, max = 128))]
    pub role: String,
    /// Since when the provider has been about to create it.
    pub since: Time,
    /// How many times one of this role has been created before.
    #[schemars(range(min = 0))]
    pub attempt: i32,
    /// Whether this is assumed only: the network was begun by an earlier manager, whose status is lost.
    #[serde(default, skip_serializing_if = "is_false")]
    pub assumed: bool,
}
