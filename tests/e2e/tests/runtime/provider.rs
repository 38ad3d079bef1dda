//! A provider of clusters, control planes, machines and bootstrap data that does at once what it is asked: only its
//! status is of interest to core.

use super::management::{Kind, MACHINE};
use anyhow::Result;
use foo_testbed::world::kinds::text;
use foo_testbed::{InstanceList, NodeSpec};
use kube::Client;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::JoinSet;

const GROUP: &str = "test.foo.com";
/// Group and version of all its kinds.
pub(crate) const GROUP_VERSION: &str = "test.foo.com/v1";
pub(crate) const TEST_CONTROL_PLANE: Kind = Kind(GROUP, "v1", "TestControlPlane");
pub(crate) const TEST_MACHINE: Kind = Kind(GROUP, "v1", "TestMachine");
const KINDS: [&str; 4] = ["TestCluster", "TestControlPlane", "TestMachine", "TestConfig"];
const PERIOD: Duration = Duration::from_millis(200);

/// Its CRDs, templates included, and core's right to use them.
pub(crate) fn components() -> Vec<Value> {
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "test-provider", "labels": {"cluster.x-k8s.io/aggregate-to-manager": "true"}},
        "rules": [{
            "apiGroups": [GROUP, "infrastructure.foo.com", "controlplane.foo.com"], "resources": ["*"], "verbs": ["*"],
        }],
    });
    let templates = KINDS.map(|kind| format!("{kind}Template"));
    let kinds = KINDS.map(str::to_owned).into_iter().chain(templates);
    kinds.map(|kind| crd(&kind)).chain([role]).collect()
}

fn crd(kind: &str) -> Value {
    let singular = kind.to_lowercase();
    let plural = format!("{singular}s");
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}"), "labels": {"cluster.x-k8s.io/v1beta2": "v1"}},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"kind": kind, "singular": singular, "plural": plural, "listKind": format!("{kind}List")},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}},
            }],
        },
    })
}

/// Its controllers; an instance runs for every TestMachine.
pub(crate) fn start(client: Client, instances: InstanceList) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut launched = BTreeSet::new();
        loop {
            // A conflict, or a server that is busy: the next round will do.
            drop(reconcile_all(&client, &instances, &mut launched).await);
            tokio::time::sleep(PERIOD).await;
        }
    });
    tasks
}

async fn reconcile_all(
    client: &Client,
    instances: &InstanceList,
    launched: &mut BTreeSet<String>,
) -> Result<()> {
    for kind in KINDS {
        let of_provider = Kind(GROUP, "v1", kind);
        let mut running = BTreeSet::new();
        for object in of_provider.api(client.clone(), "").list(&ListParams::default()).await? {
            let object = serde_json::to_value(object)?;
            let (namespace, name) = (text(&object, "/metadata/namespace"), text(&object, "/metadata/name"));
            let objects = of_provider.api(client.clone(), namespace);
            let params = PatchParams::default();
            if kind == "TestMachine" {
                let provider_id = format!("aws:///eu-west-1a/i-{name}");
                running.insert(provider_id.clone());
                if !launched.contains(&provider_id) {
                    let kubelet_version = Some(machine_version(client, namespace, name).await?);
                    instances.launch(NodeSpec { kubelet_version, ..NodeSpec::new(name, &provider_id) });
                    launched.insert(provider_id.clone());
                    let spec = json!({"spec": {"providerID": provider_id}});
                    objects.patch(name, &params, &Patch::Merge(spec)).await?;
                }
            }
            let status = status(kind, &object);
            if object.pointer("/status") != Some(&status) {
                objects.patch_status(name, &params, &Patch::Merge(json!({"status": status}))).await?;
            }
        }
        if kind == "TestMachine" {
            for deleted in launched.extract_if(.., |provider_id| !running.contains(provider_id)) {
                instances.terminate(&deleted);
            }
        }
    }
    Ok(())
}

/// Of the Machine of the same name: core compares it with what the kubelet reports.
async fn machine_version(client: &Client, namespace: &str, name: &str) -> Result<String> {
    let machine = MACHINE.api(client.clone(), namespace).get(name).await?;
    Ok(text(&serde_json::to_value(machine)?, "/spec/version").to_owned())
}

fn status(kind: &str, object: &Value) -> Value {
    match kind {
        "TestControlPlane" => json!({
            "initialization": {"controlPlaneInitialized": true}, "externalManagedControlPlane": true,
            "version": text(object, "/spec/version"),
        }),
        "TestConfig" => json!({"initialization": {"dataSecretCreated": true}, "dataSecretName": "none"}),
        _ => json!({"initialization": {"provisioned": true}}),
    }
}
