//! Events about the calls of a network, and what they are for people.

use crate::calls::Sent;
use foo_model::network::{ChangeKind, Parts};
use foo_model::{EventReason, some_names};
use foo_network::{Action, Role};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Events about calls that were carried out, one for each kind of change.
pub(super) fn events(sent: &[Sent<Action>], was_ready: bool) -> Vec<(EventReason, String)> {
    let mut events = Vec::new();
    for (kind, reason, verb) in [
        (ChangeKind::Created, EventReason::NetworkResourcesCreated, "Created"),
        (ChangeKind::Deleted, EventReason::NetworkResourcesDeleted, "Deleted"),
        (ChangeKind::Changed, EventReason::NetworkChanged, "Changed"),
    ] {
        // Of a network that is still being built, every change is part of that.
        if kind == ChangeKind::Changed && !was_ready {
            continue;
        }
        let of = sent.iter().filter(|sent| sent.result.is_ok() && sent.action.change.kind() == kind);
        let mut names: Vec<String> = of.map(|sent| named(sent, kind)).collect();
        names.sort();
        if !names.is_empty() {
            events.push((reason, format!("{verb} {}", some_names(names.iter().map(String::as_str)))));
        }
    }
    events
}

fn named(sent: &Sent<Action>, kind: ChangeKind) -> String {
    let Sent { action: Action { role, why, .. }, result } = sent;
    match (kind, result.as_ref().ok().and_then(|created| id_of(role, created))) {
        (ChangeKind::Created, Some(id)) => format!("{role} ({id})"),
        (ChangeKind::Changed, _) => format!("{role}: {why}"),
        (ChangeKind::Created | ChangeKind::Deleted, _) => role.to_string(),
    }
}

/// The id of what was created for a role.
fn id_of(role: &Role, created: &Parts) -> Option<String> {
    fn first<K: Display, V>(parts: &BTreeMap<K, V>) -> Option<String> {
        parts.keys().next().map(K::to_string)
    }
    match role {
        Role::Vpc => first(&created.vpcs),
        Role::VpcIpv6 => None,
        Role::Subnet(_) => first(&created.subnets),
        Role::InternetGateway => first(&created.internet_gateways),
        Role::EgressOnlyGateway => first(&created.egress_only_gateways),
        Role::Address(_) => first(&created.addresses),
        Role::Nat(_) => first(&created.nat_gateways),
        Role::PublicRoutes | Role::PrivateRoutes(_) => first(&created.route_tables),
        Role::SecurityGroup(_) => first(&created.security_groups),
        Role::Endpoint(_) => first(&created.endpoints),
    }
}
