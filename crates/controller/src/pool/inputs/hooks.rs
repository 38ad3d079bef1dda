//! Lifecycle hooks and suspended processes that the spec names.

use crate::identities::Limits;
use foo_api::pool as api;
use foo_api::shared::unsigned;
use foo_model::{Blocked, HookName, HookResult, HookTarget, LifecycleHook, Process, Seconds, Transition};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the identity allows the topics, queues and roles of all hooks.
pub(super) fn allowed(spec: &api::FooMachinePoolSpec, limits: &Limits) -> Result<(), Blocked> {
    for hook in &spec.lifecycle_hooks {
        hook.notification_target_arn.iter().try_for_each(|arn| limits.notification_target(arn))?;
        hook.role_arn.iter().try_for_each(|arn| limits.role(arn))?;
    }
    Ok(())
}

/// The hooks of the spec, by their names.
pub(super) fn hooks(spec: &api::FooMachinePoolSpec) -> BTreeMap<HookName, LifecycleHook> {
    spec.lifecycle_hooks.iter().map(|hook| (HookName::new(hook.name.as_str()), one(hook))).collect()
}

fn one(hook: &api::LifecycleHook) -> LifecycleHook {
    let target = |arn: &String| HookTarget { arn: arn.clone(), role: hook.role_arn.clone() };
    LifecycleHook {
        transition: match hook.transition {
            api::HookTransition::Launching => Transition::Launching,
            api::HookTransition::Terminating => Transition::Terminating,
        },
        heartbeat: Seconds(unsigned(hook.heartbeat_timeout_seconds)),
        result: match hook.default_result {
            api::HookResult::Continue => HookResult::Continue,
            api::HookResult::Abandon => HookResult::Abandon,
        },
        target: hook.notification_target_arn.as_ref().map(target),
        metadata: hook.notification_metadata.clone(),
    }
}

/// The processes that the spec suspends.
pub(super) fn suspended(spec: &api::FooMachinePoolSpec) -> BTreeSet<Process> {
    let process = |named: &api::SuspendedProcess| match named {
        api::SuspendedProcess::AddToLoadBalancer => Process::AddToLoadBalancer,
        api::SuspendedProcess::AlarmNotification => Process::AlarmNotification,
        api::SuspendedProcess::HealthCheck => Process::HealthCheck,
        api::SuspendedProcess::InstanceRefresh => Process::InstanceRefresh,
        api::SuspendedProcess::ReplaceUnhealthy => Process::ReplaceUnhealthy,
        api::SuspendedProcess::ScheduledActions => Process::ScheduledActions,
    };
    spec.suspended_processes.iter().map(process).collect()
}
