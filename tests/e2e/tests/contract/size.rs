//! Who decides on the size, and what is reported about it.

use super::WORLD;
use anyhow::Result;
use foo_simulator::core::rules::group::operations::Cooldown;
use foo_testbed::world::kinds::{Kind, number};
use foo_testbed::world::{AFTER_DRAIN, MachineView, PoolView, QUIET_PERIOD, SOON, World};
use foo_testbed::{Probe, wait_until};
use serde_json::json;

const MANAGED_BY: &str = "cluster.x-k8s.io/replicas-managed-by";

#[test]
fn provider_ids_are_sorted_and_stay_while_their_machines_drain() {
    WORLD.run(async |world| {
        let pool = world.cluster("ids").await?.pool("workers", 3).await?;
        let three = pool.settles_at(3).await?;
        let ids: Vec<String> = three.provider_ids().into_iter().map(str::to_owned).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        assert!(ids.iter().all(|id| id.starts_with("aws:///")), "{ids:?}");
        let workload = pool.run("web", 3).await?;
        pool.scale(2).await?;
        pool.wait("a drain to wait for its budget", SOON, |view| {
            view.deleting().any(MachineView::waits_for_budget)
        })
        .await?;
        pool.stays("with all its ids", QUIET_PERIOD, |view| view.provider_ids() == ids).await?;
        let draining = pool.view().await?;
        let replicas = draining.foo_pool.as_ref().and_then(|pool| number(pool, "/status/replicas"));
        assert_eq!(replicas, Some(3), "{draining}");
        workload.allow(3).await?;
        let two = pool.settles_within(2, AFTER_DRAIN).await?;
        assert!(
            two.provider_ids().is_sorted()
                && two.provider_ids().iter().all(|id| ids.iter().any(|it| it == id))
        );
        Ok(())
    });
}

fn set_desired_in_aws(world: &World, group: &str, desired: u32) -> Result<()> {
    let set = world
        .aws()
        .region()
        .with(|region| region.set_desired_capacity(&group.into(), desired, Cooldown::Ignored));
    Ok(set??)
}

#[test]
fn with_externally_managed_replicas_the_machine_pool_follows_aws() {
    WORLD.run(async |world| {
        let cluster = world.cluster("managed-by").await?;
        let pool = cluster
            .pool_with("workers", 1, |machine_pool, foo| {
                machine_pool["metadata"]["annotations"] = json!({MANAGED_BY: "external-autoscaler"});
                foo["spec"]["autoscaling"] = json!({"minSize": 1, "maxSize": 5});
            })
            .await?;
        let one = pool.settles_at(1).await?;
        let sizes = one.group.map(|group| group.sizes);
        assert_eq!(sizes.map(|sizes| (sizes.min, sizes.max)), Some((1, 5)));

        set_desired_in_aws(world, &pool.group(), 3)?;
        pool.settles_at(3).await?;
        assert_eq!(pool.replicas().await?, Some(3));

        // A target of a user is overwritten, and never becomes AWS's desired capacity.
        pool.scale(2).await?;
        wait_until("the MachinePool to follow AWS again", SOON, async || {
            let replicas = pool.replicas().await?;
            let desired = world.aws().group(&pool.group()).map(|group| group.sizes.desired);
            assert_eq!(desired, Some(3));
            Ok(Probe::when(replicas == Some(3), || format!("{replicas:?}")))
        })
        .await?;
        // Cluster API's own phase comes after the number, and may still be about the desired replicas of the user.
        let at_three = |view: &PoolView| {
            let wanted = view.machine_pool.as_ref().and_then(|pool| number(pool, "/spec/replicas"));
            let desired = view.group.as_ref().map(|group| group.sizes.desired);
            (wanted, desired, view.good().count()) == (Some(3), Some(3), 3)
        };
        pool.stays("at AWS's size", QUIET_PERIOD, at_three).await?;
        pool.settles_at(3).await?;

        // And back: from now on the MachinePool decides.
        pool.annotate(Kind::MachinePool, MANAGED_BY, None).await?;
        pool.scale(2).await?;
        let two = pool.settles_within(2, AFTER_DRAIN).await?;
        assert_eq!(two.group.map(|group| group.sizes.min), Some(0));
        Ok(())
    });
}
