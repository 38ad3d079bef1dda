//! A cluster on EKS that manages itself: moved into itself, scaled, upgraded by a minor, and moved back.
//!
//! Cluster API's SelfHostedSpec needs a KubeadmControlPlane and the provider's image; its steps are the same.

use super::class::publish_images;
use super::moves::{has_access, is_true, kubeconfig};
use super::parts::{SOON_ON_EKS, cluster, has_its_server, is_deleted, pool_objects, run_alone, simulated};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_testbed::world::kinds::{self, Kind, text};
use foo_testbed::{Probe, wait_until};
use kube::Client;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PAGE: &str = "docs/operations/move.md";
/// Namespace and Cluster.
const NAME: &str = "eks-self-hosted";
const POOL: &str = "workers";

/// The provider ids of the Machines that run a version, once there are as many as requested and no others.
async fn run(client: &Client, workload: &Client, replicas: usize, minor: &str) -> Result<BTreeSet<String>> {
    wait_until(&format!("{replicas} Machines to run {minor}"), 2 * SOON_ON_EKS, async || {
        let machines = kinds::list(client.clone(), Kind::Machine, NAME, "").await?;
        let nodes = kinds::list(workload.clone(), Kind::Node, "", "").await?;
        let has_node = |machine: &&Value| {
            nodes.iter().any(|node| {
                text(node, "/metadata/name") == text(machine, "/status/nodeRef/name")
                    && text(node, "/status/nodeInfo/kubeletVersion").starts_with(minor)
            })
        };
        let running = machines.iter().filter(|machine| text(machine, "/status/phase") == "Running");
        let ids: BTreeSet<String> =
            running.filter(has_node).map(|machine| text(machine, "/spec/providerID").to_owned()).collect();
        let all_run = ids.len() == replicas && machines.len() == replicas;
        Ok(if all_run { Probe::Done(ids) } else { Probe::NotYet(format!("{machines:#?}")) })
    })
    .await
}

#[test]
fn a_cluster_is_moved_into_itself_scaled_upgraded_and_moved_back() {
    run_alone(async |world| {
        publish_images(world)?;
        let here = world.client();
        let cluster = cluster(world, NAME, "v1.34.0").await?;
        let mut objects = pool_objects(&cluster, POOL, "v1.34.0", 1, &json!({"family": "AL2023"}))?;
        // The image follows the version.
        objects[1]["spec"]["ami"] = json!({"recommended": {"family": "AL2023"}});
        for object in &objects {
            world.apply(object).await?;
        }
        has_its_server(&cluster).await?;
        cluster.is_provisioned().await?;
        let id = simulated(&cluster).context("no EKS cluster")?.id;
        let eks_name = super::parts::eks_name(&cluster);
        let server = world.cluster_servers().wait_for(&eks_name).await?;
        let nodes = run(&here, &server.api().client(), 1, "v1.34").await?;

        let itself = world.management_cluster_on_eks(server).await?;
        let there = itself.api().client();
        let reader = Reader::of(world.rig()).await?;
        let (source, target) = (world.api().kubeconfig_path(), itself.api().kubeconfig_path());
        reader.run(&format!("export NAMESPACE={NAME} TARGET_KUBECONFIG={}", target.display())).await?;
        reader.follow(PAGE, "Move").await?;
        for kind in ["Ready", "AccessReady", "AddonsReady"] {
            is_true(&there, NAME, kind).await?;
        }
        ensure!(run(&there, &there, 1, "v1.34").await? == nodes, "the move replaced Nodes");
        has_access(&kubeconfig(&there, NAME).await?).await?;

        kinds::patch(there.clone(), Kind::MachinePool, NAME, POOL, &json!({"spec": {"replicas": 2}})).await?;
        let scaled = run(&there, &there, 2, "v1.34").await?;
        ensure!(scaled.is_superset(&nodes), "the scale-out replaced Nodes");

        let version = json!({"spec": {"version": "v1.35.0"}});
        kinds::patch(there.clone(), Kind::FooControlPlane, NAME, NAME, &version).await?;
        let version = json!({"spec": {"template": {"spec": {"version": "v1.35.0"}}}});
        kinds::patch(there.clone(), Kind::MachinePool, NAME, POOL, &version).await?;
        let upgraded = run(&there, &there, 2, "v1.35").await?;
        ensure!(upgraded.is_disjoint(&scaled), "Nodes of the earlier version stay");
        is_true(&there, NAME, "Ready").await?;

        let turned = format!("export KUBECONFIG={} TARGET_KUBECONFIG={}", target.display(), source.display());
        reader.run(&turned).await?;
        reader.follow(PAGE, "Move").await?;
        is_true(&here, NAME, "Ready").await?;
        ensure!(run(&here, &there, 2, "v1.35").await? == upgraded, "the move back replaced Nodes");
        ensure!(simulated(&cluster).is_some_and(|it| it.id == id), "the EKS cluster was recreated");
        drop(itself);
        is_deleted(&cluster).await
    });
}
