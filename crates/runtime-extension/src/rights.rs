//! Tests: the policy of the release (docs/reference/iam-extension-policy.json) allows what the extension calls, and
//! nothing else.

use crate::hooks::{before_cluster_create, before_cluster_delete};
use crate::testing::{World, topology_request};
use crate::validation::validate;
use foo_simulator_core::DEFAULT_REGION;
use foo_simulator_core::core::mishaps::QuotaClass;
use foo_simulator_core::core::network::PRIVATE_SUBNETS;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Adapters read the tags of load balancers by a call of its own, which the simulator's own cloud does not need.
const OF_ADAPTER: &str = "elasticloadbalancing:DescribeTags";

fn allowed() -> BTreeSet<String> {
    let policy = include_str!("../../../docs/reference/iam-extension-policy.json");
    let policy: Value = serde_json::from_str(policy).unwrap();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let actions = statements.flat_map(|it| it["Action"].as_array().unwrap());
    actions.map(|action| action.as_str().unwrap().to_owned()).collect()
}

/// A request of a hook about a Cluster, with its network as in these variables.
fn about_cluster<T: serde::de::DeserializeOwned>(network: &Value) -> T {
    let mut variables = json!([
        {"name": "region", "value": DEFAULT_REGION}, {"name": "kubeconfigSecret", "value": "external"},
        {"name": "instanceProfile", "value": "nodes"}, {"name": "amiID", "value": "ami-1"},
    ]);
    let all = variables.as_array_mut().unwrap();
    all.extend(network.as_array().unwrap().iter().cloned());
    let workers = json!({"machinePools": [{"class": "on-demand", "name": "workers", "replicas": 3}]});
    let topology = json!({"version": "v1.36.3", "variables": variables, "workers": workers});
    let request = json!({
        "settings": {"identities": "default=own", "preflight": "true", "leftovers": "true"},
        "cluster": {"metadata": {"name": "c", "namespace": "n"}, "spec": {"topology": topology}},
    });
    serde_json::from_value(request).unwrap()
}

#[tokio::test]
async fn the_policy_allows_what_is_called_and_nothing_else() {
    let world = World::new();
    // So that the groups are asked for, too.
    world.aws.region(DEFAULT_REGION).set_vcpu_quota(QuotaClass::Standard, Some(5)).unwrap();
    let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
    for (of_template, of_cluster) in [
        (json!({"existing": {"subnets": subnets}}), json!([{"name": "subnets", "value": subnets}])),
        (json!({"managed": {}}), json!([{"name": "networkMode", "value": "Managed"}])),
    ] {
        let request = topology_request(|it| {
            it["items"][0]["object"]["spec"]["template"]["spec"]["network"] = of_template.clone();
        });
        validate(&world.clouds, &serde_json::from_value(request).unwrap()).await.unwrap_err();
        before_cluster_create(&world.clouds, &about_cluster(&of_cluster)).await.unwrap();
        before_cluster_delete(&world.clouds, &about_cluster(&of_cluster)).await.unwrap();
    }
    before_cluster_create(
        &world.clouds,
        &about_cluster(&json!([
            {"name": "networkMode", "value": "Managed"},
            {"name": "roleARN", "value": "arn:aws:iam::123456789012:role/eks"},
        ])),
    )
    .await
    .unwrap();
    let looked_up = topology_request(|it| {
        it["items"][1]["object"]["spec"]["template"]["spec"]["ami"] =
            json!({"recommended": {"family": "AL2023"}});
    });
    validate(&world.clouds, &serde_json::from_value(looked_up).unwrap()).await.unwrap_err();
    let calls = world.aws.recent_calls().into_iter();
    let called: BTreeSet<String> =
        calls.map(|call| format!("{}:{}", call.service.name(), call.action)).collect();
    let (mut needed, mut allowed) = (called, allowed());
    assert!(needed.remove("sts:GetCallerIdentity"), "which needs no right (AWS STS API Reference)");
    assert!(allowed.remove(OF_ADAPTER));
    assert_eq!(allowed, needed);
}
