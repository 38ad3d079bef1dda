//! Objects may be created in any order: each time a condition reports what is missing, and in the end it works.

use super::WORLD;
use anyhow::Result;
use foo_testbed::world::{Cluster, Pool, SOON, manifests};

/// Waits until the pool's condition `Ready` gives this reason.
async fn waits_for(pool: &Pool<'_>, reason: &str) -> Result<()> {
    let what = format!("to report {reason}");
    pool.wait(&what, SOON, |view| view.condition("Ready").is_some_and(|(_, reported, _)| reported == reason))
        .await
        .map(drop)
}

async fn apply_cluster(cluster: &Cluster<'_>) -> Result<()> {
    let (world, name) = (cluster.world(), cluster.name());
    world.apply(&manifests::cluster(name, name)).await?;
    world.apply(&manifests::foo_control_plane(name, name)).await?;
    world.apply(&manifests::foo_cluster(name, name)).await?;
    world.apply(&manifests::kubeconfig_secret(name, name, world.api().kubeconfig())).await
}

#[test]
fn the_pool_may_be_created_before_its_cluster_and_the_secret_last() {
    WORLD.run(async |world| {
        let cluster = world.no_cluster("pool-first").await?;
        let pool = cluster.existing_pool("workers");
        world.apply(&manifests::foo_machine_pool(pool.name())).await?;
        waits_for(&pool, "WaitingForMachinePool").await?;
        world.apply(&manifests::machine_pool(pool.name(), 1)).await?;
        apply_cluster(&cluster).await?;
        waits_for(&pool, "BootstrapDataSecretNotFound").await?;
        world.apply(&manifests::bootstrap_secret(pool.name())).await?;
        pool.settles_at(1).await?;
        Ok(())
    });
}

#[test]
fn the_cluster_may_be_created_before_all_that_it_refers_to() {
    WORLD.run(async |world| {
        let cluster = world.no_cluster("cluster-first").await?;
        let pool = cluster.existing_pool("workers");
        world.apply(&manifests::bootstrap_secret(pool.name())).await?;
        world.apply(&manifests::machine_pool(pool.name(), 1)).await?;
        apply_cluster(&cluster).await?;
        cluster.is_provisioned().await?;
        world.apply(&manifests::foo_machine_pool(pool.name())).await?;
        pool.settles_at(1).await?;
        Ok(())
    });
}
