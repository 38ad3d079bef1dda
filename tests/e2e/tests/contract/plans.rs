//! What `kubectl foo plan` foresees, by the real kubectl, is what then happens on real components.

use super::WORLD;
use anyhow::{Result, ensure};
use foo_e2e::kubectl_foo;
use foo_simulator::core::catalogue::IMAGE_X86_64_NEWER;
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{Pool, PoolView, SOON};
use foo_testbed::{Probe, World, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Runs `kubectl foo` in the namespace, with that input.
async fn foo(world: &World, namespace: &str, command: &[&str], stdin: &str) -> Result<String> {
    kubectl_foo(world, &[command, &["-n", namespace]].concat(), stdin).await
}

/// A manifest with what a user changes, and nothing else.
fn manifest(spec: &Value) -> String {
    let object = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool",
        "metadata": {"name": "workers"}, "spec": spec,
    });
    object.to_string()
}

/// Names of the Machines in the order in which their deletion began.
fn deleted(history: &kinds::History) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    for version in history.versions() {
        let name = kinds::text(&version, "/metadata/name").to_owned();
        let going = version.pointer("/metadata/deletionTimestamp").is_some();
        if going && !order.contains(&name) {
            order.push(name);
        }
    }
    order
}

async fn settles_with(pool: &Pool<'_>, image: &str, size: usize) -> Result<()> {
    wait_until("all instances to have the new image", SOON * 3, async || {
        let view = pool.view().await?;
        let object = pool.read(Kind::FooMachinePool).await?.unwrap_or_default();
        let updated = object.pointer("/status/upToDateReplicas") == Some(&json!(size));
        let wanted = object.pointer("/spec/ami/id") == Some(&json!(image));
        Ok(Probe::when(updated && wanted && view.is_settled_at(size), || format!("{object:#}")))
    })
    .await
}

#[test]
fn what_a_plan_foresees_then_happens() {
    WORLD.run(async |world| {
        let pool = world.cluster("planned").await?.pool("workers", 3).await?;
        let before = pool.settles_at(3).await?;
        let history = world.history(Kind::Machine, "planned").await?;
        let spec =
            json!({"ami": {"id": IMAGE_X86_64_NEWER}, "rollout": {"maxSurge": 0, "maxUnavailable": 1}});
        let manifest = manifest(&spec);

        let text = foo(world, "planned", &["plan", "-f", "-"], &manifest).await?;
        for expected in
            ["launchTemplate.image", "replaces instances", "3 Machines are deleted after their drain"]
        {
            ensure!(text.contains(expected), "no {expected}:\n{text}");
        }
        let json = foo(world, "planned", &["plan", "-f", "-", "-o", "json"], &manifest).await?;
        let plan: Value = serde_json::from_str(&json)?;
        let plan = plan.pointer("/plans/0").cloned().unwrap_or_default();
        assert_eq!(plan["outcome"], "Settled", "{plan:#}");
        assert_eq!(
            (&plan["ready"]["extreme"], &plan["instances"]["extreme"]),
            (&json!(2), &json!(3)),
            "{plan:#}"
        );
        let planned: Vec<String> = plan["deletions"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|deletion| kinds::text(deletion, "/machine").to_owned())
            .collect();
        let present: BTreeSet<&str> = before.machines.iter().map(|machine| machine.name.as_str()).collect();
        assert_eq!(planned.iter().map(String::as_str).collect::<BTreeSet<_>>(), present);
        let changes = foo(world, "planned", &["plan", "-f", "-", "--exit-code"], &manifest).await;
        let status = changes.err().map(|error| format!("{error:#}")).unwrap_or_default();
        ensure!(status.contains("exit status: 4"), "{status}");
        let differs = foo(world, "planned", &["diff", "-f", "-"], &manifest).await;
        let differs = differs.err().map(|error| format!("{error:#}")).unwrap_or_default();
        for expected in ["exit status: 4", "launchTemplate.image", "CreateTemplateVersion"] {
            ensure!(differs.contains(expected), "no {expected}:\n{differs}");
        }
        let replicas = json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool",
            "metadata": {"name": "workers"}, "spec": {"replicas": 1},
        });
        let text = foo(world, "planned", &["plan", "-f", "-"], &replicas.to_string()).await?;
        ensure!(text.contains("2 Machines are deleted"), "{text}");

        let after = pool.settles_at(3).await?;
        let names = |view: &PoolView| -> Vec<String> {
            view.machines.iter().map(|machine| machine.name.clone()).collect()
        };
        assert_eq!(names(&after), names(&before), "plans change nothing");
        assert_eq!(deleted(&history), Vec::<String>::new());
        let left = world.api().kubectl(["get", "fooplans", "-n", "planned", "-o", "name"]).await?;
        assert_eq!(left, "", "the plugin deletes its FooPlans");

        let applied = ["apply", "--server-side", "--force-conflicts", "-n", "planned", "-f", "-"];
        world.api().run("kubectl", applied, &[], &manifest).await?;
        settles_with(&pool, IMAGE_X86_64_NEWER, 3).await?;
        assert_eq!(deleted(&history), planned, "in the planned order");
        let text = foo(world, "planned", &["plan", "workers"], "").await?;
        ensure!(text.contains("The manager has nothing to do"), "{text}");
        // Conditions follow the last instance a moment later; until then it is not known to be equal, which is status 1.
        wait_until("nothing to differ any more", SOON, async || {
            Ok(match foo(world, "planned", &["diff", "workers"], "").await {
                Ok(text) => {
                    let is_equal = text == "FooMachinePool planned/workers: no differences\n";
                    Probe::when(is_equal, || text)
                }
                Err(error) => Probe::when(false, || format!("{error:#}")),
            })
        })
        .await?;
        Ok(())
    });
}
