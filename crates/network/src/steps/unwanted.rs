//! Deletes parts of the network that are too many: duplicates, which a lost response may leave behind, and security groups that the spec no
//! longer requests.

use super::{foreign, nat};
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::{Situation, Standing, Tagged};
use crate::tags;
use foo_model::Reason;
use foo_model::network::{Change, EndpointState, Kind, Peer, RouteTarget};
use std::collections::BTreeSet;

pub(crate) fn remove(situation: &Situation<'_>, draft: &mut Draft) {
    for part in &situation.extra {
        let role = tags::role(&part.tags).filter(|role| role.kind() == part.kind);
        let kept = role.as_ref().and_then(|role| situation.held.get(role));
        match (role, kept) {
            (Some(role), Some(kept)) if kept.standing == Standing::Shown => {
                duplicate(situation, draft, &role, part);
            }
            (Some(_), _) => {}
            (None, _) => {
                let message = format!("{} carries the tag of this network and no role of it", part.id);
                draft.note(&Role::Vpc, Weight::Drifted, Reason::NetworkDrifted, message);
            }
        }
    }
    let unwanted = situation.held.iter().filter(|(role, _)| !situation.wanted.roles.contains(*role));
    for (role, held) in unwanted.filter(|(role, _)| matches!(role, Role::SecurityGroup(_))) {
        let group = held.id.as_str().into();
        if situation.own.security_groups.contains_key(&group) {
            let message = "it is no longer requested and is being deleted";
            draft.note(role, Weight::Pending, Reason::CreatingNetwork, message);
            if !is_named_by_rules(situation, &held.id) {
                draft.send(
                    situation,
                    role,
                    Change::DeleteSecurityGroup { group },
                    "it is no longer requested",
                );
            }
        }
    }
}

/// Reads show the part that the network keeps; the planner deletes the other one when nothing uses it.
fn duplicate(situation: &Situation<'_>, draft: &mut Draft, role: &Role, part: &Tagged) {
    let message = format!("{} is another one for the same purpose", part.id);
    draft.note(role, Weight::Pending, Reason::CreatingNetwork, message);
    let parts = &situation.own;
    let id = part.id.as_str();
    let why = "it is a duplicate";
    let change = match part.kind {
        Kind::NatGateway => {
            if let Some(gateway) = parts.nat_gateways.get(&id.into())
                && !nat::is_routed_to(situation, &gateway.id)
            {
                nat::delete(situation, draft, gateway, role, why);
            }
            return;
        }
        Kind::Vpc => {
            let Some(change) = vpc(situation, draft, id) else { return };
            change
        }
        Kind::Subnet => Change::DeleteSubnet { subnet: id.into() },
        Kind::InternetGateway => {
            match parts.internet_gateways.get(&id.into()).and_then(|it| it.vpc.clone()) {
                Some(vpc) => Change::DetachInternetGateway { gateway: id.into(), vpc },
                None => Change::DeleteInternetGateway { gateway: id.into() },
            }
        }
        Kind::EgressOnlyGateway => Change::DeleteEgressOnlyInternetGateway { gateway: id.into() },
        Kind::Address => Change::ReleaseAddress { allocation: id.into() },
        Kind::RouteTable => Change::DeleteRouteTable { table: id.into() },
        Kind::SecurityGroup => Change::DeleteSecurityGroup { group: id.into() },
        Kind::Endpoint => Change::DeleteVpcEndpoints { endpoints: BTreeSet::from([id.into()]) },
        Kind::VpcAttributes | Kind::Interface | Kind::LoadBalancer | Kind::TargetGroup | Kind::Zone => return,
    };
    if !is_used(situation, part) {
        draft.send(situation, role, change, why);
    }
}

/// Whether parts of the network use it. If others use it, AWS refuses to delete it.
fn is_used(situation: &Situation<'_>, part: &Tagged) -> bool {
    let parts = &situation.own;
    let id = part.id.as_str();
    match part.kind {
        Kind::Subnet => situation.living_nats().any(|nat| nat.subnet.as_str() == id),
        Kind::Address => {
            let associated = parts.addresses.get(&id.into()).is_some_and(|it| it.interface.is_some());
            associated || situation.living_nats().any(|nat| nat.allocations.contains(&id.into()))
        }
        Kind::RouteTable => parts.route_tables.get(&id.into()).is_some_and(|it| !it.associations.is_empty()),
        Kind::SecurityGroup => is_named_by_rules(situation, id),
        Kind::Endpoint => {
            parts.endpoints.get(&id.into()).is_some_and(|it| it.state == EndpointState::Deleting)
        }
        Kind::InternetGateway => {
            let vpc = parts.internet_gateways.get(&id.into()).and_then(|it| it.vpc.clone());
            vpc.is_some() && vpc == situation.vpc_id()
        }
        Kind::EgressOnlyGateway => {
            let mut routes = parts.route_tables.values().flat_map(|table| &table.routes);
            routes.any(
                |it| matches!(&it.target, RouteTarget::EgressOnlyGateway(gateway) if gateway.as_str() == id),
            )
        }
        Kind::Vpc
        | Kind::VpcAttributes
        | Kind::NatGateway
        | Kind::Interface
        | Kind::LoadBalancer
        | Kind::TargetGroup
        | Kind::Zone => false,
    }
}

/// Whether rules of another group of the network name the group.
fn is_named_by_rules(situation: &Situation<'_>, id: &str) -> bool {
    let others = situation.own.security_groups.values().filter(|it| it.id.as_str() != id);
    let mut rules = others.flat_map(|it| it.ingress.iter().chain(&it.egress));
    rules.any(|rule| matches!(&rule.peer, Peer::Group(peer) if peer.as_str() == id))
}

/// The deletion of a second VPC, if reads of everything that can be in it show nothing.
fn vpc(situation: &Situation<'_>, draft: &mut Draft, id: &str) -> Option<Change> {
    let vpc = id.into();
    let since = situation.memory.calls.started.unwrap_or(situation.now);
    let all_read = foreign::request_reads(situation, draft, &vpc, since);
    let empty = foreign::all(situation, &vpc).is_empty() && !situation.has_parts_in(&vpc);
    (all_read && empty).then_some(Change::DeleteVpc { vpc })
}
