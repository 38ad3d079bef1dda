//! The world of a measurement, and what runs in it. The manager runs with its own defaults (a read of quiet groups every
//! 30 s).

use crate::progress::Progress;
use crate::record::{Fleet, Recorder};
use crate::wait::{Step, Watch};
use anyhow::Result;
use foo_testbed::World;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{Cluster, Pool, SOON, WorldOptions};
use serde_json::json;
use std::time::Duration;

/// Otherwise the manager runs as released.
const MANAGER_ARGS: [&str; 1] = ["--log-level=warn"];
/// How long an instance takes to launch in the simulated AWS.
pub(super) const LAUNCH: Duration = Duration::from_secs(20);
/// How long pods take to end after their eviction. Cluster API checks every 20 s whether they have.
const PODS_END: Duration = Duration::from_secs(15);

/// What runs on the Nodes of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pods {
    /// Nothing.
    None,
    /// Pods that take their time to end.
    Slow,
}

/// A measurement.
#[derive(Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) world: &'a World,
    pub(super) watch: &'a Watch<'a>,
    pub(super) recorder: &'a Recorder,
    pub(super) fleet: Fleet,
}

/// Starts a world whose managers end when they end: waits start them again, and report it.
pub(super) async fn world(recorder: &Recorder, pods: Pods) -> Result<World> {
    let manager_args = MANAGER_ARGS.map(str::to_owned).to_vec();
    let mut options = WorldOptions { manager_args, ..WorldOptions::default() };
    if pods == Pods::Slow {
        options.pod_shutdown = PODS_END;
    }
    let watch = Watch::without_managers(recorder);
    let world =
        watch.during("etcd, kube-apiserver, Cluster API and the managers", SOON, World::start(options));
    let world = world.await?;
    world.aws().region().change_settings(|settings| settings.launch = LAUNCH)?;
    Ok(world)
}

/// The one Cluster of a measurement.
pub(super) async fn cluster<'w>(world: &'w World, watch: &Watch<'_>) -> Result<Cluster<'w>> {
    watch.during("a Cluster to be provisioned", SOON, world.cluster("bench")).await
}

/// More instances, more time: core creates a Machine and finds a Node for each.
pub(super) fn patience(instances: u32) -> Duration {
    Duration::from_mins(4) + Duration::from_secs(2) * instances
}

/// How many instances are replaced or drained at once: a tenth.
pub(super) fn tenth(size: u32) -> u32 {
    size.div_ceil(10)
}

/// A pool of this size, which has settled.
pub(super) async fn pool(bench: Bench<'_>, replicas: u32) -> Result<Pool<'_>> {
    let cluster = cluster(bench.world, bench.watch).await?;
    let pool = cluster.pool("workers", replicas).await?;
    bench.watch.settles(&pool, 0, replicas, patience(replicas), |_| {}).await?;
    Ok(pool)
}

/// Runs as many pods as the pool has instances, all of which may be evicted, and allows as many drains at once as
/// [`tenth`], so that they do not set the pace.
pub(super) async fn run_pods(bench: Bench<'_>, pool: &Pool<'_>) -> Result<()> {
    let pods = bench.fleet.size;
    let workload = pool.workload("web");
    workload.scale(pods).await?;
    workload.allow(pods).await?;
    bench
        .watch
        .until("pods on the Nodes", patience(pods), async || {
            let ready = workload.ready().await?;
            let seen = "pods are ready".to_owned();
            Ok(Step::when(ready == pods, || Progress::between(0, pods, ready, seen)))
        })
        .await?;
    let drains = json!({"scaleIn": {"maxConcurrentDrains": tenth(pods)}});
    pool.patch(Kind::FooMachinePool, &json!({ "spec": drains })).await
}
