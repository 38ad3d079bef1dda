//! Security groups of a network that the provider creates.

use super::tags::reserved_keys;
use crate::tags::{lengths_of_keys, no_control_characters};
use kube::KubeSchema;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rules of the network's security groups, in addition to those that the provider creates: nodes reach each other, by
/// Elastic Fabric Adapters too, and the API server, and the API server reaches kubelets and webhooks. All outbound traffic
/// is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = group_exists("controlPlane"), validation = group_exists("node"), validation = group_of_additional_exists())]
pub struct SecurityGroups {
    /// Additional ingress rules of the group `controlPlane`, for machines and load balancers of an API server; up to 30.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 30))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub control_plane: Vec<SecurityGroupRule>,
    /// Additional ingress rules of the group `node`, which every instance of the cluster has; up to 30.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 30))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub node: Vec<SecurityGroupRule>,
    /// Whether the group `node` and the cluster security group, which Amazon EKS creates for the cluster of a FooControlPlane,
    /// allow all traffic of each other. Managed node groups, Fargate Pods and Nodes of EKS Auto Mode have the latter. Can
    /// change at any time; `driftPolicy` does not apply to these rules. Default: `Separate`.
    #[serde(default)]
    pub cluster_security_group: ClusterSecurityGroup,
    /// Tags of the groups that every cluster has, for controllers that find security groups by them: Karpenter, for example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<GroupTags>,
    /// Additional groups, up to 8. The provider attaches them to no instance: pools select them in `spec.securityGroups` by
    /// their tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub additional: Vec<NamedGroup>,
}

/// Whether nodes and what has the cluster security group of EKS can connect to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ClusterSecurityGroup {
    /// The provider adds no rules for that.
    #[default]
    Separate,
    /// The provider adds a rule to each of the two groups. It changes nothing else in the group of EKS, revokes both rules
    /// while EKS deletes the cluster, and deletes the group with the network if EKS could not because of the rule in `node`.
    Connected,
}

/// Tags of security groups, in addition to those of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupTags {
    /// Of the group `node`, up to 10. The key `Name` and keys that begin with `aws:`, `infrastructure.foo.com/` or
    /// `kubernetes.io/` are reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = reserved_keys(), validation = lengths_of_keys(), validation = no_control_characters())]
    #[schemars(extend("maxProperties" = 10, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub node: BTreeMap<String, String>,
    /// Of the group `controlPlane`, up to 10. The same keys are reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = reserved_keys(), validation = lengths_of_keys(), validation = no_control_characters())]
    #[schemars(extend("maxProperties" = 10, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub control_plane: BTreeMap<String, String>,
}

/// Groups that rules name exist.
fn group_exists(list: &str) -> Rule {
    Rule::new(format!("!has(self.{list}) || self.{list}.all(rule, {})", known("rule"))).message(UNKNOWN_GROUP)
}

fn group_of_additional_exists() -> Rule {
    Rule::new(format!(
        "!has(self.additional) || self.additional.all(group, !has(group.rules) || group.rules.all(rule, {}))",
        known("rule")
    ))
    .message(UNKNOWN_GROUP)
}

const UNKNOWN_GROUP: &str = "from.securityGroup must be node, controlPlane, the name of one of additional, or the id of a security group (sg-…)";

fn known(rule: &str) -> String {
    format!(
        "!has({rule}.from.securityGroup) || {rule}.from.securityGroup in ['node', 'controlPlane'] || \
         {rule}.from.securityGroup.matches('^sg-[0-9a-f]+$') || \
         (has(self.additional) && self.additional.exists(other, other.name == {rule}.from.securityGroup))"
    )
}

/// A further security group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!(self.name in ['node', 'controlplane', 'endpoint'])").message("the groups node, controlPlane and endpoint exist already"),
    validation = Rule::new("!self.name.startsWith('sg-')").message("names must not look like the id of a security group")
)]
pub struct NamedGroup {
    /// Its name, unique in the network: part of its role, and of its name in AWS.
    #[schemars(length(min = 1, max = 40), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Its ingress rules, up to 30. All outbound traffic is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 30))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub rules: Vec<SecurityGroupRule>,
    /// Its tags, in addition to those of everything, up to 10. The key `Name` and keys that begin with `aws:`,
    /// `infrastructure.foo.com/` or `kubernetes.io/` are reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = reserved_keys(), validation = lengths_of_keys(), validation = no_control_characters())]
    #[schemars(extend("maxProperties" = 10, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub tags: BTreeMap<String, String>,
}

/// An ingress rule of a security group, for one peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.protocol in ['TCP', 'UDP'] || !has(self.ports)").message("ports can be set only with protocol TCP or UDP"),
    validation = Rule::new("!(self.protocol in ['TCP', 'UDP']) || has(self.ports)").message("with protocol TCP or UDP, set ports")
)]
pub struct SecurityGroupRule {
    /// Its name, unique in its group. It is the rule's description in AWS if `description` is not set.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Its description in AWS, up to 255 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), regex(pattern = r"^[a-zA-Z0-9. _:/()#,@\[\]+=&;{}!$*-]*$"))]
    pub description: Option<String>,
    /// Protocol. Default: `TCP`.
    #[serde(default)]
    pub protocol: RuleProtocol,
    /// Ports. Required for TCP and UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Ports>,
    /// Source of the traffic.
    pub from: RuleSource,
}

/// Protocols of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum RuleProtocol {
    /// TCP.
    #[default]
    TCP,
    /// UDP.
    UDP,
    /// ICMP for IPv4, all types.
    ICMP,
    /// ICMP for IPv6, all types.
    ICMPv6,
    /// Every protocol and every port.
    All,
}

/// Ports from the first to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.last) || self.first <= self.last").message("last must not be less than first"))]
pub struct Ports {
    /// First port, 1 to 65535.
    #[schemars(range(min = 1, max = 65535))]
    pub first: i32,
    /// Last port, 1 to 65535. Default: the same as `first`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub last: Option<i32>,
}

/// Source of traffic: exactly one of `cidr` and `securityGroup`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.cidr) != has(self.securityGroup)").message("set either cidr or securityGroup")
)]
pub struct RuleSource {
    /// An IPv4 or IPv6 range, for example `192.0.2.0/24` or `2001:db8::/32`. Set either this or `securityGroup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 43))]
    #[x_kube(validation = is_any_range())]
    pub cidr: Option<String>,
    /// Whatever has this security group: `node`, `controlPlane`, the name of one of `additional`, or the id of any
    /// other. Set either this or `cidr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub security_group: Option<String>,
}

/// An IPv4 or IPv6 range. Whether an IPv6 address is one is left to the manager.
fn is_any_range() -> Rule {
    let octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
    let of_ipv4 = format!("({octet}[.]){{3}}{octet}/([0-9]|[12][0-9]|3[0-2])");
    let of_ipv6 = "[0-9a-fA-F:]*:[0-9a-fA-F:.]*/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])";
    Rule::new(format!("self.matches('^({of_ipv4}|{of_ipv6})$')"))
        .message("must be an IPv4 or IPv6 range, for example 192.0.2.0/24 or 2001:db8::/32")
}
