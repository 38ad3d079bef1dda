//! A network that the provider creates.

use super::endpoints::Endpoint;
use super::groups::SecurityGroups;
use super::tags::{reserved_keys, subnet_keys};
use crate::patterns;
use crate::shared::DeletionPolicy;
use crate::tags::{lengths_of_keys, no_control_characters};
use kube::KubeSchema;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A network that the provider creates, keeps as described here, and deletes with the FooCluster.
///
/// Every field can be changed at any time unless its description says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.vpcID) || has(self.cidr)")
        .message("with vpcID, set cidr: the part of the VPC's range in which the provider may create subnets"),
    validation = Rule::new("!has(self.vpcID) || !has(self.secondaryCIDRs)")
        .message("secondaryCIDRs cannot be set with vpcID: the provider does not change a VPC that it did not create"),
    validation = Rule::new("self.egress != 'None' || !has(self.nat)")
        .message("with egress None there are no NAT gateways: remove nat"),
    validation = Rule::new("self.egress != 'NAT' || !has(self.subnets) || !has(self.subnets.types) || 'Public' in self.subnets.types")
        .message("egress NAT needs public subnets for the NAT gateways: add Public to subnets.types, or set egress to None"),
    validation = Rule::new("self.egress != 'NAT' || !has(self.subnets) || !has(self.subnets.list) || self.subnets.list.exists(s, s.type == 'Public')")
        .message("egress NAT needs a public subnet for the NAT gateways: add one to subnets.list, or set egress to None"),
    validation = Rule::new("!has(self.zones) || !has(self.subnets) || !has(self.subnets.list)")
        .message("zones cannot be set with subnets.list, whose entries name their zones")
)]
pub struct ManagedNetwork {
    /// Id of a VPC that exists already, in which the provider creates the rest of the network. The provider does not
    /// change or delete the VPC. Default: the provider creates a VPC. Cannot be added, changed
    /// or removed once anything of the network exists.
    #[serde(default, rename = "vpcID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^vpc-[0-9a-f]+$"))]
    pub vpc_id: Option<String>,
    /// Private IPv4 range of the VPC, /16 to /28. With `vpcID`: the part of the VPC's range in which the provider may
    /// create subnets; required then. Default: `10.0.0.0/16`. Cannot be changed once the VPC, or with `vpcID` a
    /// subnet, exists: AWS cannot change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 18))]
    #[x_kube(validation = is_range(Of::Itself), validation = begins_it(Of::Itself), validation = is_private(Of::Itself))]
    pub cidr: Option<String>,
    /// Further private IPv4 ranges of the VPC, /16 to /28, up to 4. Subnets that have no room in `cidr` are created
    /// in them, in order. With subnets of type `Pods`, those in `100.64.0.0/10` and `198.19.0.0/16` are for these alone.
    /// Ranges can be added; those that the VPC has cannot be removed.
    #[serde(default, rename = "secondaryCIDRs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4), inner(length(max = 18)))]
    #[x_kube(
        merge_strategy = ListMerge::Set,
        validation = is_range(Of::EachOfIt),
        validation = begins_it(Of::EachOfIt),
        validation = is_private(Of::EachOfIt)
    )]
    pub secondary_cidrs: Vec<String>,
    /// Availability Zones in which the network has subnets. Default: three zones of the provider's choice. Zones can
    /// be added, which moves nothing; those with subnets cannot be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<Zones>,
    /// Subnets. Default: a public and a private one in each zone, with ranges of the provider's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnets: Option<ManagedSubnets>,
    /// How many NAT gateways the network has. Each costs money by the hour and by the gigabyte, and needs an Elastic
    /// IP address. Only with `egress: NAT`. Default: `PerZone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<NatMode>,
    /// How instances in private subnets reach addresses outside of the network. Default: `NAT`.
    #[serde(default)]
    pub egress: Egress,
    /// VPC endpoints, through which instances reach AWS's services without leaving the network. Private subnets use
    /// them. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 30))]
    #[x_kube(
        validation = Rule::new("self.all(a, self.exists_one(b, has(a.name) == has(b.name) && (has(a.name) ? a.name == b.name : a.service == b.service)))")
            .message("each endpoint may be listed only once")
    )]
    pub endpoints: Vec<Endpoint>,
    /// Whether the network has IPv6 addresses in addition to IPv4 (dual stack): a /56 range of Amazon's for the VPC, a
    /// /64 range for each subnet, and unless `egress` is `None` an egress-only internet gateway for the private ones. With
    /// `vpcID` the VPC must have an IPv6 range already. Default: false. Cannot be turned off once the network has an
    /// IPv6 range.
    #[serde(default)]
    pub ipv6: bool,
    /// Rules of the network's security groups, in addition to those that the provider makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_groups: Option<SecurityGroups>,
    /// Tags of everything that the provider creates for the network, up to 30. Keys that begin with `aws:`,
    /// `infrastructure.foo.com/` or `kubernetes.io/` and the key `Name` are reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(
        validation = reserved_keys(),
        validation = lengths_of_keys(),
        validation = no_control_characters()
    )]
    #[schemars(extend("maxProperties" = 30, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub tags: BTreeMap<String, String>,
    /// What the provider does when another user or controller changes a route, a rule, a tag or an association of what it created.
    /// Default: `Enforce`.
    #[serde(default)]
    pub drift_policy: DriftPolicy,
    /// How the network is deleted.
    #[serde(default)]
    pub deletion: Deletion,
    /// What becomes of the network when the FooCluster is deleted. Default: `Delete`.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
}

/// What a rule is about.
#[derive(Clone, Copy)]
enum Of {
    Itself,
    EachOfIt,
}

impl Of {
    /// It matches a pattern.
    fn matches(self, pattern: &str) -> String {
        self.is(&format!("IT.matches('{pattern}')"))
    }

    /// A condition holds of it, which the condition calls `IT`.
    fn is(self, condition: &str) -> String {
        match self {
            Self::Itself => condition.replace("IT", "self"),
            Self::EachOfIt => format!("self.all(each, {})", condition.replace("IT", "each")),
        }
    }
}

/// An IPv4 range of a size that AWS allows (Amazon VPC User Guide, "VPC CIDR blocks").
fn is_range(of: Of) -> Rule {
    let octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
    let pattern = format!("^({octet}[.]){{3}}{octet}/(1[6-9]|2[0-8])$");
    Rule::new(of.matches(&pattern)).message("must be an IPv4 range of /16 to /28, for example 10.0.0.0/16")
}

/// Its address is the first one of the range. CEL of Kubernetes 1.30 cannot read ranges, so the octet in which the prefix ends
/// is divided by its step, and the octets behind it are zero. What is no range [`is_range`] refuses.
fn begins_it(of: Of) -> Rule {
    let length = "int(IT.split('/')[1])";
    let octet = |number: u8| format!("int(IT.split('/')[0].split('.')[{number}])");
    let third =
        format!("{} % [256, 128, 64, 32, 16, 8, 4, 2, 1][{length} - 16] == 0 && {} == 0", octet(2), octet(3));
    let fourth = format!("{} % [128, 64, 32, 16][{length} - 25] == 0", octet(3));
    let is_range = "IT.matches('^([0-9]{1,3}[.]){3}[0-9]{1,3}/(1[6-9]|2[0-8])$')";
    Rule::new(of.is(&format!("!{is_range} || ({length} <= 24 ? {third} : {fourth})"))).message(
        "must begin with the first address of the range, for example 10.0.0.0/16 and not 10.0.0.5/16",
    )
}

/// A range that is not routed in the internet: those of RFC 1918, and the two that AWS recommends for addresses of Pods
/// (Amazon EKS User Guide, "Customize the secondary network interface in Amazon EKS nodes"): 100.64.0.0/10 (RFC 6598)
/// and 198.19.0.0/16.
fn is_private(of: Of) -> Rule {
    let of_rfc_1918 = r"10[.]|172[.](1[6-9]|2[0-9]|3[01])[.]|192[.]168[.]";
    let of_pods = r"100[.](6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])[.]|198[.]19[.]";
    Rule::new(of.matches(&format!("^({of_rfc_1918}|{of_pods})"))).message(
        "must be private: in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or 198.19.0.0/16; instances \
         could not reach the owners of public addresses",
    )
}

/// Availability Zones of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.count) != has(self.names)").message("set either count or names")
)]
pub struct Zones {
    /// How many, 1 to 6. The provider takes those first by name that are available, and keeps to them. Set either this
    /// or `names`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 6))]
    pub count: Option<i32>,
    /// Names of Availability Zones of the region, 1 to 6, for example `eu-central-1a`. Set either this or `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 6),
        inner(length(min = 1, max = 32), regex(pattern = patterns::AVAILABILITY_ZONE))
    )]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub names: Option<Vec<String>>,
}

/// Subnets of a network: computed from sizes, or listed one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.list) || !has(self.types) && !has(self.sizes)")
        .message("types and sizes cannot be set with list"),
    validation = Rule::new("!has(self.list) || !has(self.tags)")
        .message("tags cannot be set with list, whose entries have tags of their own")
)]
pub struct ManagedSubnets {
    /// Which subnets each zone has. Default: `Public` and `Private`. Types can be added; those of which
    /// there are subnets cannot be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 3))]
    #[x_kube(
        merge_strategy = ListMerge::Set,
        validation = Rule::new("'Private' in self").message("a network needs private subnets: nodes and endpoints are in them")
    )]
    pub types: Option<Vec<SubnetType>>,
    /// Sizes of the subnets. Cannot be changed, added or removed once such subnets exist: AWS cannot resize a subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SubnetSizes>,
    /// Tags of the subnets of a type, for controllers that find subnets by them: Karpenter, the AWS Load Balancer Controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<SubnetTags>,
    /// All subnets, one by one. Set this, or `types`, `sizes` and `tags`. Subnets can be added; those that exist cannot
    /// be changed, except for their tags, or removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32))]
    #[x_kube(
        merge_strategy = ListMerge::Map(vec!["name".into()]),
        validation = Rule::new("self.exists(s, s.type == 'Private')")
            .message("a network needs a private subnet: nodes and endpoints are in private subnets"),
        validation = Rule::new("self.all(a, self.exists_one(b, a.cidr == b.cidr))")
            .message("two subnets cannot have the same cidr")
    )]
    pub list: Option<Vec<SubnetSpec>>,
}

/// Tags of the subnets of each type, in addition to those of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetTags {
    /// Of public subnets, up to 10. `kubernetes.io/role/elb` has the value `1` unless it is set here; `0` keeps load balancers
    /// away. The key `Name` and keys that begin with `aws:`, `infrastructure.foo.com/` or, besides the two for load balancers,
    /// `kubernetes.io/` are reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = subnet_keys(), validation = lengths_of_keys(), validation = no_control_characters())]
    #[schemars(extend("maxProperties" = 10, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub public: BTreeMap<String, String>,
    /// Of private subnets, up to 10. `kubernetes.io/role/internal-elb` has the value `1` unless it is set here. The same keys are
    /// reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = subnet_keys(), validation = lengths_of_keys(), validation = no_control_characters())]
    #[schemars(extend("maxProperties" = 10, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub private: BTreeMap<String, String>,
    /// Of subnets for Pods, up to 10. They have no tag of load balancers or of the cluster by themselves. The same keys are
    /// reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = subnet_keys(), validation = lengths_of_keys(), validation = no_control_characters())]
    #[schemars(extend("maxProperties" = 10, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub pods: BTreeMap<String, String>,
}

/// Types of subnets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum SubnetType {
    /// With a route to the internet gateway. Instances in it get public addresses; load balancers that are reached from
    /// the internet and NAT gateways are in it.
    Public,
    /// Without one. Nodes, internal load balancers and the interfaces of endpoints are in it.
    Private,
    /// For addresses of Pods alone, with the routes of a private one: for custom networking of the VPC CNI, whose
    /// ENIConfigs name the subnet of each zone. Nodes, load balancers and control planes are not in it. It has no IPv6
    /// range.
    Pods,
}

/// Sizes of computed subnets, as prefix lengths: 24 is a range of 256 addresses, of which AWS reserves 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetSizes {
    /// Prefix length of private subnets, 16 to 28. Default: 3 more than that of `cidr`, at most 28 (19 for a /16:
    /// 8187 addresses).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 28))]
    pub private: Option<i32>,
    /// Prefix length of public subnets, 16 to 28. Default: 6 more than that of `cidr`, at most 28 (22 for a /16: 1019
    /// addresses).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 28))]
    pub public: Option<i32>,
    /// Prefix length of subnets for Pods, 16 to 28. Default: 3 more than that of the range in which the first of them is
    /// (19 for a /16: 8187 addresses), at most 28.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 28))]
    pub pods: Option<i32>,
}

/// One subnet of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetSpec {
    /// Name of the subnet, unique in the list: part of its role and of its tag `Name`.
    #[schemars(length(min = 1, max = 40), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Whether it is public, private, or for Pods alone.
    #[serde(rename = "type")]
    pub subnet_type: SubnetType,
    /// Name of its Availability Zone, for example `eu-central-1a`.
    #[schemars(length(min = 1, max = 32), regex(pattern = patterns::AVAILABILITY_ZONE))]
    pub zone: String,
    /// Its IPv4 range, /16 to /28, in `cidr` or in one of `secondaryCIDRs`.
    #[schemars(length(max = 18))]
    #[x_kube(validation = is_range(Of::Itself), validation = begins_it(Of::Itself))]
    pub cidr: String,
    /// Tags of this subnet, in addition to those of everything, up to 10; for example `karpenter.sh/discovery`. The tag for load
    /// balancers, `kubernetes.io/role/elb` or `kubernetes.io/role/internal-elb`, has the value `1` unless it is set here; `0` keeps
    /// load balancers away. The key `Name` and keys that begin with `aws:`, `infrastructure.foo.com/` or, besides these two,
    /// `kubernetes.io/` are reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = subnet_keys(), validation = lengths_of_keys(), validation = no_control_characters())]
    #[schemars(extend("maxProperties" = 10, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub tags: BTreeMap<String, String>,
}

/// How many NAT gateways the network has. Each costs money by the hour and by the gigabyte, and needs an Elastic IP
/// address. Only with `egress: NAT`. Default: `PerZone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum NatMode {
    /// One in each zone that has a public subnet: no zone depends on another, and traffic to it stays in its zone.
    PerZone,
    /// One for all zones: cheaper, but without its zone no private subnet reaches the internet.
    Single,
}

/// How instances in private subnets reach addresses outside of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Egress {
    /// Through NAT gateways, and with IPv6 through an egress-only internet gateway. They cannot be reached from outside.
    #[default]
    #[serde(rename = "NAT")]
    Nat,
    /// Not at all, over IPv4 and IPv6: they reach AWS's services through `endpoints` only. There are no NAT gateways.
    None,
}

/// What the provider does when another user or controller changes what it created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum DriftPolicy {
    /// Changes it back.
    #[default]
    Enforce,
    /// Leaves it as it is, and says in the conditions what differs.
    Warn,
}

/// How a network is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deletion {
    /// What becomes of load balancers, target groups, network interfaces and security groups that Services of the
    /// workload cluster left in the network, found by the cluster's tags. In a VPC that other clusters use, only those that
    /// are in the network's subnets or use its security groups count. Default: `Wait`.
    #[serde(default)]
    pub leftovers: Leftovers,
}

/// What becomes of what Services of the workload cluster left in the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Leftovers {
    /// The deletion of the network waits until a user has deleted them; the condition `Deleting` names them.
    #[default]
    Wait,
    /// The provider deletes them.
    Delete,
}
