//! What the status of our objects reports.

use super::WORLD;
use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_e2e::kubectl_foo;
use foo_testbed::world::kinds::{self, Kind, text};
use foo_testbed::world::{IMAGE, INSTANCE_TYPE, MachineView, QUIET_PERIOD, Request, SOON};
use foo_testbed::{Probe, World, nothing_happens, until_quiet, wait_until};
use serde_json::{Value, json};

#[test]
fn ready_and_provisioned_are_set_together_and_stay() {
    WORLD.run(async |world| {
        let cluster = world.cluster("sticky").await?;
        let history = world.history(Kind::FooMachinePool, "sticky").await?;
        let pool = cluster.pool("workers", 1).await?;
        pool.settles_at(1).await?;
        pool.scale(0).await?;
        pool.settles_at(0).await?;
        // A pool that could not launch a single instance any more is still a provisioned one.
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"ami": {"id": "ami-0dead000000000000"}}})).await?;
        pool.wait("to complain about its image", SOON, |view| {
            view.condition("LaunchTemplateReady").is_some_and(|(status, ..)| status == "False")
        })
        .await?;
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"ami": {"id": IMAGE}}})).await?;
        pool.scale(1).await?;
        pool.settles_at(1).await?;

        let flag = |pool: &Value, pointer: &str| pool.pointer(pointer) == Some(&json!(true));
        let mut was_ready = false;
        for version in history.versions() {
            let ready = flag(&version, "/status/ready");
            assert_eq!(ready, flag(&version, "/status/initialization/provisioned"), "{version:#}");
            assert!(ready || !was_ready, "it was reverted: {version:#}");
            was_ready = ready;
        }
        assert!(was_ready);
        let machine_pool = pool.read(Kind::MachinePool).await?.unwrap_or_default();
        assert_eq!(
            machine_pool.pointer("/status/initialization/infrastructureProvisioned"),
            Some(&json!(true))
        );
        Ok(())
    });
}

#[test]
fn nothing_ever_reports_a_terminal_failure() {
    WORLD.run(async |world| {
        let cluster = world.cluster("failing").await?;
        let histories = [
            world.history(Kind::FooMachinePool, "failing").await?,
            world.history(Kind::FooMachine, "failing").await?,
            world.history(Kind::FooCluster, "failing").await?,
            world.history(Kind::FooControlPlane, "failing").await?,
            world.history(Kind::MachinePool, "failing").await?,
        ];
        let pool =
            cluster.pool_with("workers", 1, |_, foo| foo["spec"]["instanceType"] = json!("m99.huge")).await?;
        let complaint = pool.wait("to complain about its instance type", SOON, |view| {
            view.condition("Ready")
                .is_some_and(|(status, _, message)| status == "False" && message.contains("m99.huge"))
        });
        complaint.await?;
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"instanceType": INSTANCE_TYPE}})).await?;
        let view = pool.settles_at(1).await?;
        world.aws().kill_instance(&view.machines[0].instance)?;
        pool.wait("a replacement", SOON, |now| {
            now.is_settled_at(1) && now.machines[0].instance != view.machines[0].instance
        })
        .await?;
        for version in histories.iter().flat_map(kinds::History::versions) {
            for field in ["/status/failureReason", "/status/failureMessage"] {
                assert_eq!(version.pointer(field), None, "{version:#}");
            }
            assert_ne!(text(&version, "/status/phase"), "Failed", "{version:#}");
        }
        Ok(())
    });
}

#[test]
fn a_settled_pool_causes_no_write() {
    WORLD.run(async |world| {
        let pool = world.cluster("settled").await?.pool("workers", 2).await?;
        pool.settles_at(2).await?;
        let writes = || -> Result<Vec<Request>> {
            let mut writes = world.writes()?;
            writes.retain(|request| request.namespace == "settled");
            Ok(writes)
        };
        // What follows from the last change: status of the last Node that became Ready.
        let before =
            until_quiet("all writes to have ended", QUIET_PERIOD, SOON, async || Ok(writes()?.len())).await?;
        assert!(before > 0);
        nothing_happens("a settled pool was written to", 2 * QUIET_PERIOD, async || {
            let more = writes()?.split_off(before);
            Ok(Probe::when(more.is_empty(), || format!("{more:#?}")))
        })
        .await
    });
}

/// A support bundle has the pool, and no value of any Secret of the management cluster.
async fn has_no_secret(world: &World, bundle: &str) -> Result<()> {
    let read: Value = serde_json::from_str(bundle)?;
    ensure!(read.get("incomplete").is_none() && bundle.contains("explained"), "{bundle}");
    let secrets = world.api().kubectl(["get", "secrets", "--all-namespaces", "--output=json"]).await?;
    let secrets: Value = serde_json::from_str(&secrets)?;
    let mut searched = 0;
    for secret in secrets.get("items").and_then(Value::as_array).into_iter().flatten() {
        for (key, value) in secret.get("data").and_then(Value::as_object).into_iter().flatten() {
            let value = String::from_utf8(BASE64.decode(value.as_str().unwrap_or_default())?)?;
            // A kubeconfig has its credentials in fields; certificate authorities are public.
            let words = value.split_whitespace().filter(|word| word.len() >= 16);
            for word in words.filter(|word| !value.contains(&format!("certificate-authority-data: {word}"))) {
                ensure!(!bundle.contains(word), "{}: {key}", kinds::text(secret, "/metadata/name"));
                searched += 1;
            }
        }
    }
    ensure!(searched > 0, "there are no Secrets");
    Ok(())
}

/// `kubectl foo`, found by the real kubectl, shows what the pool's objects report.
#[test]
fn the_plugin_explains_what_a_pool_waits_for() {
    WORLD.run(async |world| {
        let cluster = world.cluster("explained").await?;
        let pool = cluster.pool("workers", 2).await?;
        let view = pool.settles_at(2).await?;
        let foo =
            async |command: &[&str], more: &[&str]| kubectl_foo(world, &[command, more].concat(), "").await;
        let explained = async |more: &[&str]| foo(&["explain"], more).await;
        let one = ["workers", "-n", "explained"];
        let text = explained(&one).await?;
        assert!(text.contains("2 desired, 2 current, 2 ready, 2 up to date\nReady for "), "{text}");
        assert!(text.contains("all 2 are InService, Ready and up to date"), "{text}");
        for all in [&["--namespace", "explained"][..], &["-A"]] {
            let text = explained(all).await?;
            assert!(text.contains("FooMachinePool explained/workers of Cluster "), "{text}");
        }
        let refused =
            explained(&["missing", "-n", "explained"]).await.err().map(|error| format!("{error:#}"));
        assert!(
            refused.unwrap_or_default().contains("FooMachinePool missing not found in namespace explained")
        );

        let here = ["-n", "explained"];
        let tree = foo(&["status"], &here).await?;
        for row in
            ["Cluster explained/", "FooCluster ", "FooControlPlane ", "FooMachinePool workers", "2 Machines"]
        {
            assert!(tree.contains(row), "no row {row}:\n{tree}");
        }
        let wide = foo(&["status", "-o", "wide", "--machines"], &here).await?;
        ensure!(wide.contains("arn:aws:autoscaling:"), "no ARN of the group:\n{wide}");
        for machine in &view.machines {
            let row = wide.lines().find(|line| line.contains(&machine.name)).unwrap_or_default();
            ensure!(
                row.contains(&machine.instance) && row.contains(INSTANCE_TYPE),
                "{}:\n{wide}",
                machine.name
            );
        }
        let rollout = foo(&["rollout", "status", "workers", "--timeout", "2m"], &here).await?;
        assert!(rollout.contains("FooMachinePool explained/workers Finished, 2 of 2 updated"), "{rollout}");
        let annotation = "/metadata/annotations/infrastructure.foo.com~1rollout-paused";
        for (command, value) in [("pause", "true"), ("resume", "")] {
            foo(&["rollout", command, "foomp/workers"], &here).await?;
            let object = pool.read(Kind::FooMachinePool).await?.unwrap_or_default();
            assert_eq!(kinds::text(&object, annotation), value, "after {command}");
        }
        let events = foo(&["events"], &here).await?;
        assert!(events.contains("FooMachinePool explained/workers"), "{events}");
        let drains = foo(&["drains"], &here).await?;
        assert_eq!(drains, "no Machine is being deleted\n");
        let bundle = foo(&["support-bundle", "-A", "-o", "json"], &[]).await?;
        has_no_secret(world, &bundle).await?;

        let workload = pool.run("web", 2).await?;
        pool.scale(1).await?;
        pool.wait("to be blocked by a budget", SOON, |view| {
            view.machines.iter().any(MachineView::waits_for_budget)
        })
        .await?;
        // The Machine reports it first; the pool's status follows with the manager's next pass.
        wait_until("the pool to report that it drains", SOON, async || {
            let text = explained(&one).await?;
            let has_condition = text.contains("\nReady for ") && text.contains("Draining: ");
            Ok(Probe::when(has_condition, || text))
        })
        .await?;
        let text = explained(&one).await?;
        let going = pool.view().await?.machines.into_iter().find(MachineView::is_deleting);
        let going = going.unwrap_or_else(|| panic!("no Machine is being deleted: {text}"));
        let row = text.lines().find(|line| line.trim().starts_with(&going.name)).unwrap_or_default();
        assert!(row.contains(&going.instance) && row.contains("disruption budget"), "{text}");
        assert!(text.contains("1 more is InService"), "{text}");

        // The kubeconfig of the workload cluster is in its Secret, so Pods and budgets come from there.
        let drains = foo(&["drains"], &here).await?;
        assert!(drains.contains(&format!("Machine explained/{} of Cluster ", going.name)), "{drains}");
        let row = drains.lines().find(|line| line.contains("healthy Pods: ")).unwrap_or_default();
        assert!(row.contains("/web"), "{drains}");

        workload.allow(1).await?;
        pool.settles_at(1).await?;
        Ok(())
    });
}
