//! Security groups of a network. Access from outside of the network requires rules that the user wrote.

use foo_api::cluster::{self as api, ClusterSecurityGroup, RuleProtocol, SecurityGroupRule};
use foo_model::network::{Protocol, Tags};
use foo_model::{Blocked, Reason, SecurityGroupId};
use foo_network::desired::{
    Connection, DesiredEndpoint, DesiredEndpointKind, DesiredGroup, GroupPeer, GroupRule,
};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The group of every instance of the cluster.
pub(super) const NODE: &str = "node";
/// The group of machines and load balancers of an API server.
pub(super) const CONTROL_PLANE: &str = "controlPlane";
/// The group of the interfaces of VPC endpoints.
pub(super) const ENDPOINT: &str = "endpoint";

/// Ports of an API server: of one that a control plane provider creates, and of one behind a load balancer.
const API_SERVER: [u16; 2] = [6443, 443];
/// Ports that an API server calls on nodes, besides [`HTTPS`]: the kubelet, and webhooks and aggregated APIs, for which
/// every program chooses its own port (EKS's metrics-server 10251, prometheus-adapter and KEDA 6443, Istio 15017). The
/// range is that of the group of nodes in AWS's CloudFormation template for self-managed nodes
/// (`amazon-eks-nodegroup.yaml`); Pods in the host network cannot use lower ports without a privilege.
const NODE_PORTS: (u16, u16) = (1025, 65535);
/// Port of AWS's services, and of some webhooks.
const HTTPS: u16 = 443;

/// The groups: for the API server, for nodes, for endpoints if there are any with interfaces, and those of the user.
pub(super) fn desired(
    spec: &api::ManagedNetwork,
    ranges: &[Ipv4Net],
    endpoints: &[DesiredEndpoint],
) -> Result<Vec<DesiredGroup>, Blocked> {
    let none = api::SecurityGroups::default();
    let user = spec.security_groups.as_ref().unwrap_or(&none);
    let names: Vec<&str> = [NODE, CONTROL_PLANE]
        .into_iter()
        .chain(user.additional.iter().map(|group| group.name.as_str()))
        .collect();
    let with = |own: Vec<GroupRule>, rules: &[SecurityGroupRule]| {
        let rules = rules.iter().map(|rule| written(rule, &names)).collect::<Result<Vec<_>, _>>()?;
        Ok::<_, Blocked>(own.into_iter().chain(rules).collect())
    };
    let tags = user.tags.clone().unwrap_or_default();
    let mut groups = vec![
        group(CONTROL_PLANE, with(of_control_plane(), &user.control_plane)?, tags.control_plane, spec),
        group(NODE, with(of_nodes(), &user.node)?, tags.node, spec),
    ];
    let has_interface = |endpoint: &DesiredEndpoint| match endpoint.kind {
        DesiredEndpointKind::Interface { .. } => true,
        DesiredEndpointKind::Gateway => false,
    };
    if endpoints.iter().any(has_interface) {
        groups.push(group(ENDPOINT, of_endpoints(ranges), Tags::new(), spec));
    }
    for additional in &user.additional {
        let (rules, tags) = (with(Vec::new(), &additional.rules)?, additional.tags.clone());
        groups.push(group(&additional.name, rules, tags, spec));
    }
    Ok(groups)
}

/// Ids of the security groups outside of the network that rules name.
pub(in crate::cluster::managed) fn named(spec: &api::ManagedNetwork) -> impl Iterator<Item = &str> {
    let user = spec.security_groups.iter();
    let rules = user.flat_map(|groups| {
        let additional = groups.additional.iter().flat_map(|group| &group.rules);
        groups.control_plane.iter().chain(&groups.node).chain(additional)
    });
    rules.filter_map(|rule| rule.from.security_group.as_deref()).filter(|peer| peer.starts_with("sg-"))
}

/// Whether nodes are to be connected with the cluster security group of EKS.
pub(in crate::cluster::managed) fn is_connected(spec: &api::ManagedNetwork) -> bool {
    let requested = spec.security_groups.as_ref().map(|groups| groups.cluster_security_group);
    match requested.unwrap_or_default() {
        ClusterSecurityGroup::Connected => true,
        ClusterSecurityGroup::Separate => false,
    }
}

/// The connection with that group, as far as it is possible at present.
pub(super) fn connection(spec: &api::ManagedNetwork, possible: &Connection) -> Connection {
    if is_connected(spec) { possible.clone() } else { Connection::Separate }
}

fn group(name: &str, ingress: Vec<GroupRule>, tags: Tags, spec: &api::ManagedNetwork) -> DesiredGroup {
    let everywhere = [GroupPeer::V4(Ipv4Net::default())]
        .into_iter()
        .chain(spec.ipv6.then(|| GroupPeer::V6(Ipv6Net::default())));
    // As AWS creates it: with a description it would be another rule.
    let out = |peer| GroupRule { protocol: Protocol::All, peer, description: String::new() };
    let is_for_nodes = name == NODE;
    DesiredGroup {
        name: name.to_owned(),
        is_for_nodes,
        ingress,
        tags,
        egress: everywhere.map(out).collect(),
        own_egress: is_for_nodes.then(of_efa).into_iter().collect(),
    }
}

/// The outbound rule of Elastic Fabric Adapters: their traffic needs one whose destination is the group itself, whatever a
/// rule to all addresses allows (EC2 User Guide, "Get started with EFA and MPI for HPC workloads on Amazon EC2"). EKS's own
/// group has the same rule (Amazon EKS User Guide, "View Amazon EKS security group requirements for clusters").
fn of_efa() -> GroupRule {
    rule(Protocol::All, within(NODE), "node to node, for Elastic Fabric Adapters")
}

fn of_control_plane() -> Vec<GroupRule> {
    let mut rules = vec![rule(Protocol::All, within(CONTROL_PLANE), "control plane to control plane")];
    rules.extend(API_SERVER.map(|port| rule(tcp(port), within(NODE), "nodes to API server")));
    rules
}

fn of_nodes() -> Vec<GroupRule> {
    let (first, last) = NODE_PORTS;
    vec![
        rule(Protocol::All, within(NODE), "node to node"),
        rule(tcp(HTTPS), within(CONTROL_PLANE), "API server to webhooks"),
        rule(Protocol::Tcp(first, last), within(CONTROL_PLANE), "API server to kubelets and webhooks"),
    ]
}

fn of_endpoints(ranges: &[Ipv4Net]) -> Vec<GroupRule> {
    let groups = [NODE, CONTROL_PLANE].map(within);
    let peers = groups.into_iter().chain(ranges.iter().copied().map(GroupPeer::V4));
    peers.map(|peer| rule(tcp(HTTPS), peer, "network to AWS services")).collect()
}

fn rule(protocol: Protocol, peer: GroupPeer, description: &str) -> GroupRule {
    GroupRule { protocol, peer, description: description.to_owned() }
}

fn within(group: &str) -> GroupPeer {
    GroupPeer::Group(group.to_owned())
}

fn tcp(port: u16) -> Protocol {
    Protocol::Tcp(port, port)
}

/// A rule of the user's.
fn written(rule: &SecurityGroupRule, names: &[&str]) -> Result<GroupRule, Blocked> {
    let description = rule.description.clone().unwrap_or_else(|| rule.name.clone());
    Ok(GroupRule { protocol: protocol(rule)?, peer: peer(rule, names)?, description })
}

fn protocol(rule: &SecurityGroupRule) -> Result<Protocol, Blocked> {
    let ports = || {
        let ports = rule.ports.as_ref()?;
        let first = u16::try_from(ports.first).ok()?;
        let last = ports.last.map_or(Some(first), |last| u16::try_from(last).ok())?;
        Some((first, last))
    };
    let ports = || ports().ok_or_else(|| invalid(rule, "needs ports"));
    Ok(match rule.protocol {
        RuleProtocol::TCP => ports().map(|(first, last)| Protocol::Tcp(first, last))?,
        RuleProtocol::UDP => ports().map(|(first, last)| Protocol::Udp(first, last))?,
        RuleProtocol::ICMP => Protocol::Icmp,
        RuleProtocol::ICMPv6 => Protocol::Icmpv6,
        RuleProtocol::All => Protocol::All,
    })
}

fn peer(rule: &SecurityGroupRule, names: &[&str]) -> Result<GroupPeer, Blocked> {
    match (&rule.from.cidr, &rule.from.security_group) {
        (Some(cidr), _) => match cidr.parse() {
            // AWS keeps ranges by their first address.
            Ok(IpNet::V4(range)) => Ok(GroupPeer::V4(range.trunc())),
            Ok(IpNet::V6(range)) => Ok(GroupPeer::V6(range.trunc())),
            Err(_) => Err(invalid(rule, &format!("has {cidr}, which is not a range"))),
        },
        (None, Some(name)) if names.contains(&name.as_str()) => Ok(within(name)),
        (None, Some(id)) if id.starts_with("sg-") => Ok(GroupPeer::GroupId(SecurityGroupId::new(id))),
        (None, Some(name)) => {
            Err(invalid(rule, &format!("names the security group {name}, which is none of the network")))
        }
        (None, None) => Err(invalid(rule, "has no source")),
    }
}

fn invalid(rule: &SecurityGroupRule, what: &str) -> Blocked {
    Blocked::new(Reason::RuleInvalid, format!("the security group rule {} {what}", rule.name))
}
