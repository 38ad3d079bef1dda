//! docs/operations/upgrade.md: from v0.1.0 to a v0.2.0 that only this test has released.

use super::released::{reader, versions};
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::WorldOptions;
use foo_testbed::world::{SOON, World};
use foo_testbed::{Probe, run, wait_until};
use std::path::Path;
use std::time::Duration;

const PAGE: &str = "docs/operations/upgrade.md";
const NEXT: &str = "v0.2.0";
/// How long nothing may be written once everything has settled: twice the quiet period of the world's managers.
const QUIET: Duration = Duration::from_secs(10);

/// Releases the next version beside the one the world was installed from, with what a release of it would add to
/// metadata.yaml.
async fn release_next(world: &World) -> Result<()> {
    let sources = tempfile::tempdir()?;
    let deploy = xtask::root().join("deploy");
    let copy = ["-r".as_ref(), deploy.as_os_str(), sources.path().as_os_str()];
    run(Path::new("cp"), copy, &[], "").await?;
    let metadata = sources.path().join("deploy/clusterctl/metadata.yaml");
    let mut text = std::fs::read_to_string(&metadata)?;
    text.push_str("- major: 0\n  minor: 2\n  contract: v1beta2\n");
    std::fs::write(&metadata, text)?;
    let release = world.rig().folder().join("release");
    xtask::release::write(sources.path(), NEXT, xtask::release::IMAGE, &release).map(drop)
}

#[test]
fn the_page_on_upgrading_works_and_nothing_rolls() {
    foo_e2e::alone(async || {
        let mut world = World::start(WorldOptions::default()).await?;
        let cluster = world.cluster("upgraded").await?;
        let before = cluster.pool("workers", 2).await?.settles_at(2).await?;
        release_next(&world).await?;
        let follower = reader(&world).await?;
        let printed = follower.follow(PAGE, "What there is").await?;
        ensure!(printed.contains(NEXT), "{printed}");
        let printed = follower.follow(PAGE, "Upgrade").await?;
        assert_eq!(printed.matches(NEXT).count(), 2, "{printed}");
        drop(follower);
        world.roll_out_deployments().await?;
        // The old managers outlived their rights.
        let refused = world.forbidden()?.len();
        let image = "-o=jsonpath={.spec.template.spec.containers[0].image}";
        let image = world.api().kubectl(["get", "deployment/foo-controller-manager", "-n=foo-system", image]);
        ensure!(image.await?.ends_with(":v0.2.0"));

        let pool = world.existing_cluster("upgraded", "upgraded").existing_pool("workers");
        let after = pool.settles_at(2).await?;
        assert_eq!(after.provider_ids(), before.provider_ids());
        let mut last = versions(&world, "upgraded").await?;
        wait_until("all writes to have ended", SOON, async || {
            tokio::time::sleep(QUIET).await;
            let now = versions(&world, "upgraded").await?;
            let quiet = now == last;
            last.clone_from(&now);
            Ok(Probe::when(quiet, || format!("{now:?}")))
        })
        .await?;
        pool.scale(3).await?;
        let grown = pool.settles_at(3).await?;
        assert!(before.provider_ids().iter().all(|id| grown.provider_ids().contains(id)));
        let forbidden = world.forbidden()?.split_off(refused);
        ensure!(forbidden.is_empty(), "a manager lacks rights: {forbidden:#?}");

        let follower = reader(&world).await?;
        follower.run("export CLUSTER=upgraded NAMESPACE=upgraded").await?;
        let tree = follower.follow(PAGE, "Look at a cluster").await?;
        is_useful(&tree)?;
        drop(follower);
        Ok(())
    });
}

/// Every object of ours is in the tree of `clusterctl describe`, with a condition that says how it is.
///
/// Core v1.14 gives MachinePools no condition but Paused; their Machines speak for them.
fn is_useful(tree: &str) -> Result<()> {
    let conditions = [
        ("FooCluster upgraded/upgraded", "Ready", "NetworkFound"),
        ("FooControlPlane upgraded/upgraded", "Available", "ApiServerAnswers"),
        ("Machine upgraded/workers-", "InfrastructureReady", "InService"),
    ];
    for (object, condition, reason) in conditions {
        let mut lines = tree.lines().skip_while(|line| !line.contains(object)).skip(1);
        let said = lines.find(|line| line.contains(&format!("─{condition} ")));
        let said = said.with_context(|| format!("no {condition} of {object}:\n{tree}"))?;
        ensure!(said.contains("True") && said.contains(reason), "{object}: {said}");
    }
    Ok(())
}
