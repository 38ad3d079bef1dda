//! Many pools of ten instances at the same time: their scale-out, idle, a restart of the manager.

use super::setup::{self, Bench, Pods, patience};
use super::{idle, restart};
use crate::meter::Meter;
use crate::progress::{Progress, count};
use crate::record::{Fleet, Measure, Recorder};
use crate::wait::{Step, Watch};
use anyhow::Result;
use foo_testbed::world::Pool;
use std::time::{Duration, Instant};

/// Instances of each pool.
const SIZE: u32 = 10;
/// How many pools are read before progress is noted.
const READS: usize = 20;

/// Measures this many pools; they are idle for `rest`.
pub(crate) async fn measure(pools: u32, rest: Duration, recorder: &Recorder) -> Result<()> {
    let world = setup::world(recorder, Pods::None).await?;
    let watch = Watch::over(&world, recorder);
    let bench = Bench { world: &world, watch: &watch, recorder, fleet: Fleet { pools, size: SIZE } };
    scale_out(bench).await?;
    idle::measure(bench, rest).await?;
    restart::measure(bench).await
}

async fn scale_out(bench: Bench<'_>) -> Result<()> {
    let Bench { world, watch, recorder, fleet } = bench;
    let cluster = setup::cluster(world, watch).await?;
    let meter = Meter::start(world).await?;
    let began = Instant::now();
    let mut all = Vec::new();
    for number in 0..fleet.pools {
        all.push(cluster.pool(&format!("workers-{number}"), SIZE).await?);
    }
    settle(bench, all).await?;
    let took = began.elapsed().as_secs_f64();
    let reading = meter.read(world).await?;
    println!("0→{}×{SIZE}: {took:.0} s, {reading}", fleet.pools);
    reading.record(recorder, fleet, [Measure::ScaleOutCalls, Measure::ScaleOutWrites], 1.0);
    reading.record_passes(recorder, fleet);
    recorder.figure(Measure::ScaleOutSeconds, fleet, took);
    Ok(())
}

/// One wait for all pools: each is read until it has settled.
async fn settle(bench: Bench<'_>, mut pools: Vec<Pool<'_>>) -> Result<()> {
    let (all, size) = (bench.fleet.pools, usize::try_from(SIZE)?);
    let deadline = patience(bench.fleet.instances());
    bench
        .watch
        .until("pools to settle", deadline, async || {
            let mut last = "the last ones read have settled".to_owned();
            for _ in 0..READS {
                let Some(pool) = pools.last() else { break };
                let view = pool.view().await?;
                if !view.is_settled_at(size) {
                    let good = view.good().count();
                    last = format!("{}: {good} of {SIZE} Machines run", pool.name().pool);
                    break;
                }
                pools.pop();
            }
            let settled = all - count(pools.len()).min(all);
            Ok(Step::when(pools.is_empty(), || Progress::between(0, all, settled, last)))
        })
        .await
}
