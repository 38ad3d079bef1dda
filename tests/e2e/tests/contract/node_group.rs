//! The page about EKS managed node groups, on Nodes of a group that another tool created.

use super::WORLD;
use super::adoption::another_tool_creates_a_group;
use anyhow::{Context as _, Result, ensure};
use foo_cloud::Groups as _;
use foo_e2e::document::Reader;
use foo_model::{Decrement, GroupChange, GroupName, InstanceId};
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{GROUP_LABEL, Pool, REGION, SOON, World, manifests};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

const PAGE: &str = "docs/operations/managed-node-groups.md";
/// Label of the Nodes on which the Pods may run.
const HOME: &str = "e2e/home";

#[test]
fn pods_of_a_node_group_move_to_a_pool_as_their_budget_allows() {
    WORLD.run(async |world| {
        let cluster = world.cluster("node-group").await?;
        let legacy = cluster.existing_pool("legacy");
        another_tool_creates_a_group(world, &cluster, &legacy.group()).await?;
        are_labelled(world, &legacy, &[(HOME, "x"), ("eks.amazonaws.com/nodegroup", "legacy")]).await?;
        let mut web = manifests::deployment(legacy.name(), "web", 2);
        web["spec"]["template"]["spec"]["nodeSelector"] = json!({HOME: "x"});
        world.apply(&web).await?;
        let web = legacy.workload("web");
        web.allow(0).await?;
        web.is_ready(2).await?;

        let pool = cluster.pool("workers", 2).await?;
        pool.settles_at(2).await?;
        are_labelled(world, &pool, &[(HOME, "x")]).await?;
        let reader = Reader::of(world.rig()).await?;
        reader.run("export NODE_GROUP=legacy WORKLOAD=$KUBECONFIG").await?;
        let old = nodes(world, &legacy).await?;
        let budget = async {
            // The budget lets nothing go: the Nodes are cordoned, and their Pods stay.
            wait_until("the Nodes to be cordoned", SOON, async || {
                let cordoned = kinds::list(world.client(), Kind::Node, "", &selector(&legacy)).await?;
                let cordoned =
                    cordoned.iter().filter(|it| it.pointer("/spec/unschedulable") == Some(&json!(true)));
                Ok(Probe::when(cordoned.count() == 2, || "not all of them are".to_owned()))
            })
            .await?;
            ensure!(pods_on(world, &old).await?.len() == 2, "Pods were evicted against their budget");
            web.allow(1).await
        };
        let (drained, allowed) = tokio::join!(reader.follow(PAGE, "2. Drain the node group"), budget);
        allowed?;
        ensure!(drained?.contains("drained"), "kubectl drain says nothing");
        web.is_ready(2).await?;
        let left = reader.follow(PAGE, "3. Delete the node group").await?;
        ensure!(left.trim().is_empty() && pods_on(world, &old).await?.is_empty(), "{left}");

        let owner = world.aws().simulator().cloud(REGION, "owner");
        let group = GroupName::new(legacy.group());
        owner.update_group(&group, &GroupChange { min: Some(0), ..GroupChange::default() }).await?;
        for instance in legacy.view().await?.instances.keys() {
            owner.terminate_instance(&InstanceId::new(instance), Decrement::Shrink).await?;
        }
        wait_until("the group to be deleted", SOON, async || {
            owner.delete_group(&group).await?;
            Ok(Probe::Done(()))
        })
        .await?;
        web.is_ready(2).await?;
        web.allow(2).await?;
        pool.delete().await?;
        Ok(())
    });
}

fn selector(pool: &Pool<'_>) -> String {
    format!("{GROUP_LABEL}={}", pool.group())
}

async fn nodes(world: &World, pool: &Pool<'_>) -> Result<Vec<String>> {
    let nodes = kinds::list(world.client(), Kind::Node, "", &selector(pool)).await?;
    Ok(nodes.iter().map(|node| kinds::text(node, "/metadata/name").to_owned()).collect())
}

async fn are_labelled(world: &World, pool: &Pool<'_>, labels: &[(&str, &str)]) -> Result<()> {
    wait_until("two Nodes", SOON, async || {
        let found = nodes(world, pool).await?;
        Ok(Probe::when(found.len() == 2, || format!("{found:?}")))
    })
    .await?;
    let selector = format!("--selector={}", selector(pool));
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let command = ["label", "nodes", selector.as_str()].into_iter().chain(labels.iter().map(String::as_str));
    world.api().kubectl(command).await.context("labelling Nodes").map(drop)
}

/// Names of the Pods of the Deployment on these Nodes.
async fn pods_on(world: &World, nodes: &[String]) -> Result<Vec<String>> {
    let pods = world
        .api()
        .kubectl(["get", "pods", "--all-namespaces", "--selector=app=web", "--output=json"])
        .await?;
    let pods: Value = serde_json::from_str(&pods)?;
    let pods = pods.pointer("/items").and_then(Value::as_array).context("no items")?.iter();
    let there = pods.filter(|pod| {
        kinds::text(pod, "/metadata/namespace") == "node-group"
            && nodes.iter().any(|node| kinds::text(pod, "/spec/nodeName") == node)
    });
    Ok(there.map(|pod| kinds::text(pod, "/metadata/name").to_owned()).collect())
}
