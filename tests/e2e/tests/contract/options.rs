//! Settings of instances that EC2 has defaults for: they reach the instances, and what EC2 refuses is reported.

use super::WORLD;
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{Pool, SOON, World};
use serde_json::json;

/// A text of the newest version of the pool's launch template, in the names of EC2's responses.
fn of_template(world: &World, pool: &Pool<'_>, path: &[&str]) -> Result<Option<String>> {
    let templates = world.aws().region().templates();
    let template = templates.iter().find(|it| it.name == pool.group()).context("no launch template")?;
    let newest = template.versions.values().next_back().context("no version")?;
    Ok(newest.data.document.get_text(path).map(str::to_owned))
}

#[test]
fn options_of_instances_reach_them_and_one_that_ec2_refuses_is_reported_and_replaces_nothing() {
    WORLD.run(async |world| {
        let pool = world
            .cluster("options")
            .await?
            .pool_with("workers", 1, |_, foo| {
                foo["spec"]["associatePublicIPAddress"] = json!(true);
                foo["spec"]["privateDNSNameOptions"] = json!({"hostnameType": "resource-name"});
                foo["spec"]["cpuOptions"] = json!({"coreCount": 1, "threadsPerCore": 1});
                foo["spec"]["detailedMonitoring"] = json!(true);
                foo["spec"]["tenancy"] = json!("dedicated");
                foo["spec"]["rootVolume"] = json!({"sizeGiB": 30, "deleteOnTermination": false});
            })
            .await?;
        let view = pool.settles_at(1).await?;
        let before = view.machines[0].instance.clone();
        // The subnets of a world are private, and name hosts by addresses.
        let addresses = serde_json::to_string(&view.foo_machines[0]["status"]["addresses"])?;
        ensure!(addresses.contains("ExternalIP"), "no public address: {addresses}");
        ensure!(addresses.contains(&format!("{before}.")), "no name with the id of {before}: {addresses}");
        for (path, value) in [
            (&["cpuOptions", "threadsPerCore"][..], "1"),
            (&["monitoring", "enabled"], "true"),
            (&["placement", "tenancy"], "dedicated"),
        ] {
            assert_eq!(of_template(world, &pool, path)?.as_deref(), Some(value), "{path:?}");
        }

        let cores = |count: u32| json!({"spec": {"cpuOptions": {"coreCount": count, "threadsPerCore": 2}}});
        pool.patch(Kind::FooMachinePool, &cores(64)).await?;
        let refused = pool.wait("what EC2 refuses", SOON, |now| {
            now.condition("AutoScalingGroupReady")
                .is_some_and(|(status, _, message)| status == "False" && message.contains("CpuOptions"))
        });
        refused.await?;
        let back = json!({"spec": {"cpuOptions": {"coreCount": 1, "threadsPerCore": 1}}});
        pool.patch(Kind::FooMachinePool, &back).await?;
        let after = pool.settles_at(1).await?;
        assert_eq!(after.machines[0].instance, before, "nothing was replaced");
        Ok(())
    });
}
