//! What the network is to be. Written out from the FooCluster: every range is carved, every default is decided.

use foo_model::network::{Protocol, Tags};
use foo_model::{PrefixListId, SecurityGroupId, VpcId, Zone};
use ipnet::{Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What one network is to be.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of an object, and none depends on another"
)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desired {
    /// The network's id: value of the tag `infrastructure.foo.com/network`. Written into the FooCluster's annotation before the
    /// first plan.
    pub network_id: String,
    /// The FooCluster's present uid. Client tokens are made of it: after a move, which loses count of attempts, no token is one that
    /// was used before.
    pub uid: String,
    /// Whether the id was in the annotation before this process saw the FooCluster first. If it was and the status is empty, the
    /// network may exist though no status says so (clusterctl move loses status).
    pub begun_before: bool,
    /// `<namespace>/<name>` of the Cluster: value of the tag `infrastructure.foo.com/cluster`.
    pub cluster: String,
    /// Name by which controllers in the workload cluster tag what they create and find what is foreign (`kubernetes.io/cluster/<name>`,
    /// `elbv2.k8s.aws/cluster`): of an EKS cluster its name at EKS, otherwise the name of the Cluster. `None`: not known yet. Then nothing
    /// gets such a tag, and nothing is taken for a left-over.
    pub kubernetes_cluster: Option<String>,
    /// Id of this management cluster: value of the tag `infrastructure.foo.com/installation`.
    pub installation: String,
    /// Id of the management cluster that gave the network up to this one (annotation `adopt-from`).
    pub adopt_from: Option<String>,
    /// The account that our credentials belong to (12 digits), if known.
    pub account: Option<String>,
    /// The VPC.
    pub vpc: DesiredVpc,
    /// Whether subnets with [`DesiredSubnet::ipv6_index`] get IPv6 ranges of the VPC's /56, public ones with a route to the
    /// internet gateway and private ones, unless [`NatMode::None`], with one to an egress-only internet gateway.
    pub ipv6: bool,
    /// The subnets, in the order of their zones: with [`NatMode::Single`] the first public one gets the NAT gateway, unless there is
    /// one elsewhere already.
    pub subnets: Vec<DesiredSubnet>,
    /// How private subnets get out.
    pub nat: NatMode,
    /// VPC endpoints.
    pub endpoints: Vec<DesiredEndpoint>,
    /// Security groups.
    pub security_groups: Vec<DesiredGroup>,
    /// Whether nodes and the cluster security group of EKS allow all traffic of each other.
    pub connection: Connection,
    /// The user's tags for every part. The network's are added, and win.
    pub tags: Tags,
    /// What happens when a person or another program changes parts.
    pub drift: DriftPolicy,
    /// What happens to the network when the FooCluster goes.
    pub deletion: DeletionPolicy,
    /// What happens to what Services of the workload cluster left in the VPC when the FooCluster goes.
    pub leftovers: Leftovers,
    /// Whether the FooCluster is being deleted and nothing else of the cluster stands in the way: parts may go.
    pub being_deleted: bool,
    /// Whether nothing is to be created, changed or deleted.
    pub paused: bool,
}

impl Desired {
    /// The name of the Cluster, without its namespace.
    pub(crate) fn cluster_name(&self) -> &str {
        self.cluster.rsplit('/').next().unwrap_or_default()
    }
}

/// The VPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DesiredVpc {
    /// The network's.
    Managed {
        /// Its first range.
        cidr: Ipv4Net,
        /// Further ranges. One is added when it is missing and never taken away: the API refuses an edit that removes one,
        /// and AWS removes none that holds subnets.
        secondary: Vec<Ipv4Net>,
    },
    /// The user's. It is never tagged, changed or deleted.
    Existing(VpcId),
}

/// One subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredSubnet {
    /// What makes its role (`subnet/<key>`): usually `<tier>/<zone>`. Unique; the same for as long as the network exists.
    pub key: String,
    /// Public, private, or for Pods alone.
    pub tier: Tier,
    /// Its zone.
    pub zone: Zone,
    /// Its range.
    pub cidr: Ipv4Net,
    /// The number of its /64 in the VPC's /56, if it has an IPv6 range. Unique.
    pub ipv6_index: Option<u8>,
    /// Whether instances in it get public addresses by themselves.
    pub public_ip_on_launch: bool,
    /// Tags of this subnet alone.
    pub tags: Tags,
}

/// Where a subnet's default route leads, and who is in it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum Tier {
    /// To the internet gateway.
    Public,
    /// To a NAT gateway, or nowhere.
    Private,
    /// As that of a private one of its zone. Only addresses of Pods are in it; it has no IPv6 range, and no tag by which controllers
    /// find subnets for anything else.
    Pods,
}

impl Tier {
    /// Whether it uses the route table of the zone's private subnets.
    pub const fn is_routed_privately(self) -> bool {
        match self {
            Self::Private | Self::Pods => true,
            Self::Public => false,
        }
    }
}

/// How many NAT gateways there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NatMode {
    /// One in each zone that has a public subnet, and a private one or one for Pods. A zone without a public subnet uses that of
    /// another zone.
    PerZone,
    /// One for all zones.
    Single,
    /// None: private subnets have no default route, of IPv6 neither, and there is no egress-only internet gateway.
    None,
}

/// One VPC endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredEndpoint {
    /// What makes its role (`endpoint/<name>`): `s3`, `ecr.api`.
    pub name: String,
    /// The service's whole name (`com.amazonaws.eu-central-1.s3`).
    pub service: String,
    /// Its type.
    pub kind: DesiredEndpointKind,
}

/// Type of a VPC endpoint, and what it is connected with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DesiredEndpointKind {
    /// A route in each table of the network.
    Gateway,
    /// A network interface in each of these subnets.
    Interface {
        /// Keys of the subnets, at most one per zone. An endpoint that is in another requested subnet of the same zone and tier
        /// stays there.
        subnets: BTreeSet<String>,
        /// Names of security groups of this network.
        groups: BTreeSet<String>,
        /// Whether the service's usual name leads to it inside the VPC.
        private_dns: bool,
    },
}

/// One security group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredGroup {
    /// What makes its role (`security-group/<name>`): `node`, `controlPlane`.
    pub name: String,
    /// Whether nodes have it: it gets the tag `kubernetes.io/cluster/<name>`, which only one group of a node may have.
    pub is_for_nodes: bool,
    /// Its ingress rules.
    pub ingress: Vec<GroupRule>,
    /// Tags of this group alone.
    pub tags: Tags,
    /// What it lets out. AWS's rule that lets everything out is taken away if it is not among these.
    pub egress: Vec<GroupRule>,
    /// What it lets out besides, because the provider needs it. The drift policy is not about these rules, and they are no part of the content
    /// that a person or another program can change ([`crate::recorded::Recorded::reached`]): a group that exists gets them as they come with a
    /// version of the provider, and nothing else of it is changed by that.
    pub own_egress: Vec<GroupRule>,
}

/// A rule in terms of the network's own groups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupRule {
    /// Protocol and ports.
    pub protocol: Protocol,
    /// From whom, or to whom.
    pub peer: GroupPeer,
    /// Description, at most 255 characters.
    pub description: String,
}

/// The other side of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GroupPeer {
    /// An IPv4 range.
    V4(Ipv4Net),
    /// An IPv6 range.
    V6(Ipv6Net),
    /// A security group of this network, by name; may be the group itself.
    Group(String),
    /// Another security group.
    GroupId(SecurityGroupId),
    /// A prefix list.
    Prefixes(PrefixListId),
}

/// Whether the group for nodes ([`DesiredGroup::is_for_nodes`]) and the security group that EKS created for the cluster allow all traffic of
/// each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Connection {
    /// They are to, and which group that is, is not known (yet): rules that exist stay.
    #[default]
    Awaited,
    /// They do not, and it is not requested. Of a group that they were connected with nothing is remembered once no rule is left.
    Separate,
    /// It is requested, and there is no EKS cluster whose group that could be.
    WithoutEks,
    /// They do not any more, because EKS deletes the cluster: EKS does not delete a group that a rule of another group names. The group is
    /// remembered until reads do not show it, because EKS may have tried before.
    Ended,
    /// They do.
    With(SecurityGroupId),
}

/// What happens when a person or another program changes routes, rules, tags, associations or attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriftPolicy {
    /// They are changed back.
    #[default]
    Enforce,
    /// The conditions say what differs. What is missing altogether is still created, and edits of the spec are still made.
    Warn,
}

/// What happens to the network when the FooCluster goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionPolicy {
    /// Everything of the network is deleted.
    #[default]
    Delete,
    /// Nothing is deleted or changed.
    Retain,
}

/// What happens to load balancers, target groups, interfaces and security groups of the workload cluster that stand in the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leftovers {
    /// They are named and waited for.
    #[default]
    Wait,
    /// Those that carry the cluster's tags are deleted.
    Delete,
}
