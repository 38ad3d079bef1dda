//! A cluster from nothing to Nodes that are Ready, through an upgrade, and back to nothing.

use super::parts::{
    SOON_ON_EKS, cluster, has_access, has_condition, has_its_server, is_deleted, kubeconfig, pool, run_alone,
    runs, simulated,
};
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::Cluster;
use foo_testbed::world::kinds::{Kind, condition, text};
use foo_testbed::{Probe, wait_until};
use kube::config::Kubeconfig;
use serde_json::{Value, json};

/// Waits until a pool has Nodes that are Ready, as many as requested.
pub(crate) async fn has_nodes(cluster: &Cluster<'_>, name: &str, count: usize) -> Result<Vec<Value>> {
    let pool = cluster.existing_pool(name);
    let view = pool.settles_within(count, SOON_ON_EKS).await.with_context(|| {
        format!("refused by the API server: {:?}", cluster.world().cluster_servers().refused_nodes())
    })?;
    Ok(view.machines.into_iter().filter_map(|machine| machine.node).collect())
}

/// Network, control plane, add-ons and two pools of different families from objects that are applied at once, by a
/// manager that is killed in the middle; a version more; and nothing left.
#[test]
fn a_whole_cluster_is_created_upgraded_and_deleted() {
    run_alone(async |world| {
        let cluster = cluster(world, "whole", "v1.34.0").await?;
        let labels = json!({"family": "AL2023", "labels": {"team": "a"}});
        pool(&cluster, "linux", "v1.34.0", 2, labels).await?;
        let tainted = json!({
            "family": "Bottlerocket", "taints": [{"key": "dedicated", "value": "b", "effect": "NoSchedule"}],
        });
        pool(&cluster, "rockets", "v1.34.0", 1, tainted).await?;
        wait_until("EKS to create the cluster", SOON_ON_EKS, async || {
            Ok(Probe::when(simulated(&cluster).is_some(), || "no cluster".to_owned()))
        })
        .await?;
        world.manager().kill();
        world.manager().start().await?;
        has_its_server(&cluster).await?;
        runs(&cluster, "v1.34.0").await?;
        cluster.is_provisioned().await?;

        let linux = has_nodes(&cluster, "linux", 2).await?;
        ensure!(linux.iter().all(|node| text(node, "/metadata/labels/team") == "a"), "{linux:#?}");
        let rockets = has_nodes(&cluster, "rockets", 1).await?;
        let taints = |node: &Value| node.pointer("/spec/taints").map_or_else(String::new, Value::to_string);
        ensure!(rockets.iter().all(|node| taints(node).contains("dedicated")), "{rockets:#?}");
        has_condition(&cluster, "AddonsReady", "the add-ons to be ready", |(status, ..)| status == "True")
            .await?;
        has_condition(&cluster, "AccessReady", "access to be ready", |(status, ..)| status == "True").await?;

        cluster.patch(Kind::FooControlPlane, &json!({"spec": {"version": "v1.36.0"}})).await?;
        runs(&cluster, "v1.36.0").await?;
        let simulated = simulated(&cluster).context("no cluster")?;
        ensure!(simulated.version.to_string() == "1.36", "{}", simulated.version);
        let types: Vec<_> = simulated.updates.iter().map(|update| format!("{:?}", update.kind)).collect();
        let versions = types.iter().filter(|kind| kind.contains("Version")).count();
        ensure!(versions == 2, "one minor at a time: {types:?}");
        for name in ["linux", "rockets"] {
            let pool = cluster.existing_pool(name);
            let change = json!({"spec": {"template": {"spec": {"version": "v1.36.0"}}}});
            pool.patch(Kind::MachinePool, &change).await?;
        }
        has_nodes(&cluster, "linux", 2).await?;
        is_deleted(&cluster).await
    });
}

/// The kubeconfig that Cluster API reads gives administrator access; it is repaired when a user changes it, and the one
/// for users has no token.
#[test]
fn the_kubeconfig_works_and_is_repaired() {
    run_alone(async |world| {
        let cluster = cluster(world, "kubeconfig", "v1.36.0").await?;
        has_its_server(&cluster).await?;
        runs(&cluster, "v1.36.0").await?;
        has_condition(&cluster, "AccessReady", "access to be ready", |(status, ..)| status == "True").await?;
        has_access(&cluster).await?;

        let changed = json!({"data": {"value": "bm9uc2Vuc2U="}});
        let name = "kubeconfig-kubeconfig";
        foo_testbed::world::kinds::patch(world.client(), Kind::Secret, "kubeconfig", name, &changed).await?;
        wait_until("the Secret to be repaired", SOON_ON_EKS, async || {
            let text = kubeconfig(&cluster).await?;
            Ok(Probe::when(Kubeconfig::from_yaml(&text).is_ok(), || text))
        })
        .await?;
        let for_users = "kubeconfig-user-kubeconfig";
        let secret =
            foo_testbed::world::kinds::read(world.client(), Kind::Secret, "kubeconfig", for_users).await?;
        ensure!(secret.is_some(), "no kubeconfig for users");
        is_deleted(&cluster).await
    });
}

/// A cluster of the same name that another user or controller made is neither taken over nor deleted.
#[test]
fn a_cluster_of_another_owner_is_not_changed() {
    run_alone(async |world| {
        let cluster = super::parts::foreign(world, "by-hand").await?;
        let object = has_condition(
            &cluster,
            "ClusterReady",
            "the foreign cluster to be named",
            |(status, _, message)| status == "False" && message.contains("by-hand_by-hand"),
        )
        .await?;
        ensure!(condition(&object, "Available").is_some_and(|(status, ..)| status != "True"));
        cluster.delete().await?;
        cluster.is_gone(SOON_ON_EKS).await?;
        ensure!(simulated(&cluster).is_some(), "it was deleted");
        super::parts::delete_by_hand(world, "by-hand").await
    });
}
