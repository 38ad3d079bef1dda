//! Deletion: of a whole Cluster, and when nothing that would help is reachable any more.

use super::WORLD;
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{AFTER_DRAIN, PoolView, QUIET_PERIOD, SOON, World};
use serde_json::{Value, json};

#[test]
fn deleting_the_cluster_removes_everything() {
    WORLD.run(async |world| {
        let cluster = world.cluster("whole").await?;
        let settled = cluster.pool("settled", 2).await?;
        settled.settles_at(2).await?;
        let launching = cluster.pool("launching", 2).await?;
        launching.wait("to launch", SOON, |view| !view.instances.is_empty()).await?;
        cluster.delete().await?;
        settled.is_gone(AFTER_DRAIN).await?;
        launching.is_gone(AFTER_DRAIN).await?;
        cluster.is_gone(AFTER_DRAIN).await?;
        Ok(())
    });
}

#[test]
fn a_retained_group_keeps_its_nodes_with_their_pods_and_is_taken_back() {
    WORLD.run(async |world| {
        let cluster = world.cluster("retained").await?;
        let retaining = |pool: &mut Value, policy: &str| pool["spec"]["deletionPolicy"] = json!(policy);
        let pool = cluster.pool_with("workers", 2, |_, pool| retaining(pool, "Retain")).await?;
        let before = pool.settles_at(2).await?;
        pool.run("web", 2).await?;
        let uids = nodes_of(world, &before).await?;
        ensure!(uids.len() == 2, "{before}");
        pool.delete().await?;
        let gone = |view: &PoolView| view.machine_pool.is_none() && view.foo_pool.is_none();
        let after = pool.wait("to be deleted in Kubernetes", AFTER_DRAIN, gone).await?;
        ensure!(after.machines.is_empty() && after.foo_machines.is_empty(), "{after}");

        // Cluster API and AWS have the time to do what would follow.
        pool.stays("with its instances", QUIET_PERIOD, |view| view.instances == before.instances).await?;
        ensure!(nodes_of(world, &before).await? == uids, "a Node was deleted");
        pool.workload("web").is_ready(2).await?;
        let group = pool.view().await?.group.context("the group stays")?;
        ensure!(group.hooks.is_empty() && group.sizes.desired == 2, "{group:?}");

        let again = cluster
            .pool_with("workers", 2, |_, pool| {
                retaining(pool, "Delete");
                pool["metadata"]["annotations"] = json!({"infrastructure.foo.com/adopt-from": "retained"});
            })
            .await?;
        let taken_back = again.settles_at(2).await?;
        ensure!(taken_back.instances == before.instances, "{taken_back}");
        ensure!(nodes_of(world, &before).await? == uids, "a Node was deleted");
        again.workload("web").allow(2).await?;
        again.delete().await?;
        again.is_gone(AFTER_DRAIN).await?;
        Ok(())
    });
}

/// The uids of the Nodes of these Machines, of those Nodes that exist.
async fn nodes_of(world: &World, view: &PoolView) -> Result<Vec<String>> {
    let mut uids = Vec::new();
    for machine in &view.machines {
        let node = kinds::read(world.client(), Kind::Node, "", machine.node_name()).await?;
        uids.extend(node.map(|node| kinds::text(&node, "/metadata/uid").to_owned()));
    }
    Ok(uids)
}

#[test]
fn deletion_works_without_the_workload_clusters_api_server_and_without_the_bootstrap_secret() {
    WORLD.run(async |world| {
        let (workload, _controllers) = world.rig().another_cluster("cut-off").await?;
        let (cluster, _kubelets) = world.cluster_elsewhere("cut-off", &workload).await?;
        cluster.is_provisioned().await?;
        let pool = cluster
            .pool_with("workers", 2, |pool, _| {
                // Without a limit Cluster API would wait for ever for an API server that could confirm the drain.
                pool["spec"]["template"]["spec"]["deletion"] = json!({
                    "nodeDrainTimeoutSeconds": 5, "nodeVolumeDetachTimeoutSeconds": 5, "nodeDeletionTimeoutSeconds": 5,
                });
            })
            .await?;
        let other = cluster.pool("others", 1).await?;
        for (pool, machines) in [(&pool, 2), (&other, 1)] {
            pool.wait("to run", SOON, |view| {
                view.machines.iter().filter(|machine| machine.phase() == "Running").count() == machines
            })
            .await?;
        }
        workload.stop();
        let secret = pool.name().bootstrap_secret();
        kinds::delete(world.client(), Kind::Secret, "cut-off", &secret).await?;
        pool.delete().await?;
        pool.is_gone(AFTER_DRAIN).await?;
        cluster.delete().await?;
        other.is_gone(AFTER_DRAIN).await?;
        cluster.is_gone(AFTER_DRAIN).await?;
        Ok(())
    });
}
