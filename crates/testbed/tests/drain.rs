//! Cluster API core drains a Node of the kubelet stand-in, and its objects move to another management cluster.

mod provider;

use anyhow::{Context as _, Result};
use foo_testbed::{Capi, InstanceList, KubeletOptions, Kubelets, NodeSpec, PodEnd, Probe, Rig, wait_until};
use serde_json::json;
use std::time::Duration;

/// Core reads a drain only every 20 s (`drainRetryInterval`), whatever happens in between.
const SOON: Duration = Duration::from_secs(50);

const MACHINE: &str = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: NAME, namespace: default}
spec:
  clusterName: c1
  version: v1.36.3
  bootstrap: {dataSecretName: none}
  infrastructureRef: {apiGroup: test.foo.com, kind: TestMachine, name: NAME}
---
apiVersion: test.foo.com/v1
kind: TestMachine
metadata: {name: NAME, namespace: default, finalizers: [test.foo.com/instance]}
spec: {providerID: aws:///eu-west-1a/i-NAME}
";

const WORKLOAD: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: none}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
";

async fn get(rig: &Rig, args: &[&str]) -> Result<String> {
    rig.api().kubectl(["get", "-o"].iter().chain(args)).await
}

async fn wait_for(rig: &Rig, what: &str, args: &[&str], expected: &str) -> Result<()> {
    let probe = async || {
        let seen = get(rig, args).await?;
        Ok(Probe::when(seen.trim() == expected, || format!("{seen:?}")))
    };
    wait_until(what, SOON, probe).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn core_drains_a_node_within_the_budget_before_the_instance_is_terminated() -> Result<()> {
    let release = tempfile::tempdir()?;
    let rig = provider::rig(release.path()).await?;
    let instances = InstanceList::default();
    let options = KubeletOptions { pod_startup: Duration::from_millis(300), ..KubeletOptions::default() };
    let kubelets = Kubelets::start(rig.api().client(), instances.clone(), options);
    rig.link_cluster("default", "c1").await?;
    provider::provision_cluster(rig.api()).await?;
    for name in ["m1", "m2"] {
        rig.api().apply(&MACHINE.replace("NAME", name)).await?;
        let provisioned = json!({"initialization": {"provisioned": true}});
        provider::set_status(rig.api(), "testmachine", name, &provisioned).await?;
        instances.launch(NodeSpec::new(name, format!("aws:///eu-west-1a/i-{name}")));
    }
    let phases = ["jsonpath={.items[*].status.phase}", "machines"];
    wait_for(&rig, "both machines to run", &phases, "Running Running").await?;
    let ready = r#"jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}"#;
    wait_for(&rig, "both machines to be ready", &[ready, "machines"], "True True").await?;
    rig.api().apply(WORKLOAD).await?;
    let ready = ["jsonpath={.status.readyReplicas}", "deployment", "web"];
    wait_for(&rig, "the workload to be ready", &ready, "4").await?;

    rig.api().kubectl(["delete", "machine", "m1", "--wait=false"]).await?;
    wait_until("core to delete the infrastructure after the drain", SOON, async || {
        let seen = get(&rig, &["jsonpath={.metadata.deletionTimestamp}", "testmachine", "m1"]).await?;
        Ok(Probe::when(!seen.is_empty(), || "not deleted".into()))
    })
    .await?;
    let cordoned = get(&rig, &["jsonpath={.spec.unschedulable}", "node", "m1"]).await?;
    assert_eq!(cordoned, "true");
    assert!(instances.terminate("aws:///eu-west-1a/i-m1"));
    let release = r#"{"metadata": {"finalizers": null}}"#;
    rig.api().kubectl(["patch", "testmachine", "m1", "--type=merge", "-p", release]).await?;
    wait_for(&rig, "core to delete the Node", &["jsonpath={.items[*].metadata.name}", "nodes"], "m2").await?;
    let deaths = kubelets.deaths();
    assert_eq!(deaths.len(), 2, "{deaths:?}");
    assert!(deaths.iter().all(|death| death.end == PodEnd::Evicted && death.node == "m1"), "{deaths:?}");
    assert_eq!(kubelets.undrained(), []);
    wait_for(&rig, "the workload to be ready again", &ready, "4").await.context("after the drain")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_moves_to_another_management_cluster() -> Result<()> {
    let release = tempfile::tempdir()?;
    let rig = provider::rig(release.path()).await?;
    let mine = rig.service_account_kubeconfig("test-system", "test-manager").await?;
    let who =
        rig.api().kubectl(["--kubeconfig".as_ref(), mine.as_os_str(), "auth".as_ref(), "whoami".as_ref()]);
    let who = who.await?;
    assert!(who.contains("system:serviceaccount:test-system:test-manager"), "{who}");
    let (target, _controllers) = rig.another_cluster("target").await?;
    let _capi = Capi::install(&target, provider::options(release.path())?).await?;
    rig.link_cluster("default", "c1").await?;
    provider::provision_cluster(rig.api()).await?;
    let provisioned = "jsonpath={.status.initialization.infrastructureProvisioned} {.status.phase}";
    wait_for(&rig, "the Cluster to be provisioned", &[provisioned, "cluster", "c1"], "true Provisioned")
        .await?;
    let kubeconfig = target.kubeconfig_path();
    let moved = wait_until("clusterctl to move the Cluster", SOON, async || {
        let to = ["move".as_ref(), "--to-kubeconfig".as_ref(), kubeconfig.as_os_str()];
        Ok(Probe::Done(rig.clusterctl(to).await?))
    });
    moved.await?;
    assert_eq!(
        target.kubectl(["get", "clusters", "-o", "name"]).await?.trim(),
        "cluster.cluster.x-k8s.io/c1"
    );
    assert_eq!(rig.api().kubectl(["get", "clusters", "-o", "name"]).await?.trim(), "");
    Ok(())
}
