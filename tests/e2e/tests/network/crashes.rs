//! The manager is killed after every single change of AWS, and every response is lost.

use super::parts::{SOON_IN_AWS, apply, cluster, has_one_of_each, is_ready, network, play_alone, run_alone};
use anyhow::{Result, ensure};
use foo_simulator::{Fault, FaultRule};
use foo_testbed::World;
use foo_testbed::world::kinds::{Kind, condition};
use foo_testbed::world::network::ids;
use foo_testbed::world::{Cluster, ManagerClock, QUIET_PERIOD, WorldOptions};
use serde_json::json;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// A manager finds out in a minute that a call of its predecessor was not carried out (`PATIENCE` in foo-network).
const PATIENCE: Duration = Duration::from_secs(61);
/// After so long without a change the manager's clock continues by that minute.
const PATIENT: Duration = QUIET_PERIOD;
/// Between two reads of how many changes there were.
const POLL: Duration = Duration::from_millis(50);
/// How long no change may come while there is something to do.
const STUCK: Duration = Duration::from_mins(3);

/// A manager whose Lease ends soon after its death, and whose clock the test sets.
fn options() -> WorldOptions {
    let mut options = WorldOptions { clock: ManagerClock::Movable, ..WorldOptions::default() };
    for (flag, seconds) in [("lease-duration", 3), ("renew-deadline", 2), ("retry-period", 1)] {
        options.manager_args.push(format!("--leader-elect-{flag}={seconds}s"));
    }
    options
}

/// Number of calls that changed something.
fn changes(world: &World) -> u64 {
    let reads = ["Describe", "Get", "List", "Assume"];
    let counts = world.aws().calls().into_iter();
    counts
        .filter(|(action, _)| !reads.iter().any(|read| action.starts_with(read)))
        .map(|(_, count)| count)
        .sum()
}

/// Begins something while there is no manager, and lets the manager send one change at a time: the next one hangs, and
/// then the manager is killed and started again. Until it is done; returns how often the manager was killed. `clock` is
/// by how much the manager's clock is fast.
async fn one_at_a_time(
    world: &World,
    clock: &Cell<Duration>,
    begin: impl AsyncFnOnce() -> Result<()>,
    done: impl AsyncFn() -> Result<bool>,
) -> Result<u32> {
    world.manager().kill();
    begin().await?;
    let crashes = crashes_until(world, clock, done).await?;
    world.manager().start().await?;
    Ok(crashes)
}

async fn crashes_until(
    world: &World,
    clock: &Cell<Duration>,
    done: impl AsyncFn() -> Result<bool>,
) -> Result<u32> {
    let mut crashes = 0;
    loop {
        let before = changes(world);
        let _hangs = world.aws().fails(FaultRule::on_changes(Fault::Hang).after(1));
        let (began, mut patient) = (Instant::now(), Instant::now());
        while changes(world) == before {
            // Also one that ended by itself because it did not renew its short Lease in time.
            world.manager().start().await?;
            if done().await? {
                return Ok(crashes);
            }
            let waited = began.elapsed();
            ensure!(waited < foo_testbed::on_this_machine(STUCK), "no change after {crashes} crashes");
            if patient.elapsed() > PATIENT {
                patient = Instant::now();
                clock.set(clock.get() + PATIENCE);
                world.move_managers_clock(i64::try_from(clock.get().as_secs())?)?;
            }
            tokio::time::sleep(POLL).await;
        }
        // The response reaches the manager, and so does what follows it at once.
        tokio::time::sleep(POLL).await;
        world.manager().kill();
        crashes += 1;
    }
}

async fn is_complete(cluster: &Cluster<'_>) -> Result<bool> {
    let Some(object) = cluster.read(Kind::FooCluster).await? else { return Ok(false) };
    Ok(condition(&object, "NetworkReady").is_some_and(|(status, ..)| status == "True"))
}

#[test]
fn a_manager_killed_after_each_change_duplicates_nothing_and_leaves_nothing() {
    play_alone(options(), async |world| {
        let clock = Cell::default();
        let cluster = world.no_cluster("crashes").await?;
        let begin = async || apply(&cluster, json!({"zones": {"count": 2}, "nat": "Single"})).await;
        let crashes = one_at_a_time(world, &clock, begin, async || is_complete(&cluster).await).await?;
        println!("{crashes} crashes while it was created");
        ensure!(crashes > 20, "only {crashes} crashes");
        has_one_of_each(&network(&cluster)?, 2, 1)?;

        let is_gone = async || Ok(cluster.read(Kind::FooCluster).await?.is_none());
        let crashes = one_at_a_time(world, &clock, async || cluster.delete().await, is_gone).await?;
        println!("{crashes} crashes while it was deleted");
        ensure!(crashes > 10, "only {crashes} crashes");
        cluster.is_gone(SOON_IN_AWS).await?;
        let left = ids(&network(&cluster)?);
        ensure!(left.is_empty(), "left in AWS: {left:?}");
        Ok(())
    });
}

#[test]
fn lost_responses_do_not_duplicate_networks() {
    run_alone(async |world| {
        let lost_responses = world.aws().fails(FaultRule::on_changes(Fault::DroppedAfter));
        let cluster = cluster(world, "silence", json!({"zones": {"count": 2}, "nat": "Single"})).await?;
        is_ready(&cluster).await?;
        has_one_of_each(&network(&cluster)?, 2, 1)?;
        cluster.delete().await?;
        cluster.is_gone(SOON_IN_AWS).await?;
        drop(lost_responses);
        let left = ids(&network(&cluster)?);
        ensure!(left.is_empty(), "left in AWS: {left:?}");
        Ok(())
    });
}
