//! Instances that are registered with traffic sources: target groups of Elastic Load Balancing and VPC Lattice, and Classic
//! Load Balancers.

use foo_model::{InstanceId, LatticeTargetGroupArn, TargetHealth, TargetState, Timestamp, TrafficSource};
use std::collections::{BTreeMap, BTreeSet};

/// One registered instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Since when.
    pub(crate) since: Timestamp,
    /// Until when its connections are drained, once it is deregistered.
    pub(crate) drains_until: Option<Timestamp>,
}

/// The targets of a region.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetRegistry {
    by_source: BTreeMap<TrafficSource, BTreeMap<InstanceId, Target>>,
    /// Target groups of VPC Lattice that another user created. Nothing else of VPC Lattice is simulated.
    pub(crate) lattice: BTreeSet<LatticeTargetGroupArn>,
    /// States that a test or a user has set.
    pub(crate) set: BTreeMap<InstanceId, TargetState>,
}

impl TargetRegistry {
    /// Registers an instance; one that is being deregistered is registered again.
    pub(crate) fn register(&mut self, source: &TrafficSource, id: &InstanceId, now: Timestamp) {
        let targets = self.by_source.entry(source.clone()).or_default();
        let stays = targets.get(id).is_some_and(|target| target.drains_until.is_none());
        if !stays {
            targets.insert(id.clone(), Target { since: now, drains_until: None });
        }
    }

    /// Begins to deregister an instance.
    pub(crate) fn deregister(&mut self, source: &TrafficSource, id: &InstanceId, drains_until: Timestamp) {
        if let Some(target) = self.by_source.get_mut(source).and_then(|targets| targets.get_mut(id)) {
            target.drains_until.get_or_insert(drains_until);
        }
    }

    /// Removes an instance from all traffic sources.
    pub(crate) fn forget(&mut self, id: &InstanceId) {
        for targets in self.by_source.values_mut() {
            targets.remove(id);
        }
        self.set.remove(id);
    }

    /// The targets of a traffic source that are still registered or drain.
    pub(crate) fn of(
        &self,
        source: &TrafficSource,
        now: Timestamp,
    ) -> impl Iterator<Item = (&InstanceId, &Target)> {
        let stays = move |target: &Target| target.drains_until.is_none_or(|until| until > now);
        self.by_source.get(source).into_iter().flatten().filter(move |(_, target)| stays(target))
    }

    /// Whether an instance is registered with a traffic source, and not being deregistered.
    pub(crate) fn has(&self, source: &TrafficSource, id: &InstanceId) -> bool {
        let target = self.by_source.get(source).and_then(|targets| targets.get(id));
        target.is_some_and(|target| target.drains_until.is_none())
    }
}

/// A state with the reason code that Elastic Load Balancing has for it (API Reference, `TargetHealth`).
pub(crate) fn health(state: TargetState) -> TargetHealth {
    let reason = match state {
        TargetState::Healthy => "",
        TargetState::Unchecked => "Target.NotInUse",
        TargetState::Initial => "Elb.InitialHealthChecking",
        TargetState::Draining => "Target.DeregistrationInProgress",
        TargetState::Unhealthy => "Target.FailedHealthChecks",
    };
    TargetHealth { state, reason: reason.to_owned() }
}
