//! A scale-in with a pod on each Node: Cluster API drains every Machine before the provider terminates its instance.

use super::setup::{self, Bench, Pods, patience, tenth};
use crate::meter::Meter;
use crate::record::{Fleet, Measure, Recorder};
use crate::wait::Watch;
use anyhow::Result;
use std::time::{Duration, Instant};

/// For what the last change still causes.
const QUIET: Duration = Duration::from_secs(10);
/// How long drains that begin together take at most, with what follows. Cluster API reads a drain every 20 s.
const DRAINS: Duration = Duration::from_mins(2);

/// What the pool is scaled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// A tenth of its size.
    Tenth,
    /// 0.
    Zero,
}

impl To {
    /// The number of instances that are left of this many.
    pub(crate) fn of(self, size: u32) -> u32 {
        match self {
            Self::Tenth => tenth(size),
            Self::Zero => 0,
        }
    }
}

/// Measures the scale-in of a pool of this size.
pub(crate) async fn measure(size: u32, to: To, recorder: &Recorder) -> Result<()> {
    let world = setup::world(recorder, Pods::Slow).await?;
    let watch = Watch::over(&world, recorder);
    let fleet = Fleet::one_pool(size);
    let bench = Bench { world: &world, watch: &watch, recorder, fleet };
    let pool = setup::pool(bench, size).await?;
    setup::run_pods(bench, &pool).await?;
    watch.rest("what the last change still causes", QUIET).await?;
    let (left, rounds) = (to.of(size), size.div_ceil(tenth(size).max(1)));
    let (meter, began) = (Meter::start(&world).await?, Instant::now());
    pool.scale(left).await?;
    watch.settles(&pool, size, left, patience(size) + DRAINS * rounds, |_| {}).await?;
    let reading = meter.read(&world).await?;
    let drained = f64::from(size - left);
    println!("scale-in {size}→{left} with drains: {:.0} s, {reading}", began.elapsed().as_secs_f64());
    println!(
        "  per instance: {:.1} AWS calls, {:.1} Kubernetes writes",
        reading.aws_per(drained),
        reading.writes_per(drained)
    );
    println!("  {}", reading.by_action());
    match to {
        To::Tenth => reading.record(recorder, fleet, [Measure::ScaleInCalls, Measure::ScaleInWrites], 1.0),
        To::Zero => {
            let each = [Measure::ToZeroCallsEach, Measure::ToZeroWritesEach];
            reading.record(recorder, fleet, each, drained);
        }
    }
    world.check_nothing_undrained()
}
