//! The manager is killed after every single change of AWS, and every answer is lost.

use crate::parts::{MADE, STAGE, cluster, has_one_of_each, is_ready, network, options};
use anyhow::{Result, ensure};
use foo_simulator::{Fault, FaultRule};
use foo_testbed::World;
use foo_testbed::world::Cluster;
use foo_testbed::world::kinds::{Kind, condition};
use foo_testbed::world::network::ids;
use serde_json::json;
use std::time::{Duration, Instant};

/// How long no change may come while there is something to do.
const STUCK: Duration = Duration::from_mins(3);

/// Number of calls that changed something, in EC2.
fn changes(world: &World) -> u64 {
    let reads = ["Describe", "Get", "List"];
    let counts = world.aws().calls().into_iter();
    counts
        .filter(|(action, _)| !reads.iter().any(|read| action.starts_with(read)))
        .map(|(_, count)| count)
        .sum()
}

/// Lets the manager make one change at a time: the next one hangs, and then the manager is killed and started again. Until it is
/// done; returns how often.
async fn one_at_a_time(world: &World, done: impl AsyncFn() -> Result<bool>) -> Result<u32> {
    let simulator = world.aws().simulator();
    let mut crashes = 0;
    loop {
        let before = changes(world);
        let rule = simulator.add_fault(FaultRule::on_changes(Fault::Hang).after(1));
        world.manager().start().await?;
        let began = Instant::now();
        let finished = loop {
            if changes(world) > before {
                // What follows at once is on its way.
                tokio::time::sleep(Duration::from_millis(50)).await;
                break false;
            }
            if done().await? {
                break true;
            }
            ensure!(
                began.elapsed() < foo_testbed::on_this_machine(STUCK),
                "no change after {crashes} crashes"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        world.manager().kill();
        simulator.remove_fault(rule);
        crashes += 1;
        if finished {
            world.manager().start().await?;
            return Ok(crashes);
        }
    }
}

async fn is_made(cluster: &Cluster<'_>) -> Result<bool> {
    let Some(object) = cluster.read(Kind::FooCluster).await? else { return Ok(false) };
    Ok(condition(&object, "NetworkReady").is_some_and(|(status, ..)| status == "True"))
}

#[test]
fn a_manager_that_is_killed_after_each_change_makes_nothing_twice_and_leaves_nothing() {
    STAGE.play(options(), async |world| {
        let cluster = cluster(world, "crashes", json!({"zones": {"count": 2}, "nat": "Single"})).await?;
        let crashes = one_at_a_time(world, async || is_made(&cluster).await).await?;
        println!("{crashes} crashes while it was made");
        ensure!(crashes > 20, "only {crashes} crashes");
        has_one_of_each(&network(&cluster).await?, 2, 1)?;

        cluster.delete().await?;
        let is_gone = async || Ok(cluster.read(Kind::FooCluster).await?.is_none());
        let crashes = one_at_a_time(world, is_gone).await?;
        println!("{crashes} crashes while it was deleted");
        cluster.is_gone(MADE).await?;
        let left = ids(&network(&cluster).await?);
        ensure!(left.is_empty(), "left in AWS: {left:?}");
        Ok(())
    });
}

#[test]
fn no_answer_to_any_change_comes_and_nothing_is_made_twice() {
    STAGE.play(options(), async |world| {
        let rule = world.aws().simulator().add_fault(FaultRule::on_changes(Fault::DroppedAfter));
        let cluster = cluster(world, "silence", json!({"zones": {"count": 2}, "nat": "Single"})).await?;
        is_ready(&cluster).await?;
        has_one_of_each(&network(&cluster).await?, 2, 1)?;
        cluster.delete().await?;
        cluster.is_gone(MADE).await?;
        world.aws().simulator().remove_fault(rule);
        let left = ids(&network(&cluster).await?);
        ensure!(left.is_empty(), "left in AWS: {left:?}");
        Ok(())
    });
}
