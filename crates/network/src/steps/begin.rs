//! Decides whether the network may be created, and whether it is ours: zones and quotas are read before
//! anything is created, and the owner of its parts before anything is changed.

use crate::desired::{DesiredVpc, NatMode};
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::{Situation, tagged};
use crate::timing::QUOTA;
use foo_model::names::{TAG_INSTALLATION, TAG_NETWORK};
use foo_model::network::{Change, Kind, Quotas, Scope, Tags};
use foo_model::{Reason, count};
use std::collections::{BTreeMap, BTreeSet};

/// Whether anything may be created or changed.
pub(crate) fn may_act(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    is_of_this_installation(situation, draft)
        && (has_begun(situation) || (zones_exist(situation, draft) && has_room(situation, draft)))
}

/// Whether there is anything of the network, or may be.
pub(crate) fn has_begun(situation: &Situation<'_>) -> bool {
    !situation.held.is_empty() || !situation.record.intents.is_empty()
}

/// What another management cluster has is left alone, unless that gave it up to this one. As long as nobody looked for a VPC, nobody
/// knows whose the network is.
pub(crate) fn is_of_this_installation(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if !situation.was_looked_at(Kind::Vpc) {
        draft.look(Kind::Vpc, situation.now);
        let deleting = situation.desired.being_deleted;
        let reason = if deleting { Reason::DeletingNetwork } else { Reason::CreatingNetwork };
        draft.note(&Role::Vpc, Weight::Pending, reason, "AWS is asked whose the network is");
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
                "{} belong to the management cluster {owner}, this one is {}; nothing is changed",
                some(ids),
                desired.installation
            );
            draft.note(&Role::Vpc, Weight::Failed, Reason::NetworkOfAnotherInstallation, message);
        }
    }
    of_others.is_empty()
}

/// The first few ids.
fn some(ids: &BTreeSet<String>) -> String {
    let first: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
    let more = ids.len().saturating_sub(first.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more parts") };
    format!("{}{more}", first.join(", "))
}

/// Parts of the network by the other management cluster that their tag names. A VPC of ours speaks for what is in it: what looks show
/// only after it was adopted comes with it.
fn of_others(situation: &Situation<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let own = &situation.desired.installation;
    let mut others: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let vpc = situation.id(&Role::Vpc).and_then(|id| situation.ours.vpcs.get(&id.into()));
    if vpc.is_some_and(|vpc| vpc.tags.get(TAG_INSTALLATION) == Some(own)) {
        return others;
    }
    for part in tagged(&situation.ours) {
        if let Some(owner) = part.tags.get(TAG_INSTALLATION).filter(|owner| *owner != own) {
            others.entry(owner.clone()).or_default().insert(part.id);
        }
    }
    others
}

fn zones_exist(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if situation.observed.zones.is_none() {
        draft.look_in(Kind::Zone, Scope::TagKey(TAG_NETWORK.to_owned()), situation.now);
        draft.note(&Role::Vpc, Weight::Pending, Reason::CreatingNetwork, "AWS is asked for its zones");
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
        draft.note(&Role::Vpc, Weight::Pending, Reason::CreatingNetwork, "AWS is asked for its quotas");
        return false;
    };
    let lacks = lacking(situation, quotas);
    if lacks.is_empty() {
        return true;
    }
    draft.wants_quotas = true;
    draft.wake_at(situation.now.plus(QUOTA));
    for (role, message) in lacks {
        draft.note(&role, Weight::Failed, Reason::LimitExceeded, message);
    }
    false
}

/// What the quotas have no room for.
fn lacking(situation: &Situation<'_>, quotas: &Quotas) -> Vec<(Role, String)> {
    let mut lacks = Vec::new();
    let mut check = |role: Role, what: &str, quota: Option<(u32, u32)>, needed: u32| {
        if let Some((quota, there)) = quota
            && needed > 0
            && there.saturating_add(needed) > quota
        {
            let message =
                format!("{needed} more {what} are needed; there are {there} and the quota is {quota}");
            lacks.push((role, message));
        }
    };
    let wanted = &situation.wanted;
    let managed = matches!(situation.desired.vpc, DesiredVpc::Managed { .. });
    check(Role::Vpc, "VPCs", quotas.vpcs, u32::from(managed));
    let gateway = managed && wanted.roles.contains(&Role::InternetGateway);
    check(Role::InternetGateway, "internet gateways", quotas.internet_gateways, u32::from(gateway));
    if let (Some(zone), true) = (wanted.nat_zones.first(), situation.desired.nat != NatMode::None) {
        let needed = count(&wanted.nat_zones);
        check(Role::Address(zone.clone()), "Elastic IP addresses", quotas.addresses, needed);
    }
    let empty = BTreeMap::new();
    let (quota, by_zone) = quotas.nat_gateways.as_ref().map_or((None, &empty), |(q, it)| (Some(*q), it));
    for zone in &wanted.nat_zones {
        let there = by_zone.get(zone).copied().unwrap_or(0);
        let what = format!("NAT gateways in {zone}");
        check(Role::Nat(zone.clone()), &what, quota.map(|quota| (quota, there)), 1);
    }
    lacks
}
