//! In which subnets the control plane has network interfaces.

use foo_api::cluster::NetworkStatus;
use foo_api::control_plane::Eks;
use foo_model::eks::Placement;
use foo_model::{SecurityGroupId, SubnetId};
use std::collections::BTreeSet;

/// The subnets of the spec; otherwise the private ones of the network, or all of them if none is private. `None`: there is no network
/// yet.
pub(super) fn placement(eks: &Eks, network: Option<&NetworkStatus>) -> Option<Placement> {
    let subnets = if eks.subnets.is_empty() {
        of_network(network?)
    } else {
        eks.subnets.iter().map(|id| SubnetId::new(id.as_str())).collect()
    };
    let security_groups = eks.security_groups.iter().map(|id| SecurityGroupId::new(id.as_str())).collect();
    Some(Placement { subnets, security_groups })
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
