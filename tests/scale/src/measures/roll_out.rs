//! Roll-outs: what they cost, and how long they take beside their limit. Launches and drains take their time whatever the
//! manager does, and only so much of a pool is replaced at once.

use super::setup::{self, Bench, LAUNCH, Pods, patience, tenth};
use crate::meter::Meter;
use crate::record::{Fleet, Measure, Recorder, Story};
use crate::trace::{Trace, up_to_date};
use crate::wait::{Change, Watch};
use anyhow::{Context as _, Result};
use foo_testbed::world::kinds::{History, Kind, text};
use foo_testbed::world::{Pool, PoolView};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// From the launch of an instance to `InService`, about as in AWS.
const LAUNCH_IN_AWS: Duration = Duration::from_mins(1);
/// For the manager to read the limits of the roll-out.
const QUIET: Duration = Duration::from_secs(10);

/// How many launches follow one another in the roll-out of a pool, a tenth at a time: the first instance has to work
/// before the others follow.
fn rounds(size: u32) -> u32 {
    1 + size.saturating_sub(1).div_ceil(tenth(size).max(1))
}

/// Sets the surge, and waits until the manager has read it.
async fn prepare(bench: Bench<'_>, pool: &Pool<'_>) -> Result<()> {
    let limits = json!({"rollout": {"maxSurge": tenth(bench.fleet.size)}});
    pool.patch(Kind::FooMachinePool, &json!({ "spec": limits })).await?;
    bench.watch.rest("the manager to read the limits of the roll-out", QUIET).await
}

/// Requests another type for everything, and waits until that is done.
async fn replace_all(bench: Bench<'_>, pool: &Pool<'_>, deadline: Duration) -> Result<Duration> {
    let (size, mut trace) = (bench.fleet.size, Trace::begin());
    let all = usize::try_from(size)?;
    pool.patch(Kind::FooMachinePool, &json!({"spec": {"instanceType": "m7i.xlarge"}})).await?;
    let is_done = |view: &PoolView| up_to_date(view) == size && view.is_settled_at(all);
    let (what, count, is_done) = ("to be rolled out", &up_to_date, &is_done);
    let change = Change { what, from: 0, to: size, deadline, count, is_done };
    bench.watch.pool(pool, &change, |view| trace.pool(view)).await?;
    let took = trace.elapsed();
    bench.recorder.time_line(trace.end(Story::RollOut, bench.fleet));
    Ok(took)
}

/// Everything is replaced by another type, a tenth at a time. What launches take sets the limit.
pub(super) async fn calls_and_writes(bench: Bench<'_>, pool: &Pool<'_>) -> Result<()> {
    let size = bench.fleet.size;
    prepare(bench, pool).await?;
    let meter = Meter::start(bench.world).await?;
    let launches = LAUNCH * rounds(size);
    let took = replace_all(bench, pool, patience(size) + launches * 3).await?;
    let reading = meter.read(bench.world).await?;
    let each = f64::from(size);
    println!(
        "roll-out of {size}, {} at a time: {:.0} s ({} s of launches one after another), {reading}",
        tenth(size),
        took.as_secs_f64(),
        launches.as_secs()
    );
    println!(
        "  per replaced instance: {:.1} AWS calls, {:.1} Kubernetes writes",
        reading.aws_per(each),
        reading.writes_per(each)
    );
    println!("  {}", reading.by_action());
    let measures = [Measure::RollOutCallsEach, Measure::RollOutWritesEach];
    reading.record(bench.recorder, bench.fleet, measures, each);
    Ok(())
}

/// The roll-out of a pool with a pod on each Node, beside what launches and drains alone would take.
pub(crate) async fn against_its_limit(size: u32, recorder: &Recorder) -> Result<()> {
    let world = setup::world(recorder, Pods::Slow).await?;
    let watch = Watch::over(&world, recorder);
    let bench = Bench { world: &world, watch: &watch, recorder, fleet: Fleet::one_pool(size) };
    let pool = setup::pool(bench, size).await?;
    setup::run_pods(bench, &pool).await?;
    world.aws().region().change_settings(|settings| settings.launch = LAUNCH_IN_AWS)?;
    prepare(bench, &pool).await?;
    let machines = world.history(Kind::Machine, "bench").await?;
    let foo_machines = world.history(Kind::FooMachine, "bench").await?;
    let meter = Meter::start(&world).await?;
    let took = replace_all(bench, &pool, patience(size) + LAUNCH_IN_AWS * 3 * rounds(size)).await?;
    let reading = meter.read(&world).await?;
    let drain = mean_drain(&machines, &foo_machines)?;
    let limit = (LAUNCH_IN_AWS + drain) * rounds(size);
    let over = 100.0 * (took.as_secs_f64() / limit.as_secs_f64() - 1.0);
    println!(
        "{:.0} s, {reading}\n  the limit: one, then {} at a time, {} s for a launch and {:.1} s for a drain on average: {:.0} s; \
         {over:+.1} %",
        took.as_secs_f64(),
        tenth(size),
        LAUNCH_IN_AWS.as_secs(),
        drain.as_secs_f64(),
        limit.as_secs_f64(),
    );
    recorder.figure(Measure::RollOutOverLimit, bench.fleet, over);
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
