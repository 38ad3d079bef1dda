//! A roll-out against its limit: launches and drains take their time whatever the manager does, and only so many
//! instances are replaced at once.

use crate::meter::Meter;
use crate::{MANAGER_ARGS, patience};
use anyhow::{Context as _, Result};
use foo_testbed::World;
use foo_testbed::world::kinds::{History, Kind, number, text};
use foo_testbed::world::{Pool, WorldOptions};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// From the launch of an instance to `InService`, about as in AWS.
const LAUNCH: Duration = Duration::from_mins(1);
/// How long pods take to end after their eviction. Cluster API checks every 20 s whether they have.
const PODS_END: Duration = Duration::from_secs(15);

/// A tenth at a time, after one alone.
pub(crate) fn surge(size: u32) -> u32 {
    size.div_ceil(10)
}

/// How many launches follow one another in the roll-out of a pool: the first instance has to work before the others
/// follow.
pub(crate) fn rounds(size: u32) -> u32 {
    1 + size.saturating_sub(1).div_ceil(surge(size))
}

/// Requests another type for everything, and waits until that is done.
pub(crate) async fn roll_out(pool: &Pool<'_>, size: u32, timeout: Duration) -> Result<Duration> {
    let started = Instant::now();
    pool.patch(Kind::FooMachinePool, &json!({"spec": {"instanceType": "m7i.xlarge"}})).await?;
    let all = usize::try_from(size)?;
    pool.wait("to be rolled out", timeout, |view| {
        let of = |path: &str| view.foo_pool.as_ref().and_then(|pool| number(pool, path));
        // Until the manager has seen the change, all that it counts is of the old type.
        let seen = of("/status/observedGeneration") == of("/metadata/generation");
        seen && of("/status/upToDateReplicas") == Some(i64::from(size)) && view.is_settled_at(all)
    })
    .await?;
    Ok(started.elapsed())
}

/// The roll-out of a pool with a pod on each Node, beside what launches and drains alone would take.
pub(crate) async fn against_its_limit(size: u32) -> Result<()> {
    println!("\n== a roll-out of {size} with pods that take their time");
    let options = WorldOptions {
        manager_args: MANAGER_ARGS.map(str::to_owned).to_vec(),
        pod_shutdown: PODS_END,
        ..WorldOptions::default()
    };
    let world = World::start(options).await?;
    let cluster = world.cluster("bench").await?;
    let pool = cluster.pool("workers", size).await?;
    pool.settles_within(usize::try_from(size)?, patience(size)).await?;
    let workload = pool.run("web", size).await?;
    workload.allow(size).await?;
    // As many drains at once, so that they do not set the pace.
    let budgets =
        json!({"rollout": {"maxSurge": surge(size)}, "scaleIn": {"maxConcurrentDrains": surge(size)}});
    pool.patch(Kind::FooMachinePool, &json!({ "spec": budgets })).await?;
    world.aws().region().change_settings(|settings| settings.launch = LAUNCH)?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let machines = world.history(Kind::Machine, "bench").await?;
    let foo_machines = world.history(Kind::FooMachine, "bench").await?;
    let meter = Meter::start(&world).await?;
    let took = roll_out(&pool, size, patience(size) + LAUNCH * 3 * rounds(size)).await?;
    let reading = meter.read(&world).await?;
    let drain = mean_drain(&machines, &foo_machines)?;
    let limit = (LAUNCH + drain) * rounds(size);
    println!(
        "{:.0} s, {reading}\n  the limit: one, then {} at a time, {} s for a launch and {:.1} s for a drain on average: {:.0} s; \
         {:+.1} %",
        took.as_secs_f64(),
        surge(size),
        LAUNCH.as_secs(),
        drain.as_secs_f64(),
        limit.as_secs_f64(),
        100.0 * (took.as_secs_f64() / limit.as_secs_f64() - 1.0),
    );
    Ok(())
}

/// From the deletion of a Machine until Cluster API deletes its FooMachine, which it does after the drain.
fn mean_drain(machines: &History, foo_machines: &History) -> Result<Duration> {
    let asked = deletions(machines)?;
    let drained = deletions(foo_machines)?;
    let all: Vec<i64> = asked.iter().filter_map(|(name, asked)| Some(drained.get(name)? - asked)).collect();
    let count = i64::try_from(all.len())?;
    let mean =
        all.iter().sum::<i64>().saturating_mul(1000).checked_div(count).context("nothing was drained")?;
    Ok(Duration::from_millis(u64::try_from(mean)?))
}

/// When each object was deleted first, in seconds.
fn deletions(history: &History) -> Result<BTreeMap<String, i64>> {
    let mut found = BTreeMap::new();
    for version in history.versions() {
        let at = text(&version, "/metadata/deletionTimestamp");
        if !at.is_empty() {
            let at: jiff::Timestamp = at.parse().context("reading a deletionTimestamp")?;
            found.entry(text(&version, "/metadata/name").to_owned()).or_insert(at.as_second());
        }
    }
    Ok(found)
}
