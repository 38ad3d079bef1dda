//! Traffic sources: Auto Scaling registers instances that enter service with them, and deregisters those that leave it,
//! before their terminating hooks (Auto Scaling User Guide, "How lifecycle hooks work in Auto Scaling groups"; "Use Elastic
//! Load Balancing to distribute incoming application traffic in your Auto Scaling group"; "Manage traffic flow with a VPC
//! Lattice target group").

use crate::core::due::Event;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, Member};
use crate::core::region::Region;
use crate::core::targets::health;
use foo_cloud::InstanceState;
use foo_model::network::{LoadBalancer, LoadBalancerKind, TargetGroup};
use foo_model::{
    GroupName, InstanceId, LatticeTargetGroupArn, LifecycleState, TargetGroupArn, TargetHealth, TargetState,
    Targets, Timestamp, TrafficSource, TrafficSourceKind,
};
use std::collections::BTreeSet;

/// Traffic sources of one call (Auto Scaling API Reference, AttachTrafficSources).
pub const ATTACH_LIMIT: usize = 10;

/// A target group that does not exist, for calls of Elastic Load Balancing.
pub fn no_target_group() -> AwsError {
    AwsError::new("TargetGroupNotFound", "One or more target groups not found")
}

fn check_quota(sources: &BTreeSet<TrafficSource>) -> AwsResult<()> {
    let count = |kind: TrafficSourceKind| sources.iter().filter(|source| source.kind() == kind).count();
    let Some(kind) = TrafficSourceKind::ALL.into_iter().find(|kind| count(*kind) > kind.quota()) else {
        return Ok(());
    };
    let message = format!("An Auto Scaling group can have at most {} {}", kind.quota(), kind.plural());
    Err(AwsError::new("LimitExceeded", message))
}

/// What AWS calls traffic sources of a kind in refusals.
fn in_refusals(kind: TrafficSourceKind) -> &'static str {
    match kind {
        TrafficSourceKind::ClassicLoadBalancer => "Load Balancers",
        TrafficSourceKind::TargetGroup => "Target Groups",
        TrafficSourceKind::LatticeTargetGroup => "VPC Lattice Target Groups",
    }
}

/// The health checks of groups that are those of a kind of traffic source (Auto Scaling API Reference, `HealthCheckType`).
fn health_check(kind: TrafficSourceKind) -> &'static str {
    match kind {
        TrafficSourceKind::ClassicLoadBalancer | TrafficSourceKind::TargetGroup => "ELB",
        TrafficSourceKind::LatticeTargetGroup => "VPC_LATTICE",
    }
}

impl Region {
    /// A target group of VPC Lattice that another user creates.
    pub fn put_lattice_target_group(&mut self) -> LatticeTargetGroupArn {
        let id = self.chance.id("tg");
        let arn = format!("arn:aws:vpc-lattice:{}:{}:targetgroup/{id}", self.name, self.account);
        let arn = LatticeTargetGroupArn::from(arn);
        self.targets.lattice.insert(arn.clone());
        arn
    }

    /// AttachTrafficSources, AttachLoadBalancers and AttachLoadBalancerTargetGroups: instances in service are registered.
    ///
    /// # Errors
    /// The Auto Scaling group or a traffic source does not exist, or there are too many.
    pub fn attach_traffic_sources(
        &mut self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> AwsResult<()> {
        self.living_group(name)?;
        let limit = sources.len() <= ATTACH_LIMIT;
        limit.then_some(()).ok_or_else(|| {
            AwsError::validation(format!("You may only attach up to {ATTACH_LIMIT} traffic sources at once"))
        })?;
        self.check_traffic_sources(sources)?;
        let Some(group) = self.groups.get_mut(name) else { return Ok(()) };
        check_quota(&(&group.traffic_sources | sources))?;
        group.traffic_sources.extend(sources.iter().cloned());
        let serves = |it: &&Member| it.lifecycle == LifecycleState::InService;
        let serving: Vec<InstanceId> =
            group.members.values().filter(serves).map(|it| it.id.clone()).collect();
        for id in serving {
            self.register_targets(name, &id);
        }
        Ok(())
    }

    /// DetachTrafficSources, DetachLoadBalancers and DetachLoadBalancerTargetGroups.
    ///
    /// # Errors
    /// The Auto Scaling group does not exist, or is not attached to a traffic source.
    pub fn detach_traffic_sources(
        &mut self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> AwsResult<()> {
        let group = self.living_group(name)?;
        if let Some(missing) = sources.difference(&group.traffic_sources).next() {
            let what = in_refusals(missing.kind());
            return Err(AwsError::validation(format!(
                "Trying to remove {what} that are not part of the group"
            )));
        }
        let members: Vec<InstanceId> = group.members.keys().cloned().collect();
        for id in members {
            self.deregister_from(sources, &id);
        }
        if let Some(group) = self.groups.get_mut(name) {
            group.traffic_sources.retain(|source| !sources.contains(source));
        }
        Ok(())
    }

    /// Refuses more traffic sources than a group can have, and those that do not exist.
    pub(crate) fn check_traffic_sources(&self, sources: &BTreeSet<TrafficSource>) -> AwsResult<()> {
        check_quota(sources)?;
        let Some(missing) = sources.iter().find(|source| !self.has_source(source)) else { return Ok(()) };
        let what = in_refusals(missing.kind());
        Err(AwsError::validation(format!(
            "Provided {what} may not be valid. Please ensure they exist and try again."
        )))
    }

    fn has_source(&self, source: &TrafficSource) -> bool {
        match source {
            TrafficSource::ClassicLoadBalancer(name) => {
                let found = self.network.get::<LoadBalancer>(&name.as_str().to_owned());
                found.is_some_and(|balancer| balancer.kind == LoadBalancerKind::Classic)
            }
            TrafficSource::TargetGroup(arn) => {
                self.network.get::<TargetGroup>(&arn.as_str().to_owned()).is_some()
            }
            TrafficSource::LatticeTargetGroup(arn) => self.targets.lattice.contains(arn),
        }
    }

    /// Whether requests can come from a traffic source: a load balancer has to use a target group, and what was deleted sends none.
    fn sends_requests(&self, source: &TrafficSource) -> bool {
        match source {
            TrafficSource::TargetGroup(arn) => self.network.targeted.contains_key(arn.as_str()),
            TrafficSource::ClassicLoadBalancer(_) | TrafficSource::LatticeTargetGroup(_) => {
                self.has_source(source)
            }
        }
    }

    /// A member enters service, unless the AddToLoadBalancer process is suspended.
    pub(crate) fn register_targets(&mut self, name: &GroupName, id: &InstanceId) {
        let Some(group) = self.groups.get(name) else { return };
        if group.is_suspended(foo_model::Process::AddToLoadBalancer) {
            return;
        }
        for source in group.traffic_sources.clone() {
            self.targets.register(&source, id, self.now);
        }
    }

    /// A member leaves service. Returns when its connections are drained, if it was registered and runs.
    pub(crate) fn deregister_targets(&mut self, name: &GroupName, id: &InstanceId) -> Option<Timestamp> {
        let sources = self.groups.get(name)?.traffic_sources.clone();
        let in_use = |source: &&TrafficSource| self.sends_requests(source);
        let registered = sources.iter().filter(in_use).any(|source| self.targets.has(source, id));
        let until = self.deregister_from(&sources, id);
        let runs = self.instances.get(id).is_some_and(|it| it.state == InstanceState::Running);
        (registered && runs).then_some(until)
    }

    fn deregister_from(&mut self, sources: &BTreeSet<TrafficSource>, id: &InstanceId) -> Timestamp {
        let until = self.now.plus(self.settings.deregistration_delay);
        for source in sources {
            self.targets.deregister(source, id, until);
        }
        until
    }

    /// The health of the targets of a target group; `None` if the group does not exist.
    pub fn target_health(&self, arn: &TargetGroupArn) -> Option<Targets> {
        self.source_health(&TrafficSource::TargetGroup(arn.clone()))
    }

    /// The health of the instances behind a traffic source; `None` if it does not exist.
    pub fn source_health(&self, source: &TrafficSource) -> Option<Targets> {
        if !self.has_source(source) {
            return None;
        }
        let in_use = self.sends_requests(source);
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
        let targets = self.targets.of(source, self.now);
        Some(targets.map(|(id, it)| (id.clone(), state(id, it.since, it.drains_until.is_some()))).collect())
    }

    /// Sets the state of an instance behind all traffic sources that it is registered with; `None` lets its checks decide again.
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

    /// Whether the group's health checks are those of its traffic sources, too, and one fails after the grace period.
    pub(crate) fn fails_as_target(&self, name: &GroupName, id: &InstanceId) -> bool {
        let Some(group) = self.groups.get(name) else { return false };
        let young = group
            .members
            .get(id)
            .and_then(|member| member.serving_since)
            .is_none_or(|since| self.now < since.plus(group.settings.grace));
        !young
            && group.traffic_sources.iter().any(|source| group.asks(source) && self.is_unhealthy(source, id))
    }

    fn is_unhealthy(&self, source: &TrafficSource, id: &InstanceId) -> bool {
        let targets = self.source_health(source).unwrap_or_default();
        targets.get(id).is_some_and(|health| health.state == TargetState::Unhealthy)
    }
}

impl Group {
    /// Whether the group's health checks are those of a traffic source, too.
    fn asks(&self, source: &TrafficSource) -> bool {
        let wanted = health_check(source.kind());
        self.settings.health_check_type.split(',').any(|check| check == wanted)
    }
}
