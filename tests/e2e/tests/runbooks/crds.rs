//! docs/operations/runbooks/crds.md: our CRDs were deleted, and with them all objects.

use super::stops_and_pauses;
use super::{
    PATIENCE, continues, ever_deleting, machines, managers_follow_their_deployments, members, run_alone,
};
use anyhow::ensure;
use foo_e2e::document::Reader;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::manifests;

const PAGE: &str = "docs/operations/runbooks/crds.md";
const NAME: &str = "crds";
/// All of them.
const CRDS: &str =
    "crd --selector 'cluster.x-k8s.io/provider in (infrastructure-foo, control-plane-foo, bootstrap-foo)'";

#[test]
fn after_the_crds_were_deleted_the_page_restores_the_pools_with_their_instances() {
    run_alone(async |world| {
        let cluster = world.cluster(NAME).await?;
        let pool = cluster.pool("workers", 2).await?;
        let before = pool.settles_at(2).await?;
        let workload = pool.run("web", 2).await?;
        workload.allow(1).await?;
        let instances = members(world, &pool);
        let reader = Reader::of_release(world).await?;

        let refused = reader.run(&format!("kubectl delete {CRDS}")).await.err();
        let refused = format!("{refused:#?}");
        ensure!(refused.contains("infrastructure.foo.com/deletion-allowed"), "{refused}");
        ensure!(!refused.contains("\" deleted"), "{refused}");

        // A user insists, and another one is quick enough with the first block of the page.
        reader.run(&format!("kubectl annotate {CRDS} infrastructure.foo.com/deletion-allowed=")).await?;
        reader.follow(PAGE, "At once").await?;
        managers_follow_their_deployments(world).await?;
        reader.run(&format!("kubectl delete {CRDS} --wait=false")).await?;

        stops_and_pauses(world, &reader, NAME).await?;
        reader.follow(PAGE, "Save what is there").await?;
        reader.follow(PAGE, "Let the objects go").await?;
        assert_eq!(members(world, &pool), instances);
        reader.follow(PAGE, "Install the CRDs again").await?;
        reader.follow(PAGE, "Create the objects again").await?;
        // From the sources: nothing blocks those of its kind.
        world.apply(&manifests::foo_control_plane(NAME, NAME)).await?;
        let history = world.history(Kind::Machine, NAME).await?;
        continues(world, &reader, NAME).await?;

        let after = pool.settles_within(2, PATIENCE).await?;
        cluster.is_provisioned().await?;
        assert_eq!(members(world, &pool), instances);
        assert_eq!(machines(&after), machines(&before));
        ensure!(ever_deleting(&history.versions()).is_empty());
        workload.is_ready(2).await?;
        pool.scale(3).await?;
        pool.settles_within(3, PATIENCE).await?;
        ensure!(instances.is_subset(&members(world, &pool)));
        let refused = reader.run(&format!("kubectl delete {CRDS}")).await;
        ensure!(refused.is_err(), "the new ones are not protected");
        Ok(())
    });
}
