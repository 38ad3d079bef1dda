//! One pool: the scale-out from nothing, idle, changes of one Machine, a change in AWS until its FooMachine is there, a
//! restart of the manager, a roll-out.

use super::setup::{self, Bench, LAUNCH, Pods, patience};
use super::{idle, restart, roll_out};
use crate::meter::{self, Meter};
use crate::progress::{Progress, count};
use crate::record::{Fleet, Measure, Recorder, Story};
use crate::trace::Trace;
use crate::wait::{Change, Step, Watch};
use anyhow::{Context as _, Result};
use foo_testbed::World;
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{Pool, PoolView};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long a FooMachine may take to appear.
const APPEARS: Duration = Duration::from_mins(2);
/// How many times one Machine is changed. The kernel counts processor time in hundredths of a second.
const CHANGES: u32 = 20;
/// From one change to the next: the manager collects changes of pools for 0.2 s.
const BETWEEN_CHANGES: Duration = Duration::from_secs(1);

/// Measures a pool of this size; it is idle for `rest`.
pub(crate) async fn measure(size: u32, rest: Duration, recorder: &Recorder) -> Result<()> {
    let world = setup::world(recorder, Pods::None).await?;
    let watch = Watch::over(&world, recorder);
    let bench = Bench { world: &world, watch: &watch, recorder, fleet: Fleet::one_pool(size) };
    let pool = setup::pool(bench, 0).await?;
    scale_out(bench, &pool).await?;
    idle::measure(bench, rest).await?;
    changes_of_one_machine(bench, &pool).await?;
    change_in_aws(bench, &pool).await?;
    restart::measure(bench).await?;
    watch.settles(&pool, size, size, patience(size), |_| {}).await?;
    roll_out::calls_and_writes(bench, &pool).await
}

async fn scale_out(bench: Bench<'_>, pool: &Pool<'_>) -> Result<()> {
    let Bench { world, watch, recorder, fleet } = bench;
    let size = fleet.size;
    let meter = Meter::start(world).await?;
    let mut trace = Trace::begin();
    pool.scale(size).await?;
    watch.settles(pool, 0, size, patience(size), |view| trace.pool(view)).await?;
    let took = trace.elapsed().as_secs_f64();
    let reading = meter.read(world).await?;
    println!("scale-up 0→{size}: {took:.0} s ({} s of it launching), {reading}", LAUNCH.as_secs());
    println!("  {}", reading.by_action());
    reading.record(recorder, fleet, [Measure::ScaleOutCalls, Measure::ScaleOutWrites], 1.0);
    reading.record_passes(recorder, fleet);
    recorder.figure(Measure::ScaleOutSeconds, fleet, took);
    recorder.time_line(trace.end(Story::ScaleOut, fleet));
    Ok(())
}

/// Another controller changes one Machine again and again: what that costs must not depend on how many others there are.
/// The annotation is one that the manager reads, and that changes nothing in a pool of the right size.
async fn changes_of_one_machine(bench: Bench<'_>, pool: &Pool<'_>) -> Result<()> {
    let Bench { world, watch, recorder, fleet } = bench;
    let view = pool.view().await?;
    let machine = view.good().next().context("no Machine runs")?;
    let annotate = async |value: Option<&str>| {
        let change = json!({"metadata": {"annotations": {"cluster.x-k8s.io/delete-machine": value}}});
        kinds::patch(world.client(), Kind::Machine, &pool.name().namespace, &machine.name, &change).await
    };
    let meter = Meter::start(world).await?;
    for number in 0..CHANGES {
        // Set, removed, set: each is a change for the manager.
        annotate(number.is_multiple_of(2).then_some("marked")).await?;
        watch.rest("passes after a change of one Machine", BETWEEN_CHANGES).await?;
    }
    let reading = meter.read(world).await?;
    annotate(None).await?;
    println!("{CHANGES} changes of one Machine: {} passes, {reading}", reading.passes());
    if let Some(each) = reading.milliseconds_per(f64::from(CHANGES)) {
        recorder.figure(Measure::ChangedMachineMilliseconds, fleet, each);
    }
    watch.settles(pool, fleet.size, fleet.size, patience(fleet.size), |_| {}).await
}

/// A user requests one instance more in AWS: how long until it has a FooMachine.
async fn change_in_aws(bench: Bench<'_>, pool: &Pool<'_>) -> Result<()> {
    let Bench { world, watch, recorder, fleet } = bench;
    let (size, group) = (fleet.size, pool.group());
    let before = ids(world, &group);
    meter::raise_desired(world, &group, size + 1).await?;
    let new = watch
        .until("AWS to launch one more", patience(size), async || {
            let now = ids(world, &group);
            let new = now.iter().find(|id| !before.contains(id)).cloned();
            let progress = || Progress::between(size, size + 1, count(now.len()), "instances".to_owned());
            Ok(new.map_or_else(|| Step::NotYet(progress()), Step::Done))
        })
        .await?;
    let appeared = Instant::now();
    let is_known = |view: &PoolView| {
        let mut ids = view.foo_machines.iter().filter_map(|machine| machine.pointer("/spec/instanceID"));
        ids.any(|id| id == new.as_str())
    };
    let known = |view: &PoolView| u32::from(is_known(view));
    let what = format!("to know {new}");
    let change = Change { what: &what, from: 0, to: 1, deadline: APPEARS, count: &known, is_done: &is_known };
    watch.pool(pool, &change, |_| {}).await?;
    let took = appeared.elapsed().as_secs_f64();
    println!("change in AWS → FooMachine: {took:.1} s");
    recorder.figure(Measure::ChangeSeconds, fleet, took);
    watch.settles(pool, size + 1, size, patience(size), |_| {}).await
}

fn ids(world: &World, group: &str) -> Vec<String> {
    world.aws().instances_of(group).iter().map(|instance| instance.id.to_string()).collect()
}
