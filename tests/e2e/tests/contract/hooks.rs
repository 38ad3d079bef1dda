//! Lifecycle hooks, notifications and suspended processes of the spec beside those that another user set in the group.

use super::WORLD;
use anyhow::{Context as _, Result, ensure};
use foo_model::names::APPLIED_ANNOTATION;
use foo_model::{LifecycleState, Process};
use foo_simulator::core::Region;
use foo_simulator::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use foo_testbed::Probe;
use foo_testbed::wait_until;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{Pool, SOON, World};
use serde_json::{Value, json};

const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:scaling";

/// The group's lifecycle hooks, topics and suspended processes.
fn set_in_group(world: &World, pool: &Pool<'_>) -> Result<(Vec<String>, Vec<String>, Vec<Process>)> {
    let group = world.aws().group(&pool.group()).context("no group")?;
    let hooks = group.hooks.into_keys().collect();
    Ok((hooks, group.notifications.into_keys().collect(), group.suspended.into_keys().collect()))
}

/// Another program has done its work for the instances that wait for a lifecycle hook.
fn complete(world: &World, pool: &Pool<'_>, hook: &str) -> Result<()> {
    let group = world.aws().group(&pool.group()).context("no group")?;
    let waiting = group.members.values().filter(|it| it.lifecycle == LifecycleState::PendingWait);
    for member in waiting {
        let key = ActionKey::Instance(member.id.clone());
        let done =
            |region: &mut Region| region.complete_action(&group.name, hook, &key, ActionResult::Continue);
        world.aws().region().with(done)??;
    }
    Ok(())
}

#[test]
fn an_instance_waits_for_the_hooks_of_the_spec_and_what_another_user_set_stays() {
    WORLD.run(async |world| {
        let pool = world
            .cluster("hooks")
            .await?
            .pool_with("workers", 1, |_, foo| {
                foo["spec"]["lifecycleHooks"] =
                    json!([{"name": "register", "transition": "Launching", "heartbeatTimeoutSeconds": 3600}]);
                foo["spec"]["notifications"] =
                    json!([{"topicARN": TOPIC, "types": ["Launch", "TerminateError"]}]);
                foo["spec"]["suspendedProcesses"] = json!(["AlarmNotification"]);
            })
            .await?;
        let waits = pool.wait("the instance to wait for the hook", SOON, |now| {
            now.condition("ScalingUp").is_some_and(|(_, _, message)| message.contains("for a lifecycle hook"))
        });
        waits.await?;
        let (hooks, topics, suspended) = set_in_group(world, &pool)?;
        ensure!(hooks == ["foo-drain", "register"] && topics == [TOPIC], "{hooks:?}, {topics:?}");
        ensure!(suspended.contains(&Process::AlarmNotification), "{suspended:?}");
        complete(world, &pool, "register")?;
        pool.settles_at(1).await?;

        let group = world.aws().group(&pool.group()).context("no group")?.name;
        let (name, transition) = ("mine".to_owned(), Some(Transition::Launching));
        let mine = HookChange { name, transition, ..HookChange::default() };
        world.aws().region().with(|region| region.put_hook(&group, mine))??;
        let nothing =
            json!({"spec": {"lifecycleHooks": null, "notifications": null, "suspendedProcesses": null}});
        pool.patch(Kind::FooMachinePool, &nothing).await?;
        wait_until("what left the spec to leave the group", SOON, async || {
            let (hooks, topics, suspended) = set_in_group(world, &pool)?;
            let left = hooks == ["foo-drain", "mine"]
                && topics.is_empty()
                && !suspended.contains(&Process::AlarmNotification);
            Ok(Probe::when(left, || format!("{hooks:?}, {topics:?}, {suspended:?}")))
        })
        .await?;
        let record = pool.wait("the record to be removed", SOON, |now| {
            let annotations = now.foo_pool.as_ref().and_then(|pool| pool.pointer("/metadata/annotations"));
            annotations.and_then(|it| it.get(APPLIED_ANNOTATION)).is_none_or(Value::is_null)
        });
        record.await?;
        pool.delete().await
    });
}
