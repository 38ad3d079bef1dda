//! FooCluster: region and network of a cluster. This file has the spec as a whole; each part of it has a file by
//! subject.

mod edits;
mod endpoints;
mod groups;
mod managed;
mod network;
mod requested;
mod status;
mod tags;

pub use endpoints::{Endpoint, EndpointName, EndpointType};
pub use groups::{
    ClusterSecurityGroup, GroupTags, NamedGroup, Ports, RuleProtocol, RuleSource, SecurityGroupRule,
    SecurityGroups,
};
pub use managed::{
    Deletion, DriftPolicy, Egress, Leftovers, ManagedNetwork, ManagedSubnets, NatMode, SubnetSizes,
    SubnetSpec, SubnetTags, SubnetType, Zones,
};
pub use network::{ExistingNetwork, Network};
pub use requested::{NoRange, RequestedZones};
pub use status::{
    FailureDomain, FooClusterStatus, NetworkIntent, NetworkResource, NetworkStatus, SubnetStatus,
};

use crate::identity::IdentityReference;
use crate::patterns;
use crate::shared::ApiEndpoint;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// AWS region, network and credentials of a Cluster.
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
    // A rule of the object, not of its spec: a template has the same spec, and Cluster API tries changes of
    // it in dry runs.
    validation = Rule::new("self.spec.region == oldSelf.spec.region").message("region is immutable"),
    validation = edits::same_mode(),
    validation = edits::same_vpc(),
    validation = edits::same_cidr(),
    validation = edits::no_range_removed(),
    validation = edits::keeps_ipv6(),
    validation = edits::no_fewer_zones(),
    validation = edits::no_zone_removed(),
    validation = edits::no_type_removed(),
    validation = edits::same_sizes(),
    validation = edits::same_way_of_subnets(),
    validation = edits::no_subnet_changed(),
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
    /// Network that pools launch instances into: one that exists, or one that the provider creates.
    pub network: Network,
    /// Endpoint of the workload cluster's API server. Set it only if no control plane object provides the
    /// endpoint; a FooControlPlane does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
}
