//! The settings for replacing outdated, unhealthy and endangered instances, from the spec to the planner's
//! values.

use crate::maintenance::Windows;
use crate::pool::gather::Gathered;
use crate::pool::identity;
use foo_api::FooMachinePool;
use foo_api::pool as api;
use foo_api::shared::unsigned;
use foo_model::names::ROLLOUT_PAUSED_ANNOTATION;
use foo_model::{Seconds, SpecHash, Timestamp};
use foo_planner::desired::{
    IntOrPercent, Interruption, OnFailure, Rebalance, Remediation, Rollout, RolloutPause, Strategy,
    TargetHealthRules,
};
use foo_planner::memory::RolloutProgress;
use foo_planner::report::RolloutPhase;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;

/// How outdated instances are replaced.
pub(in crate::pool) fn rollout(gathered: &Gathered) -> Rollout {
    let rules = &gathered.pool.spec.rollout;
    let min_ready = gathered.machine_pool.as_ref().and_then(|pool| pool.spec.template.spec.min_ready_seconds);
    Rollout {
        strategy: match rules.strategy {
            api::RolloutStrategy::RollingUpdate => Strategy::RollingUpdate,
            api::RolloutStrategy::OnDelete => Strategy::OnDelete,
        },
        max_surge: share(&rules.max_surge),
        max_unavailable: share(&rules.max_unavailable),
        min_ready: Seconds(unsigned(min_ready.unwrap_or(0))),
        ready_timeout: Seconds(unsigned(rules.ready_timeout_seconds)),
        on_failure: match rules.on_failure {
            api::RolloutFailurePolicy::Halt => OnFailure::Halt,
            api::RolloutFailurePolicy::Rollback => OnFailure::Rollback,
        },
        paused: paused(&gathered.pool),
        max_lifetime: gathered
            .pool
            .spec
            .max_instance_lifetime_seconds
            .map(|seconds| Seconds(unsigned(seconds))),
    }
}

fn paused(pool: &FooMachinePool) -> Option<RolloutPause> {
    if pool.annotations().contains_key(ROLLOUT_PAUSED_ANNOTATION) {
        Some(RolloutPause::ByUser)
    } else {
        identity::adopts(pool).then_some(RolloutPause::Adoption)
    }
}

/// When outdated and expired instances may be replaced.
pub(in crate::pool) fn windows(pool: &FooMachinePool) -> Windows<'_> {
    Windows {
        all: &pool.spec.maintenance_windows,
        annotations: pool.annotations(),
        field: "spec.maintenanceWindows",
        unless: "no instance is replaced for a roll-out or because of its age",
        only: "instances are replaced",
    }
}

/// The progress of a roll-out that the status shows, as after a crash: how its content works is observed from
/// zero. A lost status costs no more than that.
pub(in crate::pool) fn resumed(gathered: &Gathered, now: Timestamp) -> Option<RolloutProgress> {
    let rollout = gathered.pool.status.as_ref()?.rollout.as_ref()?;
    let under_way = [
        RolloutPhase::Preparing,
        RolloutPhase::Waiting,
        RolloutPhase::AwaitingWindow,
        RolloutPhase::Rolling,
        RolloutPhase::RollingBack,
    ];
    let continues = under_way.iter().any(|phase| <&str>::from(phase) == rollout.phase);
    continues.then(|| RolloutProgress::of(SpecHash::new(rollout.target_hash.as_str()), now))
}

/// How unhealthy Machines are replaced.
pub(in crate::pool) fn remediation(gathered: &Gathered) -> Remediation {
    let rules = &gathered.pool.spec.remediation;
    Remediation {
        enabled: rules.enabled,
        max_in_flight: share(&rules.max_in_flight),
        unhealthy_limit: share(&rules.unhealthy_limit),
        join_timeout: Some(Seconds(unsigned(rules.join_timeout_seconds))).filter(|timeout| timeout.0 > 0),
    }
}

/// What the health of targets means.
pub(in crate::pool) fn target_health(gathered: &Gathered) -> Option<TargetHealthRules> {
    let rules = gathered.pool.spec.target_health.as_ref()?;
    Some(TargetHealthRules {
        required: rules.required_for_availability,
        replace: rules.replace_unhealthy,
        grace: Seconds(unsigned(rules.grace_period_seconds)),
    })
}

/// What follows from AWS's announcements.
pub(in crate::pool) fn interruption(gathered: &Gathered) -> Interruption {
    let rebalance = match gathered.pool.spec.interruption.rebalance {
        api::RebalancePolicy::Ignore => Rebalance::Ignore,
        api::RebalancePolicy::Cordon => Rebalance::Cordon,
        api::RebalancePolicy::Replace => Rebalance::Replace,
    };
    Interruption { rebalance }
}

/// The CRD accepts only numbers and percentages; values from before it had that rule count as zero.
fn share(value: &IntOrString) -> IntOrPercent {
    match value {
        IntOrString::Int(count) => IntOrPercent::Count(unsigned(*count)),
        IntOrString::String(text) => {
            let percent = text.strip_suffix('%').and_then(|percent| percent.parse().ok());
            IntOrPercent::Percent(percent.unwrap_or(0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_round_as_in_deployments() {
        let quarter = share(&IntOrString::String("25%".to_owned()));
        assert_eq!((quarter.up(10), quarter.down(10)), (3, 2));
        assert_eq!((quarter.up(0), quarter.down(3)), (0, 0));
        let two = share(&IntOrString::Int(2));
        assert_eq!((two.up(10), two.down(1)), (2, 2));
    }
}
