//! A warm pool: its instances are no Nodes until the group takes them, a roll-out renews it, and it is deleted without a drain.

use super::parts::{
    SOON_ON_EKS, cluster_in_existing_network, has_its_server, is_deleted, pool_with, run_alone, runs,
};
use anyhow::{Context as _, Result, ensure};
use foo_model::names::APPLIED_ANNOTATION;
use foo_model::{InstanceId, LifecycleState};
use foo_testbed::world::kinds::{self, Kind, number, text};
use foo_testbed::world::{AFTER_DRAIN, Cluster, Pool, PoolView, QUIET_PERIOD, SOON};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const VERSION: &str = "v1.36.0";

/// The warm pool of the spec. Its instance runs, so that only its user data keeps it out of the cluster.
fn one_running() -> Value {
    json!({"minSize": 1, "state": "Running"})
}

/// Ids of the instances that wait in the warm pool.
fn waiting(view: &PoolView) -> Vec<&str> {
    let warm = view.group.iter().flat_map(|group| group.warm.values());
    warm.filter(|it| it.lifecycle == LifecycleState::Warmed).map(|it| it.id.as_str()).collect()
}

/// Whether so many Machines have their Nodes, one instance waits beside them, and nothing is in progress.
fn is_warm(view: &PoolView, replicas: usize) -> bool {
    let (Some(pool), Some(group)) = (&view.foo_pool, &view.group) else { return false };
    let counts = [view.machines.len(), view.good().count(), view.foo_machines.len(), group.members.len()];
    let conditions =
        [("Ready", "True"), ("WarmPoolReady", "True"), ("RollingOut", "False"), ("ScalingDown", "False")];
    let is =
        |(kind, wanted): &(&str, &str)| view.condition(kind).is_some_and(|(status, ..)| status == *wanted);
    counts == [replicas; 4]
        && (waiting(view).len(), view.instances.len()) == (1, replicas + 1)
        && number(pool, "/status/warmPool/size") == Some(1)
        && conditions.iter().all(is)
}

async fn until_warm(pool: &Pool<'_>, replicas: usize) -> Result<PoolView> {
    let what = format!("{replicas} Nodes, and one instance that waits");
    pool.wait(&what, SOON_ON_EKS, |view| is_warm(view, replicas)).await
}

/// The only instance that waits.
fn the_waiting(view: &PoolView) -> Result<String> {
    waiting(view).first().map(|id| (*id).to_owned()).with_context(|| format!("no instance waits: {view}"))
}

/// The instances of all Nodes of the cluster.
async fn of_nodes(cluster: &Cluster<'_>) -> Result<BTreeSet<String>> {
    let nodes = kinds::list(cluster.world().workload_client(cluster.name()), Kind::Node, "", "").await?;
    let id = |node: &Value| text(node, "/spec/providerID").rsplit('/').next().unwrap_or_default().to_owned();
    Ok(nodes.iter().map(id).collect())
}

/// UIDs of the Nodes of Machines.
fn nodes(view: &PoolView) -> BTreeSet<String> {
    let nodes = view.machines.iter().filter_map(|machine| machine.node.as_ref());
    nodes.map(|node| text(node, "/metadata/uid").to_owned()).collect()
}

#[test]
fn instances_of_a_warm_pool_are_no_nodes_until_the_group_takes_them_and_are_renewed_by_roll_outs() {
    run_alone(async |world| {
        let cluster = cluster_in_existing_network(world, "warm", VERSION, |_| {}).await?;
        let waits = json!({"family": "AL2023", "joinWhenInService": true});
        let pool =
            pool_with(&cluster, "workers", VERSION, (1, waits), |spec| spec["warmPool"] = one_running());
        let pool = pool.await?;
        has_its_server(&cluster).await?;
        runs(&cluster, VERSION).await?;

        a_scale_out_takes_the_instance_that_waits(&cluster, &pool).await?;
        a_roll_out_renews_the_warm_pool_first(&cluster, &pool).await?;
        without_a_warm_pool_in_the_spec_no_node_is_lost(&pool).await?;

        pool.patch(Kind::FooMachinePool, &json!({"spec": {"warmPool": one_running()}})).await?;
        until_warm(&pool, 2).await?;
        pool.delete().await?;
        pool.is_gone(AFTER_DRAIN).await?;
        // Afterwards the cluster's API server is deleted, with all of its objects.
        world.check_nothing_undrained()?;
        is_deleted(&cluster).await
    });
}

/// From one Machine to two: the instance of the new one waited before, and was neither a Machine nor a Node.
async fn a_scale_out_takes_the_instance_that_waits(cluster: &Cluster<'_>, pool: &Pool<'_>) -> Result<()> {
    let before = until_warm(pool, 1).await?;
    pool.stays("with an instance that waits", QUIET_PERIOD, |view| is_warm(view, 1)).await?;
    let waited = the_waiting(&before)?;
    let (machines, nodes) = (before.instances_of_machines(), of_nodes(cluster).await?);
    ensure!(machines == nodes && !nodes.contains(&waited), "{waited} waits, Nodes: {nodes:?}, {before}");
    pool.scale(2).await?;
    let after = until_warm(pool, 2).await?;
    ensure!(after.machine_of(&waited).is_some(), "{waited} waited and is no Machine: {after}");
    ensure!(!of_nodes(cluster).await?.contains(&the_waiting(&after)?), "{after}");
    Ok(())
}

/// No Machine has an instance that waited before the edit: both of them would be replaced again.
async fn a_roll_out_renews_the_warm_pool_first(cluster: &Cluster<'_>, pool: &Pool<'_>) -> Result<()> {
    let before = until_warm(pool, 2).await?;
    let (old, outdated) = (before.instances_of_machines(), the_waiting(&before)?);
    pool.patch(Kind::FooMachinePool, &json!({"spec": {"instanceType": "m6i.large"}})).await?;
    let mut seen = BTreeSet::new();
    let rolled_out = pool.wait("to replace its instances and those that wait", AFTER_DRAIN, |view| {
        seen.extend(view.instances_of_machines());
        is_warm(view, 2) && view.instances_of_machines().is_disjoint(&old)
    });
    let after = rolled_out.await?;
    let new: BTreeSet<String> = seen.difference(&old).cloned().collect();
    ensure!(new == after.instances_of_machines(), "replaced twice: {new:?}, {after}");
    let waits = the_waiting(&after)?;
    ensure!(waits != outdated && !new.contains(&outdated), "{outdated} was outdated: {after}");
    let region = cluster.world().aws().region();
    for id in new.iter().chain([&waits]) {
        let instance = region.instance(&InstanceId::from(id.as_str())).with_context(|| format!("no {id}"))?;
        ensure!(instance.instance_type.to_string() == "m6i.large", "{id}: {}", instance.instance_type);
    }
    Ok(())
}

/// The warm pool is deleted with its instance, and every Node stays with its Pods.
async fn without_a_warm_pool_in_the_spec_no_node_is_lost(pool: &Pool<'_>) -> Result<()> {
    let web = pool.run("web", 2).await?;
    let before = pool.view().await?;
    pool.patch(Kind::FooMachinePool, &json!({"spec": {"warmPool": null}})).await?;
    let deleted = pool.wait("its warm pool to be deleted and forgotten", SOON, |view| {
        let annotations = view.foo_pool.as_ref().and_then(|pool| pool.pointer("/metadata/annotations"));
        let record = annotations.and_then(|it| it.get(APPLIED_ANNOTATION)).is_some_and(|it| !it.is_null());
        let status = view.foo_pool.as_ref().and_then(|pool| pool.pointer("/status/warmPool"));
        let has_one = view.group.as_ref().is_some_and(|group| group.warm_pool.is_some());
        view.is_settled_at(2) && !has_one && !record && status.is_none()
    });
    let after = deleted.await?;
    ensure!(nodes(&after) == nodes(&before) && nodes(&after).len() == 2, "{before}{after}");
    web.is_ready(2).await?;
    web.allow(2).await
}
