//! A drain that a budget delays in the middle of an upgrade.

use super::clock::{WAITING, in_time};
use super::life::has_nodes;
use super::parts::{eks_name, runs, simulated};
use anyhow::{Context as _, Result, ensure};
use foo_model::eks::UpdateType;
use foo_simulator::core::catalogue::{Boot, Image};
use foo_testbed::world::kinds::{Kind, condition, text};
use foo_testbed::world::{AFTER_DRAIN, Cluster, MachineView, Pool, PoolView, QUIET_PERIOD};
use foo_testbed::{Probe, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// AWS publishes images of newer versions of Kubernetes: for 1.35 and 1.36 one each.
pub(crate) fn images_are_published(world: &World) -> Result<()> {
    let region = world.aws().region();
    for minor in [35, 36] {
        let id = format!("ami-0a00000000000{minor:04}");
        region.put_image(Image {
            id: foo_model::ImageId::new(&id),
            name: format!("foo-node-v1.{minor}.0-x86_64"),
            architecture: "x86_64".to_owned(),
            root_device: "/dev/xvda".to_owned(),
            root_gib: 20,
            owner: foo_simulator::DEFAULT_ACCOUNT.to_owned(),
            created: "2026-03-02T09:00:00.000Z".to_owned(),
            available: true,
            boots: Boot::Succeeds,
            tags: BTreeMap::new(),
        })?;
        let path =
            format!("/aws/service/eks/optimized-ami/1.{minor}/amazon-linux-2023/x86_64/standard/recommended");
        region.publish_parameter(&format!("{path}/image_id"), &id)?;
    }
    Ok(())
}

/// The versions of the kubelets of a pool's Machines.
fn kubelets(view: &PoolView) -> Vec<&str> {
    let nodes = view.machines.iter().filter_map(|machine| machine.node.as_ref());
    nodes.map(|node| text(node, "/status/nodeInfo/kubeletVersion")).collect()
}

async fn requests(pool: &Pool<'_>, version: &str) -> Result<()> {
    pool.patch(Kind::MachinePool, &json!({"spec": {"template": {"spec": {"version": version}}}})).await
}

/// Two minors up, at 1.34 with a pool of one: the pool follows to the one in between, where a budget delays the drain
/// of its old Node. The control plane continues meanwhile, and nothing is terminated that is not drained.
pub(crate) async fn an_upgrade_waits_for_a_budget(
    world: &World,
    cluster: &Cluster<'_>,
    pool: &Pool<'_>,
) -> Result<()> {
    let before = has_nodes(cluster, &pool.name().pool, 1).await?;
    let is_old = |node: &Value| text(node, "/status/nodeInfo/kubeletVersion") == "v1.34.0";
    ensure!(before.first().is_some_and(is_old), "{before:#?}");
    let old = pool.view().await?.machines.first().context("no Machine")?.instance.clone();
    let workload = pool.run("web", 1).await?;
    cluster.patch(Kind::FooControlPlane, &json!({"spec": {"version": "v1.36.0"}})).await?;
    requests(pool, "v1.35.0").await?;
    is_at(cluster, "v1.35.0").await?;
    let blocked = |view: &PoolView| view.deleting().any(MachineView::waits_for_budget);
    let view = pool.wait("the drain to be blocked", AFTER_DRAIN, blocked).await?;
    ensure!(
        view.machine_of(&old).is_some_and(MachineView::is_deleting),
        "another Machine is deleted: {view}"
    );
    pool.wait("the pool to report it", AFTER_DRAIN, |view| {
        view.condition("Ready")
            .is_some_and(|(status, _, message)| status == "True" && message.contains("drain"))
    })
    .await?;
    is_at(cluster, "v1.36.0").await?;
    pool.stays("blocked, with the old instance", QUIET_PERIOD, |view| {
        blocked(view) && view.instances.get(&old).is_some_and(|state| state == "Running")
    })
    .await?;
    workload.allow(1).await?;
    let view = pool.settles_within(1, AFTER_DRAIN).await?;
    ensure!(kubelets(&view) == ["v1.35.0"] && view.machine_of(&old).is_none(), "{view}");
    requests(pool, "v1.36.0").await?;
    pool.wait("the second minor", AFTER_DRAIN, |view| kubelets(view) == ["v1.36.0"] && view.is_settled_at(1))
        .await?;
    workload.is_ready(1).await?;
    world.check_nothing_undrained()?;
    let updates = simulated(cluster).with_context(|| eks_name(cluster))?.updates;
    let versions = updates.iter().filter(|update| update.kind == UpdateType::VersionUpdate).count();
    ensure!(versions == 2, "one minor at a time: {updates:?}");
    runs(cluster, "v1.36.0").await.map(drop)
}

/// Waits until the control plane reports a version, or a newer one.
async fn is_at(cluster: &Cluster<'_>, version: &str) -> Result<()> {
    in_time(cluster, WAITING, &format!("{version} in the status"), async || {
        let object = cluster.read(Kind::FooControlPlane).await?.context("no FooControlPlane")?;
        let runs = text(&object, "/status/version") >= version;
        Ok(Probe::when(runs, || {
            let upgrading = condition(&object, "Upgrading");
            format!(
                "{upgrading:?} {}",
                object.pointer("/status/eks").map_or_else(String::new, Value::to_string)
            )
        }))
    })
    .await
}
