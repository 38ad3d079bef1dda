//! Deletion: of a whole Cluster, and when nothing that would help is reachable any more.

use foo_e2e::in_world;
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{AFTER_DRAIN, SOON};
use serde_json::json;

#[test]
fn deleting_the_cluster_removes_everything() {
    in_world(async |world| {
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
fn deletion_works_without_the_workload_clusters_api_server_and_without_the_bootstrap_secret() {
    in_world(async |world| {
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
