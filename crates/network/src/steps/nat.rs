//! NAT gateways and their addresses: created, replaced after a failure, and deleted once no route leads to them.

use super::vpc;
use crate::draft::{Draft, Weight};
use crate::memory::NatFailure;
use crate::role::Role;
use crate::situation::{Situation, Standing};
use foo_model::network::{Change, Kind, NatGateway, NatState, RouteTarget};
use foo_model::{AllocationId, NatGatewayId, Reason, Zone};
use std::time::Duration;

/// Between the failure of a NAT gateway and the next attempt: doubled with each failure in a row.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

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
    if draft.holds(situation, &role) || waits_after_failure(situation, draft, &role) {
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
        NatState::Available => {
            // What worked may fail once more before it counts as failing again and again.
            draft.memory.nat_failures.remove(role);
        }
        NatState::Pending => {
            draft.incomplete(role, format!("{} is pending, which takes minutes", nat.id));
            draft.watch(situation, Kind::NatGateway);
        }
        NatState::Failed => {
            let message = note_failure(situation, draft, nat, role);
            draft.incomplete(role, "");
            draft.note(role, Weight::Failed, Reason::NatGatewayFailed, message);
            delete(situation, draft, nat, role, "it failed");
        }
        NatState::Deleting | NatState::Deleted => {
            draft.incomplete(role, format!("{} is being deleted; then another one is created", nat.id));
            draft.watch(situation, Kind::NatGateway);
        }
    }
}

fn note_failure(situation: &Situation<'_>, draft: &mut Draft, nat: &NatGateway, role: &Role) -> String {
    let (code, message) = nat.failure.clone().unwrap_or_default();
    let message = format!("{} failed: {code}: {message}", nat.id);
    let before = draft.memory.nat_failures.get(role);
    if before.is_none_or(|it| it.id != nat.id.as_str()) {
        let times = before.map_or(0, |it| it.times).saturating_add(1);
        let failure =
            NatFailure { id: nat.id.to_string(), times, at: situation.now, message: message.clone() };
        draft.memory.nat_failures.insert(role.clone(), failure);
    }
    message
}

fn waits_after_failure(situation: &Situation<'_>, draft: &mut Draft, role: &Role) -> bool {
    let Some(failure) = situation.memory.nat_failures.get(role) else { return false };
    let factor = 1_u32.checked_shl(failure.times.saturating_sub(1)).unwrap_or(u32::MAX).min(32);
    let until = failure.at.plus(AFTER_FAILURE.saturating_mul(factor));
    draft.note(role, Weight::Failed, Reason::NatGatewayFailed, failure.message.clone());
    if until > situation.now {
        draft.wake_at(until);
    }
    until > situation.now
}

/// Deletes a NAT gateway of ours.
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

/// What the mode does not ask for any more goes after the routes that lead to it; then its address.
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
    if !situation.ours.addresses.contains_key(&id) {
        return;
    }
    if situation.living_nats().any(|nat| nat.allocations.contains(&id)) {
        draft.note(role, Weight::Pending, Reason::CreatingNetwork, "waits for its NAT gateway to go");
        return;
    }
    draft.send(situation, role, Change::ReleaseAddress { allocation: id }, "it is no longer requested");
}

/// Whether a route in a table of ours leads to a NAT gateway.
pub(crate) fn is_routed_to(situation: &Situation<'_>, nat: &NatGatewayId) -> bool {
    let mut routes = situation.ours.route_tables.values().flat_map(|table| &table.routes);
    routes.any(|route| matches!(&route.target, RouteTarget::NatGateway(id) if id == nat))
}
