//! docs/operations/move.md between two management clusters, both real except AWS.

use anyhow::{Context as _, Result, ensure};
use foo_e2e::SharedWorld;
use foo_e2e::document::Reader;
use foo_simulator::{Fault, FaultRule};
use foo_testbed::world::kinds::{self, Kind, condition, text};
use foo_testbed::world::{ManagementCluster, Pool, QUIET_PERIOD, SOON, World, WorldOptions};
use foo_testbed::{Probe, wait_until};
use kube::Client;
use std::collections::BTreeSet;
use tokio::sync::OnceCell;

const PAGE: &str = "docs/operations/move.md";
const BLOCK_MOVE: &str = "/metadata/annotations/clusterctl.cluster.x-k8s.io~1block-move";

static WORLD: SharedWorld = SharedWorld::new(module_path!(), WorldOptions::default);
static OTHER: OnceCell<Result<ManagementCluster, String>> = OnceCell::const_new();

fn between_two(test: impl AsyncFnOnce(&'static World, &'static ManagementCluster) -> Result<()>) {
    WORLD.run(async |world| {
        let start = async || {
            let started = world.another_management_cluster("other").await;
            started.map_err(|error| format!("{error:#}"))
        };
        let other = OTHER.get_or_init(start).await;
        test(world, other.as_ref().map_err(|error| anyhow::Error::msg(error.clone()))?).await
    });
}

async fn reader<'w>(world: &'w World, other: &ManagementCluster, cluster: &str) -> Result<Reader<'w>> {
    let reader = Reader::of(world.rig()).await?;
    let target = other.api().kubeconfig_path();
    let secrets = format!("{cluster}-existing-api-server {cluster}-bootstrap");
    let variables =
        format!("export NAMESPACE={cluster} TARGET_KUBECONFIG={} SECRETS='{secrets}'", target.display());
    reader.run(&variables).await?;
    Ok(reader)
}

/// Names, provider ids and phases of the Machines in a namespace.
async fn machines(client: Client, namespace: &str) -> Result<BTreeSet<(String, String, String)>> {
    let machines = kinds::list(client, Kind::Machine, namespace, "").await?;
    let row = |machine: &serde_json::Value| {
        let part = |pointer| text(machine, pointer).to_owned();
        (part("/metadata/name"), part("/spec/providerID"), part("/status/phase"))
    };
    Ok(machines.iter().map(row).collect())
}

/// Waits until the Machines somewhere are as they were.
async fn are_as_before(
    client: &Client,
    namespace: &str,
    before: &BTreeSet<(String, String, String)>,
) -> Result<()> {
    wait_until("the Machines to be as before", SOON, async || {
        let now = machines(client.clone(), namespace).await?;
        Ok(Probe::when(now == *before, || format!("{now:#?}")))
    })
    .await
}

async fn nothing_is_left(client: &Client, namespace: &str) -> Result<()> {
    let all = [Kind::Cluster, Kind::FooCluster, Kind::FooControlPlane, Kind::MachinePool, Kind::Machine];
    for kind in all.into_iter().chain([Kind::FooMachinePool, Kind::FooMachine, Kind::Secret]) {
        let left = kinds::list(client.clone(), kind, namespace, "").await?;
        let names: Vec<&str> = left.iter().map(|object| text(object, "/metadata/name")).collect();
        ensure!(names.is_empty(), "{kind:?} left at the source: {names:?}");
    }
    Ok(())
}

fn made(world: &World, pool: &Pool<'_>) -> Result<(String, u64)> {
    let group = world.aws().group(&pool.group()).context("no group")?;
    Ok((group.arn.clone(), u64::try_from(group.members.len())?))
}

#[test]
fn the_page_on_moving_works_there_and_back_and_nothing_is_recreated() {
    between_two(async |world, other| {
        let cluster = world.cluster("mover").await?;
        let pool = cluster.pool("workers", 2).await?;
        let extra = cluster.pool("extra", 1).await?;
        let view = pool.settles_at(2).await?;
        extra.settles_at(1).await?;
        let workload = pool.run("web", 2).await?;
        let before = machines(world.client(), "mover").await?;
        let (group, extra_group) = (made(world, &pool)?, made(world, &extra)?);
        let reader = reader(world, other, "mover").await?;
        reader.follow(PAGE, "Prepare").await?;
        reader.follow(PAGE, "Move").await?;
        are_as_before(&other.api().client(), "mover", &before).await?;
        nothing_is_left(&world.client(), "mover").await?;
        assert_eq!((made(world, &pool)?, made(world, &extra)?), (group.clone(), extra_group));

        // Deleted right after the move, a pool is removed like any other.
        let target = other.api().client();
        kinds::delete(target.clone(), Kind::MachinePool, "mover", "extra").await?;
        // What is still going away while clusterctl lists it fails the next move.
        wait_until("the pool to be removed, its MachinePool and its Machine last", SOON, async || {
            let mut left = vec![];
            for kind in [Kind::MachinePool, Kind::FooMachinePool] {
                left.extend(kinds::read(target.clone(), kind, "mover", "extra").await?);
            }
            let machines = kinds::list(target.clone(), Kind::Machine, "mover", "").await?.len();
            let in_aws = world.aws().leftovers(&extra.group());
            let deleted = left.is_empty() && machines == before.len() - 1 && in_aws.is_empty();
            Ok(Probe::when(deleted, || format!("{in_aws:?} {machines} Machines {left:?}")))
        })
        .await?;

        // Back again: the target is the source now.
        let here = world.api().kubeconfig_path();
        let there = other.api().kubeconfig_path();
        let turned = format!("export KUBECONFIG={} TARGET_KUBECONFIG={}", there.display(), here.display());
        reader.run(&turned).await?;
        reader.follow(PAGE, "Through a directory").await?;
        let after = pool.settles_at(2).await?;
        assert_eq!(after.provider_ids(), view.provider_ids());
        assert_eq!(made(world, &pool)?, group);
        workload.is_ready(2).await?;

        // And it is managed: what is desired comes.
        pool.scale(3).await?;
        let grown = pool.settles_at(3).await?;
        assert!(view.provider_ids().iter().all(|id| grown.provider_ids().contains(id)));
        Ok(())
    });
}

#[test]
fn a_pool_that_cannot_be_created_delays_a_move_only_until_that_is_certain() {
    between_two(async |world, other| {
        let cluster = world.cluster("stuck").await?;
        let rule = FaultRule {
            containing: Some(cluster.pool_name("workers").group()),
            ..FaultRule::on("CreateAutoScalingGroup", Fault::Denied)
        };
        let rule = world.aws().simulator().add_fault(rule);
        let pool = cluster.pool("workers", 1).await?;
        wait_until("the pool to block its move", SOON, async || {
            let object = pool.read(Kind::FooMachinePool).await?.context("no FooMachinePool")?;
            let blocks = object.pointer(BLOCK_MOVE).is_some();
            Ok(Probe::when(blocks, || format!("{:?}", condition(&object, "Ready"))))
        })
        .await?;
        let reader = reader(world, other, "stuck").await?;
        reader.follow(PAGE, "Prepare").await?;
        let moved = "clusterctl move --namespace stuck --to-kubeconfig \"$TARGET_KUBECONFIG\"";
        let printed = reader.run(moved).await?;
        ensure!(printed.stderr.contains("Move blocked by"), "it did not wait:\n{}", printed.stderr);
        nothing_is_left(&world.client(), "stuck").await?;
        assert!(world.aws().group(&pool.group()).is_none());
        world.aws().simulator().remove_fault(rule);
        let target = other.api().client();
        wait_until("the pool to be created by its new manager", SOON, async || {
            let object = kinds::read(target.clone(), Kind::FooMachinePool, "stuck", "workers").await?;
            let object = object.context("no FooMachinePool")?;
            let ready = condition(&object, "Ready");
            let done = ready.is_some_and(|(status, ..)| status == "True");
            Ok(Probe::when(done && object.pointer(BLOCK_MOVE).is_none(), || format!("{ready:?}")))
        })
        .await?;
        assert_eq!(made(world, &pool)?.1, 1);
        kinds::delete(target.clone(), Kind::MachinePool, "stuck", "workers").await
    });
}

/// A test of a backup: the objects are restored beside the source, which continues.
#[test]
fn a_copy_in_another_management_cluster_changes_nothing_and_reports_the_owner_of_the_group() {
    between_two(async |world, other| {
        let cluster = world.cluster("copied").await?;
        let pool = cluster.pool("workers", 2).await?;
        pool.settles_at(2).await?;
        let reader = reader(world, other, "copied").await?;
        reader.follow(PAGE, "Prepare").await?;
        let copy = "mkdir -p copied
                    clusterctl move --namespace copied --to-directory copied
                    clusterctl move --from-directory copied --to-kubeconfig \"$TARGET_KUBECONFIG\"";
        reader.run(copy).await?;
        let uid = ["get", "namespace", "kube-system", "--output=jsonpath={.metadata.uid}"];
        let (source, target) = tokio::try_join!(world.api().kubectl(uid), other.api().kubectl(uid))?;
        let client = other.api().client();
        wait_until("the copy to be refused", SOON, async || {
            let object = kinds::read(client.clone(), Kind::FooMachinePool, "copied", "workers").await?;
            let object = object.context("no FooMachinePool")?;
            let ready = condition(&object, "Ready");
            let reported = ready.is_some_and(|(status, reason, message)| {
                let both = message.contains(&source) && message.contains(&target);
                (status, reason, both) == ("False", "GroupOfAnotherInstallation", true)
            });
            Ok(Probe::when(reported, || format!("{ready:?}")))
        })
        .await?;
        let none = serde_json::json!({"spec": {"replicas": 0}});
        kinds::patch(client, Kind::MachinePool, "copied", "workers", &none).await?;
        pool.stays("of two", 2 * QUIET_PERIOD, |view| view.is_settled_at(2)).await?;
        pool.scale(3).await?;
        pool.settles_at(3).await.map(drop)
    });
}
