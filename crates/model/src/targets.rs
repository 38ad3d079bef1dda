//! Target groups of Elastic Load Balancing, as an Auto Scaling group is attached to them, and the health of instances
//! in them.

use crate::{InstanceId, TargetGroupArn};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The health of one target (Elastic Load Balancing API Reference, `TargetHealth`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TargetState {
    /// `healthy`.
    Healthy,
    /// It is registered and not checked: `unused`, because no load balancer sends requests to its target group or its zone, or
    /// `unavailable`, because health checks are off.
    Unchecked,
    /// `initial`: it is being registered, or its first checks have not finished.
    Initial,
    /// `draining`: it was deregistered, and connections to it end.
    Draining,
    /// `unhealthy`, or `unhealthy.draining`.
    Unhealthy,
}

impl TargetState {
    /// By AWS's name; one that is not known counts as not checked.
    pub fn from_name(name: &str) -> Self {
        match name {
            "healthy" => Self::Healthy,
            "initial" => Self::Initial,
            "draining" => Self::Draining,
            "unhealthy" | "unhealthy.draining" => Self::Unhealthy,
            _ => Self::Unchecked,
        }
    }

    /// AWS's name of the state; `unused` for one that is not checked.
    pub fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Unchecked => "unused",
            Self::Initial => "initial",
            Self::Draining => "draining",
            Self::Unhealthy => "unhealthy",
        }
    }

    /// Whether nothing is wrong with a target in this state, as far as Elastic Load Balancing knows.
    pub fn serves(self) -> bool {
        matches!(self, Self::Healthy | Self::Unchecked)
    }
}

/// Reason codes of targets that could serve, if a load balancer used them.
const NOT_IN_USE: [&str; 2] = ["Target.NotInUse", ""];
/// Reason code of a target whose instance is stopped or terminated.
const INVALID_STATE: &str = "Target.InvalidState";

/// The health of one target, with AWS's reason code (`Target.FailedHealthChecks`), empty if AWS has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetHealth {
    /// Its state; the worst one if the instance is registered with several ports.
    pub state: TargetState,
    /// AWS's reason code for it.
    pub reason: String,
}

impl TargetHealth {
    /// By AWS's names. A target that is `unused` for another reason than that no load balancer uses its target group or zone cannot
    /// serve: for example because its instance is stopped (`Target.InvalidState`).
    pub fn named(state: &str, reason: &str) -> Self {
        let state = match (TargetState::from_name(state), reason) {
            (TargetState::Unchecked, reason) if state == "unused" && !NOT_IN_USE.contains(&reason) => {
                TargetState::Initial
            }
            (state, _) => state,
        };
        Self { state, reason: reason.to_owned() }
    }

    /// AWS's name of the state.
    pub fn state_name(&self) -> &'static str {
        if self.reason == INVALID_STATE { "unused" } else { self.state.name() }
    }

    /// A target with no reason code.
    pub fn new(state: TargetState) -> Self {
        Self { state, reason: String::new() }
    }
}

/// The instances that are registered in one target group.
pub type Targets = BTreeMap<InstanceId, TargetHealth>;

/// The health of one instance in all target groups of its Auto Scaling group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HealthInGroups<'t> {
    /// Every target group has it, and nothing is wrong in any of them.
    Serves,
    /// It is not registered in this target group, or not checked there yet, or being deregistered.
    NotYet(&'t TargetGroupArn),
    /// It is unhealthy in this target group.
    Unhealthy(&'t TargetGroupArn, &'t TargetHealth),
}

/// The health of an instance in target groups; an unhealthy one counts first.
pub fn health_in<'t>(groups: &'t BTreeMap<TargetGroupArn, Targets>, id: &InstanceId) -> HealthInGroups<'t> {
    let in_each = || groups.iter().map(|(arn, targets)| (arn, targets.get(id)));
    let unhealthy = in_each()
        .find_map(|(arn, health)| Some((arn, health.filter(|it| it.state == TargetState::Unhealthy)?)));
    if let Some((arn, health)) = unhealthy {
        return HealthInGroups::Unhealthy(arn, health);
    }
    match in_each().find(|(_, health)| !health.is_some_and(|it| it.state.serves())) {
        Some((arn, _)) => HealthInGroups::NotYet(arn),
        None => HealthInGroups::Serves,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_serves_if_no_target_group_objects() {
        let id = InstanceId::new("i-1");
        let (web, tls) = (TargetGroupArn::new("web"), TargetGroupArn::new("tls"));
        let mut groups = BTreeMap::from([(web.clone(), Targets::new()), (tls.clone(), Targets::new())]);
        assert_eq!(health_in(&groups, &id), HealthInGroups::NotYet(&tls));
        for (state, serves) in [
            ("healthy", true),
            ("unused", true),
            ("unavailable", true),
            ("initial", false),
            ("draining", false),
        ] {
            assert!(state == "unavailable" || TargetState::from_name(state).name() == state);
            for targets in groups.values_mut() {
                targets.insert(id.clone(), TargetHealth::new(TargetState::from_name(state)));
            }
            assert_eq!(health_in(&groups, &id) == HealthInGroups::Serves, serves, "{state}");
        }
        // Unhealthy in one of them, while another one has not checked it yet.
        let failed =
            TargetHealth { reason: "Target.Timeout".into(), ..TargetHealth::new(TargetState::Unhealthy) };
        groups.entry(web.clone()).or_default().insert(id.clone(), failed.clone());
        assert_eq!(health_in(&groups, &id), HealthInGroups::Unhealthy(&web, &failed));
        assert_eq!(health_in(&BTreeMap::new(), &id), HealthInGroups::Serves);
        let dead = TargetHealth::named("unused", "Target.InvalidState");
        assert_eq!((dead.state.serves(), dead.state_name()), (false, "unused"));
        assert!(TargetHealth::named("unused", "Target.NotInUse").state.serves());
        assert!(TargetHealth::named("unavailable", "Target.HealthCheckDisabled").state.serves());
    }
}
