//! A manager that starts with pools that are there already: when it has reconciled all, and what it asked AWS for.

use super::setup::{Bench, patience};
use crate::meter::{self, Passes, Reading};
use crate::progress::Progress;
use crate::record::Measure;
use crate::wait::Step;
use anyhow::Result;
use std::time::{Duration, Instant};

/// For what the last change still causes.
const QUIET: Duration = Duration::from_secs(30);

/// Terminates the manager and starts it again.
pub(super) async fn measure(bench: Bench<'_>) -> Result<()> {
    let Bench { world, watch, recorder, fleet } = bench;
    watch.rest("what the last change still causes", QUIET).await?;
    watch.during("the manager to end", QUIET, world.manager().terminate()).await?;
    let aws = meter::aws_calls(world);
    let began = Instant::now();
    watch.during("the manager to be ready", QUIET, world.manager().start()).await?;
    watch
        .until("the passes of all pools", patience(fleet.instances()), async || {
            let Passes { of_pools, waiting } = Passes::of(&world.manager().metrics().await?);
            // Every pool is in the queue from the first list on: none has been left out once the queue is empty.
            let is_done = of_pools >= fleet.pools && waiting == 0;
            let seen = format!("{waiting} objects wait");
            Ok(Step::when(is_done, || Progress::between(0, fleet.pools, of_pools, seen)))
        })
        .await?;
    let took = began.elapsed().as_secs_f64();
    let reading = Reading::since_start(world, &aws).await?;
    println!("restart with {fleet}: all passes are done after {took:.1} s, {reading}");
    println!("  {}", reading.by_action());
    recorder.figure(Measure::RestartSeconds, fleet, took);
    recorder.figure(Measure::RestartCalls, fleet, reading.aws_per(1.0));
    Ok(())
}
