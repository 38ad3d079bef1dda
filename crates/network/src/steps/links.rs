//! What of others has to do with parts of the network: it has an interface in a subnet of the network, or uses a security group of the network.

use crate::situation::Situation;
use foo_model::SecurityGroupId;
use foo_model::network::{Interface, LoadBalancer, Peer, SecurityGroup};
use std::collections::BTreeSet;

/// Ids of the interfaces, load balancers ([`key`]) and security groups of others that have to do with parts of the network, and of the
/// groups that those interfaces and load balancers have.
pub(crate) fn linked(situation: &Situation<'_>) -> BTreeSet<String> {
    let parts = &situation.others;
    let mut linked: BTreeSet<String> = BTreeSet::new();
    for it in parts.interfaces.values().filter(|it| interface(situation, it)) {
        linked.insert(it.id.to_string());
        linked.extend(it.groups.iter().map(ToString::to_string));
    }
    for it in parts.load_balancers.values().filter(|it| load_balancer(situation, it)) {
        linked.insert(key(it).to_owned());
        linked.extend(it.groups.iter().map(ToString::to_string));
    }
    let groups = parts.security_groups.values().filter(|it| names_own(situation, it));
    linked.extend(groups.map(|it| it.id.to_string()));
    linked
}

/// Whether an interface is in a subnet of the network or has a group of the network.
pub(crate) fn interface(situation: &Situation<'_>, it: &Interface) -> bool {
    situation.own.subnets.contains_key(&it.subnet) || has_own(situation, &it.groups)
}

/// Whether a load balancer has an interface in a subnet of the network or a group of the network.
pub(crate) fn load_balancer(situation: &Situation<'_>, it: &LoadBalancer) -> bool {
    let mut interfaces = situation.others.interfaces.values();
    has_own(situation, &it.groups) || interfaces.any(|of| is_interface_of(of, it) && interface(situation, of))
}

/// Whether rules of a group name a group of the network.
pub(crate) fn names_own(situation: &Situation<'_>, group: &SecurityGroup) -> bool {
    let mut rules = group.ingress.iter().chain(&group.egress);
    rules.any(|rule| matches!(&rule.peer, Peer::Group(id) if situation.own.security_groups.contains_key(id)))
}

/// Whether one of the groups is the network's.
pub(crate) fn has_own(situation: &Situation<'_>, groups: &BTreeSet<SecurityGroupId>) -> bool {
    groups.iter().any(|group| situation.own.security_groups.contains_key(group))
}

/// What no other load balancer has: the ARN; of a classic one, which has none, the name.
pub(crate) fn key(balancer: &LoadBalancer) -> &str {
    balancer.arn.as_deref().unwrap_or(&balancer.name)
}

/// Whether Elastic Load Balancing created the interface for this load balancer: the description has the end of the ARN
/// (`ELB net/web/0123456789abcdef`), of a classic one the name (`ELB web`).
pub(crate) fn is_interface_of(interface: &Interface, balancer: &LoadBalancer) -> bool {
    let path = balancer.arn.as_deref().and_then(|arn| arn.split_once(":loadbalancer/"));
    let name = path.map_or(balancer.name.as_str(), |(_, path)| path);
    interface.description.strip_prefix("ELB ") == Some(name)
}
