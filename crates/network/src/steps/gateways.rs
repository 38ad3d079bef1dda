//! The internet gateway and the egress-only internet gateway.

use super::vpc;
use crate::desired::DesiredVpc;
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::Situation;
use crate::timing::USERS;
use foo_model::network::{Change, Kind, RouteTarget, Scope};
use foo_model::{EgressOnlyGatewayId, Reason, VpcId};

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.wanted.roles.contains(&Role::InternetGateway) {
        match &situation.desired.vpc {
            DesiredVpc::Managed { .. } => internet_gateway(situation, draft),
            DesiredVpc::Existing(vpc) => users_or_own(situation, draft, vpc),
        }
    }
    let role = Role::EgressOnlyGateway;
    if !situation.wanted.roles.contains(&role) {
        delete_egress_only(situation, draft);
    } else if !draft.holds(situation, &role) {
        let Some(vpc) = vpc::may_be_used(situation) else {
            return draft.note(&role, Weight::Pending, Reason::CreatingNetwork, "waits for the VPC");
        };
        let tags = crate::tags::of(situation.desired, &role);
        let change = |token| Change::CreateEgressOnlyInternetGateway { vpc, tags, token };
        draft.create(situation, &role, change);
    }
}

/// Deletes the egress-only internet gateway once no route leads to it.
fn delete_egress_only(situation: &Situation<'_>, draft: &mut Draft) {
    let role = Role::EgressOnlyGateway;
    let Some(id) = situation.id(&role).map(EgressOnlyGatewayId::from) else { return };
    if !situation.own.egress_only_gateways.contains_key(&id) {
        return;
    }
    let mut routes = situation.own.route_tables.values().flat_map(|table| &table.routes);
    if routes.any(|route| route.target == RouteTarget::EgressOnlyGateway(id.clone())) {
        return draft.note(&role, Weight::Pending, Reason::CreatingNetwork, "routes still lead to it");
    }
    let change = Change::DeleteEgressOnlyInternetGateway { gateway: id };
    draft.send(situation, &role, change, "it is no longer requested");
}

/// A VPC has at most one internet gateway: the one that the user attached is used.
fn users_or_own(situation: &Situation<'_>, draft: &mut Draft, vpc: &VpcId) {
    if situation.id(&Role::InternetGateway).is_none() {
        let read = situation.observed.in_vpc.get(vpc);
        let begun = read.and_then(|read| read.begun.get(&Kind::InternetGateway)).copied();
        let from = begun.map_or(situation.now, |begun| begun.plus(USERS));
        draft.request_read_in(Kind::InternetGateway, Scope::Vpc(vpc.clone()), from);
        if begun.is_none() {
            let message = "waiting for a read of the VPC's internet gateway";
            return draft.note(&Role::InternetGateway, Weight::Pending, Reason::CreatingNetwork, message);
        }
        if situation.users_internet_gateway().is_some() {
            return;
        }
    }
    internet_gateway(situation, draft);
}

fn internet_gateway(situation: &Situation<'_>, draft: &mut Draft) {
    let role = Role::InternetGateway;
    let tags = crate::tags::of(situation.desired, &role);
    draft.create(situation, &role, |_| Change::CreateInternetGateway { tags });
    let Some(gateway) = situation.internet_gateway() else { return };
    draft.content(&role, &"attached");
    match (vpc::may_be_used(situation), &gateway.vpc) {
        (Some(vpc), None) => {
            let change = Change::AttachInternetGateway { gateway: gateway.id.clone(), vpc };
            draft.fix(&role, change, format!("{} is not attached", gateway.id));
        }
        (Some(vpc), Some(other)) if vpc != *other => {
            let change = Change::DetachInternetGateway { gateway: gateway.id.clone(), vpc: other.clone() };
            draft.fix(&role, change, format!("{} is attached to {other}", gateway.id));
        }
        (Some(_), Some(_)) => {}
        (None, _) => draft.incomplete(&role, "waits for the VPC"),
    }
}
