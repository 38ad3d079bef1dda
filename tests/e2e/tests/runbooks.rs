//! docs/operations/runbooks, followed step by step. Stores, API servers and managers are stopped here, so each test has
//! a world to itself.

mod backup;
mod crds;
mod networks;
mod restored;
mod short;

use anyhow::{Result, ensure};
use foo_e2e::Worlds;
use foo_e2e::document::Reader;
use foo_testbed::world::kinds::{self, Kind, number, text};
use foo_testbed::world::{Pool, PoolView, Restarts, World, WorldOptions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const RESTORED: &str = "docs/operations/runbooks/restored.md";
/// Restarted managers, drains that core reads every 20 s, and all of it on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

static WORLDS: Worlds<2> = Worlds::new(module_path!());

/// Plays in a world in which managers that end by themselves are started again.
fn run_alone(test: impl AsyncFnOnce(&'static World) -> Result<()>) {
    let restarts = Some(Restarts::reported_to(|text| println!("{text}")));
    WORLDS.run(WorldOptions { restarts, ..WorldOptions::default() }, test);
}

/// What kubelets do for a page that scales the provider's Deployments: managers run, or shut down in order.
async fn managers_follow_their_deployments(world: &World) -> Result<()> {
    for (manager, namespace) in [
        (world.manager(), "foo-system"),
        (world.control_plane_manager(), "foo-control-plane-system"),
        (world.bootstrap_manager(), "foo-bootstrap-system"),
    ] {
        let command = ["get", "deployments", "--namespace", namespace, "--output=json"];
        let deployments: Value = serde_json::from_str(&world.api().kubectl(command).await?)?;
        match number(&deployments, "/items/0/spec/replicas") {
            Some(0) => manager.terminate().await?,
            Some(1) => manager.start().await?,
            other => anyhow::bail!("{namespace}: {other:?} replicas"),
        }
    }
    Ok(())
}

/// The managers are stopped and the Clusters paused, as in [`RESTORED`].
async fn stops_and_pauses(world: &World, reader: &Reader<'_>, namespace: &str) -> Result<()> {
    reader.follow(RESTORED, "Before the managers start").await?;
    managers_follow_their_deployments(world).await?;
    ensure!(world.manager().pid().is_none() && world.control_plane_manager().pid().is_none());
    let clusters = kinds::list(world.client(), Kind::Cluster, namespace, "").await?;
    ensure!(clusters.iter().all(|it| it.pointer("/spec/paused") == Some(&true.into())), "{clusters:?}");
    Ok(())
}

/// The managers run and one Cluster is released, as in [`RESTORED`].
async fn continues(world: &World, reader: &Reader<'_>, cluster: &str) -> Result<()> {
    reader.run(&format!("export NAMESPACE={cluster} CLUSTER={cluster}")).await?;
    reader.follow(RESTORED, "Continue").await?;
    managers_follow_their_deployments(world).await
}

/// Ids of the instances in a pool's group.
fn members(world: &World, pool: &Pool<'_>) -> BTreeSet<String> {
    let group = world.aws().group(&pool.group());
    group.iter().flat_map(|group| group.members.keys()).map(ToString::to_string).collect()
}

/// Names of the Machines and of their Nodes.
fn machines(view: &PoolView) -> BTreeSet<(String, String)> {
    view.machines.iter().map(|machine| (machine.name.clone(), machine.node_name().to_owned())).collect()
}

/// Names of the Machines that were ever being deleted.
fn ever_deleting(versions: &[Value]) -> BTreeSet<String> {
    let deleting = versions.iter().filter(|object| kinds::is_deleting(object));
    deleting.map(|object| text(object, "/metadata/name").to_owned()).collect()
}
