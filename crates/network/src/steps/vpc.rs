//! The VPC: the planner creates the network's and sets its ranges and attributes; of the user's it reports what is not as a network needs it.

use crate::desired::DesiredVpc;
use crate::draft::{Draft, Weight};
use crate::recorded::{Intent, Origin};
use crate::role::Role;
use crate::situation::Situation;
use crate::timing::{ATTRIBUTES, USERS};
use foo_model::network::{Change, CidrState, DnsAttribute, Kind, Scope, Vpc};
use foo_model::{Reason, Timestamp, VpcId};
use ipnet::Ipv4Net;
use std::collections::BTreeSet;

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    match &situation.desired.vpc {
        DesiredVpc::Managed { cidr, secondary } => managed(situation, draft, *cidr, secondary),
        DesiredVpc::Existing(id) => existing(situation, draft, id),
    }
}

fn managed(situation: &Situation<'_>, draft: &mut Draft, cidr: Ipv4Net, secondary: &[Ipv4Net]) {
    let role = Role::Vpc;
    let ipv6 = situation.desired.ipv6;
    let tags = crate::tags::of(situation.desired, &role);
    draft.create(situation, &role, |_| Change::CreateVpc { cidr, ipv6, tags });
    if ipv6 && draft.actions.iter().any(|it| matches!(it.change, Change::CreateVpc { .. })) {
        // The range comes with the VPC, but not with the response.
        let intent = Intent { since: situation.now, attempt: 0, origin: Origin::Assumed };
        draft.record.intents.insert(Role::VpcIpv6, intent);
    }
    let Some(vpc) = situation.vpc() else { return };
    draft.content(&role, &(secondary, ipv6));
    ranges(situation, draft, vpc, secondary);
    if ipv6 {
        ipv6_range(situation, draft, vpc);
    }
    if attributes_are_known(situation, draft, vpc) {
        attributes(draft, vpc);
    }
}

fn ranges(situation: &Situation<'_>, draft: &mut Draft, vpc: &Vpc, secondary: &[Ipv4Net]) {
    for cidr in secondary {
        let there = vpc.cidrs.iter().find(|it| it.range == *cidr && !is_over(it.state));
        match there.map(|it| it.state) {
            Some(CidrState::Associated) => {}
            Some(CidrState::Associating) => {
                draft.incomplete(&Role::Vpc, format!("AWS adds the range {cidr}"));
                draft.watch(situation, Kind::Vpc);
            }
            Some(_) => {
                draft.incomplete(&Role::Vpc, format!("AWS could not add the range {cidr}, or removes it"));
                draft.watch(situation, Kind::Vpc);
            }
            None => {
                let change = Change::AssociateVpcCidrBlock { vpc: vpc.id.clone(), cidr: *cidr };
                draft.fix(&Role::Vpc, change, format!("the range {cidr} is missing"));
            }
        }
    }
}

fn is_over(state: CidrState) -> bool {
    match state {
        CidrState::Disassociated | CidrState::Failed => true,
        CidrState::Associating | CidrState::Associated | CidrState::Disassociating | CidrState::Failing => {
            false
        }
    }
}

fn ipv6_range(situation: &Situation<'_>, draft: &mut Draft, vpc: &Vpc) {
    if situation.held.contains_key(&Role::VpcIpv6) {
        if situation.ipv6_range().is_none() {
            draft.incomplete(&Role::Vpc, "AWS adds an IPv6 range");
            draft.watch(situation, Kind::Vpc);
        }
        return;
    }
    let role = Role::VpcIpv6;
    if let Some(intent) = situation.record.intents.get(&role) {
        draft.incomplete(&Role::Vpc, "AWS does not show the IPv6 range yet");
        draft.watch(situation, Kind::Vpc);
        draft.wait_for_intent(situation, &role, &intent.clone());
        return;
    }
    let change = Change::AssociateVpcIpv6 { vpc: vpc.id.clone() };
    if draft.send(situation, &role, change, "the VPC has no IPv6 range") {
        let intent = Intent { since: situation.now, attempt: 0, origin: Origin::Decided };
        draft.record.intents.insert(role, intent);
    }
}

/// The attributes are not part of a VPC's description; they are read rarely, because only users change them.
fn attributes_are_known(situation: &Situation<'_>, draft: &mut Draft, vpc: &Vpc) -> bool {
    let begun = situation.observed.attributes.get(&vpc.id).map(|it| it.begun);
    let known = vpc.dns_support.is_some() && vpc.dns_hostnames.is_some();
    let lost = response_lost(situation, vpc).filter(|lost| begun.is_none_or(|begun| begun < *lost));
    let from = match (lost, begun) {
        // Only this read shows whether the change happened.
        (Some(lost), _) => lost,
        (None, Some(begun)) => begun.plus(ATTRIBUTES),
        // Responses to the provider's own calls show them.
        (None, None) if known => situation.now.plus(ATTRIBUTES),
        (None, None) => situation.now,
    };
    draft.request_read_in(Kind::VpcAttributes, Scope::Ids(BTreeSet::from([vpc.id.to_string()])), from);
    if !known {
        draft.incomplete(&Role::Vpc, "waiting for a read of the VPC's attributes");
    }
    known
}

/// When a change of an attribute was sent last whose response was lost.
fn response_lost(situation: &Situation<'_>, vpc: &Vpc) -> Option<Timestamp> {
    let lost = situation.memory.calls.failures.iter().filter(|it| it.lost);
    let of_vpc = lost.filter(
        |it| matches!(&it.action.change, Change::ModifyVpcAttribute { vpc: id, .. } if *id == vpc.id),
    );
    of_vpc.map(|it| it.at).max()
}

/// Sets the attributes one after the other: AWS gives instances names only in a VPC that resolves names.
fn attributes(draft: &mut Draft, vpc: &Vpc) {
    let set = |attribute| Change::ModifyVpcAttribute { vpc: vpc.id.clone(), attribute, enabled: true };
    if vpc.dns_support == Some(false) {
        draft.fix(&Role::Vpc, set(DnsAttribute::Support), "enableDnsSupport is off");
    } else if vpc.dns_hostnames == Some(false) {
        draft.fix(&Role::Vpc, set(DnsAttribute::Hostnames), "enableDnsHostnames is off");
    }
}

fn existing(situation: &Situation<'_>, draft: &mut Draft, id: &VpcId) {
    let scope = Scope::Ids(BTreeSet::from([id.to_string()]));
    let begun = situation.observed.by_id.begun.get(&Kind::Vpc).and_then(|ids| ids.get(id.as_str())).copied();
    draft.request_read_in(Kind::Vpc, scope, begun.map_or(situation.now, |begun| begun.plus(USERS)));
    let say = |draft: &mut Draft, reason, message: String| {
        draft.note(&Role::Vpc, Weight::Failed, reason, message);
    };
    let Some(vpc) = situation.vpc() else {
        return match begun {
            Some(_) => say(draft, Reason::VpcNotFound, format!("there is no {id}")),
            None => {
                draft.note(
                    &Role::Vpc,
                    Weight::Pending,
                    Reason::CreatingNetwork,
                    "waiting for a read of the VPC",
                );
            }
        };
    };
    if situation.desired.account.as_ref().is_some_and(|account| *account != vpc.owner) {
        let message = format!("{id} belongs to the account {}", vpc.owner);
        say(draft, Reason::VpcOfAnotherAccount, message);
    }
    if situation.desired.ipv6 && situation.ipv6_range().is_none() {
        say(draft, Reason::RangeOutsideVpc, format!("{id} has no IPv6 range; it is not changed here"));
    }
    if attributes_are_known(situation, draft, vpc) {
        for (name, on) in [("enableDnsSupport", vpc.dns_support), ("enableDnsHostnames", vpc.dns_hostnames)] {
            if on == Some(false) {
                say(draft, Reason::VpcDnsDisabled, format!("{name} of {id} is off; it is not changed here"));
            }
        }
    }
}

/// Whether parts may be created in the VPC: it is there, and may be used.
pub(crate) fn may_be_used(situation: &Situation<'_>) -> Option<VpcId> {
    if let DesiredVpc::Existing(_) = situation.desired.vpc {
        let owner = &situation.vpc()?.owner;
        if situation.desired.account.as_ref().is_some_and(|account| account != owner) {
            return None;
        }
    }
    situation.vpc_id()
}
