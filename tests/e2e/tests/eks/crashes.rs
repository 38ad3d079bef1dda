//! The manager is killed after every single change of AWS in the life of a cluster with a pool, and every response is
//! lost.

use super::orders::changes;
use super::parts::{SOON_ON_EKS, control_plane, eks_name, pool_objects, prepare_iam, simulated};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::Worlds;
use foo_simulator::{Fault, FaultRule};
use foo_testbed::world::kinds::{Kind, condition, text};
use foo_testbed::world::{Cluster, ManagerClock, WorldOptions, manifests};
use serde_json::json;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The version that the clusters begin with, and the next one.
const VERSIONS: [&str; 2] = ["v1.34.0", "v1.35.0"];
/// The pool of each cluster, of one instance.
const POOL: &str = "workers";

/// Between two reads of how many changes there were.
const POLL: Duration = Duration::from_millis(100);
/// After so long without a change the manager's clock continues by one of the next two.
const QUIET: Duration = Duration::from_secs(3);
/// A little more than what the planner waits between two reads of what EKS works on (`WAITING` in foo-eks).
const WORK: Duration = Duration::from_secs(31);
/// The same when idle (`REST` there), as while an add-on has the nodes that it waited for and EKS has not been asked
/// yet.
const REST: Duration = Duration::from_secs(301);
/// How long no change may come while there is something to do.
const STUCK: Duration = Duration::from_mins(3);

/// A world for each test: clocks of managers go ahead, and Nodes that join later would be taken for late.
static CRASHES: Worlds<1> = Worlds::new(module_path!());
static LOST_RESPONSES: Worlds<1> = Worlds::new(module_path!());
/// How many seconds the clock of each Cluster's manager is ahead, by the Cluster's name.
static AHEAD: Mutex<BTreeMap<String, i64>> = Mutex::new(BTreeMap::new());

/// A manager that does not wait for the Lease of the one that was killed, and whose clock the test sets.
fn options() -> WorldOptions {
    let mut options = WorldOptions { clock: ManagerClock::Movable, ..WorldOptions::default() };
    options.manager_args.push("--leader-elect=false".to_owned());
    options
}

/// Writes a Cluster with an EKS control plane in a network that exists, and its pool.
async fn apply(cluster: &Cluster<'_>) -> Result<()> {
    let (world, name) = (cluster.world(), cluster.name());
    prepare_iam(world);
    let workers = pool_objects(cluster, POOL, VERSIONS[0], 1, &json!({"family": "AL2023"}))?;
    let objects = [
        manifests::cluster(name, name),
        control_plane(name, VERSIONS[0]),
        manifests::foo_cluster(name, name),
    ];
    for object in objects.iter().chain(&workers) {
        world.apply(object).await?;
    }
    Ok(())
}

/// Lets the manager's time for waiting pass. Its timers do not follow its clock: a change of the object wakes it.
async fn leap(cluster: &Cluster<'_>) -> Result<()> {
    // An instance that is on its way must not be late.
    let rests = cluster.existing_pool(POOL).view().await?.is_settled_at(1);
    let seconds = i64::try_from(if rests { REST } else { WORK }.as_secs())?;
    let ahead = {
        let mut all = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = all.entry(cluster.namespace().to_owned()).or_default();
        *ahead += seconds;
        *ahead
    };
    cluster.world().move_managers_clock(ahead)?;
    let woken = json!({"metadata": {"annotations": {"example.com/woken": ahead.to_string()}}});
    let patched = cluster.patch(Kind::FooControlPlane, &woken).await;
    // It may just have been deleted.
    if cluster.read(Kind::FooControlPlane).await?.is_some() { patched } else { Ok(()) }
}

/// Waits until it is done, or for the next change if there is to be one; whether it is done.
async fn continues(
    cluster: &Cluster<'_>,
    until_change: bool,
    done: impl AsyncFn() -> Result<bool>,
) -> Result<bool> {
    let world = cluster.world();
    let mut before = changes(world);
    let (mut since, mut quiet) = (Instant::now(), Instant::now());
    loop {
        // Also one that ended by itself.
        world.manager().start().await?;
        if done().await? {
            return Ok(true);
        }
        let now = changes(world);
        if now != before && until_change {
            return Ok(false);
        }
        if now != before {
            (before, since, quiet) = (now, Instant::now(), Instant::now());
        }
        if since.elapsed() > foo_testbed::on_this_machine(STUCK) {
            let object = cluster.read(Kind::FooControlPlane).await?;
            let pool = cluster.existing_pool(POOL).view().await?;
            anyhow::bail!(
                "no change any more: {:#?} {pool}",
                object.and_then(|it| it.get("status").cloned())
            );
        }
        if quiet.elapsed() > QUIET {
            quiet = Instant::now();
            leap(cluster).await?;
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Begins something while there is no manager, and lets each manager send one change: its next one hangs, and then it
/// is killed and another one started. Until it is done; returns how many were killed.
async fn one_at_a_time(
    cluster: &Cluster<'_>,
    begin: impl AsyncFnOnce() -> Result<()>,
    done: impl AsyncFn() -> Result<bool>,
) -> Result<u32> {
    let world = cluster.world();
    world.manager().kill();
    begin().await?;
    let mut killed = 0;
    loop {
        let hangs = world.aws().fails(FaultRule::on_changes(Fault::Hang).after(1));
        if continues(cluster, true, &done).await.with_context(|| format!("after {killed} crashes"))? {
            return Ok(killed);
        }
        // The response reaches the manager, and so does what follows it at once.
        tokio::time::sleep(POLL).await;
        world.manager().kill();
        killed += 1;
        drop(hangs);
    }
}

/// Whether the cluster runs this version with everything that it is to have, and the pool its Node.
async fn is_whole(cluster: &Cluster<'_>, version: &str) -> Result<bool> {
    let world = cluster.world();
    let Some(server) = world.cluster_servers().api(&eks_name(cluster)) else { return Ok(false) };
    world.finds_nodes_on(cluster.name(), &server);
    let Some(object) = cluster.read(Kind::FooControlPlane).await? else { return Ok(false) };
    let all = ["Ready", "AddonsReady", "AccessReady"].iter();
    let is_ready =
        all.clone().all(|kind| condition(&object, kind).is_some_and(|(status, ..)| status == "True"));
    let is_it = text(&object, "/status/version") == version;
    Ok(is_ready && is_it && cluster.existing_pool(POOL).view().await?.is_settled_at(1))
}

async fn is_gone(cluster: &Cluster<'_>) -> Result<bool> {
    let mut left = 0;
    for kind in [Kind::Cluster, Kind::FooCluster, Kind::FooControlPlane] {
        left += usize::from(cluster.read(kind).await?.is_some());
    }
    Ok(left == 0)
}

/// There is one of each thing, and this many updates of the version were sent.
fn has_one_of_each(cluster: &Cluster<'_>, upgrades: usize) -> Result<()> {
    let aws = cluster.world().aws();
    let clusters: Vec<String> = aws.region().clusters().into_iter().map(|it| it.name).collect();
    ensure!(clusters == [eks_name(cluster)], "{clusters:?}");
    let it = simulated(cluster).context("no EKS cluster")?;
    let addons: Vec<&String> = it.addons.keys().collect();
    ensure!(addons == ["coredns", "kube-proxy", "vpc-cni"], "{addons:?}");
    ensure!(it.entries.len() == 2, "the manager's and the nodes': {:?}", it.entries.keys());
    let versions =
        it.updates.iter().filter(|update| format!("{:?}", update.kind).contains("Version")).count();
    ensure!(versions == upgrades, "{versions} updates of the version");
    let parts = aws.leftovers(&cluster.pool_name(POOL).group());
    ensure!(parts.len() == 3, "a group, a launch template and an instance: {parts:?}");
    Ok(())
}

fn nothing_is_left(cluster: &Cluster<'_>) -> Result<()> {
    let aws = cluster.world().aws();
    ensure!(simulated(cluster).is_none(), "the EKS cluster is left");
    let left = aws.leftovers(&cluster.pool_name(POOL).group());
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    Ok(())
}

#[test]
fn a_manager_killed_after_each_change_creates_one_cluster_upgrades_it_once_and_leaves_nothing() {
    CRASHES.run(options(), async |world| {
        let cluster = world.no_cluster("eks-crashes").await?;
        let ids = RefCell::new(BTreeSet::new());
        let runs = async |version: &str| {
            ids.borrow_mut().extend(simulated(&cluster).map(|it| it.id));
            is_whole(&cluster, version).await
        };
        let crashes =
            one_at_a_time(&cluster, async || apply(&cluster).await, async || runs(VERSIONS[0]).await).await?;
        println!("{crashes} crashes while it was created");
        ensure!(crashes >= 8, "only {crashes} crashes");
        has_one_of_each(&cluster, 0)?;

        let change = json!({"spec": {"version": VERSIONS[1]}});
        let upgrade = async || cluster.patch(Kind::FooControlPlane, &change).await;
        let crashes = one_at_a_time(&cluster, upgrade, async || runs(VERSIONS[1]).await).await?;
        println!("{crashes} crashes while it was upgraded");
        ensure!(crashes > 1, "only {crashes} crashes");
        has_one_of_each(&cluster, 1)?;

        let crashes =
            one_at_a_time(&cluster, async || cluster.delete().await, async || is_gone(&cluster).await)
                .await?;
        println!("{crashes} crashes while it was deleted");
        ensure!(crashes > 2, "only {crashes} crashes");
        cluster.is_gone(SOON_ON_EKS).await?;
        ensure!(ids.borrow().len() == 1, "there were several clusters: {ids:?}");
        nothing_is_left(&cluster)
    });
}

#[test]
fn lost_responses_do_not_duplicate_clusters() {
    LOST_RESPONSES.run(options(), async |world| {
        let lost_responses = world.aws().fails(FaultRule::on_changes(Fault::DroppedAfter));
        let cluster = world.no_cluster("eks-silence").await?;
        apply(&cluster).await?;
        continues(&cluster, false, async || is_whole(&cluster, VERSIONS[0]).await).await?;
        has_one_of_each(&cluster, 0)?;
        cluster.patch(Kind::FooControlPlane, &json!({"spec": {"version": VERSIONS[1]}})).await?;
        continues(&cluster, false, async || is_whole(&cluster, VERSIONS[1]).await).await?;
        has_one_of_each(&cluster, 1)?;
        cluster.delete().await?;
        continues(&cluster, false, async || is_gone(&cluster).await).await?;
        cluster.is_gone(SOON_ON_EKS).await?;
        drop(lost_responses);
        nothing_is_left(&cluster)
    });
}
