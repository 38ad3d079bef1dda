//! docs/operations/upgrade.md: from v0.1.0 to a v0.2.0 that only this test has released; and back again, as
//! docs/operations/runbooks/rollback.md describes. The program is the same in both: it knows nothing of what v0.2.0
//! adds to the CRDs, so it is the older one.

use super::released::versions;
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{AFTER_DRAIN, Pool, QUIET_PERIOD, RELEASE, SOON, World, WorldOptions};
use foo_testbed::{Probe, run, until_quiet, wait_until};
use serde_json::{Value, json};
use std::path::Path;

const PAGE: &str = "docs/operations/upgrade.md";
const ROLLBACK: &str = "docs/operations/runbooks/rollback.md";
const NEXT: &str = "v0.2.0";
/// What v0.2.0 adds to the spec of FooMachinePools.
const NEW_FIELD: &str = "/spec/sinceTheNextRelease";

/// Where their CRD begins, and in it the fields of the spec.
const POOLS: &str = "  name: foomachinepools.infrastructure.foo.com\n";
const BEFORE_FIELDS: &str = "            properties:\n";
const ADDED: &str = "              sinceTheNextRelease:\n                type: string\n";

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
    xtask::release::write(sources.path(), NEXT, xtask::release::IMAGE, &release)?;
    let components = release.join("infrastructure-foo").join(NEXT).join("infrastructure-components.yaml");
    let text = std::fs::read_to_string(&components)?;
    let (others, pools) = text.split_once(POOLS).context("no CRD of FooMachinePools")?;
    let grown = pools.replacen(BEFORE_FIELDS, &format!("{BEFORE_FIELDS}{ADDED}"), 1);
    ensure!(grown != pools, "no place for a new field in {}", components.display());
    std::fs::write(&components, format!("{others}{POOLS}{grown}")).map_err(Into::into)
}

#[test]
fn the_page_on_upgrading_works_and_nothing_rolls() {
    foo_e2e::alone(async || {
        let mut world = World::start(WorldOptions::default()).await?;
        let cluster = world.cluster("upgraded").await?;
        let before = cluster.pool("workers", 2).await?.settles_at(2).await?;
        release_next(&world).await?;
        let follower = Reader::of_release(&world).await?;
        let printed = follower.follow(PAGE, "What there is").await?;
        ensure!(printed.contains(NEXT), "{printed}");
        let printed = follower.follow(PAGE, "Upgrade").await?;
        assert_eq!(printed.matches(NEXT).count(), 3, "{printed}");
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
        let written = async || versions(&world, "upgraded").await;
        until_quiet("all writes to have ended", 2 * QUIET_PERIOD, SOON, written).await?;
        pool.scale(3).await?;
        let grown = pool.settles_at(3).await?;
        assert!(before.provider_ids().iter().all(|id| grown.provider_ids().contains(id)));
        let forbidden = world.forbidden()?.split_off(refused);
        ensure!(forbidden.is_empty(), "a manager lacks rights: {forbidden:#?}");

        let follower = Reader::of_release(&world).await?;
        follower.run("export CLUSTER=upgraded NAMESPACE=upgraded").await?;
        let tree = follower.follow(PAGE, "Inspect a cluster").await?;
        is_useful(&tree)?;
        drop(follower);
        rolls_back(&mut world).await
    });
}

/// What the API server shows of the field that v0.2.0 added.
async fn new_field(pool: &Pool<'_>) -> Result<Option<Value>> {
    let object = pool.read(Kind::FooMachinePool).await?.context("no FooMachinePool")?;
    Ok(object.pointer(NEW_FIELD).cloned())
}

/// The older manager on the newer CRDs leaves alone what it does not know; with the older CRDs that is removed. Nothing
/// rolls.
async fn rolls_back(world: &mut World) -> Result<()> {
    let names = ("upgraded", "workers");
    let follower = Reader::of_release(world).await?;
    let variables = format!("export OLDER={RELEASE} OLDER_IMAGE={}:{RELEASE}", xtask::release::IMAGE);
    follower.run(&variables).await?;
    let pool = world.existing_cluster(names.0, names.0).existing_pool(names.1);
    let before = pool.settles_at(3).await?;
    pool.patch(Kind::FooMachinePool, &json!({"spec": {"sinceTheNextRelease": "kept"}})).await?;
    let printed = follower.follow(ROLLBACK, "The manager").await?;
    ensure!(printed.contains(NEXT), "clusterctl's inventory: {printed}");
    drop(follower);
    world.roll_out_deployments().await?;
    let pool = world.existing_cluster(names.0, names.0).existing_pool(names.1);
    pool.scale(4).await?;
    let grown = pool.settles_at(4).await?;
    ensure!(before.provider_ids().iter().all(|id| grown.provider_ids().contains(id)));
    assert_eq!(new_field(&pool).await?, Some("kept".into()));

    let follower = Reader::of_release(world).await?;
    follower.run(&variables).await?;
    follower.follow(ROLLBACK, "The older CRDs").await?;
    wait_until("the field to be removed", SOON, async || {
        let shown = new_field(&pool).await?;
        Ok(Probe::when(shown.is_none(), || format!("{shown:?}")))
    })
    .await?;
    pool.scale(3).await?;
    let shrunk = pool.settles_within(3, AFTER_DRAIN).await?;
    ensure!(shrunk.provider_ids().iter().all(|id| grown.provider_ids().contains(id)));
    // It was written meanwhile, so that the newer CRDs do not bring the field back.
    follower.run(&format!("export OLDER={NEXT}")).await?;
    follower.follow(ROLLBACK, "The older CRDs").await?;
    let described = ["explain", "foomachinepools.spec.sinceTheNextRelease"];
    wait_until("the newer CRDs to be served", SOON, async || {
        Ok(Probe::Done(world.api().kubectl(described).await?))
    })
    .await?;
    assert_eq!(new_field(&pool).await?, None);
    world.check_nothing_undrained()
}

/// Every object of the provider is in the tree of `clusterctl describe`, with a condition that shows how it is.
///
/// Core v1.14 gives MachinePools no condition but Paused; their Machines speak for them.
fn is_useful(tree: &str) -> Result<()> {
    let conditions = [
        ("FooCluster upgraded/upgraded", "Ready", "NetworkFound"),
        ("FooControlPlane upgraded/upgraded", "Available", "ApiServerReachable"),
        ("Machine upgraded/workers-", "InfrastructureReady", "InService"),
    ];
    for (object, condition, reason) in conditions {
        let mut lines = tree.lines().skip_while(|line| !line.contains(object)).skip(1);
        let reported = lines.find(|line| line.contains(&format!("─{condition} ")));
        let reported = reported.with_context(|| format!("no {condition} of {object}:\n{tree}"))?;
        ensure!(reported.contains("True") && reported.contains(reason), "{object}: {reported}");
    }
    Ok(())
}
