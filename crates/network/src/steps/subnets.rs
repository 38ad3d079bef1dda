//! Subnets: created in a range that the VPC has, their IPv6 ranges and attributes.

use super::begin::zone_exists;
use super::vpc;
use crate::desired::{DesiredSubnet, DesiredVpc};
use crate::draft::{Draft, Weight};
use crate::memory::Failure;
use crate::role::Role;
use crate::situation::Situation;
use foo_model::Reason;
use foo_model::network::{Change, CidrState, Kind, Scope, Subnet, SubnetAttribute};
use ipnet::{Ipv4Net, Ipv6Net};
use std::net::Ipv6Addr;

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    for subnet in &situation.desired.subnets {
        let role = Role::Subnet(subnet.key.clone());
        create(situation, draft, subnet, &role);
        if let Some(there) = situation.subnet(&subnet.key) {
            draft.content(&role, &(subnet.ipv6_index, subnet.public_ip_on_launch));
            attend(situation, draft, subnet, there, &role);
        }
    }
}

fn create(situation: &Situation<'_>, draft: &mut Draft, subnet: &DesiredSubnet, role: &Role) {
    if draft.holds(situation, role) {
        return;
    }
    let Some(vpc) = vpc::may_be_used(situation) else {
        return draft.note(role, Weight::Pending, Reason::CreatingNetwork, "waits for the VPC");
    };
    if !zone_exists(situation, &subnet.zone) {
        let message = format!("there is no zone {} in the region", subnet.zone);
        return draft.note(role, Weight::Failed, Reason::ZoneNotFound, message);
    }
    match range(situation, subnet.cidr) {
        Range::There => {}
        Range::Coming => {
            return draft.note(role, Weight::Pending, Reason::CreatingNetwork, "waits for its range");
        }
        Range::Outside => {
            let message = format!("{} is in none of the ranges of {vpc}", subnet.cidr);
            return draft.note(role, Weight::Failed, Reason::RangeOutsideVpc, message);
        }
    }
    if !others_are_known(situation, draft) {
        let message = format!("waiting for a read of the subnets of {vpc}");
        return draft.note(role, Weight::Pending, Reason::CreatingNetwork, message);
    }
    let ipv6 = ipv6_of(situation, subnet);
    if ipv6.is_none() && wants_ipv6(situation, subnet) {
        let message = "waits for the IPv6 range of the VPC";
        return draft.note(role, Weight::Pending, Reason::CreatingNetwork, message);
    }
    let tags = crate::tags::of(situation.desired, role);
    let (zone, cidr) = (subnet.zone.clone(), subnet.cidr);
    draft.create(situation, role, |_| Change::CreateSubnet { vpc, zone, cidr, ipv6, tags });
}

/// Whether a read showed the subnets that the user's VPC has already: the controller carves ranges around them. Requests the first
/// read, and another one when AWS says that a range is taken.
fn others_are_known(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let DesiredVpc::Existing(vpc) = &situation.desired.vpc else { return true };
    let read = situation.observed.in_vpc.get(vpc);
    let begun = read.and_then(|read| read.begun.get(&Kind::Subnet)).copied();
    let taken = situation.memory.calls.failures.iter().filter(|it| says_taken(it)).map(|it| it.at).max();
    let from = match begun {
        None => Some(situation.now),
        Some(begun) => taken.filter(|taken| *taken > begun),
    };
    if let Some(from) = from {
        draft.request_read_in(Kind::Subnet, Scope::Vpc(vpc.clone()), from);
    }
    begun.is_some()
}

/// Whether AWS refused a subnet because another one has its range (EC2 API Reference, "Error codes").
fn says_taken(failure: &Failure) -> bool {
    matches!(failure.action.change, Change::CreateSubnet { .. })
        && failure.refusal.code.as_deref() == Some("InvalidSubnet.Conflict")
}

/// Whether the VPC has a range that a subnet is in.
enum Range {
    There,
    Coming,
    Outside,
}

fn range(situation: &Situation<'_>, cidr: Ipv4Net) -> Range {
    let (first, secondary): (Option<Ipv4Net>, &[Ipv4Net]) = match &situation.desired.vpc {
        DesiredVpc::Managed { cidr, secondary } => (Some(*cidr), secondary),
        DesiredVpc::Existing(_) => (situation.vpc().map(|it| it.cidr), &[]),
    };
    let there = situation.vpc().into_iter().flat_map(|it| &it.cidrs);
    let mut there = there.filter(|it| it.state == CidrState::Associated).map(|it| it.range);
    if first.is_some_and(|it| it.contains(&cidr)) || there.any(|it| it.contains(&cidr)) {
        Range::There
    } else if secondary.iter().any(|it| it.contains(&cidr)) {
        Range::Coming
    } else {
        Range::Outside
    }
}

fn wants_ipv6(situation: &Situation<'_>, subnet: &DesiredSubnet) -> bool {
    situation.desired.ipv6 && subnet.ipv6_index.is_some()
}

/// The /64 of a subnet: the VPC's /56 and the subnet's number.
fn ipv6_of(situation: &Situation<'_>, subnet: &DesiredSubnet) -> Option<Ipv6Net> {
    let index = subnet.ipv6_index.filter(|_| situation.desired.ipv6)?;
    let vpc = situation.ipv6_range()?;
    let bits = u128::from(vpc.network()) | (u128::from(index) << 64);
    Ipv6Net::new(Ipv6Addr::from(bits), 64).ok().filter(|it| vpc.contains(it))
}

fn attend(situation: &Situation<'_>, draft: &mut Draft, subnet: &DesiredSubnet, there: &Subnet, role: &Role) {
    let id = &there.id;
    if there.cidr != subnet.cidr || there.zone != subnet.zone {
        let message = format!(
            "{id} is {} in {}, requested is {} in {}; a subnet cannot be changed",
            there.cidr, there.zone, subnet.cidr, subnet.zone
        );
        draft.note(role, Weight::Failed, Reason::SubnetDiffers, message);
    }
    if there.state == "pending" {
        draft.watch(situation, Kind::Subnet);
    } else if there.state != "available" {
        draft.note(role, Weight::Failed, Reason::SubnetUnusable, format!("AWS says it is {}", there.state));
    }
    let set = |attribute, enabled| Change::ModifySubnetAttribute { subnet: id.clone(), attribute, enabled };
    if there.public_ip_on_launch != subnet.public_ip_on_launch {
        let change = set(SubnetAttribute::PublicIpOnLaunch, subnet.public_ip_on_launch);
        draft.fix(role, change, format!("mapPublicIpOnLaunch of {id} is {}", there.public_ip_on_launch));
    }
    if !wants_ipv6(situation, subnet) {
        return;
    }
    let states = there.ipv6.iter().map(|it| it.state);
    if states.clone().any(|it| it == CidrState::Associated) {
        if !there.ipv6_on_creation {
            let change = set(SubnetAttribute::Ipv6OnCreation, true);
            draft.fix(role, change, format!("assignIpv6AddressOnCreation of {id} is off"));
        }
    } else if states.clone().any(|it| it == CidrState::Associating) {
        draft.incomplete(role, "AWS adds its IPv6 range");
        draft.watch(situation, Kind::Subnet);
    } else if let Some(ipv6) = ipv6_of(situation, subnet) {
        let change = Change::AssociateSubnetCidrBlock { subnet: id.clone(), ipv6 };
        draft.fix(role, change, format!("{id} has no IPv6 range"));
    } else {
        draft.incomplete(role, "waits for the IPv6 range of the VPC");
    }
}
