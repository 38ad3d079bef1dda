//! A fail-over: two replicas of the manager run, the leader is killed as by SIGKILL, and a pool has work at that moment.
//! How long until the other one leads, reconciles, and changes a group.

use super::setup::{self, Bench, Pods, patience};
use crate::meter::{self, Passes};
use crate::progress::Progress;
use crate::record::{Fleet, Measure, Recorder, Story};
use crate::trace::Trace;
use crate::wait::{Step, Watch};
use anyhow::{Result, ensure};
use foo_testbed::world::{Manager, Pool};
use std::time::Duration;

/// For the caches of the second replica.
const FILLED: Duration = Duration::from_secs(30);
/// A fail-over takes the time of a Lease, of an attempt to acquire it and the settle time: less than half a minute.
const DEADLINE: Duration = Duration::from_mins(3);

const LEADS: &str = "another replica leads";
const PASSES: &str = "the first pass of the new leader is done";
const CHANGES: &str = "the new leader has changed the size of the group";

/// What happens after the leader ended, in this order, with the figure for it.
const EVENTS: [(&str, Measure); 3] = [
    (LEADS, Measure::FailOverLeaderSeconds),
    (PASSES, Measure::FailOverPassSeconds),
    (CHANGES, Measure::FailOverChangeSeconds),
];

/// Measures a fail-over with a pool of this size.
pub(crate) async fn measure(size: u32, recorder: &Recorder) -> Result<()> {
    let world = setup::world(recorder, Pods::None).await?;
    let replica = world.manager().replica("foo-manager-standby")?;
    let watch = Watch::over(&world, recorder).and(&replica);
    let bench = Bench { world: &world, watch: &watch, recorder, fleet: Fleet::one_pool(size) };
    let pool = setup::pool(bench, size).await?;
    watch.during("the second replica to be ready", FILLED, replica.start()).await?;
    watch.rest("the caches of the second replica", FILLED).await?;
    ensure!(!meter::leads(&replica.metrics().await?), "the second replica leads while the first one runs");
    let mut trace = Trace::begin();
    world.manager().kill();
    pool.scale(size + 1).await?;
    follow(bench, &pool, &replica, &mut trace).await?;
    for (event, measure) in EVENTS {
        let at = trace.mark(event);
        println!("fail-over with {}: {event} after {at:.1} s", bench.fleet);
        recorder.figure(measure, bench.fleet, at);
    }
    watch.settles(&pool, size, size + 1, patience(size), |view| trace.pool(view)).await?;
    recorder.time_line(trace.end(Story::FailOver, bench.fleet));
    Ok(())
}

/// Marks each event when it is first seen: reads are about a second apart.
async fn follow(bench: Bench<'_>, pool: &Pool<'_>, replica: &Manager, trace: &mut Trace) -> Result<()> {
    let (before, group) = (bench.fleet.size, pool.group());
    bench
        .watch
        .until("the second replica to act", DEADLINE, async || {
            let metrics = replica.metrics().await?;
            let desired = bench.world.aws().group(&group).map_or(before, |group| group.sizes.desired);
            let now = [meter::leads(&metrics), Passes::of(&metrics).of_pools > 0, desired > before];
            for (_, (event, _)) in now.iter().zip(EVENTS).filter(|(happens, _)| **happens) {
                trace.mark(event);
            }
            trace.pool(&pool.view().await?);
            let happened = EVENTS.map(|(event, _)| trace.has(event));
            let seen = EVENTS.map(|(event, _)| event).join(", ");
            Ok(Step::when(happened == [true; 3], || Progress::events(&happened, seen)))
        })
        .await
}
