//! Events about the calls of a network, and what they are for people.

use crate::calls::Sent;
use foo_model::network::{Effect, Parts};
use foo_model::{EventReason, some_names};
use foo_network::{Action, Role};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Events about calls that were carried out, one for each kind of change.
pub(super) fn events(sent: &[Sent<Action>], was_ready: bool) -> Vec<(EventReason, String)> {
    let (mut created, mut deleted, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for Sent { action: Action { role, change, why }, result } in sent {
        let Ok(response) = result else { continue };
        match change.facts().effect {
            Effect::Creates { .. } => {
                let id = id_of(role, response).map(|id| format!(" ({id})"));
                created.push(format!("{role}{}", id.unwrap_or_default()));
            }
            Effect::Deletes(_) | Effect::BeginsToDelete(_) => deleted.push(role.to_string()),
            // Of a network that is still being built, every change is part of that.
            Effect::Changes(_) if was_ready => changed.push(format!("{role}: {why}")),
            Effect::Changes(_) => {}
        }
    }
    let event = |reason, verb, mut names: Vec<String>| {
        names.sort();
        let text = || format!("{verb} {}", some_names(names.iter().map(String::as_str)));
        (!names.is_empty()).then(|| (reason, text()))
    };
    let events = [
        event(EventReason::NetworkResourcesCreated, "Created", created),
        event(EventReason::NetworkResourcesDeleted, "Deleted", deleted),
        event(EventReason::NetworkChanged, "Changed", changed),
    ];
    events.into_iter().flatten().collect()
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
