//! Settled pools: what they cost while nothing changes.

use super::setup::Bench;
use crate::meter::{self, Meter};
use crate::record::Measure;
use anyhow::Result;
use std::time::{Duration, Instant};

/// What the last change still causes (a maximum that follows the desired replicas, details of late instances) comes
/// first.
const QUIET: Duration = Duration::from_secs(45);

/// Measures so long: calls, writes, processor time, and the memory of a manager whose caches are full.
pub(super) async fn measure(bench: Bench<'_>, rest: Duration) -> Result<()> {
    let Bench { world, watch, recorder, fleet } = bench;
    watch.rest("what the last change still causes", QUIET).await?;
    let (meter, began) = (Meter::start(world).await?, Instant::now());
    watch.rest("idle", rest).await?;
    let reading = meter.read(world).await?;
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let memory = meter::resident_megabytes(world)?;
    println!(
        "idle, per minute: {:.1} AWS calls ({:.2} per pool), {:.1} Kubernetes writes, {:.1} live reads; manager \
         {:.0}m CPU, {} MB, {} MB at most",
        reading.aws_per(minutes),
        reading.aws_per(minutes) / f64::from(fleet.pools),
        reading.writes_per(minutes),
        reading.live_reads_per(minutes),
        reading.millicores(minutes),
        memory.now,
        memory.highest,
    );
    reading.record(recorder, fleet, [Measure::IdleCalls, Measure::IdleWrites], minutes);
    recorder.figure(Measure::ResidentMegabytes, fleet, f64::from(memory.now));
    Ok(())
}
