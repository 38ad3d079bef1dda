//! Scaling from zero: what one Node would offer is known before there is any.

use super::WORLD;
use super::writes::leaves_sizes_alone;
use foo_e2e::autoscaler::{Autoscaler, in_bounds};
use foo_testbed::world::kinds::{Kind, text};
use foo_testbed::world::{Cluster, Pool, SOON};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

async fn empty_pool<'w>(cluster: &Cluster<'w>, name: &str, types: Value) -> anyhow::Result<Pool<'w>> {
    cluster
        .pool_with(name, 0, |machine_pool, foo| {
            in_bounds(machine_pool, "0", "10");
            for (field, value) in types.as_object().into_iter().flatten() {
                foo["spec"][field] = value.clone();
            }
        })
        .await
}

#[test]
fn capacity_is_known_before_any_instance_exists() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-from-zero").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let types = json!([{"instanceType": "m7i.xlarge"}, {"instanceType": "c7i.large"}]);
        let mix = json!({"instanceType": null, "mixedInstances": {"overrides": types}});
        let plain = empty_pool(&cluster, "plain", json!({"instanceType": "m7i.xlarge"})).await?;
        let mixed = empty_pool(&cluster, "mixed", mix).await?;
        let gpus = empty_pool(&cluster, "gpus", json!({"instanceType": "g5.xlarge"})).await?;
        let attributes = json!({"vcpuCount": {"min": 3, "max": 4}, "memoryMiB": {"min": 9000}});
        let by_attributes =
            json!({"instanceType": null, "mixedInstances": {"overrides": [{"requirements": attributes}]}});
        let described = empty_pool(&cluster, "described", by_attributes).await?;
        for (pool, capacity) in [
            (&plain, json!({"cpu": "4", "memory": "16384Mi"})),
            // Of each resource the least.
            (&mixed, json!({"cpu": "2", "memory": "4096Mi"})),
            // What the attributes guarantee.
            (&described, json!({"cpu": "3", "memory": "9000Mi"})),
            (&gpus, json!({"cpu": "4", "memory": "16384Mi", "nvidia.com/gpu": "1"})),
        ] {
            let name = &pool.name().pool;
            wait_until(&format!("the capacity of {name}"), SOON, async || {
                // With its own rights.
                let seen = autoscaler.api(Kind::FooMachinePool).get(name).await?;
                let seen = serde_json::to_value(seen)?;
                let found = seen.pointer("/status/capacity") == Some(&capacity);
                let info = seen.pointer("/status/nodeInfo");
                let both = info == Some(&json!({"architecture": "amd64", "operatingSystem": "linux"}));
                Ok(Probe::when(found && both, || format!("{:#}", seen["status"])))
            })
            .await?;
            assert_eq!(world.aws().region().activities(&pool.group()).len(), 0, "nothing was launched");
        }
        for pool in [&plain, &described] {
            autoscaler.set_size(pool, 1).await?;
            let one = pool.settles_at(1).await?;
            let kind = "/metadata/labels/node.kubernetes.io~1instance-type";
            assert_eq!(one.machines[0].node.as_ref().map(|node| text(node, kind)), Some("m7i.xlarge"));
        }
        leaves_sizes_alone(world, "ca-from-zero")
    });
}

/// A pair of annotations that it cannot read disables all its groups, and Cluster API lets it pass.
#[test]
fn annotations_that_it_cannot_read_are_warned_about() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-annotations").await?;
        let pool =
            cluster.pool_with("workers", 0, |machine_pool, _| in_bounds(machine_pool, "3", "1")).await?;
        pool.wait("a warning", SOON, |view| {
            view.condition("AutoscalerReady").is_some_and(|(status, reason, _)| {
                (status, reason) == ("False", "AutoscalerAnnotationsInvalid")
            })
        })
        .await?;
        let mut right = json!({"metadata": {"annotations": {}}});
        in_bounds(&mut right, "1", "3");
        pool.patch(Kind::MachinePool, &right).await?;
        pool.wait("no warning", SOON, |view| view.conditions().all(|(kind, ..)| kind != "AutoscalerReady"))
            .await?;
        Ok(())
    });
}
