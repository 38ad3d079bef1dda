//! Turns what was found and what is written into a plan into conditions and resources. Decides nothing.

use crate::desired::DesiredVpc;
use crate::draft::{Draft, Note, Weight};
use crate::recorded;
use crate::report::{Condition, ConditionKind, ForeignResource, NAMESAKE, Owner, Resource, State};
use crate::role::Role;
use crate::situation::{Situation, Standing};
use crate::steps::begin;
use foo_calls::report::{Deletion, Status};
use foo_model::network::Kind;
use foo_model::{Reason, Zone};
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;

/// How many things a message names.
const NAMED: usize = 3;

pub(crate) fn conditions(
    situation: &Situation<'_>,
    draft: &Draft,
    deletion: Deletion,
    foreign: &[ForeignResource],
) -> Vec<Condition> {
    if situation.desired.paused {
        return Vec::new();
    }
    let parts: Vec<Condition> = ConditionKind::iter()
        .filter(|kind| !matches!(kind, ConditionKind::NetworkReady | ConditionKind::Deleting))
        .map(|kind| part(situation, draft, kind))
        .collect();
    let mut all = vec![warned(situation, network(situation, &parts))];
    all.extend(parts);
    all.push(deleting(situation, draft, deletion, foreign));
    all
}

/// The condition that a role belongs to.
fn condition_of(role: &Role) -> ConditionKind {
    match role {
        Role::Vpc | Role::VpcIpv6 => ConditionKind::VpcReady,
        Role::Subnet(_) => ConditionKind::SubnetsReady,
        Role::InternetGateway | Role::EgressOnlyGateway | Role::PublicRoutes | Role::PrivateRoutes(_) => {
            ConditionKind::RoutesReady
        }
        Role::Address(_) | Role::Nat(_) => ConditionKind::NatReady,
        Role::SecurityGroup(_) => ConditionKind::SecurityGroupsReady,
        Role::Endpoint(_) => ConditionKind::EndpointsReady,
    }
}

fn condition(kind: ConditionKind, status: Status, reason: Reason, message: String) -> Condition {
    Condition { kind, status, reason, message }
}

fn part(situation: &Situation<'_>, draft: &Draft, kind: ConditionKind) -> Condition {
    if situation.desired.being_deleted {
        return condition(kind, Status::False, Reason::Deleting, String::new());
    }
    let mut notes: Vec<&Note> = draft.notes.iter().filter(|it| condition_of(&it.role) == kind).collect();
    notes.sort_by_key(|it| it.weight);
    let wanted: Vec<&Role> =
        situation.wanted.roles.iter().filter(|role| condition_of(role) == kind).collect();
    if let Some(worst) = notes.first().filter(|it| it.weight != Weight::Noted) {
        let status = if worst.weight == Weight::Drifted { Status::True } else { Status::False };
        return condition(kind, status, worst.reason, message(&notes));
    }
    let acts = draft.actions.iter().any(|it| condition_of(&it.role) == kind);
    let missing: Vec<String> =
        wanted.iter().filter(|role| !exists(situation, role)).map(ToString::to_string).collect();
    if acts || !missing.is_empty() {
        let text = if missing.is_empty() {
            "changes are being made".to_owned()
        } else {
            format!("being created: {}", first_few(&missing, ", "))
        };
        return condition(kind, Status::False, Reason::CreatingNetwork, text);
    }
    let users_vpc = kind == ConditionKind::VpcReady;
    let reason =
        if wanted.is_empty() && !users_vpc { Reason::NothingRequested } else { Reason::NetworkAsRequested };
    condition(kind, Status::True, reason, message(&notes))
}

fn exists(situation: &Situation<'_>, role: &Role) -> bool {
    let users = *role == Role::InternetGateway && situation.users_internet_gateway().is_some();
    users || situation.held.contains_key(role)
}

/// The first few texts with their roles: all that is said of a role is one text, and a text that several roles have is said
/// once.
fn message(notes: &[&Note]) -> String {
    let mut of_roles: Vec<(&Role, Vec<&str>)> = Vec::new();
    for note in notes.iter().filter(|note| !note.message.is_empty()) {
        let text = note.message.as_str();
        match of_roles.iter_mut().find(|(role, _)| **role == note.role) {
            Some((_, texts)) if texts.contains(&text) => {}
            Some((_, texts)) => texts.push(text),
            None => of_roles.push((&note.role, vec![text])),
        }
    }
    let mut with_text: Vec<(String, Vec<String>)> = Vec::new();
    for (role, texts) in of_roles {
        let (text, role) = (texts.join("; "), role.to_string());
        match with_text.iter_mut().find(|(other, _)| *other == text) {
            Some((_, roles)) => roles.push(role),
            None => with_text.push((text, vec![role])),
        }
    }
    let lines: Vec<String> =
        with_text.into_iter().map(|(text, roles)| format!("{}: {text}", first_few(&roles, ", "))).collect();
    named(&lines)
}

fn named(lines: &[String]) -> String {
    first_few(lines, "; ")
}

fn first_few(names: &[String], separator: &str) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!("{separator}and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(separator))
}

fn network(situation: &Situation<'_>, parts: &[Condition]) -> Condition {
    let kind = ConditionKind::NetworkReady;
    if situation.desired.being_deleted {
        return condition(kind, Status::False, Reason::Deleting, String::new());
    }
    let failing: Vec<&Condition> = parts.iter().filter(|it| it.status != Status::True).collect();
    // A person is needed rather than time.
    let worst = failing.iter().find(|it| it.reason != Reason::CreatingNetwork).or_else(|| failing.first());
    if let Some(worst) = worst {
        let name: &'static str = worst.kind.into();
        return condition(kind, Status::False, worst.reason, format!("{name}: {}", worst.message));
    }
    let drifted = parts.iter().find(|it| it.reason == Reason::NetworkDrifted);
    let reason = drifted.map_or(Reason::NetworkAsRequested, |it| it.reason);
    condition(kind, Status::True, reason, drifted.map(|it| it.message.clone()).unwrap_or_default())
}

fn warned(situation: &Situation<'_>, mut network: Condition) -> Condition {
    if begin::has_namesake(situation) {
        let before =
            if network.message.is_empty() { String::new() } else { format!("{}; ", network.message) };
        network.message = format!("{before}warning: {NAMESAKE}");
    }
    network
}

fn deleting(
    situation: &Situation<'_>,
    draft: &Draft,
    deletion: Deletion,
    foreign: &[ForeignResource],
) -> Condition {
    let kind = ConditionKind::Deleting;
    if !situation.desired.being_deleted {
        return condition(kind, Status::False, Reason::NotDeleting, String::new());
    }
    if deletion == Deletion::Done {
        return condition(kind, Status::True, Reason::DeletingNetwork, String::new());
    }
    let failed = draft.notes.iter().find(|it| it.weight == Weight::Failed);
    if let Some(failed) = failed {
        return condition(kind, Status::True, failed.reason, format!("{}: {}", failed.role, failed.message));
    }
    if !foreign.is_empty() {
        let lines: Vec<String> = foreign.iter().map(foreign_resource).collect();
        return condition(kind, Status::True, Reason::ForeignResourcesInVpc, named(&lines));
    }
    let notes: Vec<&Note> = draft.notes.iter().collect();
    condition(kind, Status::True, Reason::DeletingNetwork, message(&notes))
}

/// `interface eni-1 (of Service default/web)`.
fn foreign_resource(it: &ForeignResource) -> String {
    let kind: &'static str = it.kind.into();
    let kind = kind.replace('_', " ");
    let description =
        if it.description.is_empty() { String::new() } else { format!(" ({})", it.description) };
    format!("{kind} {}{description}", it.id)
}

pub(crate) fn resources(situation: &Situation<'_>, draft: &Draft) -> Vec<Resource> {
    let mut roles: BTreeSet<&Role> = situation.held.keys().chain(situation.record.intents.keys()).collect();
    if !situation.desired.being_deleted {
        roles.extend(&situation.wanted.roles);
    }
    let of_network = roles.into_iter().filter(|role| **role != Role::VpcIpv6).map(|role| Resource {
        id: situation.held.get(role).map(|it| it.id.clone()),
        state: state(situation, draft, role),
        owner: Owner::Network,
        zone: zone(situation, role),
        message: notes_of(draft, role),
        role: role.clone(),
    });
    let users = users(situation, draft);
    let names: BTreeSet<Role> = users.iter().map(|it| it.role.clone()).collect();
    users.into_iter().chain(of_network.filter(|it| !names.contains(&it.role))).collect()
}

fn notes_of(draft: &Draft, role: &Role) -> String {
    let notes: Vec<&str> = draft
        .notes
        .iter()
        .filter(|it| it.role == *role && !it.message.is_empty())
        .map(|it| it.message.as_str())
        .collect();
    notes.join("; ")
}

/// What is the user's: the VPC, and the internet gateway that was attached before.
fn users(situation: &Situation<'_>, draft: &Draft) -> Vec<Resource> {
    let DesiredVpc::Existing(vpc) = &situation.desired.vpc else { return Vec::new() };
    let user = |role: Role, id: String, state| {
        let message = notes_of(draft, &role);
        Resource { role, id: Some(id), state, owner: Owner::User, zone: None, message }
    };
    let state = match situation.vpc() {
        Some(_) if draft.notes.iter().any(|it| it.role == Role::Vpc && it.weight == Weight::Failed) => {
            State::Failed
        }
        Some(_) => State::Ready,
        None => State::Missing,
    };
    let mut users = vec![user(Role::Vpc, vpc.to_string(), state)];
    if let Some(gateway) = situation.users_internet_gateway()
        && !situation.held.contains_key(&Role::InternetGateway)
    {
        users.push(user(Role::InternetGateway, gateway.id.to_string(), State::Ready));
    }
    users
}

fn state(situation: &Situation<'_>, draft: &Draft, role: &Role) -> State {
    let has = |weight| draft.notes.iter().any(|it| it.role == *role && it.weight == weight);
    let held = situation.held.get(role);
    let goes = matches!(
        role.kind(),
        Kind::NatGateway | Kind::Address | Kind::Endpoint | Kind::SecurityGroup | Kind::EgressOnlyGateway
    );
    let unwanted = !situation.wanted.roles.contains(role);
    match held {
        // The status is the record: this state says that the deletion is sent, not that it is to be.
        Some(_) if is_deletion_sent(draft, role) => State::Deleting,
        Some(_) if unwanted && !goes && !situation.desired.being_deleted => State::NotRequested,
        _ if has(Weight::Failed) => State::Failed,
        Some(held) if held.standing != Standing::Shown => State::Pending,
        Some(_) if has(Weight::Pending) || draft.actions.iter().any(|it| it.role == *role) => State::Pending,
        Some(_) => State::Ready,
        None if situation.record.intents.contains_key(role)
            || draft.actions.iter().any(|it| it.role == *role) =>
        {
            State::Pending
        }
        None => State::Missing,
    }
}

fn is_deletion_sent(draft: &Draft, role: &Role) -> bool {
    draft.record.parts.get(role).is_some_and(|part| part.deletion == recorded::Deletion::Sent)
}

fn zone(situation: &Situation<'_>, role: &Role) -> Option<Zone> {
    match role {
        Role::Address(zone) | Role::Nat(zone) | Role::PrivateRoutes(zone) => Some(zone.clone()),
        Role::Subnet(key) => {
            let there = situation.subnet(key).map(|it| it.zone.clone());
            let desired = situation.desired.subnets.iter().find(|it| it.key == *key);
            there.or_else(|| desired.map(|it| it.zone.clone()))
        }
        Role::Vpc
        | Role::VpcIpv6
        | Role::InternetGateway
        | Role::EgressOnlyGateway
        | Role::PublicRoutes
        | Role::SecurityGroup(_)
        | Role::Endpoint(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_said_once_and_so_is_a_role() {
        let note = |role: &str, message: &str| Note {
            role: Role::parse(role).unwrap(),
            weight: Weight::Pending,
            reason: Reason::CreatingNetwork,
            message: message.to_owned(),
        };
        let says = |notes: &[Note]| message(&notes.iter().collect::<Vec<_>>());
        let subnet = |letter: &str| note(&format!("subnet/private/{letter}"), "waits for the VPC");
        assert_eq!(
            says(&["a", "b", "c", "d", "e"].map(subnet)),
            "subnet/private/a, subnet/private/b, subnet/private/c, and 2 more: waits for the VPC"
        );
        assert_eq!(
            says(&[
                note("routes/private/a", "waits for the NAT gateway"),
                note("routes/public", "waits for its subnets"),
                note("routes/private/a", "waits for its subnets"),
                note("routes/private/a", "waits for its subnets"),
                note("routes/private/b", ""),
            ]),
            "routes/private/a: waits for the NAT gateway; waits for its subnets; routes/public: waits for its subnets"
        );
        let four = ["a", "b", "c", "d"]
            .map(|letter| note(&format!("nat/{letter}"), &format!("{letter} is pending")));
        assert_eq!(says(&four), "nat/a: a is pending; nat/b: b is pending; nat/c: c is pending; and 1 more");
    }
}
