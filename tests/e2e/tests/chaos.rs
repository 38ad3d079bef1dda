//! Roll-outs on real components, with everything going wrong that can: images are broken, the manager is killed, and
//! its clock is set.
//!
//! `make chaos` runs the storm for as long as one likes: `CHAOS_MINUTES`, `CHAOS_SIZE` and `CHAOS_SEED` set how
//! long, how many, and which accidents.

mod accidents;

use accidents::{Accident, Surroundings};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::{SharedWorld, Worlds};
use foo_simulator::core::catalogue::{Boot, IMAGE_X86_64_NEWER};
use foo_simulator::core::chance::Chance;
use foo_testbed::world::kinds::{Kind, number, text};
use foo_testbed::world::{ManagerClock, Pool, PoolView, WorldOptions};
use foo_testbed::{World, on_this_machine};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

static WORLD: SharedWorld = SharedWorld::new(module_path!(), with_events);
/// The storm has a world to itself: its accidents must not affect the other tests.
static STORM: Worlds<1> = Worlds::new(module_path!());
/// A roll-out of a few instances under chaos takes minutes.
const PATIENCE: Duration = Duration::from_mins(12);

fn rollout<'v>(view: &'v PoolView, field: &str) -> &'v str {
    view.foo_pool.as_ref().map(|pool| text(pool, &format!("/status/rollout/{field}"))).unwrap_or_default()
}

fn good(view: &PoolView) -> usize {
    view.good().count()
}

fn with_events() -> WorldOptions {
    WorldOptions { events: true, ..WorldOptions::default() }
}

async fn requests(pool: &Pool<'_>, spec: Value) -> Result<()> {
    pool.patch(Kind::FooMachinePool, &json!({ "spec": spec })).await
}

/// A recommendation to replace an instance keeps new pods away from its Node.
#[test]
fn the_node_of_an_instance_at_risk_is_cordoned() {
    WORLD.run(async |world| {
        let cluster = world.cluster("at-risk").await?;
        let pool = cluster
            .pool_with("workers", 2, |_, foo_pool| {
                foo_pool["spec"]["spot"] = json!({});
                foo_pool["spec"]["interruption"] = json!({"rebalance": "Cordon"});
            })
            .await?;
        let before = pool.settles_at(2).await?;
        let machine = before.machines.first().context("no Machine")?;
        world.aws().region().recommend_rebalance(&machine.instance.as_str().into())?;
        let is_cordoned = |view: &PoolView, name: &str| {
            let machine = view.machines.iter().find(|machine| machine.name == name);
            let node = machine.and_then(|machine| machine.node.as_ref());
            node.is_some_and(|node| node.pointer("/spec/unschedulable") == Some(&Value::Bool(true)))
        };
        pool.wait("its Node to be cordoned", PATIENCE, |view| is_cordoned(view, &machine.name)).await?;
        let after = pool.settles_at(2).await?;
        assert_eq!(after.provider_ids(), before.provider_ids(), "and nothing else happens");
        let others = before.machines.iter().filter(|other| other.name != machine.name);
        assert!(others.into_iter().all(|other| !is_cordoned(&after, &other.name)));
        Ok(())
    });
}

/// A bad image under a disruption budget: it is marked as failed and rolled back, and no pod is affected.
#[test]
fn a_bad_image_is_rolled_back_and_what_serves_stays() {
    WORLD.run(async |world| {
        let cluster = world.cluster("bad-image").await?;
        let pool = cluster
            .pool_with("workers", 5, |_, foo_pool| {
                foo_pool["spec"]["rollout"] =
                    json!({"maxSurge": 2, "readyTimeoutSeconds": 60, "onFailure": "Rollback"});
            })
            .await?;
        let before = pool.settles_at(5).await?;
        let workload = pool.run("web", 5).await?;
        workload.allow(1).await?;
        world.aws().region().set_image_boot(IMAGE_X86_64_NEWER, Boot::Fails)?;
        requests(&pool, json!({"ami": {"id": IMAGE_X86_64_NEWER}})).await?;
        let mut fewest = usize::MAX;
        pool.wait("to be rolled back", PATIENCE, |view| {
            fewest = fewest.min(good(view));
            rollout(view, "phase") == "RolledBack"
        })
        .await?;
        assert_eq!(fewest, 5, "what served has stayed");
        let after = pool.settles_at(5).await?;
        assert_eq!(after.provider_ids(), before.provider_ids());
        let (status, reason, message) = after.condition("RollingOut").context("no condition")?;
        assert_eq!((status, reason), ("False", "RolledBack"));
        assert!(message.contains("has not joined after 60 s"), "{message}");

        // The image is repaired, and the record removed: now it is rolled out, under the budget.
        world.aws().region().set_image_boot(IMAGE_X86_64_NEWER, Boot::Succeeds)?;
        pool.annotate(Kind::FooMachinePool, "infrastructure.foo.com/quarantine", None).await?;
        let mut fewest = usize::MAX;
        let rolled = pool
            .wait("to be rolled out", PATIENCE, |view| {
                fewest = fewest.min(good(view));
                rollout(view, "phase") == "Finished" && view.is_settled_at(5)
            })
            .await?;
        assert!(fewest >= 5, "rollout.maxUnavailable is 0: {fewest}");
        assert!(rolled.provider_ids().iter().all(|id| !before.provider_ids().contains(id)));
        workload.is_ready(5).await
    });
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// AWS ends instances by itself: the health check of one fails, or it takes up to a third of them back, with two
/// minutes' notice. How many.
fn strike(world: &World, view: &PoolView, chance: &mut Chance) -> Result<usize> {
    let mut good: Vec<&str> = view.good().map(|machine| machine.instance.as_str()).collect();
    let storm = chance.below(2) == 1;
    let most = if storm { 1 + chance.below(u64::try_from(good.len() / 3)?.max(1)) } else { 1 };
    let mut struck = 0;
    while struck < usize::try_from(most)? && !good.is_empty() {
        let sides = u64::try_from(good.len())?;
        let id = good.swap_remove(usize::try_from(chance.below(sides))?);
        struck += 1;
        if storm {
            println!("  AWS takes {id} back");
            world.aws().interrupt(id)?;
        } else {
            println!("  AWS ends {id}");
            world.aws().find_unhealthy(id)?;
        }
    }
    Ok(struck)
}

/// How long what AWS ended may be missing where deadlines were written: a launch, a manager that was just killed and
/// whose Lease has to end first, and an AWS whose reads lag. On a slower machine longer ([`on_this_machine`]).
const MADE_UP_FOR: Duration = Duration::from_mins(2);

/// Lets time pass, since the seed decides when an accident for all pools happens; and watches that no more is missing
/// than the budget and AWS's own doing explain.
async fn watch(pool: &Pool<'_>, seconds: u64, target: usize, struck: &[Instant]) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        let view = pool.view().await?;
        let taken = struck.iter().filter(|at| at.elapsed() < on_this_machine(MADE_UP_FOR)).count();
        let floor = target.saturating_sub(1 + taken);
        ensure!(good(&view) >= floor, "{} serve, {taken} were taken: {view}", good(&view));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    Ok(())
}

/// No plan was refused because it would have broken an invariant.
fn check_invariants(world: &World) -> Result<()> {
    let log = std::fs::read_to_string(world.manager().log())?;
    let refused: Vec<&str> =
        log.lines().filter(|line| line.contains("Internal error: the plan violates an invariant")).collect();
    ensure!(refused.is_empty(), "{refused:#?}");
    let panicked: Vec<&str> = log.lines().filter(|line| line.contains("panicked at")).collect();
    ensure!(panicked.is_empty(), "{panicked:#?}");
    Ok(())
}

/// The manager is killed again and again in the middle of roll-outs, while the size changes and AWS ends instances; and
/// two of the [`Accident`]s affect all pools in each round, all of them in any case.
#[test]
fn storms_of_accidents_lose_no_pod_and_the_pool_settles() {
    STORM.run(WorldOptions { clock: ManagerClock::Movable, ..with_events() }, async |world| {
        let size = setting("CHAOS_SIZE", 5);
        let seed = setting("CHAOS_SEED", 0x5eed);
        let minutes = setting("CHAOS_MINUTES", 2);
        println!("CHAOS_SEED={seed} CHAOS_SIZE={size} CHAOS_MINUTES={minutes}");
        let mut chance = Chance::of(seed);
        let size = u32::try_from(size)?;
        let cluster = world.cluster("storm").await?;
        let pool = cluster
            .pool_with("workers", size, |_, foo_pool| {
                foo_pool["spec"]["rollout"] = json!({"maxSurge": 2, "maxUnavailable": 1});
                foo_pool["spec"]["spot"] = json!({});
            })
            .await?;
        let all = usize::try_from(size)?;
        pool.settles_at(all).await?;
        let workload = pool.run("web", size - 1).await?;
        workload.allow(1).await?;
        let types = ["m7i.xlarge", "m7i.large", "c7i.large"];
        let end = Instant::now() + Duration::from_mins(minutes);
        let mut round: usize = 0;
        let mut struck = Vec::new();
        let surroundings = Surroundings::of(world, pool.clone()).await?;
        let mut ahead: Vec<Accident> = Vec::new();
        while Instant::now() < end || round < 2 {
            if ahead.is_empty() {
                ahead = Accident::shuffled(&mut chance)?;
            }
            let now: Vec<Accident> = ahead.split_off(ahead.len().saturating_sub(2));
            requests(&pool, json!({"instanceType": types[round % types.len()]})).await?;
            round += 1;
            let target = size - u32::try_from(chance.below(2))?;
            println!("round {round}: {} and a target of {target}", types[(round - 1) % types.len()]);
            pool.scale(target).await?;
            for accident in &now {
                surroundings.begins(*accident, &mut chance).await?;
            }
            // While it grows again, the smaller target is what can be there.
            let least = all - 1;
            watch(&pool, 10 + chance.below(25), least, &struck).await?;
            let count = strike(world, &pool.view().await?, &mut chance)?;
            struck.extend(std::iter::repeat_n(Instant::now(), count));
            watch(&pool, chance.below(8), least, &struck).await?;
            world.manager().kill();
            println!("  the manager is killed");
            watch(&pool, chance.below(4), least, &struck).await?;
            world.manager().start().await?;
            watch(&pool, 10 + chance.below(20), least, &struck).await?;
            for accident in now {
                surroundings.ends(accident).await?;
            }
        }
        pool.scale(size).await?;
        let settled = pool
            .wait("to settle after the storm", PATIENCE, |view| {
                rollout(view, "phase") == "Finished" && view.is_settled_at(all)
            })
            .await?;
        let group = settled.group.context("no group")?;
        ensure!(group.sizes.desired == size, "{group:?}");
        let up_to_date = settled.foo_pool.as_ref().and_then(|pool| number(pool, "/status/upToDateReplicas"));
        assert_eq!(up_to_date, Some(i64::from(size)));
        workload.is_ready(size - 1).await?;
        check_invariants(world)
    });
}
