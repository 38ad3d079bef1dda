//! Cluster API core drains a Node of the kubelet stand-in. The provider's kinds are the smallest that core accepts,
//! and nothing reconciles them: what a provider would do is done by hand.

use anyhow::{Context as _, Result};
use foo_testbed::{
    InstanceList, KubeletOptions, Kubelets, NodeSpec, PodEnd, Probe, Rig, RigOptions, wait_until,
};
use serde_json::json;
use std::fmt::Write as _;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(40);

fn kinds() -> Result<String> {
    let mut yaml = String::new();
    for kind in ["TestCluster", "TestMachine", "TestControlPlane"] {
        let singular = kind.to_lowercase();
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {
                "name": format!("{singular}s.test.foo.com"),
                "labels": {"cluster.x-k8s.io/v1beta2": "v1"},
            },
            "spec": {
                "group": "test.foo.com", "scope": "Namespaced",
                "names": {
                    "kind": kind, "singular": singular,
                    "plural": format!("{singular}s"), "listKind": format!("{kind}List"),
                },
                "versions": [{
                    "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {
                        "type": "object", "properties": {"spec": open, "status": open},
                    }},
                }],
            },
        });
        writeln!(yaml, "---\n{crd}")?;
    }
    yaml.push_str(
        "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: test-provider, \
         labels: {cluster.x-k8s.io/aggregate-to-manager: 'true'}}, \
         rules: [{apiGroups: [test.foo.com], resources: ['*'], verbs: ['*']}]}\n",
    );
    Ok(yaml)
}

const CLUSTER: &str = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c1, namespace: default}
spec:
  infrastructureRef: {apiGroup: test.foo.com, kind: TestCluster, name: c1}
  controlPlaneRef: {apiGroup: test.foo.com, kind: TestControlPlane, name: c1}
---
apiVersion: test.foo.com/v1
kind: TestCluster
metadata: {name: c1, namespace: default}
spec: {controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}}
---
apiVersion: test.foo.com/v1
kind: TestControlPlane
metadata: {name: c1, namespace: default}
spec: {version: v1.36.3}
";

const MACHINES: &str = "
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
spec: {minAvailable: 3, selector: {matchLabels: {app: web}}}
";

async fn get(rig: &Rig, args: &[&str]) -> Result<String> {
    rig.api().kubectl(["get", "-o"].iter().chain(args)).await
}

async fn wait_for(rig: &Rig, what: &str, args: &[&str], expected: &str) -> Result<()> {
    let look = async || {
        let seen = get(rig, args).await?;
        Ok(Probe::when(seen.trim() == expected, || format!("{seen:?}")))
    };
    wait_until(what, SOON, look).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn core_drains_a_node_within_the_budget_before_the_instance_may_go() -> Result<()> {
    let rig = Rig::start(RigOptions::default()).await?;
    let instances = InstanceList::default();
    let options = KubeletOptions { pod_startup: Duration::from_millis(300), ..KubeletOptions::default() };
    let kubelets = Kubelets::start(rig.api().client(), instances.clone(), options);
    rig.api().apply(&kinds()?).await?;
    rig.link_cluster("default", "c1").await?;
    wait_until("the new kinds", SOON, async || Ok(Probe::Done(rig.api().apply(CLUSTER).await?))).await?;
    let patch_status = async |kind: &str, name: &str, status: serde_json::Value| {
        let patch = json!({"status": status}).to_string();
        let args = ["patch", kind, name, "--subresource=status", "--type=merge", "-p", &patch];
        rig.api().kubectl(args).await
    };
    patch_status("testcluster", "c1", json!({"initialization": {"provisioned": true}})).await?;
    let initialized = json!({
        "initialization": {"controlPlaneInitialized": true}, "externalManagedControlPlane": true,
        "version": "v1.36.3",
    });
    patch_status("testcontrolplane", "c1", initialized).await?;
    for name in ["m1", "m2"] {
        rig.api().apply(&MACHINES.replace("NAME", name)).await?;
        patch_status("testmachine", name, json!({"initialization": {"provisioned": true}})).await?;
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
