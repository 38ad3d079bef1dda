//! Warm pools: instances that were launched ahead of time and wait, stopped or running, until the group needs them (Auto
//! Scaling User Guide, "Warm pools for Amazon EC2 Auto Scaling").
//!
//! A member of a warm pool goes through the same states as one of the group; AWS puts `Warmed:` before their names.

use super::choose::Place;
use crate::core::due::Event;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, LaunchSource, Member, units};
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, GroupName, Health, InstanceId, LifecycleState, Process};
use std::collections::BTreeMap;
use std::time::Duration;

pub use crate::core::group::model::warm_pool::{PoolState, WarmPool, WarmPoolChange};

/// How long a running instance of the pool takes to get into service.
const MOVE_TIME: Duration = Duration::from_secs(1);

impl Group {
    /// Desired size of the warm pool, in instances (API Reference, PutWarmPool).
    pub fn warm_size(&self) -> u32 {
        let Some(pool) = self.warm_pool.filter(|pool| !pool.deleting) else { return 0 };
        let prepared = pool.max_prepared.unwrap_or(self.sizes.max);
        prepared.saturating_sub(self.sizes.desired).max(pool.min_size)
    }

    /// How many instances the warm pool has (API Reference, AutoScalingGroup: WarmPoolSize).
    pub fn warm_count(&self) -> u32 {
        u32::try_from(self.staying_in_warm_pool().count()).unwrap_or(u32::MAX)
    }

    fn staying_in_warm_pool(&self) -> impl Iterator<Item = &Member> {
        self.warm.values().filter(|member| !member.lifecycle.is_leaving())
    }

    /// The state of a member as AWS writes it.
    pub fn state_name(&self, member: &Member) -> String {
        if let Some(state) = member.root_volume.filter(|_| member.lifecycle == LifecycleState::InService) {
            let name: &'static str = state.into();
            return name.to_owned();
        }
        if !self.warm.contains_key(&member.id) {
            return member.lifecycle.name().to_owned();
        }
        match member.lifecycle {
            LifecycleState::Warmed => {
                let state: &'static str = member.rests.unwrap_or_default().into();
                format!("Warmed:{state}")
            }
            _ => format!("Warmed:{}", member.lifecycle.name()),
        }
    }
}

impl Region {
    /// PutWarmPool.
    ///
    /// # Errors
    /// `InstanceRefreshInProgress`; `ValidationError` for groups of spot instances, and while the warm pool is being deleted.
    pub fn put_warm_pool(&mut self, name: &GroupName, change: WarmPoolChange) -> AwsResult<()> {
        let group = self.living_group(name)?;
        if group.refresh().is_some() {
            return Err(AwsError::new(
                "InstanceRefreshInProgress",
                "An Instance Refresh is in progress for the group.",
            ));
        }
        // Auto Scaling User Guide, "Use Capacity Blocks for machine learning workloads": limitations.
        if let LaunchSource::Template(template) = &group.source
            && self.template_version(template)?.data.is_block()
        {
            return Err(AwsError::validation(
                "You can't add a warm pool to an Auto Scaling group that uses a Capacity Block.",
            ));
        }
        let spot = match &group.source {
            LaunchSource::Template(template) => self.template_version(template)?.data.is_spot(),
            LaunchSource::Mixed(policy) => policy.on_demand_percentage < 100,
        };
        if spot {
            return Err(AwsError::validation(
                "You can't add a warm pool to an Auto Scaling group that requests Spot Instances.",
            ));
        }
        let known = group.warm_pool;
        if known.is_some_and(|pool| pool.deleting) {
            return Err(AwsError::validation(format!(
                "The warm pool of the Auto Scaling group {name} is being deleted."
            )));
        }
        let pool = WarmPool {
            state: change.state.or_else(|| known.map(|pool| pool.state)).unwrap_or_default(),
            min_size: change.min_size.or_else(|| known.map(|pool| pool.min_size)).unwrap_or(0),
            max_prepared: change.max_prepared.unwrap_or_else(|| known.and_then(|pool| pool.max_prepared)),
            reuse: change.reuse.or_else(|| known.map(|pool| pool.reuse)).unwrap_or(false),
            deleting: false,
        };
        if let Some(group) = self.groups.get_mut(name) {
            group.warm_pool = Some(pool);
        }
        self.wake_soon(name);
        Ok(())
    }

    /// DeleteWarmPool. Its instances terminate with their hooks, or at once if `forced`.
    ///
    /// # Errors
    /// `ValidationError` without a warm pool.
    pub fn delete_warm_pool(&mut self, name: &GroupName, forced: bool) -> AwsResult<()> {
        let group = self.living_group(name)?;
        if group.warm_pool.is_none() {
            return Err(AwsError::validation(format!(
                "No warm pool found for the Auto Scaling group {name}"
            )));
        }
        let ids: Vec<InstanceId> = group.warm.keys().cloned().collect();
        let cause = format!("At {} a user request deleted the warm pool.", iso_seconds(self.now));
        if let Some(pool) = self.groups.get_mut(name).and_then(|group| group.warm_pool.as_mut()) {
            pool.deleting = true;
        }
        for id in ids {
            if forced {
                self.leave_at_once(name, &id, &cause);
            } else {
                self.begin_leaving(name, &id, &cause);
            }
        }
        self.wake_soon(name);
        Ok(())
    }

    /// Moves waiting instances from the warm pool into the group, and returns their units of capacity.
    pub(crate) fn draw_from_warm_pool(&mut self, name: &GroupName, missing: u32) -> u32 {
        let mut drawn = 0;
        while drawn < missing {
            let Some(group) = self.groups.get(name).filter(|group| group.warm_pool.is_some()) else { break };
            let rests = |it: &&Member| it.lifecycle == LifecycleState::Warmed && it.health == Health::Healthy;
            let mut zones: BTreeMap<_, u32> = BTreeMap::new();
            for member in group.members.values().filter(|it| it.lifecycle.is_capacity()) {
                *zones.entry(&member.zone).or_default() += member.weight;
            }
            let size = |member: &Member| zones.get(&member.zone).copied().unwrap_or(0);
            let startable = |it: &&Member| rests(it) && self.is_available(&it.zone);
            let next = group.warm.values().filter(startable).min_by_key(|it| (size(it), it.launched, &it.id));
            let Some((id, weight)) = next.map(|member| (member.id.clone(), member.weight)) else { break };
            self.move_into_group(name, &id);
            drawn = drawn.saturating_add(weight);
        }
        drawn
    }

    fn move_into_group(&mut self, name: &GroupName, id: &InstanceId) {
        let now = self.now;
        let Some(group) = self.groups.get_mut(name) else { return };
        let at = iso_seconds(now);
        let cause = format!(
            "{}  At {at} an instance was started from the warm pool in response to a difference between desired and \
             actual capacity, increasing the capacity from {} to {}.",
            group.change,
            group.capacity(),
            group.sizes.desired
        );
        let protection = group.new_instances;
        let Some(mut member) = group.warm.remove(id) else { return };
        member.lifecycle = LifecycleState::Pending;
        member.from_warm_pool = true;
        member.rests = None;
        member.protection = protection;
        group.members.insert(id.clone(), member);
        let activity = self.begin_activity_of(
            name,
            id,
            format!("Launching a new EC2 instance from warm pool: {id}"),
            cause,
        );
        if let Some(member) = self.member_mut(name, id) {
            member.activity = Some(activity);
        }
        let stopped = self.instances.get(id).is_some_and(|it| it.state == InstanceState::Stopped);
        let took = if stopped { self.settings.warm_start } else { MOVE_TIME };
        if stopped && let Some(instance) = self.instances.get_mut(id) {
            instance.state = InstanceState::Pending;
            self.publish_state(id, InstanceState::Pending);
            self.due.at(now.plus(took / 2), Event::Running(id.clone()));
        }
        self.due.at(now.plus(took), Event::Launched(id.clone(), Some(activity)));
    }

    /// Stops an instance of the warm pool that is ready, or lets it wait running.
    pub(super) fn begin_waiting(&mut self, name: &GroupName, id: &InstanceId) {
        let state = self.groups.get(name).and_then(|group| group.warm_pool).map(|pool| pool.state);
        let state = state.unwrap_or_default();
        let now = self.now;
        let Some(member) = self.member_mut(name, id) else { return };
        member.rests = Some(state);
        member.lifecycle = LifecycleState::PendingProceed;
        if state == PoolState::Running {
            return self.finish_waiting(id);
        }
        if let Some(instance) = self.instances.get_mut(id) {
            instance.state = InstanceState::Stopping;
            self.publish_state(id, InstanceState::Stopping);
            self.due.at(now.plus(self.settings.stop), Event::Stopped(id.clone()));
        }
    }

    /// Ends the transition of an instance into its waiting state.
    pub(crate) fn finish_waiting(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let Some(member) = self.groups.get_mut(&name).and_then(|group| group.warm.get_mut(id)) else {
            return;
        };
        if member.lifecycle != LifecycleState::PendingProceed {
            return;
        }
        member.lifecycle = LifecycleState::Warmed;
        let activity = member.activity.take();
        self.end_activity(&name, activity, ActivityStatus::Successful, None);
        // The instance may have been terminated meanwhile.
        self.check_health(id);
        self.wake_soon(&name);
    }

    /// Returns a member that scale-in picked to the warm pool instead of terminating it (ReuseOnScaleIn). Its
    /// activity ends when it waits there.
    pub(crate) fn return_to_warm_pool(&mut self, name: &GroupName, id: &InstanceId) {
        let Some(group) = self.groups.get_mut(name) else { return };
        let Some(mut member) = group.members.remove(id) else { return };
        member.returns = false;
        member.from_warm_pool = false;
        member.serving_since = None;
        group.warm.insert(id.clone(), member);
        self.begin_waiting(name, id);
        self.wake_soon(name);
    }

    /// Fills the warm pool, terminates surplus and unhealthy instances in it, and removes a deleted one.
    pub(crate) fn fit_warm_pool(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        let Some(pool) = group.warm_pool else { return };
        let broken: Vec<InstanceId> = group
            .warm
            .values()
            .filter(|it| it.lifecycle == LifecycleState::Warmed && it.health == Health::Unhealthy)
            .map(|it| it.id.clone())
            .collect();
        let at = iso_seconds(self.now);
        for id in broken {
            let cause = format!(
                "At {at} an instance was taken out of the warm pool in response to an EC2 health check indicating it \
                 has been terminated or stopped."
            );
            self.begin_leaving(name, &id, &cause);
        }
        let Some(group) = self.groups.get_mut(name) else { return };
        if pool.deleting && group.warm.is_empty() {
            group.warm_pool = None;
            return;
        }
        let (wanted, there) = (group.warm_size(), units(group.staying_in_warm_pool()));
        if there < wanted && !group.is_suspended(Process::Launch) {
            self.launch_into(name, wanted - there, Place::WarmPool);
        } else if there > wanted && !group.is_suspended(Process::Terminate) {
            let mut excess = there - wanted;
            let ready = |it: &Member| it.lifecycle == LifecycleState::Warmed;
            let mut leaving: Vec<&Member> = group.staying_in_warm_pool().collect();
            leaving.sort_by_key(|it| (ready(it), std::cmp::Reverse(it.launched), it.id.clone()));
            let mut chosen = Vec::new();
            for member in leaving {
                if member.weight <= excess {
                    excess -= member.weight;
                    chosen.push(member.id.clone());
                }
            }
            for id in chosen {
                let cause =
                    format!("At {at} an instance was taken out of the warm pool, which is too large.");
                self.begin_leaving(name, &id, &cause);
            }
        }
    }
}
