//! Decides whether the network may be created, and whether it is the network's: zones and quotas are read before
//! anything is created or an edit adds what a quota counts, and the owner of its parts before anything is changed.

use crate::desired::DesiredVpc;
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::{Situation, Tagged, tagged};
use crate::tags;
use crate::timing::QUOTA;
use foo_model::names::{ADOPT_FROM_ANNOTATION, NETWORK_ID_ANNOTATION, TAG_INSTALLATION, TAG_NETWORK};
use foo_model::network::{Change, EndpointState, Kind, NatState, Quotas, Scope, Tags};
use foo_model::{Reason, count};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// When a plan that a quota has no room for is tried again ([`QUOTA`]).
const QUOTAS_ARE_READ_AGAIN: &str = "the quotas are read again every 5 minutes";

/// Whether anything may be created or changed.
pub(crate) fn may_act(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if !is_of_this_installation(situation, draft) || !is_the_only_one(situation, draft) {
        return false;
    }
    if has_begun(situation) {
        withhold(situation, draft);
        return true;
    }
    zones_exist(situation, draft) && has_room(situation, draft)
}

/// Whether there is anything of the network, or may be.
pub(crate) fn has_begun(situation: &Situation<'_>) -> bool {
    !situation.held.is_empty() || !situation.record.intents.is_empty()
}

/// The provider leaves alone what another management cluster has, unless that one released it to this one. Before the first read of VPCs the
/// planner does not know whose the network is.
pub(crate) fn is_of_this_installation(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if !situation.was_read(Kind::Vpc) {
        draft.request_read(Kind::Vpc, situation.now);
        let deleting = situation.desired.being_deleted;
        let reason = if deleting { Reason::DeletingNetwork } else { Reason::CreatingNetwork };
        draft.note(&Role::Vpc, Weight::Pending, reason, "waiting for a read of the network's owner");
        return false;
    }
    let desired = situation.desired;
    let of_others = of_others(situation);
    for (owner, ids) in &of_others {
        if desired.adopt_from.as_ref() == Some(owner) {
            let tags = Tags::from([(TAG_INSTALLATION.to_owned(), desired.installation.clone())]);
            let change = Change::CreateTags { ids: ids.clone(), tags };
            draft.send(situation, &Role::Vpc, change, format!("adopted from {owner}"));
        } else {
            let message = format!(
                "{} belong to the management cluster {owner}, this one is {}; nothing is changed. If that one no longer manages the \
                 network, set the annotation {ADOPT_FROM_ANNOTATION}={owner} on this FooCluster",
                some(ids),
                desired.installation
            );
            draft.note(&Role::Vpc, Weight::Failed, Reason::NetworkOfAnotherInstallation, message);
        }
    }
    of_others.is_empty()
}

/// A Cluster has one network. A second one is not begun while parts of another one carry the tags of this management cluster and Cluster:
/// etcd was restored to before the FooCluster, or a FooCluster was deleted whose network was retained.
fn is_the_only_one(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if !situation.held.is_empty() {
        return true;
    }
    if Kind::OF_A_NETWORK.into_iter().any(|kind| !situation.was_read(kind)) {
        let message = "waiting for a read of the Cluster's networks";
        draft.note(&Role::Vpc, Weight::Pending, Reason::CreatingNetwork, message);
        return false;
    }
    let desired = situation.desired;
    let others: Vec<Tagged> =
        tagged(&situation.others).into_iter().filter(|it| !is_deleted(situation, it)).collect();
    if others.iter().any(|it| tags::are_of_another_cluster(desired, &it.tags)) {
        let message = format!(
            "the annotation {NETWORK_ID_ANNOTATION} names the network of another Cluster; nothing is created"
        );
        draft.note(&Role::Vpc, Weight::Failed, Reason::NetworkOfAnotherCluster, message);
        return false;
    }
    let earlier: Vec<Tagged> =
        others.into_iter().filter(|it| tags::are_of_an_earlier_one(desired, &it.tags)).collect();
    earlier.is_empty() || {
        holds_back(situation, draft, &earlier);
        false
    }
}

/// Whether another management cluster has a network for a Cluster of this namespace and name: one that was rebuilt with another id, or one
/// that shares the account. That holds nothing back: the second one is as likely.
pub(crate) fn has_namesake(situation: &Situation<'_>) -> bool {
    let desired = situation.desired;
    let is_one = |it: &Tagged| tags::are_of_a_namesake(desired, &it.tags) && !is_deleted(situation, it);
    !desired.being_deleted && tagged(&situation.others).iter().any(is_one)
}

/// Reports what exists and how it is restored, once reads show it that began after this process saw the FooCluster.
fn holds_back(situation: &Situation<'_>, draft: &mut Draft, earlier: &[Tagged]) {
    let started = situation.memory.calls.started.unwrap_or(situation.now);
    let mut is_confirmed = true;
    for kind in earlier.iter().map(|it| it.kind) {
        let begun = situation.observed.tagged.begun.get(&kind).copied().unwrap_or(started);
        is_confirmed &= begun >= started;
        draft.request_read(kind, if begun < started { started } else { begun.plus(QUOTA) });
    }
    if !is_confirmed {
        let message = "waiting for a read of an earlier FooCluster's network";
        return draft.note(&Role::Vpc, Weight::Pending, Reason::CreatingNetwork, message);
    }
    let ids: BTreeSet<String> = match earlier.iter().find(|it| it.kind == Kind::Vpc) {
        Some(vpc) => BTreeSet::from([vpc.id.clone()]),
        None => earlier.iter().map(|it| it.id.clone()).collect(),
    };
    let message = format!(
        "a network of this Cluster exists that another FooCluster created: {}; no second one is created. If that FooCluster does not exist \
         any more, take the network back: set the annotation {NETWORK_ID_ANNOTATION} of this FooCluster to the value of the tag \
         {TAG_NETWORK} (kubectl annotate --overwrite foocluster <name> {NETWORK_ID_ANNOTATION}=<value>); or delete what exists",
        some(&ids)
    );
    draft.note(&Role::Vpc, Weight::Failed, Reason::EarlierNetworkExists, message);
}

/// EC2 shows NAT gateways and endpoints for a while after they are deleted.
fn is_deleted(situation: &Situation<'_>, part: &Tagged) -> bool {
    let others = &situation.others;
    match part.kind {
        Kind::NatGateway => {
            others.nat_gateways.get(&part.id.as_str().into()).is_some_and(|it| it.state == NatState::Deleted)
        }
        Kind::Endpoint => others
            .endpoints
            .get(&part.id.as_str().into())
            .is_some_and(|it| it.state == EndpointState::Deleted),
        _ => false,
    }
}

/// The first few ids.
fn some(ids: &BTreeSet<String>) -> String {
    let first: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
    let more = ids.len().saturating_sub(first.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more parts") };
    format!("{}{more}", first.join(", "))
}

/// Parts of the network by the other management cluster that their tag names. A VPC of the network speaks for what is in it: what reads show
/// only after it was adopted comes with it.
fn of_others(situation: &Situation<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let own = &situation.desired.installation;
    let mut others: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let vpc = situation.id(&Role::Vpc).and_then(|id| situation.own.vpcs.get(&id.into()));
    if vpc.is_some_and(|vpc| vpc.tags.get(TAG_INSTALLATION) == Some(own)) {
        return others;
    }
    for part in tagged(&situation.own) {
        if let Some(owner) = part.tags.get(TAG_INSTALLATION).filter(|owner| *owner != own) {
            others.entry(owner.clone()).or_default().insert(part.id);
        }
    }
    others
}

fn zones_exist(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if situation.observed.zones.is_none() {
        draft.request_read_in(Kind::Zone, Scope::TagKey(TAG_NETWORK.to_owned()), situation.now);
        draft.note(&Role::Vpc, Weight::Pending, Reason::CreatingNetwork, "waiting for a read of the zones");
        return false;
    }
    let missing: Vec<_> =
        situation.desired.subnets.iter().filter(|it| !zone_exists(situation, &it.zone)).collect();
    for subnet in &missing {
        let message = format!("there is no zone {} in the region", subnet.zone);
        draft.note(&Role::Subnet(subnet.key.clone()), Weight::Failed, Reason::ZoneNotFound, message);
    }
    missing.is_empty()
}

/// Whether a zone exists. If the zones are not known, AWS will say it.
pub(crate) fn zone_exists(situation: &Situation<'_>, zone: &foo_model::Zone) -> bool {
    situation.observed.zones.as_ref().is_none_or(|zones| zones.contains_key(zone))
}

fn has_room(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let Some(quotas) = &situation.observed.quotas else {
        draft.wants_quotas = true;
        draft.note(&Role::Vpc, Weight::Pending, Reason::CreatingNetwork, "waiting for a read of the quotas");
        return false;
    };
    let lacks = lacking(situation, quotas);
    if lacks.is_empty() {
        return true;
    }
    draft.wants_quotas = true;
    draft.wake_at(situation.now.plus(QUOTA));
    for lack in lacks {
        let message = format!("{}; {QUOTAS_ARE_READ_AGAIN}", lack.message);
        draft.note(&lack.first, Weight::Failed, Reason::LimitExceeded, message);
    }
    false
}

/// An edit (another zone, another NAT mode) may need more than the quotas have room for: those parts are not created. Everything else
/// of the network is.
fn withhold(situation: &Situation<'_>, draft: &mut Draft) {
    let counted: Vec<Role> = counted(situation).collect();
    if counted.is_empty() {
        return;
    }
    let Some(quotas) = &situation.observed.quotas else {
        draft.wants_quotas = true;
        for role in counted {
            draft.note(&role, Weight::Pending, Reason::CreatingNetwork, "waiting for a read of the quotas");
            draft.withheld.insert(role);
        }
        return;
    };
    for lack in lacking(situation, quotas) {
        draft.wants_quotas = true;
        draft.wake_at(situation.now.plus(QUOTA));
        let message = format!("{}; {QUOTAS_ARE_READ_AGAIN}", lack.message);
        draft.note(&lack.first, Weight::Failed, Reason::LimitExceeded, message);
        let roles: Vec<Role> = iter::once(lack.first).chain(lack.rest).collect();
        // An address without its gateway costs money and does nothing.
        draft.withheld.extend(roles.iter().filter_map(address_of).filter(|it| counted.contains(it)));
        draft.withheld.extend(roles);
    }
}

/// The address of a NAT gateway.
fn address_of(role: &Role) -> Option<Role> {
    match role {
        Role::Nat(zone) => Some(Role::Address(zone.clone())),
        Role::Vpc
        | Role::VpcIpv6
        | Role::Subnet(_)
        | Role::InternetGateway
        | Role::EgressOnlyGateway
        | Role::Address(_)
        | Role::PublicRoutes
        | Role::PrivateRoutes(_)
        | Role::SecurityGroup(_)
        | Role::Endpoint(_) => None,
    }
}

/// Parts that are to be created and that a quota counts.
fn counted<'a>(situation: &'a Situation<'_>) -> impl Iterator<Item = Role> + 'a {
    let managed = matches!(situation.desired.vpc, DesiredVpc::Managed { .. });
    let is_counted = move |role: &&Role| match role {
        Role::Vpc | Role::InternetGateway => managed,
        Role::Address(_) | Role::Nat(_) => true,
        Role::VpcIpv6
        | Role::Subnet(_)
        | Role::EgressOnlyGateway
        | Role::PublicRoutes
        | Role::PrivateRoutes(_)
        | Role::SecurityGroup(_)
        | Role::Endpoint(_) => false,
    };
    let exists =
        |role: &Role| situation.held.contains_key(role) || situation.record.intents.contains_key(role);
    let wanted = situation.wanted.roles.iter().filter(is_counted);
    wanted.filter(move |role| !exists(role)).cloned()
}

/// Parts that a quota has no room for.
struct Lack {
    first: Role,
    rest: Vec<Role>,
    message: String,
}

/// What the quotas have no room for.
fn lacking(situation: &Situation<'_>, quotas: &Quotas) -> Vec<Lack> {
    let counted: Vec<Role> = counted(situation).collect();
    let mut lacks = Vec::new();
    let mut check = |what: &str, quota: Option<(u32, u32)>, is_it: &dyn Fn(&Role) -> bool| {
        let mut roles = counted.iter().filter(|role| is_it(role)).cloned();
        let (Some((quota, there)), Some(first)) = (quota, roles.next()) else { return };
        let rest: Vec<Role> = roles.collect();
        let needed = count(&rest).saturating_add(1);
        if there.saturating_add(needed) > quota {
            let message =
                format!("{needed} more {what} are needed; there are {there} and the quota is {quota}");
            lacks.push(Lack { first, rest, message });
        }
    };
    check("VPCs", quotas.vpcs, &|role| *role == Role::Vpc);
    check("internet gateways", quotas.internet_gateways, &|role| *role == Role::InternetGateway);
    check("Elastic IP addresses", quotas.addresses, &|role| matches!(role, Role::Address(_)));
    if let Some((quota, by_zone)) = &quotas.nat_gateways {
        for zone in &situation.wanted.nat_zones {
            let there = by_zone.get(zone).copied().unwrap_or(0);
            let what = format!("NAT gateways in {zone}");
            check(&what, Some((*quota, there)), &|role| *role == Role::Nat(zone.clone()));
        }
    }
    lacks
}
