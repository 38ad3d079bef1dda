//! Calls that create, change and delete groups (Auto Scaling API Reference).

use super::source::SourceSpec;
use crate::core::document::Document;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, GroupSettings, GroupTag, LaunchSource};
use crate::core::group::policies::Policies;
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_model::{GroupName, GroupStatus, InstanceId, Protection, Sizes, SubnetId, TrafficSource, Zone};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Most instances of a group in the simulator; AWS's quota is far lower.
pub const SIZE_LIMIT: u32 = 100_000;

/// Parameters of CreateAutoScalingGroup.
#[derive(Clone, Debug)]
pub struct NewGroup {
    /// Its name.
    pub name: GroupName,
    /// Minimum size.
    pub min: u32,
    /// Maximum size.
    pub max: u32,
    /// Desired capacity; the minimum if absent.
    pub desired: Option<u32>,
    /// What it launches.
    pub source: Option<SourceSpec>,
    /// Its subnets.
    pub subnets: Vec<SubnetId>,
    /// Whether new instances are protected.
    pub new_instances: Protection,
    /// Its tags.
    pub tags: BTreeMap<String, GroupTag>,
    /// The traffic sources that it is attached to.
    pub traffic_sources: BTreeSet<TrafficSource>,
    /// Everything else.
    pub settings: SettingsChange,
    /// Its lifecycle hooks.
    pub hooks: Vec<super::hooks::HookChange>,
}

/// Parameters of UpdateAutoScalingGroup; absent ones change nothing.
#[derive(Clone, Debug, Default)]
pub struct GroupUpdate {
    /// Minimum size.
    pub min: Option<u32>,
    /// Maximum size.
    pub max: Option<u32>,
    /// Desired capacity.
    pub desired: Option<u32>,
    /// What it launches; replaces a template or a mixed instances policy.
    pub source: Option<SourceSpec>,
    /// Its subnets.
    pub subnets: Option<Vec<SubnetId>>,
    /// Whether new instances are protected.
    pub new_instances: Option<Protection>,
    /// Everything else.
    pub settings: SettingsChange,
}

/// Settings to change; absent ones stay.
#[derive(Clone, Debug, Default)]
pub struct SettingsChange {
    /// DefaultCooldown.
    pub cooldown: Option<Duration>,
    /// HealthCheckGracePeriod.
    pub grace: Option<Duration>,
    /// HealthCheckType.
    pub health_check_type: Option<String>,
    /// TerminationPolicies.
    pub termination_policies: Option<Vec<String>>,
    /// DeletionProtection.
    pub deletion_protection: Option<String>,
    /// Settings that are only stored.
    pub stored: BTreeMap<String, Document>,
}

/// How a group is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Only if it is empty.
    IfEmpty,
    /// Together with its instances, protected or not, without lifecycle hooks.
    Forced,
}

/// Whether a cooldown is respected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cooldown {
    /// The call is refused during a cooldown.
    Honored,
    /// The call is carried out during a cooldown.
    Ignored,
}

/// Auto Scaling User Guide, "How instance refresh works", "Update restriction".
const REFRESH_HOLDS_CONFIGURATION: &str = "An active instance refresh with a desired configuration exists. All configuration options derived from the desired \
     configuration are not available for update while the instance refresh is active.";

/// The termination policies that Auto Scaling offers.
pub const TERMINATION_POLICIES: [&str; 7] = [
    "Default",
    "OldestInstance",
    "NewestInstance",
    "OldestLaunchConfiguration",
    "OldestLaunchTemplate",
    "ClosestToNextInstanceHour",
    "AllocationStrategy",
];

impl Region {
    /// CreateAutoScalingGroup.
    pub fn create_group(&mut self, new: NewGroup) -> AwsResult<()> {
        check_group_name(new.name.as_str())?;
        self.check_name_is_free(&new.name)?;
        let desired = new.desired.unwrap_or(new.min);
        check_sizes(new.min, new.max, Some(desired))?;
        let source = new.source.ok_or_else(|| {
            AwsError::validation(
                "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or \
                 MixedInstancesPolicy parameter.",
            )
        })?;
        let source = self.resolve_source(source, None)?;
        let zones = self.zones_of(&new.subnets)?;
        super::tags::check_tags(&new.tags)?;
        self.check_traffic_sources(&new.traffic_sources)?;
        let mut settings = GroupSettings::default();
        apply(&mut settings, new.settings)?;
        let hooks = self.hooks_of_new(new.hooks)?;
        let arn = self.new_group_arn(&new.name);
        let change = format!(
            "At {} a user request created an AutoScalingGroup changing the desired capacity from 0 to {desired}.",
            iso_seconds(self.now)
        );
        let group = Group {
            name: new.name.clone(),
            serial: self.next_serial(),
            arn,
            created: self.now,
            sizes: Sizes { min: new.min, max: new.max, desired },
            source,
            subnets: new.subnets,
            zones,
            new_instances: new.new_instances,
            suspended: BTreeMap::new(),
            failing_since: None,
            tags: new.tags,
            traffic_sources: new.traffic_sources,
            notifications: BTreeMap::new(),
            settings,
            status: GroupStatus::Active,
            members: BTreeMap::new(),
            warm_pool: None,
            warm: BTreeMap::new(),
            refreshes: Vec::new(),
            hooks,
            troubles: BTreeMap::new(),
            cooldown_until: self.now,
            change,
            unbalanced_since: None,
            mix_changed: false,
            complained: None,
            wakes_at: None,
        };
        self.groups.insert(new.name.clone(), group);
        self.wake_soon(&new.name);
        Ok(())
    }

    /// AutoScalingGroup names are unique per region, also while a group is being deleted.
    fn check_name_is_free(&self, name: &GroupName) -> AwsResult<()> {
        let Some(existing) = self.groups.get(name) else { return Ok(()) };
        let pending = if existing.is_deleting() { " and is pending delete" } else { "" };
        let message = format!(
            "AutoScalingGroup by this name already exists - A group with the name {name} already exists{pending}"
        );
        Err(AwsError::new("AlreadyExists", message))
    }

    /// An ARN with a UUID that no other group has.
    fn new_group_arn(&mut self, name: &GroupName) -> String {
        format!(
            "arn:aws:autoscaling:{}:{}:autoScalingGroup:{}:autoScalingGroupName/{name}",
            self.name,
            self.account,
            self.chance.uuid(),
        )
    }

    /// UpdateAutoScalingGroup. A maximum below desired capacity lowers it, a minimum above raises it.
    pub fn update_group(&mut self, name: &GroupName, update: GroupUpdate) -> AwsResult<()> {
        let group = self.living_group(name)?;
        if update.source.is_some() && group.refresh().is_some_and(|refresh| refresh.desired.is_some()) {
            return Err(AwsError::validation(REFRESH_HOLDS_CONFIGURATION));
        }
        let (min, max) = (update.min.unwrap_or(group.sizes.min), update.max.unwrap_or(group.sizes.max));
        check_sizes(min, max, update.desired)?;
        let desired = update.desired.unwrap_or_else(|| group.sizes.desired.clamp(min, max));
        let source = match update.source {
            Some(spec) => Some(self.resolve_source(spec, Some(&group.source))?),
            None => None,
        };
        let zones = update.subnets.as_ref().map(|subnets| self.zones_of(subnets)).transpose()?;
        let mut settings = group.settings.clone();
        apply(&mut settings, update.settings)?;
        let checks: Vec<InstanceId> = if settings.health_check_type == group.settings.health_check_type {
            Vec::new()
        } else {
            group.members.keys().cloned().collect()
        };
        let from = group.sizes.desired;
        let change = if update.desired.is_some() {
            format!(
                "a user request explicitly set group desired capacity changing the desired capacity from {from} to {desired}."
            )
        } else {
            format!(
                "a user request update of AutoScalingGroup constraints to min: {min}, max: {max}, desired: {desired} changing the desired capacity from {from} to {desired}."
            )
        };
        let change = format!("At {} {change}", iso_seconds(self.now));
        if let Some(group) = self.groups.get_mut(name) {
            group.sizes = Sizes { min, max, desired };
            if desired != from {
                group.change = change;
            }
            group.settings = settings;
            if let Some(protection) = update.new_instances {
                group.new_instances = protection;
            }
            if let Some(source) = source {
                // With a new source AWS tries again at once.
                group.troubles.clear();
                group.mix_changed |= mix_differs(&group.source, &source);
                group.source = source;
            }
            if let (Some(subnets), Some(zones)) = (update.subnets, zones) {
                group.troubles.clear();
                group.subnets = subnets;
                group.zones = zones;
            }
        }
        for id in &checks {
            self.check_as_target(id);
        }
        self.wake_soon(name);
        Ok(())
    }

    /// SetDesiredCapacity.
    pub fn set_desired_capacity(
        &mut self,
        name: &GroupName,
        desired: u32,
        cooldown: Cooldown,
    ) -> AwsResult<()> {
        let group = self.living_group(name)?;
        let Sizes { min, max, desired: from } = group.sizes;
        let refused = |relation: &str, bound: &str, limit: u32| {
            AwsError::validation(format!(
                "New SetDesiredCapacity value {desired} is {relation} {bound} value {limit} for the AutoScalingGroup."
            ))
        };
        if desired > max {
            return Err(refused("above", "max", max));
        }
        if desired < min {
            return Err(refused("below", "min", min));
        }
        if cooldown == Cooldown::Honored && (self.now < group.cooldown_until || self.is_busy(name)) {
            return Err(AwsError::new(
                "ScalingActivityInProgress",
                format!(
                    "Scaling activity is in progress or the cooldown of group {name} is not over, and blocks this action"
                ),
            ));
        }
        let change = format!(
            "At {} a user request explicitly set group desired capacity changing the desired capacity from {from} to \
             {desired}.",
            iso_seconds(self.now)
        );
        if let Some(group) = self.groups.get_mut(name)
            && desired != from
        {
            group.sizes.desired = desired;
            group.change = change;
        }
        self.wake_soon(name);
        Ok(())
    }

    /// DeleteAutoScalingGroup. Accepted for a group that is being deleted already.
    pub fn delete_group(&mut self, name: &GroupName, how: Deletion) -> AwsResult<()> {
        let group = self.groups.get(name).ok_or_else(|| AwsError::no_group(name))?;
        let protection = group.settings.deletion_protection.as_str();
        if protection == "prevent-all-deletion"
            || (protection == "prevent-force-deletion" && how == Deletion::Forced)
        {
            return Err(AwsError::new(
                "ResourceInUse",
                format!("The AutoScalingGroup cannot be deleted: its deletion protection is {protection}."),
            ));
        }
        if group.is_deleting() {
            return Ok(());
        }
        if how == Deletion::IfEmpty {
            if !group.is_empty() {
                return Err(AwsError::new(
                    "ResourceInUse",
                    "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance \
                     request(s) still in the group.",
                ));
            }
            if self.is_busy(name) {
                return Err(AwsError::new(
                    "ScalingActivityInProgress",
                    "You cannot delete an AutoScalingGroup while there are scaling activities in progress for that \
                     group.",
                ));
            }
        }
        let members: Vec<InstanceId> = group.members.keys().chain(group.warm.keys()).cloned().collect();
        let cause =
            format!("At {} a user request force deleted AutoScalingGroup {name}.", iso_seconds(self.now));
        for id in members {
            self.leave_at_once(name, &id, &cause);
        }
        if self.groups.get(name).is_some_and(|group| group.refresh().is_some()) {
            self.end_refresh(name, super::refresh::RefreshStatus::Cancelled);
        }
        if let Some(group) = self.groups.get_mut(name) {
            group.status = GroupStatus::Deleting;
            group.sizes = Sizes { min: 0, max: 0, desired: 0 };
        }
        self.wake(name, self.now);
        let now = self.now;
        self.advance(now);
        Ok(())
    }

    /// A group that exists and is not being deleted.
    pub(crate) fn living_group(&self, name: &GroupName) -> AwsResult<&Group> {
        let group = self.groups.get(name).ok_or_else(|| AwsError::no_group(name))?;
        if group.is_deleting() {
            let code = self.settings.codes.group_in_deletion.clone();
            return Err(AwsError::new(code, format!("AutoScalingGroup {name} is pending delete")));
        }
        Ok(group)
    }

    fn is_busy(&self, name: &GroupName) -> bool {
        self.activities.get(name).is_some_and(crate::core::group::activity::ActivityLog::is_busy)
    }

    fn zones_of(&self, subnets: &[SubnetId]) -> AwsResult<Vec<Zone>> {
        if subnets.is_empty() {
            return Err(AwsError::validation("At least one Availability Zone or VPC Subnet is required."));
        }
        let mut zones = BTreeSet::new();
        for id in subnets {
            let subnet = self
                .network
                .subnets
                .get(id)
                .ok_or_else(|| AwsError::validation(format!("The subnet ID '{id}' does not exist")))?;
            zones.insert(subnet.zone.clone());
        }
        Ok(zones.into_iter().collect())
    }
}

/// Whether both are mixed instances policies, with different shares of on-demand instances.
fn mix_differs(before: &LaunchSource, after: &LaunchSource) -> bool {
    match (before, after) {
        (LaunchSource::Mixed(before), LaunchSource::Mixed(after)) => {
            (before.on_demand_base, before.on_demand_percentage)
                != (after.on_demand_base, after.on_demand_percentage)
        }
        _ => false,
    }
}

/// min ≤ desired ≤ max, with AWS's messages.
fn check_sizes(min: u32, max: u32, desired: Option<u32>) -> AwsResult<()> {
    if min > max {
        return Err(AwsError::validation(format!(
            "Max bound, {max}, must be greater than or equal to min bound, {min}"
        )));
    }
    if max > SIZE_LIMIT {
        return Err(AwsError::validation(format!(
            "Max bound, {max}, must be less than or equal to {SIZE_LIMIT}"
        )));
    }
    match desired {
        Some(desired) if !(min..=max).contains(&desired) => Err(AwsError::validation(format!(
            "Desired capacity:{desired} must be between the specified min size:{min} and max size:{max}"
        ))),
        _ => Ok(()),
    }
}

/// 1–255 characters, no colon, no control characters (Auto Scaling API Reference, CreateAutoScalingGroup).
fn check_group_name(name: &str) -> AwsResult<()> {
    let fits = (1..=255).contains(&name.chars().count()) && !name.chars().any(|c| c.is_control() || c == ':');
    if fits {
        return Ok(());
    }
    Err(AwsError::validation(format!(
        "1 validation error detected: Value '{name}' at 'autoScalingGroupName' failed to satisfy constraint: Member \
         must have length between 1 and 255 and must not contain a colon"
    )))
}

fn apply(settings: &mut GroupSettings, change: SettingsChange) -> AwsResult<()> {
    if let Some(policies) = change.termination_policies {
        if let Some(unknown) = policies.iter().find(|policy| !TERMINATION_POLICIES.contains(&policy.as_str()))
        {
            return Err(AwsError::validation(format!("Termination policy {unknown} is not supported.")));
        }
        settings.termination_policies =
            if policies.is_empty() { vec!["Default".to_owned()] } else { policies };
    }
    if let Some(kind) = change.health_check_type {
        if kind.split(',').any(|kind| !["EC2", "ELB", "VPC_LATTICE", "EBS"].contains(&kind)) {
            return Err(AwsError::validation(format!("Health check type {kind} is not supported.")));
        }
        settings.health_check_type = kind;
    }
    if let Some(level) = change.deletion_protection {
        if !["none", "prevent-force-deletion", "prevent-all-deletion"].contains(&level.as_str()) {
            return Err(AwsError::validation(format!("DeletionProtection {level} is not supported.")));
        }
        settings.deletion_protection = level;
    }
    settings.cooldown = change.cooldown.unwrap_or(settings.cooldown);
    settings.grace = change.grace.unwrap_or(settings.grace);
    settings.stored.extend(change.stored);
    settings.policies = Policies::read(&mut settings.stored)?;
    Ok(())
}
