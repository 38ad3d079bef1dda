//! Pause: no action at all, and a condition that reports it.

use super::WORLD;
use foo_testbed::world::kinds::{Kind, condition};
use foo_testbed::world::{PoolView, QUIET_PERIOD, SOON};
use foo_testbed::{Probe, wait_until};

fn is_paused(view: &PoolView) -> bool {
    view.condition("Paused").is_some_and(|(status, ..)| status == "True")
}

/// Nothing was done although three replicas are requested.
fn is_untouched(view: &PoolView) -> bool {
    is_paused(view)
        && view.group.as_ref().is_some_and(|group| group.sizes.desired == 1)
        && view.instances.len() == 1
}

#[test]
fn a_paused_cluster_pauses_everything_in_it() {
    WORLD.run(async |world| {
        let cluster = world.cluster("paused-cluster").await?;
        let pool = cluster.pool("workers", 1).await?;
        pool.settles_at(1).await?;
        cluster.set_paused(true).await?;
        pool.wait("to report that it is paused", SOON, is_paused).await?;
        for kind in [Kind::FooCluster, Kind::FooControlPlane] {
            wait_until(&format!("the {kind:?} to report that it is paused"), SOON, async || {
                let object = cluster.read(kind).await?.unwrap_or_default();
                let paused = condition(&object, "Paused").is_some_and(|(status, ..)| status == "True");
                Ok(Probe::when(paused, || format!("{object:#}")))
            })
            .await?;
        }
        pool.scale(3).await?;
        pool.stays("as it was", QUIET_PERIOD, is_untouched).await?;
        cluster.set_paused(false).await?;
        let view = pool.settles_at(3).await?;
        assert!(!is_paused(&view), "{view}");
        Ok(())
    });
}

#[test]
fn a_paused_pool_pauses_alone() {
    WORLD.run(async |world| {
        let annotation = "cluster.x-k8s.io/paused";
        let cluster = world.cluster("paused-pool").await?;
        let pool = cluster.pool("workers", 1).await?;
        let other = cluster.pool("others", 1).await?;
        pool.settles_at(1).await?;
        other.settles_at(1).await?;
        pool.annotate(Kind::FooMachinePool, annotation, Some("")).await?;
        pool.wait("to report that it is paused", SOON, is_paused).await?;
        pool.scale(3).await?;
        other.scale(2).await?;
        other.settles_at(2).await?;
        pool.stays("as it was", QUIET_PERIOD, is_untouched).await?;
        pool.annotate(Kind::FooMachinePool, annotation, None).await?;
        pool.settles_at(3).await?;
        Ok(())
    });
}
