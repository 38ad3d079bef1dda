//! In which subnets the control plane is, as far as EKS accepts them: at its creation not those of zones without control planes, and
//! afterwards only those of the zones that it has (EKS User Guide, "View Amazon EKS networking requirements for VPC and subnets").
//! Security groups can always be changed.

use crate::desired::{Desired, Setting, SubnetChoice};
use crate::draft::{Draft, Weight};
use crate::recorded::UpdateKind;
use crate::refusals::zones_with_room;
use crate::report::ConditionKind;
use crate::situation::Situation;
use foo_model::eks::{Cluster, ConfigUpdate, IpFamily, Placement};
use foo_model::{Reason, SubnetId};
use std::collections::BTreeSet;

const KIND: ConditionKind = ConditionKind::ClusterReady;

/// Where a new control plane is put. `None`: that is not known yet, or EKS would refuse it, which the condition says.
pub(crate) fn at_creation(situation: &Situation<'_>, draft: &mut Draft) -> Option<Placement> {
    let desired = situation.desired;
    let mut placement = desired.placement.clone().unwrap_or_default();
    let all = placement.subnets.len();
    if desired.subnet_choice == SubnetChoice::Network
        && let Some(zones) = zones_that_eks_named(situation)
    {
        placement.subnets.retain(|id| zone_of(desired, id).is_none_or(|zone| zones.contains(zone)));
    }
    if placement.subnets.len() >= 2 {
        return has_family(desired, draft, &placement).then_some(placement);
    }
    let message = match placement.subnets.first() {
        Some(only) if placement.subnets.len() < all => format!(
            "the control plane needs subnets in two zones, and of those of the FooCluster only {only} is in a zone in which EKS has \
             control planes: add a zone to the network, or list other subnets in spec.eks.subnets"
        ),
        Some(only) => format!("the control plane needs subnets in two zones, and there is only {only}"),
        None => {
            "the control plane needs subnets in two zones, which the FooCluster does not have yet".to_owned()
        }
    };
    draft.note(KIND, Weight::Pending, Reason::WaitingForSubnets, message);
    None
}

/// The zones that EKS named when it refused others.
fn zones_that_eks_named<'s>(situation: &'s Situation<'_>) -> Option<BTreeSet<&'s str>> {
    let refused = situation.memory.calls.failures.iter().filter(|it| it.action.change.creates_cluster());
    refused.filter_map(|it| zones_with_room(&it.refusal)).reduce(|one, other| &one & &other)
}

fn zone_of<'d>(desired: &'d Desired, id: &SubnetId) -> Option<&'d str> {
    desired.known_subnets.get(id).map(|it| it.zone.as_str())
}

/// The zones of subnets. `None`: not all are known.
fn zones<'d>(desired: &'d Desired, subnets: &BTreeSet<SubnetId>) -> Option<BTreeSet<&'d str>> {
    subnets.iter().map(|id| zone_of(desired, id)).collect()
}

/// Whether the subnets have addresses of the family that Pods get. EKS refuses others only after minutes.
fn has_family(desired: &Desired, draft: &mut Draft, placement: &Placement) -> bool {
    let lacks = |id: &&SubnetId| desired.known_subnets.get(*id).and_then(|it| it.has_ipv6) == Some(false);
    let Some(without) = placement.subnets.iter().find(lacks).filter(|_| desired.ip_family == IpFamily::Ipv6)
    else {
        return true;
    };
    let message = format!(
        "spec.eks.ipFamily is ipv6, and subnet {without} has no IPv6 range: set ipv6 in the network of the FooCluster, or ipFamily: ipv4"
    );
    draft.note(KIND, Weight::Failed, Reason::WaitingForSubnets, message);
    false
}

/// The changes of the control plane's place that are due, each with its kind and why.
pub(crate) fn changes(
    situation: &Situation<'_>,
    cluster: &Cluster,
) -> Vec<(UpdateKind, ConfigUpdate, &'static str)> {
    let desired = situation.desired;
    let is_asked = |setting: Setting| !desired.left_open.contains(&setting);
    let mut due = Vec::new();
    let Some(placement) = &desired.placement else { return due };
    if is_asked(Setting::SecurityGroups) && placement.security_groups != cluster.placement.security_groups {
        let update = ConfigUpdate::Placement {
            subnets: None,
            security_groups: Some(placement.security_groups.clone()),
        };
        due.push((UpdateKind::SecurityGroups, update, "the security groups differ"));
    }
    let subnets = if is_asked(Setting::Subnets) { subnets(desired, cluster) } else { None };
    if let Some(subnets) = subnets.filter(|it| *it != cluster.placement.subnets) {
        let update = ConfigUpdate::Placement { subnets: Some(subnets), security_groups: None };
        due.push((UpdateKind::Subnets, update, "the subnets differ"));
    }
    due
}

/// The subnets that the control plane is to have. `None`: those that it has stay, since EKS accepts no other zones.
fn subnets(desired: &Desired, cluster: &Cluster) -> Option<BTreeSet<SubnetId>> {
    let requested = &desired.placement.as_ref()?.subnets;
    let present = zones(desired, &cluster.placement.subnets);
    let subnets = match desired.subnet_choice {
        SubnetChoice::Listed if other_zones(desired, cluster).is_some() => return None,
        SubnetChoice::Listed => requested.clone(),
        SubnetChoice::Network => {
            let present = present?;
            let is_present = |id: &&SubnetId| zone_of(desired, id).is_some_and(|zone| present.contains(zone));
            let subnets: BTreeSet<SubnetId> = requested.iter().filter(is_present).cloned().collect();
            (zones(desired, &subnets)? == present).then_some(subnets)?
        }
    };
    (subnets.len() >= 2).then_some(subnets)
}

/// Says which zones listed subnets have and the control plane has not: EKS never changes them.
pub(crate) fn other_zones(desired: &Desired, cluster: &Cluster) -> Option<String> {
    let requested = &desired.placement.as_ref()?.subnets;
    let is_asked =
        desired.subnet_choice == SubnetChoice::Listed && !desired.left_open.contains(&Setting::Subnets);
    let (present, requested) = (zones(desired, &cluster.placement.subnets)?, zones(desired, requested)?);
    let list = |zones: BTreeSet<&str>| zones.into_iter().collect::<Vec<_>>().join(", ");
    (is_asked && present != requested)
        .then(|| format!("the zones of its subnets are {} and not {}", list(present), list(requested)))
}
