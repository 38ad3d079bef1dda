//! cluster-autoscaler on EKS: its Nodes and pods are in the EKS cluster, its pools in the management cluster.

use super::parts::{
    SOON_ON_EKS, cluster, eks_name, has_its_server, is_deleted, pool_objects, run_alone, runs,
};
use anyhow::{Context as _, ensure};
use foo_e2e::autoscaler::{Autoscaler, in_bounds};
use foo_testbed::world::{AFTER_DRAIN, SOON};
use foo_testbed::{PodEnd, Probe, wait_until};
use serde_json::json;

#[test]
fn a_pod_that_waits_brings_a_node_from_zero_and_a_node_that_is_not_needed_is_drained() {
    run_alone(async |world| {
        let cluster = cluster(world, "eks-autoscaler", "v1.36.0").await?;
        let node_config = json!({"family": "AL2023", "labels": {"team": "a"}});
        let [mut machine_pool, foo_machine_pool, config] =
            pool_objects(&cluster, "workers", "v1.36.0", 0, &node_config)?;
        in_bounds(&mut machine_pool, "0", "3");
        for object in [&config, &machine_pool, &foo_machine_pool] {
            world.apply(object).await?;
        }
        let pool = cluster.existing_pool("workers");
        has_its_server(&cluster).await?;
        runs(&cluster, "v1.36.0").await?;
        cluster.is_provisioned().await?;
        pool.settles_within(0, SOON_ON_EKS).await?;
        let server = world.cluster_servers().api(&eks_name(&cluster)).context("no API server")?;
        let autoscaler = Autoscaler::between(world, &cluster, &server).await?;

        let workload = pool.workload("web");
        workload.scale(2).await?;
        workload.allow(1).await?;
        let waiting = wait_until("two pods to wait for a Node", SOON, async || {
            let pods = autoscaler.pending_pods().await?;
            Ok(if pods.len() == 2 { Probe::Done(pods) } else { Probe::NotYet(format!("{pods:?}")) })
        })
        .await?;
        ensure!(waiting.iter().all(|pod| pod.starts_with("web-")), "{waiting:?}");
        autoscaler.set_size(&pool, 2).await?;
        let two = pool.settles_within(2, SOON_ON_EKS).await?;
        workload.is_ready(2).await?;
        ensure!(autoscaler.unregistered(&pool).await?.is_empty(), "it finds no Node of some instance");

        // One pod less: the Node of the other one has room for all.
        workload.scale(1).await?;
        workload.is_ready(1).await?;
        let unneeded = two.machines.first().context("no Machine")?;
        autoscaler.scale_down(&pool, &[unneeded]).await?;
        let one = pool.settles_within(1, AFTER_DRAIN).await?;
        ensure!(
            one.machines.iter().all(|machine| machine.instance != unneeded.instance),
            "another one was deleted"
        );
        workload.is_ready(1).await?;
        let lost: Vec<_> = server.kubelets().deaths();
        let lost = lost.iter().filter(|death| matches!(death.end, PodEnd::CutShort | PodEnd::Lost));
        ensure!(lost.count() == 0, "pods were lost with their instance: {:#?}", server.kubelets().deaths());
        let last = one.machines.first().context("no Machine")?;
        workload.scale(0).await?;
        autoscaler.scale_down(&pool, &[last]).await?;
        pool.settles_within(0, AFTER_DRAIN).await?;
        is_deleted(&cluster).await
    });
}
