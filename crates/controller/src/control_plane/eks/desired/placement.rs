//! In which subnets the control plane has network interfaces.

use foo_api::cluster::{NetworkStatus, SubnetStatus};
use foo_api::control_plane::Eks;
use foo_eks::desired::{KnownSubnet, SubnetChoice};
use foo_model::eks::Placement;
use foo_model::{SecurityGroupId, SubnetId};
use std::collections::{BTreeMap, BTreeSet};

/// The role of a managed network's group for API servers.
const API_SERVERS: &str = "security-group/controlPlane";

/// Whether the spec lists the subnets.
pub(super) fn choice(eks: &Eks) -> SubnetChoice {
    if eks.subnets.is_empty() { SubnetChoice::Network } else { SubnetChoice::Listed }
}

/// What is known of the subnets of the network. Whether they have IPv6 ranges is known of those that the provider
/// created.
pub(super) fn known_subnets(network: Option<&NetworkStatus>) -> BTreeMap<SubnetId, KnownSubnet> {
    let Some(network) = network else { return BTreeMap::new() };
    let has_ipv6 = |subnet: &SubnetStatus| network.id.as_ref().map(|_| subnet.ipv6_cidr.is_some());
    let known = |subnet: &SubnetStatus| {
        let known = KnownSubnet { zone: subnet.zone.clone(), has_ipv6: has_ipv6(subnet) };
        (SubnetId::new(subnet.id.as_str()), known)
    };
    network.subnets.iter().map(known).collect()
}

/// The subnets of the spec; otherwise the private ones of the network, or all of them if none is private. `None`: there
/// is no network yet, or it has no security group for API servers yet.
pub(super) fn placement(eks: &Eks, network: Option<&NetworkStatus>) -> Option<Placement> {
    let subnets = if eks.subnets.is_empty() {
        of_network(network?)
    } else {
        eks.subnets.iter().map(|id| SubnetId::new(id.as_str())).collect()
    };
    let listed = eks.security_groups.iter().map(|id| SecurityGroupId::new(id.as_str()));
    let security_groups =
        if eks.security_groups.is_empty() { of_network_for_api_servers(network)? } else { listed.collect() };
    Some(Placement { subnets, security_groups })
}

/// The group of a managed network that lets its nodes reach an API server, and an API server reach them; an existing
/// network has none. `None`: the group does not exist yet.
fn of_network_for_api_servers(network: Option<&NetworkStatus>) -> Option<BTreeSet<SecurityGroupId>> {
    let Some(managed) = network.filter(|network| network.id.is_some()) else { return Some(BTreeSet::new()) };
    let group = managed.resources.iter().find(|part| part.role == API_SERVERS)?;
    Some(BTreeSet::from([SecurityGroupId::new(group.id.as_deref()?)]))
}

fn of_network(network: &NetworkStatus) -> BTreeSet<SubnetId> {
    let private: BTreeSet<SubnetId> = network
        .subnets
        .iter()
        .filter(|subnet| !subnet.public)
        .map(|it| SubnetId::new(it.id.as_str()))
        .collect();
    if private.is_empty() {
        network.subnets.iter().map(|it| SubnetId::new(it.id.as_str())).collect()
    } else {
        private
    }
}
