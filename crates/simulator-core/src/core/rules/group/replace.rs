//! Replacement of members, and its order: terminate first, or launch first (Auto Scaling User Guide, "Instance
//! maintenance policy").
//!
//! | why | without a maintenance policy | with one |
//! |---|---|---|
//! | found unhealthy, lived too long | ended first | within its percentages |
//! | instance refresh | within the refresh's percentages | the same |
//! | zones out of balance, a spot instance at risk | replaced first | the same |
//!
//! A member that stays only until its replacement is in service is *outgoing*: [`Group::target`] requests one more
//! instance in its place, and [`Region::end_replaced`] terminates it.

use super::choose::is_on_demand;
use crate::core::ec2::instances::Market;
use crate::core::group::model::{Group, LaunchSource, Member, units};
use crate::core::group::policies::{HealthyRange, percent};
use crate::core::region::Region;
use crate::core::settings::{MixChange, ProtectionAgainst};
use crate::core::time::iso_seconds;
use foo_model::{GroupName, Health, InstanceId, LifecycleState, Process, Protection, Timestamp, Zone};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

pub use crate::core::group::model::outgoing::Outgoing;

impl Group {
    /// Whether a member is in service, healthy and warmed up.
    pub(crate) fn serves(&self, member: &Member, now: Timestamp) -> bool {
        let warm = |since: Timestamp| since.plus(self.warmup()) <= now;
        member.lifecycle == LifecycleState::InService
            && member.health == Health::Healthy
            && member.serving_since.is_none_or(warm)
    }

    /// For how long a new instance does not yet count as a replacement.
    pub(crate) fn warmup(&self) -> Duration {
        let of_group = self.settings.policies.warmup.unwrap_or_default();
        self.refresh().map_or(of_group, |refresh| refresh.preferences.warmup)
    }

    /// Whether a member stays only until its replacement is in service.
    pub(crate) fn is_outgoing(member: &Member) -> bool {
        member.outgoing.is_some() && member.lifecycle == LifecycleState::InService
    }

    /// The capacity to reach, in units: desired capacity, and one replacement for each outgoing member. To rebalance,
    /// a group may exceed its maximum by a tenth of the maximum, for capacity rebalancing by a tenth of desired
    /// capacity; in both cases by at least one instance (Auto Scaling User Guide, "Instance maintenance policy",
    /// default behaviour).
    pub(crate) fn target(&self) -> u32 {
        let members = |fits: fn(Outgoing) -> bool| {
            self.members.values().filter(move |it| Self::is_outgoing(it) && it.outgoing.is_some_and(fits))
        };
        let outgoing = |fits| units(members(fits));
        let largest = members(|_| true).map(|it| it.weight).max().unwrap_or(1);
        let above_max = |of: u32| self.sizes.max.saturating_add(percent(of, 10).max(largest));
        let desired = self.sizes.desired;
        let at_risk = desired
            .saturating_add(outgoing(|why| why == Outgoing::AtRisk))
            .min(above_max(desired))
            .max(desired);
        let balanced = at_risk
            .saturating_add(outgoing(|why| why == Outgoing::Unbalanced))
            .min(above_max(self.sizes.max))
            .max(at_risk);
        balanced.saturating_add(outgoing(|why| why > Outgoing::Unbalanced))
    }

    /// When a replacement may continue without any other change.
    pub(crate) fn next_replacement(&self, now: Timestamp) -> Option<Timestamp> {
        let lifetime = self.settings.policies.lifetime;
        let members = || self.members.values().filter(|it| it.lifecycle == LifecycleState::InService);
        let expiries = members().filter_map(|member| lifetime.map(|lifetime| member.launched.plus(lifetime)));
        let warmups = members().filter_map(|member| Some(member.serving_since?.plus(self.warmup())));
        expiries.chain(warmups).filter(|when| *when > now).min()
    }
}

impl Region {
    /// Terminates unhealthy members, also those protected from scale-in (Auto Scaling User Guide, "Use instance
    /// scale-in protection").
    pub(crate) fn replace_unhealthy(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        if group.is_suspended(Process::ReplaceUnhealthy) || group.is_suspended(Process::Terminate) {
            return;
        }
        let unhealthy: Vec<InstanceId> = group
            .members
            .values()
            .filter(|member| {
                member.health == Health::Unhealthy && member.lifecycle == LifecycleState::InService
            })
            .map(|member| member.id.clone())
            .collect();
        if let Some(range) = group.settings.policies.maintenance {
            return self.replace_within(name, &unhealthy, range, Outgoing::Unhealthy);
        }
        for id in unhealthy {
            let alive = self.instances.get(&id).is_some_and(|instance| instance.state.is_alive());
            let what = if alive {
                "in response to a user health-check"
            } else {
                "in response to an EC2 health check indicating it has been terminated or stopped"
            };
            let cause = format!("At {} an instance was taken out of service {what}.", iso_seconds(self.now));
            self.begin_leaving(name, &id, &cause);
        }
    }

    /// Terminates members that have reached MaxInstanceLifetime, a share of the group at a time (Auto Scaling User
    /// Guide, "Replace Auto Scaling instances based on maximum instance lifetime").
    pub(crate) fn replace_expired(&mut self, name: &GroupName) {
        let (now, protection) = (self.now, self.settings.max_lifetime_protection);
        let Some(group) = self.groups.get(name) else { return };
        let Some(lifetime) = group.settings.policies.lifetime else { return };
        if group.is_suspended(Process::Terminate) {
            return;
        }
        let is_spared = |member: &Member| {
            protection == ProtectionAgainst::Respected && member.protection == Protection::Protected
        };
        let expired: Vec<InstanceId> = group
            .members
            .values()
            .filter(|it| it.lifecycle == LifecycleState::InService && it.launched.plus(lifetime) <= now)
            .filter(|it| !is_spared(it))
            .map(|it| it.id.clone())
            .collect();
        let gradually =
            HealthyRange { min: 100_u32.saturating_sub(self.settings.lifetime_percent), max: 100 };
        let range = group.settings.policies.maintenance.unwrap_or(gradually);
        self.replace_within(name, &expired, range, Outgoing::Expired);
    }

    /// Replaces members as far as a range of healthy capacity allows. If capacity may exceed desired capacity it
    /// launches first, otherwise it terminates first.
    pub(crate) fn replace_within(
        &mut self,
        name: &GroupName,
        ids: &[InstanceId],
        range: HealthyRange,
        why: Outgoing,
    ) {
        let now = self.now;
        let at = iso_seconds(now);
        for id in ids {
            let Some(group) = self.groups.get(name) else { return };
            let Some(member) = group.members.get(id).filter(|it| !Group::is_outgoing(it)) else { continue };
            let desired = group.sizes.desired;
            let outgoing = units(group.members.values().filter(|it| Group::is_outgoing(it)));
            let room = range.surplus(desired).saturating_sub(outgoing);
            let serving =
                units(group.members.values().filter(|it| group.serves(it, now) && !Group::is_outgoing(it)));
            let healthy = group.serves(member, now);
            let missing = desired.saturating_sub(serving.saturating_add(outgoing));
            let slack = range.slack(desired).saturating_sub(missing);
            // An unhealthy member does not count as healthy capacity, so terminating it first costs none.
            let ends_first = room == 0 && range.max == 100 && (slack > 0 || !healthy);
            if room > 0 {
                if let Some(member) = self.member_mut(name, id) {
                    member.outgoing = Some(why);
                }
            } else if ends_first {
                let cause =
                    format!("At {at} an instance was taken out of service in response to {}.", why.cause());
                self.begin_leaving(name, id, &cause);
            } else if healthy {
                return;
            }
        }
    }

    /// Begins to move members from zones with too many, or that the group does not use any more, to the zone with the
    /// fewest (Auto Scaling User Guide, "Rebalancing activities"). A member that is moved stays until its replacement
    /// is in service.
    pub(crate) fn rebalance_zones(&mut self, name: &GroupName) {
        let (now, protection) = (self.now, self.settings.rebalance_protection);
        let wait = self.settings.rebalance_after;
        let Some(group) = self.groups.get_mut(name) else { return };
        let suspended = [Process::AZRebalance, Process::Launch, Process::Terminate];
        let rests = |member: &Member| member.lifecycle == LifecycleState::Standby;
        let settled = group.members.values().all(|member| group.serves(member, now) || rests(member));
        if group.capacity() < group.target() {
            // No replacement could be launched: a later evaluation decides again.
            for member in group.members.values_mut().filter(|it| it.outgoing == Some(Outgoing::Unbalanced)) {
                member.outgoing = None;
            }
        }
        let busy = group.capacity() < group.sizes.desired || group.members.values().any(Group::is_outgoing);
        if suspended.into_iter().any(|process| group.is_suspended(process)) || !settled || busy {
            return;
        }
        let Some(id) = unbalanced(group, now, protection) else {
            group.unbalanced_since = None;
            return;
        };
        let since = *group.unbalanced_since.get_or_insert(now);
        if since.plus(wait) > now {
            return self.wake(name, since.plus(wait));
        }
        if let Some(member) = group.members.get_mut(&id) {
            member.outgoing = Some(Outgoing::Unbalanced);
        }
    }

    /// Begins to replace members of the market that a changed purchase mix has too much of, one at a time, launching
    /// first (Auto Scaling API Reference, InstancesDistribution: "Amazon EC2 Auto Scaling gradually replaces
    /// instances").
    pub(crate) fn remix(&mut self, name: &GroupName) {
        let spares = self.settings.mix_change_protection == ProtectionAgainst::Respected;
        let replaces = self.settings.mix_change == MixChange::Replaces;
        let now = self.now;
        let Some(group) = self.groups.get_mut(name) else { return };
        let blocked = [Process::Launch, Process::Terminate].into_iter().any(|it| group.is_suspended(it));
        if !group.mix_changed || !replaces || blocked {
            return;
        }
        let LaunchSource::Mixed(policy) = &group.source else {
            group.mix_changed = false;
            return;
        };
        let settled = group.members.values().all(|it| group.serves(it, now) && !Group::is_outgoing(it));
        if !settled || group.capacity() != group.sizes.desired {
            return;
        }
        let on_demand = u64::from(units(group.members.values().filter(|it| is_on_demand(it))));
        let wanted = policy.on_demand_units(group.sizes.desired);
        let surplus = match on_demand.cmp(&wanted) {
            Ordering::Less => Some(Market::Spot),
            Ordering::Equal => None,
            Ordering::Greater => Some(Market::OnDemand),
        };
        let may_go = |it: &&Member| !spares || it.protection == Protection::Unprotected;
        let of_surplus = group.members.values().filter(|it| surplus == Some(it.market)).filter(may_go);
        match of_surplus.min_by_key(|it| (it.launched, it.id.clone())).map(|it| it.id.clone()) {
            Some(id) => {
                if let Some(member) = group.members.get_mut(&id) {
                    member.outgoing = Some(Outgoing::Remixed);
                }
            }
            None => group.mix_changed = false,
        }
    }

    /// Terminates outgoing members whose replacements are in service.
    pub(crate) fn end_replaced(&mut self, name: &GroupName) {
        let now = self.now;
        let Some(group) = self.groups.get(name) else { return };
        if group.is_suspended(Process::Terminate) {
            return;
        }
        let outgoing: Vec<(InstanceId, u32, Outgoing)> = group
            .members
            .values()
            .filter(|it| Group::is_outgoing(it))
            .filter_map(|it| Some((it.id.clone(), it.weight, it.outgoing?)))
            .collect();
        // Unhealthy members that are not outgoing yet are replaced later, and count as capacity until then.
        let counts = |it: &Member| it.health == Health::Unhealthy || group.serves(it, now);
        let in_service =
            |it: &&Member| it.lifecycle == LifecycleState::InService && counts(it) && !Group::is_outgoing(it);
        let serving = units(group.members.values().filter(in_service));
        let mut needed = group.sizes.desired.saturating_sub(serving);
        let at = iso_seconds(now);
        let mut ended = false;
        for (id, weight, why) in outgoing {
            if needed > 0 {
                needed = needed.saturating_sub(weight);
                continue;
            }
            let cause =
                format!("At {at} an instance was taken out of service in response to {}.", why.cause());
            self.begin_leaving(name, &id, &cause);
            ended = true;
        }
        if ended {
            // The refresh counts the replaced members at the next evaluation.
            self.wake(name, now);
        }
    }
}

/// The member to move for a better balance, if there is one: from a zone that the group does not use any more, or
/// from the fullest zone to one without failed launches that has at least two members fewer.
fn unbalanced(group: &Group, now: Timestamp, protection: ProtectionAgainst) -> Option<InstanceId> {
    let mut zones: BTreeMap<&Zone, u32> = group.zones.iter().map(|zone| (zone, 0)).collect();
    for member in group.members.values() {
        *zones.entry(&member.zone).or_default() += 1;
    }
    let is_troubled = |zone: &Zone| {
        let until = |key: &Option<Zone>| group.troubles.get(key).is_some_and(|it| it.until > now);
        until(&None) || until(&Some(zone.clone()))
    };
    let untroubled = group.zones.iter().filter(|zone| !is_troubled(zone));
    let fewest = untroubled.filter_map(|zone| zones.get(zone).copied()).min()?;
    let may_go = |member: &&Member| {
        protection == ProtectionAgainst::Ignored || member.protection == Protection::Unprotected
    };
    let is_outside = |member: &&Member| !group.zones.contains(&member.zone);
    let count = |member: &Member| zones.get(&member.zone).copied().unwrap_or(0);
    let serves = |it: &&Member| it.lifecycle == LifecycleState::InService;
    let candidates = || group.members.values().filter(serves).filter(may_go);
    let from_fullest = || {
        let fullest = candidates().max_by_key(|it| (count(it), std::cmp::Reverse((it.launched, &it.id))))?;
        (count(fullest) >= fewest.saturating_add(2)).then_some(fullest)
    };
    candidates().find(is_outside).or_else(from_fullest).map(|member| member.id.clone())
}
