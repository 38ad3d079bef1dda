//! What load balancers report about the pool's instances, as far as the pool asks for it.

use super::content::ContentState;
use super::facts::Facts;
use super::member::Member;
use foo_model::{HealthInGroups, Timestamp, health_in};

/// What is unhealthy about a member according to a load balancer.
pub(crate) enum TargetFailure {
    /// Nothing, or the pool does not replace instances for that.
    None,
    /// It is unhealthy, and has had the grace period to become healthy.
    Unhealthy(String),
    /// It is unhealthy; its grace period ends at this moment.
    InGrace(Timestamp),
}

/// Whether the pool asks for the health of its targets before it replaces instances, and it is not known: a roll-out waits.
pub(crate) fn is_blind(facts: &Facts<'_>) -> bool {
    facts.desired.requires_target_health() && facts.observed.target_health.seen().is_none()
}

/// Whether load balancers send requests to a member, if the pool asks for that. While it is not known, an instance of the target
/// content has not proved itself, and any other one is spared.
pub(crate) fn is_served(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    if !facts.desired.requires_target_health() {
        return true;
    }
    match facts.observed.target_health.seen() {
        Some(groups) => health_in(groups, &member.instance.id) == HealthInGroups::Serves,
        None => member.content != ContentState::UpToDate,
    }
}

/// Whether a load balancer reports a member as unhealthy, and the pool replaces it for that.
pub(crate) fn target_failure(facts: &Facts<'_>, member: &Member<'_>) -> TargetFailure {
    let Some(grace) = facts.desired.target_health_grace() else { return TargetFailure::None };
    let (Some(groups), Some(machine)) = (facts.observed.target_health.seen(), member.machine) else {
        return TargetFailure::None;
    };
    let HealthInGroups::Unhealthy(arn, health) = health_in(groups, &member.instance.id) else {
        return TargetFailure::None;
    };
    let until = machine.created.plus(grace.into());
    if !facts.knows_ages() || facts.observed.now < until {
        return TargetFailure::InGrace(until);
    }
    let because = if health.reason.is_empty() { String::new() } else { format!(" ({})", health.reason) };
    TargetFailure::Unhealthy(format!("target group {} reports it as unhealthy{because}", arn.name()))
}
