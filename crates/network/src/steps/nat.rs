//! NAT gateways and their addresses: created, replaced after a failure, and deleted once no route leads to them.

use super::{failed, vpc};
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::{Situation, Standing};
use foo_model::network::{Change, Kind, NatGateway, NatState, RouteTarget};
use foo_model::{AllocationId, NatGatewayId, Reason, Zone};

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    for zone in &situation.wanted.nat_zones {
        let role = Role::Address(zone.clone());
        let tags = crate::tags::of(situation.desired, &role);
        draft.create(situation, &role, |_| Change::AllocateAddress { tags });
        if situation.held.get(&role).is_some_and(|it| it.standing == Standing::Shown) {
            draft.content(&role, &());
        }
        gateway(situation, draft, zone);
    }
    delete_unwanted(situation, draft);
}

fn gateway(situation: &Situation<'_>, draft: &mut Draft, zone: &Zone) {
    let role = Role::Nat(zone.clone());
    if let Some(nat) = situation.nat(zone) {
        draft.content(&role, &());
        return attend(situation, draft, nat, &role);
    }
    if draft.holds(situation, &role) || failed::is_waited_for(situation, draft, &role) {
        return;
    }
    match inputs(situation, zone) {
        Ok((subnet, allocation)) => {
            let tags = crate::tags::of(situation.desired, &role);
            draft.create(situation, &role, |token| Change::CreateNatGateway {
                subnet,
                allocation,
                tags,
                token,
            });
        }
        Err(message) => draft.note(&role, Weight::Pending, Reason::CreatingNetwork, message),
    }
    if situation.record.intents.contains_key(&role) {
        draft.watch(situation, Kind::NatGateway);
    }
}

/// A NAT gateway needs a subnet, an address that no other one uses, and an internet gateway that is attached (otherwise it fails
/// with `Gateway.NotAttached`).
fn inputs(
    situation: &Situation<'_>,
    zone: &Zone,
) -> Result<(foo_model::SubnetId, AllocationId), &'static str> {
    vpc::may_be_used(situation).ok_or("waits for the VPC")?;
    let subnet = situation.nat_subnet(zone).and_then(|key| situation.subnet_id(key));
    let subnet = subnet.ok_or("waits for its subnet")?;
    let allocation = situation.id(&Role::Address(zone.clone())).map(AllocationId::from);
    let allocation = allocation.ok_or("waits for its address")?;
    if situation.living_nats().any(|nat| nat.allocations.contains(&allocation)) {
        return Err("waits until its address is free");
    }
    situation.attached_gateway().ok_or("waits for the internet gateway")?;
    Ok((subnet, allocation))
}

fn attend(situation: &Situation<'_>, draft: &mut Draft, nat: &NatGateway, role: &Role) {
    match nat.state {
        NatState::Available => failed::forget(draft, role),
        NatState::Pending => {
            draft.incomplete(role, format!("{} is pending, which takes minutes", nat.id));
            draft.watch(situation, Kind::NatGateway);
        }
        NatState::Failed => {
            let (code, message) = nat.failure.clone().unwrap_or_default();
            let words = format!("{code}: {message}");
            failed::note(situation, draft, role, nat.id.as_str(), Reason::NatGatewayFailed, &words);
            delete(situation, draft, nat, role, "it failed");
        }
        NatState::Deleting | NatState::Deleted => {
            draft.incomplete(role, format!("{} is being deleted; then another one is created", nat.id));
            draft.watch(situation, Kind::NatGateway);
        }
    }
}

/// Deletes a NAT gateway of the network.
pub(crate) fn delete(situation: &Situation<'_>, draft: &mut Draft, nat: &NatGateway, role: &Role, why: &str) {
    match nat.state {
        NatState::Pending | NatState::Available | NatState::Failed => {
            draft.send(situation, role, Change::DeleteNatGateway { gateway: nat.id.clone() }, why);
        }
        // What waits for its call to be allowed changes no sooner than the call is repeated.
        NatState::Deleting => draft.watch(situation, Kind::NatGateway),
        NatState::Deleted => {}
    }
}

/// Deletes NAT gateways that the mode no longer asks for, once no route leads to them, and then their addresses.
fn delete_unwanted(situation: &Situation<'_>, draft: &mut Draft) {
    let unwanted = situation.held.keys().filter(|role| !situation.wanted.roles.contains(role));
    for role in unwanted {
        match role {
            Role::Nat(zone) => {
                let Some(nat) = situation.nat(zone) else { continue };
                if is_routed_to(situation, &nat.id) {
                    draft.note(role, Weight::Pending, Reason::CreatingNetwork, "routes still lead to it");
                } else {
                    let message = "it is no longer requested and is being deleted";
                    draft.note(role, Weight::Pending, Reason::CreatingNetwork, message);
                    delete(situation, draft, nat, role, "it is no longer requested");
                }
            }
            Role::Address(_) => release(situation, draft, role),
            Role::Vpc
            | Role::VpcIpv6
            | Role::Subnet(_)
            | Role::InternetGateway
            | Role::EgressOnlyGateway
            | Role::PublicRoutes
            | Role::PrivateRoutes(_)
            | Role::SecurityGroup(_)
            | Role::Endpoint(_) => {}
        }
    }
}

fn release(situation: &Situation<'_>, draft: &mut Draft, role: &Role) {
    let Some(id) = situation.id(role).map(AllocationId::from) else { return };
    if !situation.own.addresses.contains_key(&id) {
        return;
    }
    if situation.living_nats().any(|nat| nat.allocations.contains(&id)) {
        draft.note(role, Weight::Pending, Reason::CreatingNetwork, "waits for its NAT gateway to go");
        return;
    }
    draft.send(situation, role, Change::ReleaseAddress { allocation: id }, "it is no longer requested");
}

/// Whether a route in a table of the network leads to a NAT gateway.
pub(crate) fn is_routed_to(situation: &Situation<'_>, nat: &NatGatewayId) -> bool {
    let mut routes = situation.own.route_tables.values().flat_map(|table| &table.routes);
    routes.any(|route| matches!(&route.target, RouteTarget::NatGateway(id) if id == nat))
}
