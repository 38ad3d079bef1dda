//! FooMachines and the Machines that Cluster API creates for them.

use super::WORLD;
use foo_testbed::world::kinds::{Kind, list, text};
use foo_testbed::world::{AFTER_DRAIN, QUIET_PERIOD, SOON};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

#[test]
fn machines_have_the_names_of_their_foo_machines() {
    WORLD.run(async |world| {
        let pool = world.cluster("names").await?.pool("workers", 2).await?;
        let view = pool.settles_at(2).await?;
        for (machine, foo) in view.machines.iter().zip(&view.foo_machines) {
            assert_eq!(machine.name, text(foo, "/metadata/name"));
            assert_eq!(text(&machine.object, "/spec/infrastructureRef/name"), machine.name);
            assert_eq!(text(&machine.object, "/spec/infrastructureRef/kind"), "FooMachine");
            assert_eq!(text(&machine.object, "/spec/providerID"), text(foo, "/spec/providerID"));
        }
        Ok(())
    });
}

/// Cluster API computes the label's value itself (a hash, above 63 characters) and finds FooMachines by it.
#[test]
fn the_pool_name_label_is_cluster_apis_own_for_a_pool_name_of_70_characters() {
    WORLD.run(async |world| {
        let name = "a-pool-whose-name-is-longer-than-the-value-of-a-label-may-ever-be-0070";
        assert_eq!(name.len(), 70);
        let pool = world.cluster("long-name").await?.pool(name, 1).await?;
        pool.settles_at(1).await?;
        let label = "/metadata/labels/cluster.x-k8s.io~1pool-name";
        let foo_machines = list(world.client(), Kind::FooMachine, "long-name", "").await?;
        let machines = list(world.client(), Kind::Machine, "long-name", "").await?;
        assert_eq!((foo_machines.len(), machines.len()), (1, 1));
        let by_core = text(&machines[0], label);
        assert!(by_core.starts_with("hash_") && by_core.ends_with("_z"), "{by_core}");
        assert_eq!(text(&foo_machines[0], label), by_core);
        assert!(text(&foo_machines[0], "/metadata/name").len() <= 63);
        Ok(())
    });
}

/// Only Cluster API deletes a FooMachine that has a Machine: by then it is drained.
#[test]
fn the_manager_never_deletes_a_foo_machine_while_its_machine_exists() {
    WORLD.run(async |world| {
        let cluster = world.cluster("hands-off").await?;
        let history = world.history(Kind::FooMachine, "hands-off").await?;
        let pool = cluster.pool("workers", 3).await?;
        let view = pool.settles_at(3).await?;
        let (killed, deleted) = (&view.machines[0], &view.machines[1]);
        world.aws().kill_instance(&killed.instance)?;
        pool.delete_machine(deleted).await?;
        pool.wait("two replacements", AFTER_DRAIN, |now| {
            now.is_settled_at(3)
                && now.machine_of(&killed.instance).is_none()
                && now.machine_of(&deleted.instance).is_none()
        })
        .await?;
        pool.scale(1).await?;
        pool.settles_within(1, AFTER_DRAIN).await?;
        pool.delete().await?;
        pool.is_gone(AFTER_DRAIN).await?;

        let own = world.writes()?;
        let own: Vec<_> = own.iter().filter(|request| request.namespace == "hands-off").collect();
        let deletions = |resource: &str| {
            own.iter().filter(|it| it.verb == "delete" && it.resource == resource && it.code < 300).count()
        };
        assert_eq!(deletions("foomachines"), 0, "{own:#?}");
        // The killed one, two for the smaller size, and the last one; the other was the user's.
        assert!(deletions("machines") >= 4, "{own:#?}");
        let names: std::collections::BTreeSet<String> =
            history.versions().iter().map(|it| text(it, "/metadata/name").to_owned()).collect();
        assert_eq!(names.len(), 5);
        Ok(())
    });
}

#[test]
fn drain_timeouts_of_the_machine_pool_reach_its_machines() {
    WORLD.run(async |world| {
        let timeouts = json!({
            "nodeDrainTimeoutSeconds": 300, "nodeVolumeDetachTimeoutSeconds": 120, "nodeDeletionTimeoutSeconds": 60,
        });
        let cluster = world.cluster("timeouts").await?;
        let pool = cluster
            .pool_with("workers", 1, |pool, _| {
                pool["spec"]["template"]["spec"]["deletion"] = timeouts.clone();
            })
            .await?;
        pool.settles_at(1).await?;
        let reach = async |expected: &Value| {
            wait_until("the timeouts to reach the Machine", SOON, async || {
                let view = pool.view().await?;
                let seen = view.machines.first().and_then(|it| it.object.pointer("/spec/deletion")).cloned();
                Ok(Probe::when(seen.as_ref() == Some(expected), || format!("{seen:?}")))
            })
            .await
        };
        reach(&timeouts).await?;
        let more = json!({
            "nodeDrainTimeoutSeconds": 600, "nodeVolumeDetachTimeoutSeconds": 120, "nodeDeletionTimeoutSeconds": 60,
        });
        pool.patch(Kind::MachinePool, &json!({"spec": {"template": {"spec": {"deletion": more}}}})).await?;
        reach(&more).await?;
        // Core applies Machines too and would take the fields away, were they not another manager's.
        pool.stays("with its timeouts", QUIET_PERIOD, |view| {
            view.machines.first().and_then(|it| it.object.pointer("/spec/deletion")) == Some(&more)
        })
        .await?;
        let view = pool.view().await?;
        let managers = view.machines[0].object.pointer("/metadata/managedFields").and_then(Value::as_array);
        let own = managers.into_iter().flatten().find(|it| text(it, "/manager") == "foo/machine-timeouts");
        assert_eq!(own.map(|it| text(it, "/operation")), Some("Apply"));
        Ok(())
    });
}
