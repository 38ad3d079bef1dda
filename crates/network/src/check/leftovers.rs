//! Whether something of others may be deleted as a left-over of the workload cluster, by reads alone.

use super::facts::{Facts, key, reads};
use crate::desired::DesiredVpc;
use foo_model::network::{Interface, LoadBalancer, Parts, Peer, SecurityGroup, Tags};
use foo_model::{SubnetId, VpcId};
use std::collections::BTreeSet;

/// What reads show of it.
struct Left<'a> {
    vpc: &'a VpcId,
    tags: &'a Tags,
}

impl Facts<'_> {
    /// Whether controllers of the workload cluster tagged it, and of two clusters with one name it is the network's.
    pub(super) fn is_leftover(&self, id: &str) -> bool {
        if self.desired.kubernetes_cluster.is_none() {
            return false;
        }
        if reads(self.observed).any(|parts| self.is_of_our_control_plane(parts, id)) {
            return true;
        }
        let Some(left) = reads(self.observed).find_map(|parts| find(parts, id)) else { return false };
        self.names_the_cluster(left.tags, left.vpc)
            && (!self.is_shared(left.vpc) || self.memory.linked.contains(id) || self.is_linked_to_own(id))
    }

    /// Whether it is an interface of the VPC CNI without an instance, in a subnet of the network in a VPC of the network alone.
    pub(super) fn is_idle_of_cni(&self, id: &str) -> bool {
        reads(self.observed).filter_map(|parts| parts.interfaces.get(&id.into())).any(|it| {
            it.description.starts_with("aws-K8S-i-")
                && !(it.in_use || it.requester_managed)
                && self.is_our_subnet(&it.subnet)
                && !self.is_shared(&it.vpc)
        })
    }

    /// Whether GuardDuty created the endpoint or group for the Nodes of a VPC of the network alone.
    pub(super) fn is_of_guardduty(&self, id: &str) -> bool {
        const MANAGED: &str = "GuardDutyManaged";
        reads(self.observed).any(|parts| {
            let endpoint =
                parts.endpoints.get(&id.into()).filter(|it| it.service.contains(".guardduty-data"));
            let group = parts.security_groups.get(&id.into());
            let group = group.filter(|it| it.name.starts_with("GuardDutyManagedSecurityGroup-"));
            let endpoint = endpoint.map(|it| (&it.vpc, &it.tags));
            endpoint.or_else(|| group.map(|it| (&it.vpc, &it.tags))).is_some_and(|(vpc, tags)| {
                tags.contains_key(MANAGED) && !tags.contains_key(NETWORK) && !self.is_shared(vpc)
            })
        })
    }

    fn names_the_cluster(&self, tags: &Tags, vpc: &VpcId) -> bool {
        let of_others = tags.keys().any(|key| key == NETWORK || key.starts_with("aws:eks:"));
        !of_others
            && tags.iter().any(|(key, value)| match key.strip_prefix("kubernetes.io/cluster/") {
                Some(name) => value == "owned" && self.is_its_name(name, vpc),
                None if key == "elbv2.k8s.aws/cluster" || key == "cluster.k8s.amazonaws.com/name" => {
                    self.is_its_name(value, vpc)
                }
                None => key == "service.k8s.aws/stack",
            })
    }

    /// Whether the cluster's controllers have this name for it, or, in a VPC of the network alone, the Cluster has it.
    fn is_its_name(&self, name: &str, vpc: &VpcId) -> bool {
        let of_cluster =
            self.desired.cluster.split_once('/').is_some_and(|(_, of_cluster)| of_cluster == name);
        self.desired.kubernetes_cluster.as_deref() == Some(name) || (of_cluster && !self.is_shared(vpc))
    }

    /// Whether EKS created the group for the control plane of this cluster, in a VPC of the network alone.
    fn is_of_our_control_plane(&self, parts: &Parts, id: &str) -> bool {
        parts.security_groups.get(&id.into()).is_some_and(|it| {
            let cluster = it.tags.get("aws:eks:cluster-name");
            it.name.starts_with("eks-cluster-sg-")
                && cluster.is_some_and(|name| self.desired.kubernetes_cluster.as_ref() == Some(name))
                && !it.tags.contains_key(NETWORK)
                && !self.is_shared(&it.vpc)
        })
    }

    /// Whether the VPC is the user's, or has subnets of another network.
    fn is_shared(&self, vpc: &VpcId) -> bool {
        let brought = matches!(self.desired.vpc, DesiredVpc::Existing(_));
        let network = |tags: &Tags| tags.get(NETWORK).is_some_and(|id| *id != self.desired.network_id);
        let mut subnets = reads(self.observed).flat_map(|parts| parts.subnets.values());
        brought || subnets.any(|it| it.vpc == *vpc && network(&it.tags))
    }

    /// Whether it has an interface in a subnet of the network or uses a group of the network, by any read.
    fn is_linked_to_own(&self, id: &str) -> bool {
        reads(self.observed).any(|parts| {
            let near: Vec<&Interface> = parts.interfaces.values().filter(|it| self.is_near(it)).collect();
            let balancers = || parts.load_balancers.values().filter(|it| self.is_balancer_near(it));
            near.iter().any(|it| it.id.as_str() == id || has(&it.groups, id))
                || balancers().any(|it| key(it) == id || has(&it.groups, id))
                || parts.security_groups.get(&id.into()).is_some_and(|it| self.names_own(it))
        })
    }

    fn is_near(&self, interface: &Interface) -> bool {
        self.is_our_subnet(&interface.subnet) || interface.groups.iter().any(|it| self.is_own(it.as_str()))
    }

    fn is_our_subnet(&self, subnet: &SubnetId) -> bool {
        self.is_own(subnet.as_str())
    }

    fn is_balancer_near(&self, balancer: &LoadBalancer) -> bool {
        // `arn:…:loadbalancer/net/web/0123456789abcdef` has interfaces `ELB net/web/0123456789abcdef`.
        let end = key(balancer).rsplit(":loadbalancer/").next().unwrap_or_default();
        let description = format!("ELB {end}");
        let mut interfaces = reads(self.observed).flat_map(|parts| parts.interfaces.values());
        balancer.groups.iter().any(|it| self.is_own(it.as_str()))
            || interfaces.any(|it| it.description == description && self.is_near(it))
    }

    fn names_own(&self, group: &SecurityGroup) -> bool {
        let mut rules = group.ingress.iter().chain(&group.egress);
        rules.any(|rule| matches!(&rule.peer, Peer::Group(id) if self.is_own(id.as_str())))
    }
}

/// The tag of this provider's networks.
const NETWORK: &str = "infrastructure.foo.com/network";

fn find<'a>(parts: &'a Parts, id: &str) -> Option<Left<'a>> {
    let group = parts.security_groups.get(&id.into()).map(|it| Left { vpc: &it.vpc, tags: &it.tags });
    let interface = || parts.interfaces.get(&id.into()).map(|it| Left { vpc: &it.vpc, tags: &it.tags });
    let balancer = || parts.load_balancers.values().find(|it| key(it) == id);
    let balancer = || balancer().map(|it| Left { vpc: &it.vpc, tags: &it.tags });
    let targets = || parts.target_groups.values().find(|it| it.arn == id);
    let targets = || targets().map(|it| Left { vpc: &it.vpc, tags: &it.tags });
    group.or_else(interface).or_else(balancer).or_else(targets)
}

fn has(groups: &BTreeSet<foo_model::SecurityGroupId>, id: &str) -> bool {
    groups.iter().any(|group| group.as_str() == id)
}
