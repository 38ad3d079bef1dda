//! What load balancers report about the pool's instances, as far as the pool asks for it.

use super::content::ContentState;
use super::facts::Facts;
use super::member::Member;
use foo_model::{HealthInGroups, TargetGroupArn, Targets, Timestamp, health_in};
use std::collections::BTreeMap;

/// What is unhealthy about a member according to a load balancer.
pub(crate) enum TargetFailure {
    /// Nothing, or the pool does not replace instances for that.
    None,
    /// It is unhealthy, and has had the grace period to become healthy.
    Unhealthy(String),
    /// It is unhealthy; its grace period ends at this moment.
    InGrace(Timestamp),
}

/// The health in each of the pool's target groups, if the pool asks for it. `Err`: it is not known.
fn health<'a>(facts: &Facts<'a>) -> Option<Result<&'a BTreeMap<TargetGroupArn, Targets>, ()>> {
    facts.desired.asks_for_target_health().then(|| facts.observed.target_health.seen().ok_or(()))
}

/// Whether the pool asks for the health of its targets before it replaces instances, and it is not known: a roll-out waits.
pub(crate) fn is_blind(facts: &Facts<'_>) -> bool {
    requires_health(facts) && health(facts).is_some_and(|read| read.is_err())
}

fn requires_health(facts: &Facts<'_>) -> bool {
    facts.desired.target_health.is_some_and(|rules| rules.required)
}

/// Whether load balancers send requests to a member, if the pool asks for that. While it is not known, an instance of the target
/// content has not proved itself, and any other one is spared.
pub(crate) fn is_served(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    match health(facts).filter(|_| requires_health(facts)) {
        Some(Ok(groups)) => health_in(groups, &member.instance.id) == HealthInGroups::Serves,
        Some(Err(())) => member.content != ContentState::UpToDate,
        None => true,
    }
}

/// Whether a load balancer reports a member as unhealthy, and the pool replaces it for that.
pub(crate) fn target_failure(facts: &Facts<'_>, member: &Member<'_>) -> TargetFailure {
    let Some(rules) = facts.desired.target_health.filter(|rules| rules.replace) else {
        return TargetFailure::None;
    };
    let (Some(Ok(groups)), Some(machine)) = (health(facts), member.machine) else {
        return TargetFailure::None;
    };
    let HealthInGroups::Unhealthy(arn, health) = health_in(groups, &member.instance.id) else {
        return TargetFailure::None;
    };
    let until = machine.created.plus(rules.grace.into());
    if !facts.knows_ages() || facts.observed.now < until {
        return TargetFailure::InGrace(until);
    }
    let because = if health.reason.is_empty() { String::new() } else { format!(" ({})", health.reason) };
    TargetFailure::Unhealthy(format!("target group {} reports it as unhealthy{because}", arn.name()))
}
