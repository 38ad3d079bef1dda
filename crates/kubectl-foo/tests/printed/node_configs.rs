//! FooNodeConfigs.

use crate::{NOW, condition, conditions, event, is_printed};
use foo_api::FooNodeConfig;
use kubectl_foo::explain;
use kubectl_foo::explain::read::NodeConfigFacts;
use serde_json::{Value, json};

fn golden(name: &str, facts: &NodeConfigFacts) {
    is_printed(name, &explain::node_config(facts, NOW.parse().unwrap()));
}

fn node_config(reported: &[Value], status: &Value) -> FooNodeConfig {
    let mut all =
        json!({"conditions": conditions(reported, &["DataSecretAvailable"], &["Paused", "Deleting"])});
    all.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "bootstrap.foo.com/v1alpha1", "kind": "FooNodeConfig",
        "metadata": {
            "namespace": "default", "name": "linux", "uid": "nc", "labels": {"cluster.x-k8s.io/cluster-name": "c"},
            "ownerReferences": [
                {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "name": "linux", "uid": "mp"},
            ],
        },
        "spec": {"family": "AL2023"},
        "status": all,
    }))
    .unwrap()
}

#[test]
fn existing_user_data_are_explained_with_their_size() {
    let ready = condition("Ready", "True", "UserDataReady", "");
    let status = json!({"dataSecretName": "linux", "userDataBytes": 2331});
    golden(
        "node-config",
        &NodeConfigFacts { node_config: node_config(&[ready], &status), events: Vec::new() },
    );
}

#[test]
fn a_fact_that_cannot_be_reported_is_explained_with_what_to_do() {
    let missing = "spec.cluster.name: the control plane does not report the name of the cluster";
    let reported = [
        condition("Ready", "False", "ClusterFactMissing", missing),
        condition("DataSecretAvailable", "False", "ClusterFactMissing", missing),
    ];
    let warning = event("Warning", "2026-11-21T11:58:00.000000Z", "ClusterFactMissing", missing);
    let node_config = node_config(&reported, &json!({}));
    golden("node-config-waits", &NodeConfigFacts { node_config, events: vec![warning] });
}

#[test]
fn an_object_that_was_never_reconciled() {
    let mut fresh = node_config(&[], &json!({}));
    fresh.status = None;
    golden("node-config-fresh", &NodeConfigFacts { node_config: fresh, events: Vec::new() });
}
