//! A cluster from nothing to Nodes that are Ready, through an upgrade, and back to nothing.

use crate::parts::{
    MADE, cluster, goes, has_its_server, kubeconfig, lets_in, play, pool, runs, says, simulated,
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
    let view = pool.settles_within(count, MADE).await.with_context(|| {
        format!("refused by the API server: {:?}", cluster.world().cluster_servers().refused_nodes())
    })?;
    Ok(view.machines.into_iter().filter_map(|machine| machine.node).collect())
}

/// Network, control plane, add-ons and two pools of different families from objects that are applied at once, by a manager that is killed
/// in the middle; a version more; and nothing left.
#[test]
fn a_whole_cluster_is_created_upgraded_and_deleted() {
    play(async |world| {
        let cluster = cluster(world, "whole", "v1.34.0").await?;
        let labels = json!({"family": "AL2023", "labels": {"team": "a"}});
        pool(&cluster, "linux", "v1.34.0", 2, labels).await?;
        let tainted = json!({
            "family": "Bottlerocket", "taints": [{"key": "dedicated", "value": "b", "effect": "NoSchedule"}],
        });
        pool(&cluster, "rockets", "v1.34.0", 1, tainted).await?;
        wait_until("EKS to create the cluster", MADE, async || {
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
        says(&cluster, "AddonsReady", "the add-ons to be ready", |(status, ..)| status == "True").await?;
        says(&cluster, "AccessReady", "access to be ready", |(status, ..)| status == "True").await?;

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
        goes(&cluster).await
    });
}

/// The kubeconfig that Cluster API reads lets its bearer in as an administrator; it is repaired when somebody spoils it, and the one
/// for people has no token.
#[test]
fn the_kubeconfig_works_and_is_repaired() {
    play(async |world| {
        let cluster = cluster(world, "kubeconfig", "v1.36.0").await?;
        has_its_server(&cluster).await?;
        runs(&cluster, "v1.36.0").await?;
        says(&cluster, "AccessReady", "access to be ready", |(status, ..)| status == "True").await?;
        lets_in(&cluster).await?;

        let spoiled = json!({"data": {"value": "bm9uc2Vuc2U="}});
        let name = "kubeconfig-kubeconfig";
        foo_testbed::world::kinds::patch(world.client(), Kind::Secret, "kubeconfig", name, &spoiled).await?;
        wait_until("the Secret to be repaired", MADE, async || {
            let text = kubeconfig(&cluster).await?;
            Ok(Probe::when(Kubeconfig::from_yaml(&text).is_ok(), || text))
        })
        .await?;
        let people = "kubeconfig-user-kubeconfig";
        let secret =
            foo_testbed::world::kinds::read(world.client(), Kind::Secret, "kubeconfig", people).await?;
        ensure!(secret.is_some(), "no kubeconfig for people");
        goes(&cluster).await
    });
}

/// A cluster of the same name that another user or controller made is neither taken over nor deleted.
#[test]
fn a_cluster_of_another_owner_is_not_changed() {
    play(async |world| {
        let cluster = crate::parts::stranger(world, "strange").await?;
        let object = says(&cluster, "ClusterReady", "the stranger to be named", |(status, _, message)| {
            status == "False" && message.contains("strange_strange")
        })
        .await?;
        ensure!(condition(&object, "Available").is_some_and(|(status, ..)| status != "True"));
        cluster.delete().await?;
        cluster.is_gone(MADE).await?;
        ensure!(simulated(&cluster).is_some(), "it was deleted");
        Ok(())
    });
}
