//! A world in which time passes for AWS and for the manager when a test requests it: what is read once in five minutes
//! needs no patience.

use super::parts::SOON_ON_EKS;
use anyhow::{Context as _, Result};
use foo_e2e::Worlds;
use foo_simulator::Service;
use foo_testbed::world::kinds::{Kind, with_condition};
use foo_testbed::world::{Cluster, ManagerClock, WorldOptions};
use foo_testbed::{Probe, World, wait_until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Runs a test in a world of its own, in which it may let time pass. Kubernetes keeps its own time: what is old for the
/// manager may be new there, and Nodes that join later would be taken for late.
pub(crate) fn run_alone(worlds: &'static Worlds<1>, test: impl AsyncFnOnce(&'static World) -> Result<()>) {
    let mut options = WorldOptions { clock: ManagerClock::Movable, ..WorldOptions::default() };
    // A leader could not renew its Lease while an hour passes at once.
    options.manager_args.push("--leader-elect=false".to_owned());
    worlds.run(options, test);
}

/// Between the reads of a cluster that nothing happens to (`IDLE` in foo-eks).
pub(crate) const IDLE: Duration = Duration::from_mins(5);
/// Between reads of what EKS works on (`WAITING` there).
pub(crate) const WAITING: Duration = Duration::from_secs(30);
/// The least real time for a piece of the other: EKS's work takes real seconds.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest: the manager may have nothing to ask AWS for.
const LONGEST: Duration = Duration::from_secs(3);

/// This much time passes, and the manager finds out: an annotation is written.
pub(crate) async fn passes(cluster: &Cluster<'_>, time: Duration) -> Result<()> {
    let world = cluster.world();
    world.passes(time)?;
    let now = world.aws().simulator().now().0.to_string();
    let change = json!({"metadata": {"annotations": {"example.com/clock": now}}});
    cluster.patch(Kind::FooControlPlane, &change).await
}

/// A manager that starts reads all of EKS: what takes hours when idle is found at once, and no time passes. For tests
/// in which Nodes join afterwards: their ages are Kubernetes' time.
pub(crate) async fn restarts(world: &World) -> Result<()> {
    world.manager().terminate().await?;
    world.manager().start().await
}

/// Calls of EKS and IAM so far.
pub(crate) fn calls(world: &World) -> u64 {
    let counts = world.aws().simulator().call_counts().into_iter();
    let of_eks = counts.filter(|((service, _), _)| matches!(service, Service::Eks | Service::Iam));
    of_eks.map(|(_, count)| count.calls).sum()
}

/// Waits, and lets as much time pass at a time as the manager waits between two reads.
pub(crate) async fn in_time<T>(
    cluster: &Cluster<'_>,
    step: Duration,
    what: &str,
    mut probe: impl AsyncFnMut() -> Result<Probe<T>>,
) -> Result<T> {
    let mut last = (Instant::now(), calls(cluster.world()));
    wait_until(what, SOON_ON_EKS, async || {
        let found = probe().await?;
        if matches!(found, Probe::Done(_)) {
            return Ok(found);
        }
        let (waited, asked) = (last.0.elapsed(), calls(cluster.world()) > last.1);
        if waited > LONGEST || (asked && waited > SHORTEST) {
            last = (Instant::now(), calls(cluster.world()));
            passes(cluster, step).await?;
        }
        Ok(found)
    })
    .await
}

/// The same until a condition of the FooControlPlane matches.
pub(crate) async fn has_condition_in_time(
    cluster: &Cluster<'_>,
    step: Duration,
    kind: &str,
    what: &str,
    is_so: impl Fn((&str, &str, &str)) -> bool,
) -> Result<Value> {
    in_time(cluster, step, what, async || {
        let object = cluster.read(Kind::FooControlPlane).await?.context("no FooControlPlane")?;
        Ok(with_condition(object, kind, &is_so))
    })
    .await
}
