//! Lifecycle hooks of a group without instances.

use crate::belief::Check::{Holds, Refused};
use crate::belief::Source::{File, Simulator};
use crate::belief::{Belief, Seen};
use crate::scene::{NO_ID, Scene};
use foo_cloud::{Operation as O, Result};
use foo_model::hook::{DRAIN_HOOK, HookConfig, HookResult, LifecycleHook, Transition};
use foo_model::{GroupName, HookName, InstanceId, Seconds};
use tokio::time::Instant;

/// Most lifecycle hooks of a group (Auto Scaling User Guide, "Quotas for Auto Scaling resources and groups").
const HOOKS: usize = 50;

pub(super) fn beliefs() -> Vec<Belief> {
    let mut all = of_limits();
    all.extend(of_life());
    all.extend(of_waits());
    all
}

fn hook(heartbeat: u32) -> LifecycleHook {
    LifecycleHook {
        transition: Transition::Terminating,
        heartbeat: Seconds(heartbeat),
        result: HookResult::Continue,
        target: None,
        metadata: None,
    }
}

/// Puts a hook on the shared group, which AWS is to refuse.
async fn put(scene: &Scene, heartbeat: u32) -> Result<()> {
    let name = HookName::new("refused");
    scene.cloud.put_hook(&scene.place()?.group, &name, &hook(heartbeat), None).await
}

fn of_limits() -> Vec<Belief> {
    vec![
        Belief::free(
            "hooks/shortest-heartbeat",
            "PutLifecycleHook refuses a heartbeat below 30 seconds: ValidationError",
            Simulator("hooks::hooks_are_bounded_and_an_update_keeps_what_it_does_not_name"),
            &[(O::PutLifecycleHook, 1)],
            Refused { code: "ValidationError", call: |scene| Box::pin(put(scene, 29)) },
        ),
        Belief::free(
            "hooks/longest-heartbeat",
            "PutLifecycleHook refuses a heartbeat above 7200 seconds: ValidationError",
            Simulator("hooks::hooks_are_bounded_and_an_update_keeps_what_it_does_not_name"),
            &[(O::PutLifecycleHook, 1)],
            Refused { code: "ValidationError", call: |scene| Box::pin(put(scene, 7_201)) },
        ),
        Belief::free(
            "hooks/at-most-fifty",
            "a group can be created with 50 hooks, and gets no other one: LimitExceeded",
            Simulator("hooks::hooks_are_bounded_and_an_update_keeps_what_it_does_not_name"),
            &[(O::CreateAutoScalingGroup, 1), (O::PutLifecycleHook, 1)],
            Refused { code: "LimitExceeded", call: |scene| Box::pin(one_too_many(scene)) },
        ),
    ]
}

fn of_life() -> Vec<Belief> {
    vec![
        Belief::free(
            "hooks/read-as-written",
            "DescribeLifecycleHooks shows a hook as PutLifecycleHook set it",
            Simulator("judge::hooks"),
            &[(O::CreateAutoScalingGroup, 1), (O::PutLifecycleHook, 1), (O::DescribeLifecycleHooks, 1)],
            Holds(|scene| Box::pin(read_as_written(scene))),
        ),
        Belief::free(
            "hooks/deletion-of-unknown",
            "DeleteLifecycleHook refuses a hook that does not exist: ValidationError",
            File("crates/cloud/src/lib.rs", "continues terminations. `Invalid` if it"),
            &[(O::DeleteLifecycleHook, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        let missing = HookName::new("missing");
                        scene.cloud.delete_hook(&scene.place()?.group, &missing).await
                    })
                },
            },
        ),
    ]
}

fn of_waits() -> Vec<Belief> {
    vec![
        Belief::free(
            "hooks/completion-without-a-wait",
            "CompleteLifecycleAction refuses an instance that does not wait: ValidationError",
            Simulator("judge::hooks"),
            &[(O::CreateAutoScalingGroup, 1), (O::CompleteLifecycleAction, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        let group = with_drain_hook(scene).await?;
                        scene.cloud.complete_drain_hook(&group, &no_instance()).await
                    })
                },
            },
        ),
        Belief::free(
            "hooks/heartbeat-without-a-wait",
            "RecordLifecycleActionHeartbeat refuses an instance that does not wait: ValidationError",
            Simulator("boto3::test_lifecycle_hooks"),
            &[(O::CreateAutoScalingGroup, 1), (O::RecordLifecycleActionHeartbeat, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        let group = with_drain_hook(scene).await?;
                        scene.cloud.record_heartbeat(&group, &no_instance()).await
                    })
                },
            },
        ),
    ]
}

fn no_instance() -> InstanceId {
    InstanceId::new(format!("i-{NO_ID}"))
}

async fn with_drain_hook(scene: &Scene) -> Result<GroupName> {
    let mut spec = scene.group(&scene.new_name())?;
    spec.drain_hook = Some(HookConfig::DRAIN);
    scene.cloud.create_group(&spec).await?;
    Ok(spec.name)
}

async fn one_too_many(scene: &Scene) -> Result<()> {
    let mut spec = scene.group(&scene.new_name())?;
    spec.hooks = (0..HOOKS).map(|number| (HookName::new(format!("hook-{number}")), hook(60))).collect();
    scene.cloud.create_group(&spec).await?;
    scene.cloud.put_hook(&spec.name, &HookName::new("another"), &hook(60), None).await
}

async fn read_as_written(scene: &Scene) -> Result<Seen> {
    let group = scene.create_group().await?;
    let (name, written) = (HookName::new(DRAIN_HOOK), LifecycleHook::from(HookConfig::DRAIN));
    scene.cloud.put_hook(&group, &name, &written, None).await?;
    let shown = scene.until(Instant::now(), || async {
        let hooks = scene.cloud.describe_hooks(&group).await?;
        Ok(hooks.drain == Some(HookConfig::DRAIN))
    });
    let shown = shown.await?.is_some();
    Ok(Seen::that(shown, if shown { "as written" } else { "otherwise" }))
}
