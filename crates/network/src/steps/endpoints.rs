//! VPC endpoints: the planner creates them, connects them with tables, subnets and groups, and deletes those that the spec no longer
//! requests.

use super::{failed, vpc};
use crate::desired::{DesiredEndpoint, DesiredEndpointKind};
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::Situation;
use foo_model::network::{Change, Endpoint, EndpointChange, EndpointKind, EndpointState, Kind};
use foo_model::{EndpointId, Reason, RouteTableId, SecurityGroupId, SubnetId};
use std::collections::BTreeSet;

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    for endpoint in &situation.desired.endpoints {
        let role = Role::Endpoint(endpoint.name.clone());
        let there = situation.id(&role).and_then(|id| situation.own.endpoints.get(&id.into()));
        match there {
            Some(there) => {
                draft.content(&role, &endpoint.kind);
                attend(situation, draft, endpoint, there, &role);
            }
            None => create(situation, draft, endpoint, &role),
        }
    }
    delete_removed(situation, draft);
}

/// What an endpoint is to be connected with, or what it waits for. `there` is what it is connected with.
fn kind(
    situation: &Situation<'_>,
    endpoint: &DesiredEndpoint,
    there: Option<&EndpointKind>,
) -> Result<EndpointKind, &'static str> {
    match &endpoint.kind {
        DesiredEndpointKind::Gateway => {
            let roles = situation.wanted.roles.iter();
            let roles = roles.filter(|it| matches!(it, Role::PublicRoutes | Role::PrivateRoutes(_)));
            let tables: Option<BTreeSet<RouteTableId>> =
                roles.map(|role| situation.id(role).map(RouteTableId::from)).collect();
            Ok(EndpointKind::Gateway { tables: tables.ok_or("waits for the route tables")? })
        }
        DesiredEndpointKind::Interface { subnets, groups, private_dns } => {
            let used: BTreeSet<&SubnetId> = match there {
                Some(EndpointKind::Interface { subnets, .. }) => subnets.iter().collect(),
                Some(EndpointKind::Gateway { .. } | EndpointKind::Other(_)) | None => BTreeSet::new(),
            };
            let subnets: Option<BTreeSet<SubnetId>> =
                subnets.iter().map(|key| subnet(situation, key, &used)).collect();
            let groups: Option<BTreeSet<SecurityGroupId>> = groups
                .iter()
                .map(|name| situation.id(&Role::SecurityGroup(name.clone())).map(SecurityGroupId::from))
                .collect();
            let resolves = situation.vpc().is_some_and(|vpc| vpc.dns_hostnames == Some(true));
            if *private_dns && !resolves {
                return Err("waits for enableDnsHostnames of the VPC");
            }
            Ok(EndpointKind::Interface {
                subnets: subnets.ok_or("waits for its subnets")?,
                groups: groups.ok_or("waits for its security groups")?,
                private_dns: *private_dns,
            })
        }
    }
}

/// The subnet for a zone: the one that the endpoint uses already, though another one would be chosen today, because an interface that
/// moves ends the connections through it.
fn subnet(situation: &Situation<'_>, key: &str, used: &BTreeSet<&SubnetId>) -> Option<SubnetId> {
    let chosen = situation.desired.subnets.iter().find(|it| it.key == key)?;
    let alike =
        situation.desired.subnets.iter().filter(|it| it.zone == chosen.zone && it.tier == chosen.tier);
    let mut kept = alike.filter_map(|it| situation.subnet_id(&it.key)).filter(|id| used.contains(id));
    kept.next().or_else(|| situation.subnet_id(key))
}

fn create(situation: &Situation<'_>, draft: &mut Draft, endpoint: &DesiredEndpoint, role: &Role) {
    if draft.holds(situation, role) || failed::is_waited_for(situation, draft, role) {
        return;
    }
    let Some(vpc) = vpc::may_be_used(situation) else {
        return draft.note(role, Weight::Pending, Reason::CreatingNetwork, "waits for the VPC");
    };
    match kind(situation, endpoint, None) {
        Ok(kind) => {
            let tags = crate::tags::of(situation.desired, role);
            let service = endpoint.service.clone();
            draft.create(situation, role, |token| Change::CreateVpcEndpoint {
                vpc,
                service,
                kind,
                tags,
                token,
            });
        }
        Err(message) => draft.note(role, Weight::Pending, Reason::CreatingNetwork, message),
    }
}

fn attend(
    situation: &Situation<'_>,
    draft: &mut Draft,
    endpoint: &DesiredEndpoint,
    there: &Endpoint,
    role: &Role,
) {
    match there.state {
        EndpointState::Available => {
            failed::forget(draft, role);
            connect(situation, draft, endpoint, there, role);
        }
        EndpointState::Pending => {
            draft.incomplete(role, format!("{} is pending", there.id));
            draft.watch(situation, Kind::Endpoint);
        }
        EndpointState::Deleting | EndpointState::Deleted => {
            draft.incomplete(role, format!("{} is being deleted; then another one is created", there.id));
            draft.watch(situation, Kind::Endpoint);
        }
        EndpointState::Failed => {
            let words = there.failure.as_deref().unwrap_or("AWS does not say why");
            failed::note(situation, draft, role, there.id.as_str(), Reason::EndpointFailed, words);
            let change = Change::DeleteVpcEndpoints { endpoints: BTreeSet::from([there.id.clone()]) };
            draft.send(situation, role, change, "it failed");
            draft.watch(situation, Kind::Endpoint);
        }
        // Its service decides.
        EndpointState::PendingAcceptance | EndpointState::Rejected | EndpointState::Expired => {
            let failure = there.failure.clone().unwrap_or_else(|| format!("it is {:?}", there.state));
            let message = format!("{}: {failure}; delete it to have it created again", there.id);
            draft.note(role, Weight::Failed, Reason::EndpointDiffers, message);
        }
    }
}

fn connect(
    situation: &Situation<'_>,
    draft: &mut Draft,
    endpoint: &DesiredEndpoint,
    there: &Endpoint,
    role: &Role,
) {
    let wanted = match kind(situation, endpoint, Some(&there.kind)) {
        Ok(wanted) => wanted,
        Err(message) => return draft.incomplete(role, message),
    };
    match change(&wanted, &there.kind) {
        Some(change) if change != EndpointChange::default() => {
            let change = Change::ModifyVpcEndpoint { endpoint: there.id.clone(), change };
            draft.fix(role, change, format!("{} is not connected as requested", there.id));
        }
        Some(_) => {}
        None => {
            let message = format!("{} has another type; delete it to have it created again", there.id);
            draft.note(role, Weight::Failed, Reason::EndpointDiffers, message);
        }
    }
}

/// What has to change; `None` if the type is another one.
fn change(wanted: &EndpointKind, there: &EndpointKind) -> Option<EndpointChange> {
    match (wanted, there) {
        (EndpointKind::Gateway { tables: wanted }, EndpointKind::Gateway { tables: there }) => {
            Some(EndpointChange {
                add_tables: wanted.difference(there).cloned().collect(),
                remove_tables: there.difference(wanted).cloned().collect(),
                ..EndpointChange::default()
            })
        }
        (
            EndpointKind::Interface { subnets, groups, private_dns },
            EndpointKind::Interface { subnets: there_in, groups: there_of, private_dns: there_dns },
        ) => Some(EndpointChange {
            add_subnets: subnets.difference(there_in).cloned().collect(),
            remove_subnets: there_in.difference(subnets).cloned().collect(),
            add_groups: groups.difference(there_of).cloned().collect(),
            remove_groups: there_of.difference(groups).cloned().collect(),
            private_dns: (private_dns != there_dns).then_some(*private_dns),
            ..EndpointChange::default()
        }),
        (
            EndpointKind::Gateway { .. } | EndpointKind::Interface { .. } | EndpointKind::Other(_),
            EndpointKind::Gateway { .. } | EndpointKind::Interface { .. } | EndpointKind::Other(_),
        ) => None,
    }
}

fn delete_removed(situation: &Situation<'_>, draft: &mut Draft) {
    let removed = situation
        .held
        .iter()
        .filter(|(role, _)| matches!(role, Role::Endpoint(_)) && !situation.wanted.roles.contains(*role));
    let mut endpoints: BTreeSet<EndpointId> = BTreeSet::new();
    let mut first = None;
    for (role, held) in removed {
        let id = EndpointId::from(held.id.as_str());
        let Some(there) = situation.own.endpoints.get(&id) else { continue };
        draft.note(
            role,
            Weight::Pending,
            Reason::CreatingNetwork,
            "it is no longer requested and is being deleted",
        );
        if there.state == EndpointState::Deleting {
            draft.watch(situation, Kind::Endpoint);
        } else {
            endpoints.insert(id);
            first.get_or_insert(role);
        }
    }
    if let Some(role) = first {
        let change = Change::DeleteVpcEndpoints { endpoints };
        draft.send(situation, role, change, "they are no longer requested");
    }
}
