//! Which members scale-in terminates (Auto Scaling User Guide, "Configure termination policies").

use super::choose::is_on_demand;
use crate::core::catalogue::TypeInfo;
use crate::core::ec2::instances::Market;
use crate::core::group::model::{Group, LaunchSource, Member, Override, units};
use crate::core::region::Region;
use crate::core::rules::activities::ActivityEntry;
use crate::core::settings::{AllProtected, ProtectionBegins};
use crate::core::time::iso_seconds;
use foo_model::{ActivityStatus, GroupName, InstanceId, LifecycleState, Protection, Zone};
use std::collections::BTreeMap;

/// AWS's message when scale-in finds only protected instances.
pub(crate) const ALL_PROTECTED: &str =
    "Could not scale to desired capacity because all remaining instances are protected from scale-in.";

impl Region {
    /// Terminates members that are not protected, `excess` units of capacity at most: a member with a higher weight
    /// stays (Auto Scaling User Guide, "Instance weights"). If there are not enough of them, desired capacity stays
    /// as it is, and an activity reports why the group cannot reach it.
    pub(crate) fn scale_in(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        let (mut capacity, desired) = (group.capacity(), group.target());
        let (change, start) = (group.change.clone(), capacity);
        let at = iso_seconds(self.now);
        let status = match self.settings.all_protected {
            AllProtected::Cancelled => ActivityStatus::Cancelled,
            AllProtected::Failed => ActivityStatus::Failed,
        };
        while capacity > desired {
            let excess = capacity - desired;
            let Some((victim, weight)) = self.pick(name, excess) else { break };
            let cause = format!(
                "{change}  At {at} an instance was taken out of service in response to a difference between desired \
                 and actual capacity, shrinking the capacity from {start} to {desired}.  At {at} instance {victim} \
                 was selected for termination."
            );
            let returns = self.groups.get(name).is_some_and(|group| {
                let stays = group.warm.values().filter(|member| !member.lifecycle.is_leaving());
                group.warm_pool.is_some_and(|pool| pool.reuse && !pool.deleting)
                    && units(stays) < group.warm_size()
            });
            if let Some(member) = self.member_mut(name, &victim) {
                member.returns = returns;
            }
            self.begin_leaving(name, &victim, &cause);
            capacity = capacity.saturating_sub(weight);
        }
        let Some(group) = self.groups.get_mut(name) else { return };
        let begins = self.settings.protection_begins;
        let waits_for_smaller = group.members.values().any(|it| is_candidate(it, begins));
        if capacity <= desired || waits_for_smaller {
            group.complained = None;
        } else if group.complained != Some(desired) {
            group.complained = Some(desired);
            let entry = ActivityEntry {
                description: ALL_PROTECTED.to_owned(),
                cause: format!(
                    "{change}  At {at} group reached equilibrium with all remaining instances protected from scale-in."
                ),
                status,
                message: Some(ALL_PROTECTED.to_owned()),
                details: String::new(),
            };
            self.begin_activity(name, entry);
        }
    }

    /// The next member to terminate, and its units of capacity: in the zone with the most members among those with a
    /// candidate, by the group's termination policies, each of which narrows the choice of the one before.
    fn pick(&self, name: &GroupName, excess: u32) -> Option<(InstanceId, u32)> {
        let group = self.groups.get(name)?;
        let mut zones: BTreeMap<&Zone, u32> = BTreeMap::new();
        for member in group.members.values().filter(|member| member.lifecycle.is_capacity()) {
            *zones.entry(&member.zone).or_default() += 1;
        }
        let begins = self.settings.protection_begins;
        let mut candidates: Vec<&Member> =
            group.members.values().filter(|it| is_candidate(it, begins) && it.weight <= excess).collect();
        let size = |member: &&Member| zones.get(&member.zone).copied().unwrap_or(0);
        // Between zones of one size the first by name; AWS picks any.
        retain_least(&mut candidates, |it| std::cmp::Reverse(size(it)));
        retain_least(&mut candidates, |it| it.zone.clone());
        for policy in &group.settings.termination_policies {
            self.narrow(group, policy, &mut candidates);
        }
        retain_least(&mut candidates, |it| (it.launched, it.id.clone()));
        candidates.first().map(|member| (member.id.clone(), member.weight))
    }

    fn narrow(&self, group: &Group, policy: &str, candidates: &mut Vec<&Member>) {
        let version = |it: &&Member| it.template.as_ref().map(|(_, _, version)| *version);
        match policy {
            "OldestInstance" => retain_least(candidates, |it| it.launched),
            "NewestInstance" => retain_least(candidates, |it| std::cmp::Reverse(it.launched)),
            "OldestLaunchTemplate" => retain_least(candidates, version),
            "ClosestToNextInstanceHour" => retain_least(candidates, |it| self.until_next_hour(it)),
            "AllocationStrategy" => self.align(group, candidates),
            // Groups of the simulator have launch templates, so this policy narrows nothing.
            "OldestLaunchConfiguration" => {}
            // Default (Auto Scaling User Guide, "Default termination policy").
            _ => {
                self.align(group, candidates);
                retain_least(candidates, version);
                retain_least(candidates, |it| self.until_next_hour(it));
            }
        }
    }

    /// Milliseconds until the instance has run for another full hour.
    fn until_next_hour(&self, member: &Member) -> u128 {
        const HOUR: u128 = 3_600_000;
        HOUR - member.launched.until(self.now).as_millis() % HOUR
    }

    /// Prefers members that fit a mixed instances policy least: those of the market with too much capacity; among
    /// on-demand instances the type of lowest priority, among spot instances the most expensive one.
    fn align(&self, group: &Group, candidates: &mut Vec<&Member>) {
        let LaunchSource::Mixed(policy) = &group.source else { return };
        let on_demand = units(group.members.values().filter(|member| is_on_demand(member)));
        let too_many = u64::from(on_demand) > policy.on_demand_units(group.sizes.desired);
        let market = if too_many { Market::OnDemand } else { Market::Spot };
        retain_least(candidates, |it| it.market != market);
        let price = |it: &&Member| self.types.get(&it.instance_type).map_or(0, TypeInfo::price);
        let priority = |it: &&Member| {
            let same = |choice: &Override| choice.instance_type.as_ref() == Some(&it.instance_type);
            policy.overrides.iter().position(same).unwrap_or(usize::MAX)
        };
        let first = candidates.first().map(|member| member.market);
        let prioritized =
            policy.distribution.get_text(&["OnDemandAllocationStrategy"]) == Some("prioritized");
        if first == Some(Market::OnDemand) && prioritized {
            retain_least(candidates, |it| std::cmp::Reverse(priority(it)));
        } else {
            retain_least(candidates, |it| std::cmp::Reverse(price(it)));
        }
    }
}

/// Keeps the members whose key is the smallest.
fn retain_least<K: Ord>(candidates: &mut Vec<&Member>, key: impl Fn(&&Member) -> K) {
    let Some(least) = candidates.iter().map(&key).min() else { return };
    candidates.retain(|member| key(member) == least);
}

fn is_candidate(member: &Member, begins: ProtectionBegins) -> bool {
    let protected = match begins {
        ProtectionBegins::InService => member.lifecycle == LifecycleState::InService,
        ProtectionBegins::AtLaunch => true,
    };
    member.lifecycle.is_capacity() && !(protected && member.protection == Protection::Protected)
}
