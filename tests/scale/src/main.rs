//! `foo-bench`: the numbers that matter to users who pay for AWS calls, printed. Nothing here fails for being
//! slow.
//!
//! For each size: the scale-out from nothing, the idle pool, a change in AWS until its FooMachine is there,
//! a restart of the manager, a roll-out. The manager runs with its own defaults (a read of quiet groups every
//! 30 s); instances take [`LAUNCH`] to launch. Counts are the simulator's and the manager's own; times depend
//! on the machine, and a rest of the system shares its processors.

mod meter;
mod roll_out;

use anyhow::{Context as _, Result};
use clap::Parser;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{Cluster, Pool, Restarts, WorldOptions};
use foo_testbed::{Probe, World, wait_until};
use meter::{Meter, Reading};
use serde_json::json;
use std::time::{Duration, Instant};

/// Otherwise the manager runs as released.
const MANAGER_ARGS: [&str; 1] = ["--log-level=warn"];
/// How long an instance takes to launch in the simulated AWS.
const LAUNCH: Duration = Duration::from_secs(20);

/// Prints calls, writes, memory and latency of the whole system.
#[derive(Parser)]
struct Args {
    /// Sizes of single pools, in instances.
    #[arg(long, value_delimiter = ',', default_value = "10,100")]
    sizes: Vec<u32>,
    /// Also measure this many pools of ten instances at the same time; 0 skips that.
    #[arg(long, default_value_t = 20)]
    pools: u32,
    /// How long settled pools are measured, in seconds.
    #[arg(long, default_value_t = 120)]
    rest: u64,
    /// Measure only the roll-out of a pool of this many instances, with launches and drains about as long as
    /// in AWS.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    roll_out: Option<u32>,
    /// Measure all sizes: pools of 10, 100 and 1,000 instances, 100 pools of ten, and the roll-out of 100
    /// instances. Takes more than an hour.
    #[arg(long)]
    full: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut args = Args::parse();
    if let Some(size) = args.roll_out {
        return roll_out::against_its_limit(size).await;
    }
    if args.full {
        args.sizes = vec![10, 100, 1_000];
        args.pools = 100;
    }
    let rest = Duration::from_secs(args.rest);
    for size in &args.sizes {
        one_pool(*size, rest).await.with_context(|| format!("a pool of {size}"))?;
    }
    if args.pools > 0 {
        many_pools(args.pools, rest).await.with_context(|| format!("{} pools of ten", args.pools))?;
    }
    if args.full {
        roll_out::against_its_limit(100).await?;
    }
    Ok(())
}

async fn world() -> Result<World> {
    let manager_args = MANAGER_ARGS.map(str::to_owned).to_vec();
    // A manager that ends is started again, as Kubernetes would do it, and reported it: the numbers include it.
    let restarts = Some(Restarts::reported_to(|text| println!("  note: {text}")));
    let world = World::start(WorldOptions { manager_args, restarts, ..WorldOptions::default() }).await?;
    world.aws().region().change_settings(|settings| settings.launch = LAUNCH)?;
    Ok(world)
}

/// More instances, more time: core creates a Machine and finds a Node for each.
fn patience(instances: u32) -> Duration {
    Duration::from_mins(4) + Duration::from_secs(2) * instances
}

async fn one_pool(size: u32, rest: Duration) -> Result<()> {
    println!("\n== one pool of {size}");
    let world = world().await?;
    let cluster = world.cluster("bench").await?;
    let pool = cluster.pool("workers", 0).await?;
    pool.settles_at(0).await?;
    scale_up(&world, &pool, size).await?;
    while_idle(&world, rest, 1).await?;
    change_in_aws(&world, &pool, size).await?;
    restart(&world, &pool, size).await?;
    roll_out(&world, &pool, size).await
}

/// Everything is replaced by another type, a tenth at a time. What launches take sets the limit.
async fn roll_out(world: &World, pool: &Pool<'_>, size: u32) -> Result<()> {
    let surge = roll_out::surge(size);
    pool.patch(Kind::FooMachinePool, &json!({"spec": {"rollout": {"maxSurge": surge}}})).await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let meter = Meter::start(world).await?;
    let launches = LAUNCH * roll_out::rounds(size);
    let took = roll_out::roll_out(pool, size, patience(size) + launches * 3).await?;
    let reading = meter.read(world).await?;
    let each = f64::from(size);
    println!(
        "roll-out of {size}, {surge} at a time: {:.0} s ({} s of launches one after another), {reading}",
        took.as_secs_f64(),
        launches.as_secs()
    );
    println!(
        "  per replaced instance: {:.1} AWS calls, {:.1} Kubernetes writes",
        reading.aws_per(each),
        reading.writes_per(each)
    );
    println!("  {}", reading.by_action());
    Ok(())
}

async fn scale_up(world: &World, pool: &Pool<'_>, size: u32) -> Result<()> {
    let meter = Meter::start(world).await?;
    let started = Instant::now();
    pool.scale(size).await?;
    pool.settles_within(usize::try_from(size)?, patience(size)).await?;
    let took = started.elapsed();
    let reading = meter.read(world).await?;
    println!(
        "scale-up 0→{size}: {:.0} s ({} s of it launching), {reading}",
        took.as_secs_f64(),
        LAUNCH.as_secs()
    );
    println!("  {}", reading.by_action());
    Ok(())
}

async fn while_idle(world: &World, rest: Duration, pools: u32) -> Result<()> {
    // What the last change still causes (a maximum that follows the desired replicas, details of late instances) comes
    // first.
    tokio::time::sleep(Duration::from_secs(45)).await;
    let meter = Meter::start(world).await?;
    tokio::time::sleep(rest).await;
    let reading = meter.read(world).await?;
    let minutes = rest.as_secs_f64() / 60.0;
    let (resident, highest) = meter::resident_megabytes(world)?;
    println!(
        "idle, per minute: {:.1} AWS calls ({:.2} per pool), {:.1} Kubernetes writes, {:.1} live reads; manager \
         {:.0}m CPU, {resident} MB, {highest} MB at most",
        reading.aws_per(minutes),
        reading.aws_per(minutes) / f64::from(pools),
        reading.writes_per(minutes),
        reading.live_reads_per(minutes),
        reading.millicores(minutes),
    );
    Ok(())
}

/// A user requests one instance more in AWS: how long until it has a FooMachine.
async fn change_in_aws(world: &World, pool: &Pool<'_>, size: u32) -> Result<()> {
    let group = pool.group();
    let before: Vec<String> = ids(world, &group);
    meter::raise_desired(world, &group, size + 1).await?;
    let new = wait_until("AWS to launch one more", patience(size), async || {
        let now = ids(world, &group);
        let new = now.iter().find(|id| !before.contains(id)).cloned();
        Ok(new.map_or_else(|| Probe::NotYet(format!("{now:?}")), Probe::Done))
    })
    .await?;
    let appeared = Instant::now();
    let view = format!("to know {new}");
    pool.wait(&view, Duration::from_mins(2), |view| {
        view.foo_machines
            .iter()
            .any(|machine| machine.pointer("/spec/instanceID").is_some_and(|id| id == new.as_str()))
    })
    .await?;
    println!("change in AWS → FooMachine: {:.1} s", appeared.elapsed().as_secs_f64());
    pool.settles_within(usize::try_from(size)?, patience(size)).await?;
    Ok(())
}

fn ids(world: &World, group: &str) -> Vec<String> {
    world.aws().instances_of(group).iter().map(|instance| instance.id.to_string()).collect()
}

async fn restart(world: &World, pool: &Pool<'_>, size: u32) -> Result<()> {
    tokio::time::sleep(Duration::from_secs(30)).await;
    world.manager().terminate().await?;
    let aws = meter::aws_calls(world);
    let started = Instant::now();
    world.manager().start().await?;
    // Its first read is the end of filling its caches; what the pool's status reports until then is the last manager's.
    wait_until("the manager to call AWS", patience(size), async || {
        Ok(Probe::when(meter::aws_calls(world) != aws, || "no call".to_owned()))
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(20)).await;
    pool.settles_within(usize::try_from(size)?, patience(size)).await?;
    let reading = Reading::since_start(world, &aws).await?;
    println!("restart at {size}: {:.0} s watched, {reading}", started.elapsed().as_secs_f64());
    println!("  {}", reading.by_action());
    Ok(())
}

async fn many_pools(pools: u32, rest: Duration) -> Result<()> {
    println!("\n== {pools} pools of 10");
    let world = world().await?;
    let cluster: Cluster<'_> = world.cluster("bench").await?;
    let meter = Meter::start(&world).await?;
    let started = Instant::now();
    let mut all = Vec::new();
    for number in 0..pools {
        all.push(cluster.pool(&format!("workers-{number}"), 10).await?);
    }
    for pool in &all {
        pool.settles_within(10, patience(10 * pools)).await?;
    }
    let reading = meter.read(&world).await?;
    println!("0→{pools}×10: {:.0} s, {reading}", started.elapsed().as_secs_f64());
    while_idle(&world, rest, pools).await
}
