//! The rules of replacing outdated and sick instances, from the spec into the planner's words.

use super::content::unsigned;
use super::gather::Gathered;
use foo_api::pool as api;
use foo_cloud::model::Seconds;
use foo_planner::ROLLOUT_PAUSED_ANNOTATION;
use foo_planner::desired::{OnFailure, Remediation, Rollout, Share, Strategy};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;

/// How outdated instances are replaced.
pub(super) fn rollout(gathered: &Gathered) -> Rollout {
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
        paused: gathered.pool.annotations().contains_key(ROLLOUT_PAUSED_ANNOTATION),
    }
}

/// How sick Machines are replaced.
pub(super) fn remediation(gathered: &Gathered) -> Remediation {
    let rules = &gathered.pool.spec.remediation;
    Remediation {
        enabled: rules.enabled,
        max_in_flight: share(&rules.max_in_flight),
        unhealthy_limit: share(&rules.unhealthy_limit),
        join_timeout: Some(Seconds(unsigned(rules.join_timeout_seconds))).filter(|timeout| timeout.0 > 0),
    }
}

/// The CRD lets nothing else pass than numbers and percentages; what it let pass before it had that rule counts as none.
fn share(value: &IntOrString) -> Share {
    match value {
        IntOrString::Int(count) => Share::Count(unsigned(*count)),
        IntOrString::String(text) => {
            let percent = text.strip_suffix('%').and_then(|percent| percent.parse().ok());
            Share::Percent(percent.unwrap_or(0))
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
