//! Target groups of Elastic Load Balancing: Auto Scaling registers instances that enter service, and deregisters those
//! that leave it, before their terminating hooks (Auto Scaling User Guide, "How lifecycle hooks work in Auto Scaling
//! groups"; "Use Elastic Load Balancing to distribute incoming application traffic in your Auto Scaling group").

use crate::core::due::Event;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::targets::health;
use foo_cloud::InstanceState;
use foo_model::network::TargetGroup;
use foo_model::{
    GroupName, InstanceId, LifecycleState, TargetGroupArn, TargetHealth, TargetState, Targets, Timestamp,
};
use std::collections::BTreeSet;

/// Target groups of one Auto Scaling group (Auto Scaling User Guide, "Quotas").
const QUOTA: usize = 50;
/// Traffic sources of one call (Auto Scaling API Reference, AttachTrafficSources).
pub const ATTACH_LIMIT: usize = 10;

/// A target group that does not exist, for calls of Elastic Load Balancing.
pub fn no_target_group() -> AwsError {
    AwsError::new("TargetGroupNotFound", "One or more target groups not found")
}

fn check_quota(count: usize) -> AwsResult<()> {
    if count <= QUOTA {
        return Ok(());
    }
    let message = format!("An Auto Scaling group can have at most {QUOTA} target groups");
    Err(AwsError::new("LimitExceeded", message))
}

impl Region {
    /// AttachTrafficSources and AttachLoadBalancerTargetGroups: instances in service are registered.
    ///
    /// # Errors
    /// The Auto Scaling group or a target group does not exist, or there are too many.
    pub fn attach_target_groups(
        &mut self,
        name: &GroupName,
        arns: &BTreeSet<TargetGroupArn>,
    ) -> AwsResult<()> {
        self.living_group(name)?;
        let limit = arns.len() <= ATTACH_LIMIT;
        limit.then_some(()).ok_or_else(|| {
            AwsError::validation(format!("You may only attach up to {ATTACH_LIMIT} traffic sources at once"))
        })?;
        self.check_target_groups(arns)?;
        let Some(group) = self.groups.get_mut(name) else { return Ok(()) };
        check_quota(group.target_groups.union(arns).count())?;
        group.target_groups.extend(arns.iter().cloned());
        let serves = |it: &&crate::core::group::model::Member| it.lifecycle == LifecycleState::InService;
        let serving: Vec<InstanceId> =
            group.members.values().filter(serves).map(|it| it.id.clone()).collect();
        for id in serving {
            self.register_targets(name, &id);
        }
        Ok(())
    }

    /// DetachTrafficSources and DetachLoadBalancerTargetGroups.
    ///
    /// # Errors
    /// The Auto Scaling group does not exist, or is not attached to a target group.
    pub fn detach_target_groups(
        &mut self,
        name: &GroupName,
        arns: &BTreeSet<TargetGroupArn>,
    ) -> AwsResult<()> {
        let group = self.living_group(name)?;
        if !arns.is_subset(&group.target_groups) {
            return Err(AwsError::validation(
                "Trying to remove Target Groups that are not part of the group",
            ));
        }
        let members: Vec<InstanceId> = group.members.keys().cloned().collect();
        for id in members {
            self.deregister_from(arns, &id);
        }
        if let Some(group) = self.groups.get_mut(name) {
            group.target_groups.retain(|arn| !arns.contains(arn));
        }
        Ok(())
    }

    /// Refuses target groups that do not exist.
    pub(crate) fn check_target_groups(&self, arns: &BTreeSet<TargetGroupArn>) -> AwsResult<()> {
        let exists =
            |arn: &TargetGroupArn| self.network.get::<TargetGroup>(&arn.as_str().to_owned()).is_some();
        if arns.iter().all(exists) {
            return Ok(());
        }
        Err(AwsError::validation(
            "Provided Target Groups may not be valid. Please ensure they exist and try again.",
        ))
    }

    /// A member enters service, unless the AddToLoadBalancer process is suspended.
    pub(crate) fn register_targets(&mut self, name: &GroupName, id: &InstanceId) {
        let Some(group) = self.groups.get(name) else { return };
        if group.is_suspended(foo_model::Process::AddToLoadBalancer) {
            return;
        }
        for arn in group.target_groups.clone() {
            self.targets.register(&arn, id, self.now);
        }
    }

    /// A member leaves service. Returns when its connections are drained, if it was registered and runs.
    pub(crate) fn deregister_targets(&mut self, name: &GroupName, id: &InstanceId) -> Option<Timestamp> {
        let arns = self.groups.get(name)?.target_groups.clone();
        let in_use = |arn: &&TargetGroupArn| self.network.targeted.contains_key(arn.as_str());
        let registered = arns.iter().filter(in_use).any(|arn| self.targets.has(arn, id));
        let until = self.deregister_from(&arns, id);
        let runs = self.instances.get(id).is_some_and(|it| it.state == InstanceState::Running);
        (registered && runs).then_some(until)
    }

    fn deregister_from(&mut self, arns: &BTreeSet<TargetGroupArn>, id: &InstanceId) -> Timestamp {
        let until = self.now.plus(self.settings.deregistration_delay);
        for arn in arns {
            self.targets.deregister(arn, id, until);
        }
        until
    }

    /// The health of the targets of a group; `None` if the group does not exist.
    pub fn target_health(&self, arn: &TargetGroupArn) -> Option<Targets> {
        let key = arn.as_str().to_owned();
        self.network.get::<TargetGroup>(&key)?;
        let in_use = self.network.targeted.contains_key(&key);
        let state = |id: &InstanceId, since: Timestamp, drains: bool| {
            let runs = self.instances.get(id).is_some_and(|it| it.state == InstanceState::Running);
            match self.targets.set.get(id) {
                _ if drains => health(TargetState::Draining),
                _ if !in_use => health(TargetState::Unchecked),
                _ if !runs => TargetHealth::named("unused", "Target.InvalidState"),
                Some(set) => health(*set),
                None if self.now < since.plus(self.settings.target_checks) => health(TargetState::Initial),
                None => health(TargetState::Healthy),
            }
        };
        let targets = self.targets.of(arn, self.now);
        Some(targets.map(|(id, it)| (id.clone(), state(id, it.since, it.drains_until.is_some()))).collect())
    }

    /// Sets the state of an instance in all target groups that it is registered in; `None` lets its checks decide again.
    ///
    /// # Errors
    /// There is no such instance.
    pub fn set_target_state(&mut self, id: &InstanceId, state: Option<TargetState>) -> AwsResult<()> {
        if self.instances.get(id).is_none() {
            return Err(AwsError::no_member(id));
        }
        match state {
            Some(state) => self.targets.set.insert(id.clone(), state),
            None => self.targets.set.remove(id),
        };
        self.check_as_target(id);
        Ok(())
    }

    /// Schedules the checks of a member that follow from the health of its targets: soon, and after its grace period.
    pub(crate) fn check_as_target(&mut self, id: &InstanceId) {
        self.check_health_soon(id);
        let until = self.group_of(id).and_then(|name| {
            let group = self.groups.get(&name)?;
            Some(group.members.get(id)?.serving_since?.plus(group.settings.grace))
        });
        if let Some(until) = until.filter(|until| *until > self.now) {
            self.due.at(until, Event::HealthCheck(id.clone()));
        }
    }

    /// Whether the group's health checks are those of its load balancers, too, and one fails after the grace period.
    pub(crate) fn fails_as_target(&self, name: &GroupName, id: &InstanceId) -> bool {
        let Some(group) = self.groups.get(name) else { return false };
        let young = group
            .members
            .get(id)
            .and_then(|member| member.serving_since)
            .is_none_or(|since| self.now < since.plus(group.settings.grace));
        let asks = group.settings.health_check_type.split(',').any(|kind| kind == "ELB");
        let unhealthy = |arn: &TargetGroupArn| {
            let targets = self.target_health(arn).unwrap_or_default();
            targets.get(id).is_some_and(|health| health.state == TargetState::Unhealthy)
        };
        asks && !young && group.target_groups.iter().any(unhealthy)
    }
}
