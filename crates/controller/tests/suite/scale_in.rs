//! What a large scale-in costs, that its ends are not late, and that one instance that AWS refuses to end together with
//! others delays none of them.

use crate::support::{Pool, World};
use foo_apiserver_fake::DrainTime;
use foo_model::{Decrement, InstanceId, LifecycleState};
use foo_simulator_core::core::settings::{Batches, RepeatedTermination};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

const TERMINATE: &str = "TerminateInstanceInAutoScalingGroup";

/// Calls of AWS by operation.
fn calls(world: &World) -> BTreeMap<String, u64> {
    world.aws.call_counts().into_iter().map(|((_, action), count)| (action, count.calls)).collect()
}

/// How long the drain of the nth Machine takes.
type Drain = fn(u64) -> Duration;

/// Lets each drain take its own time until nothing drains any more, and returns how long the latest end came after its
/// drain.
async fn drains_one_by_one(world: &World, pool: &Pool<'_>, left: usize, takes: Drain) -> Duration {
    let mut began: HashMap<String, (Instant, Duration)> = HashMap::new();
    let mut drained: HashMap<InstanceId, Instant> = HashMap::new();
    let mut latest = Duration::ZERO;
    world
        .until("only those are left that shall be", || {
            for name in world.core.draining() {
                let number = u64::try_from(began.len()).unwrap();
                let (since, time) =
                    *began.entry(name.clone()).or_insert_with(|| (Instant::now(), takes(number)));
                if since.elapsed() >= time {
                    world.core.release_drain(&name);
                    let id = InstanceId::new(format!("i-{}", name.rsplit('-').next().unwrap()));
                    drained.entry(id).or_insert_with(Instant::now);
                }
            }
            let group = pool.group().unwrap();
            drained.retain(|id, since| {
                let serves =
                    group.members.get(id).is_some_and(|it| it.lifecycle == LifecycleState::InService);
                latest = latest.max(if serves { Duration::ZERO } else { since.elapsed() });
                serves
            });
            group.members.len() == left && pool.foo_machines().len() == left
        })
        .await;
    latest
}

/// Goal: at most 150 calls for 90 instances, of which 90 complete our hook.
async fn costs_little(drain: Drain) {
    let world = World::new().await;
    let pool = world.pool("p").of(100).await;
    world.core.set_drain_time(DrainTime::UntilReleased);
    world.forgets();
    pool.scales_to(10);
    let latest = drains_one_by_one(&world, &pool, 10, drain).await;
    let calls = calls(&world);
    let of = |operation: &str| calls.get(operation).copied().unwrap_or_default();
    assert!(calls.values().sum::<u64>() <= 150, "{calls:?}");
    assert_eq!(of("CompleteLifecycleAction"), 90, "one for each: {calls:?}");
    assert!(of(TERMINATE) <= 20, "{calls:?}");
    assert!(of("DescribeAutoScalingGroups") <= 30, "{calls:?}");
    assert!(of("DescribeInstances") <= 20, "{calls:?}");
    assert!(latest <= Duration::from_secs(18), "{latest:?}");
    world.settles().await;
    pool.is_of(10);
    assert_eq!(world.core.drains().len(), 90);
}

#[tokio::test(start_paused = true)]
async fn a_scale_in_of_90_with_simultaneous_drains_costs_150_calls() {
    costs_little(|_| Duration::from_secs(25)).await;
}

#[tokio::test(start_paused = true)]
async fn a_scale_in_of_90_with_staggered_drains_costs_150_calls() {
    costs_little(|number| Duration::from_secs(10 + number * 7919 % 31)).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_and_the_last_termination_wait_for_no_other() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    world.core.set_drain_time(DrainTime::UntilReleased);
    pool.scales_to(1);
    world.until("three drain", || world.core.draining().len() == 3).await;
    world.waits(Duration::from_mins(1)).await;
    world.forgets();
    let ended = |so_many: usize| {
        let group = pool.group().unwrap();
        group.members.values().filter(|it| it.lifecycle == LifecycleState::InService).count() == 4 - so_many
    };
    let drains = world.core.draining();
    for (name, (so_many, within)) in drains.iter().zip([(1, 3), (2, 17), (3, 3)]) {
        world.core.release_drain(name);
        let began = Instant::now();
        world.until("it ends", || ended(so_many)).await;
        let took = began.elapsed();
        assert!(took <= Duration::from_secs(within), "{so_many}: {took:?}");
        world.waits(Duration::from_secs(2)).await;
    }
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_refused_termination_in_a_batch_delays_no_other() {
    for batches in [Batches::AllOrNothing, Batches::UpToTheRefused, Batches::AllButTheRefused] {
        let world = World::new().await;
        world
            .region
            .change_settings(|settings| {
                settings.batches = batches;
                settings.repeated_termination = RepeatedTermination::Refused;
            })
            .unwrap();
        let pool = world.pool("p").of(6).await;
        world.core.set_drain_time(DrainTime::UntilReleased);
        pool.scales_to(0);
        world.until("all drain", || world.core.draining().len() == 6).await;
        world.waits(Duration::from_mins(1)).await;
        world.forgets();
        // A user terminates one at the same moment: the manager has not seen it when it terminates all six.
        let third = pool.instances()[2].clone();
        world.region.with(|region| region.terminate_member(&third, Decrement::Shrink)).unwrap().unwrap();
        world.core.release_drains();
        let all_leave = || {
            let group = pool.group().unwrap();
            group.members.values().all(|it| it.lifecycle != LifecycleState::InService)
        };
        let began = Instant::now();
        world.until("all end", all_leave).await;
        assert!(began.elapsed() <= Duration::from_secs(10), "{batches:?}: {:?}", began.elapsed());
        assert_eq!(pool.group().unwrap().sizes.desired, 0, "{batches:?}: each counts once");
        assert!(world.aws.calls(TERMINATE) <= 7, "{batches:?}: {}", world.aws.calls(TERMINATE));
        world.settles().await;
        pool.is_of(0);
    }
}
