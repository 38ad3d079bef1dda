//! Which instances may still need their role to have access. No entry is deleted of a role that an instance may
//! have: its Node would become NotReady at once, and its Pods would be evicted without a drain.

use foo_api::capi::MachinePool;
use foo_api::{FooMachinePool, conditions};
use foo_model::Reason;
use kube::ResourceExt;
use std::sync::Arc;

/// Whether every instance of the cluster's pools has the profile that the spec of its pool names.
///
/// Not so while a roll-out continues, is paused, waits for users or was rolled back, nor while it is not known; and as
/// long as a MachinePool's FooMachinePool is not there, or cannot be read by this version of the provider.
pub(super) fn are_settled(machine_pools: &[Arc<MachinePool>], pools: &[Arc<FooMachinePool>]) -> bool {
    let is_there = |machine_pool: &Arc<MachinePool>| {
        let reference = &machine_pool.spec.template.spec.infrastructure_ref;
        reference.kind != "FooMachinePool" || pools.iter().any(|pool| pool.name_any() == reference.name)
    };
    machine_pools.iter().all(is_there) && pools.iter().all(|pool| is_settled(pool))
}

fn is_settled(pool: &FooMachinePool) -> bool {
    let generation = pool.metadata.generation;
    let Some(status) = pool.status.as_ref() else { return false };
    let has = |kind: &str, expected: &str, reason: Option<Reason>| {
        conditions::find(&status.conditions, kind).is_some_and(|condition| {
            condition.observed_generation == generation
                && condition.status == expected
                && reason.is_none_or(|reason| Reason::parse(&condition.reason) == Some(reason))
        })
    };
    has("LaunchTemplateReady", "True", None)
        && has("AutoScalingGroupReady", "True", None)
        && has("RollingOut", "False", Some(Reason::NotRollingOut))
        && status.replicas == status.up_to_date_replicas
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::capi::MachinePoolSpec;
    use serde_json::{Value, json};

    /// A pool of generation 2 that matches its spec, except for these conditions.
    fn pool(changed: &[(&str, &str, &str, i64)]) -> Arc<FooMachinePool> {
        let usual = [
            ("LaunchTemplateReady", "True", "VersionReady", 2),
            ("AutoScalingGroupReady", "True", "GroupReady", 2),
            ("RollingOut", "False", "NotRollingOut", 2),
        ];
        let conditions: Vec<Value> = usual
            .iter()
            .map(|usual| changed.iter().find(|it| it.0 == usual.0).unwrap_or(usual))
            .map(|(kind, status, reason, generation)| {
                json!({
                    "type": kind, "status": status, "reason": reason, "message": "",
                    "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
                })
            })
            .collect();
        let pool = json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool",
            "metadata": {"name": "p", "namespace": "n", "generation": 2},
            "spec": {"ami": {"id": "ami-0123456789abcdef0"}, "instanceType": "m6i.large"},
            "status": {"replicas": 3, "upToDateReplicas": 3, "conditions": conditions},
        });
        Arc::new(serde_json::from_value(pool).unwrap())
    }

    fn machine_pool(kind: &str, name: &str) -> Arc<MachinePool> {
        let mut pool = MachinePool::new("mp", MachinePoolSpec::default());
        let reference = &mut pool.spec.template.spec.infrastructure_ref;
        (reference.kind, reference.name) = (kind.to_owned(), name.to_owned());
        Arc::new(pool)
    }

    #[test]
    fn nodes_are_settled_when_every_pool_matches_its_spec() {
        assert!(are_settled(&[], &[]));
        assert!(are_settled(&[machine_pool("FooMachinePool", "p")], &[pool(&[])]));
        for changed in [
            ("LaunchTemplateReady", "False", "VersionMissing", 2),
            ("LaunchTemplateReady", "Unknown", "NotYetObserved", 2),
            ("AutoScalingGroupReady", "Unknown", "NotYetObserved", 2),
            ("RollingOut", "True", "RollingOut", 2),
            ("RollingOut", "True", "RolloutPaused", 2),
            ("RollingOut", "False", "AwaitingDeletion", 2),
            ("RollingOut", "False", "RolledBack", 2),
            ("RollingOut", "False", "NotRollingOut", 1),
        ] {
            assert!(!are_settled(&[], &[pool(&[]), pool(&[changed])]), "{changed:?}");
        }
    }

    #[test]
    fn a_missing_or_unreadable_pool_may_have_any_role() {
        assert!(!are_settled(&[machine_pool("FooMachinePool", "q")], &[pool(&[])]));
        assert!(are_settled(&[machine_pool("OtherMachinePool", "q")], &[pool(&[])]));
        let mut unknown = FooMachinePool::clone(&pool(&[]));
        unknown.status = None;
        assert!(!are_settled(&[], &[Arc::new(unknown)]));
    }
}
