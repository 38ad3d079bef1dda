//! Drains.

use crate::pools::{foo_machine, machine};
use crate::{NOW, condition, is_printed};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kubectl_foo::drains::{Drains, Source, read, text, waits};
use kubectl_foo::terminal::Width;
use serde_json::{Value, json};

fn golden(name: &str, drains: &Drains, width: Width) {
    is_printed(name, &text(drains, width, NOW.parse().unwrap()));
}

fn deleting(reason: &str, message: &str) -> Value {
    json!({
        "nodeRef": {"name": "node"}, "conditions": [condition("Deleting", "True", reason, message)],
        "deletion": {
            "nodeDrainStartTime": "2026-11-21T11:58:02Z",
            "waitForNodeVolumeDetachStartTime": if reason == "DrainingNode" { None } else { Some("2026-11-21T11:59:00Z") },
        },
    })
}

const MESSAGE: &str = "Drain not completed yet (started at 2026-11-21T11:58:02Z):\n\
    * Pods default/a, default/b, default/c, ... (2 more): deletionTimestamp set, but still not removed from the Node\n\
    * Pod default/web: cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 \
    healthy pods and has 2 currently\n\
    * 3 Pods with other issues\n\
    * Pod default/job: waiting for completion\n\
    After above Pods have been removed from the Node, the following Pods will be evicted: default/last";

#[test]
fn drains_are_shown_as_cluster_api_reports_them() {
    let hook = json!({"lifecycleState": "Terminating:Wait", "drainHook": {"since": "2026-11-21T11:58:00Z", "deadline": "2026-11-23T11:58:00Z"}});
    let mut limited = machine("b", true, &deleting("DrainingNode", MESSAGE));
    limited.spec.deletion = serde_json::from_value(json!({"nodeDrainTimeoutSeconds": 600})).unwrap();
    let volumes = "Waiting for Node volumes to be detached (started at 2026-11-21T11:59:00Z)\n* PersistentVolumeClaims: a/data";
    let mut detaching = machine("c", true, &deleting("WaitingForVolumeDetach", volumes));
    let timeouts = json!({"nodeDrainTimeoutSeconds": 600, "nodeVolumeDetachTimeoutSeconds": 300});
    detaching.spec.deletion = serde_json::from_value(timeouts).unwrap();
    let drains = vec![
        read::drain(&machine("a", true, &deleting("DrainingNode", MESSAGE)), Some(&foo_machine("a", &hook))),
        read::drain(&limited, None),
        read::drain(&detaching, None),
        read::drain(&machine("d", true, &json!({})), None),
    ];
    golden("drains", &Drains { drains }, Width::Narrow);
    golden("drains-none", &Drains { drains: Vec::new() }, Width::Narrow);
}

fn pod(name: &str, change: impl FnOnce(&mut Value)) -> Pod {
    let metadata = json!({"namespace": "default", "name": name, "labels": {"app": name}});
    let mut pod = json!({"metadata": metadata, "spec": {"containers": []}, "status": {"phase": "Running"}});
    change(&mut pod);
    serde_json::from_value(pod).unwrap()
}

fn budget(name: &str, app: &str, allowed: i32) -> PodDisruptionBudget {
    serde_json::from_value(json!({
        "metadata": {"namespace": "default", "name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2},
    }))
    .unwrap()
}

#[test]
fn pods_of_a_workload_cluster_are_shown_with_what_keeps_them() {
    let now: Timestamp = NOW.parse().unwrap();
    let ends = |at: &str, finalizers: &[&str]| {
        let (at, finalizers) = (at.to_owned(), json!(finalizers));
        move |pod: &mut Value| {
            pod["metadata"]["deletionTimestamp"] = json!(at);
            pod["metadata"]["finalizers"] = finalizers;
        }
    };
    let controlled =
        json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": true}]);
    let pods = vec![
        pod("web", |pod| pod["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}])),
        pod("allowed", |_| {}),
        pod("twice", |_| {}),
        pod("bare", |_| {}),
        pod("ending", ends("2026-11-21T12:00:20Z", &[])),
        pod("late", ends("2026-11-21T11:50:00Z", &[])),
        pod("kept", ends("2026-11-21T11:50:00Z", &["a.com/x"])),
        pod("daemon", |pod| pod["metadata"]["ownerReferences"] = controlled),
        pod("done", |pod| pod["status"]["phase"] = json!("Succeeded")),
        pod("pending", |pod| {
            pod["status"]["phase"] = json!("Pending");
            pod["metadata"]["labels"]["app"] = json!("web");
        }),
        pod("broken", |pod| pod["metadata"]["labels"]["app"] = json!("web")),
        pod("degraded", |_| {}),
        pod("tolerated", |_| {}),
        pod("job", |pod| pod["metadata"]["labels"] = json!({"cluster.x-k8s.io/drain": "Wait-Completed"})),
        pod("mirror", |pod| pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"})),
        pod("skipped", |pod| pod["metadata"]["labels"] = json!({"cluster.x-k8s.io/drain": "Skip"})),
    ];
    let mut foreign = budget("foreign", "web", 1);
    foreign.metadata.namespace = Some("other".to_owned());
    let (mut degraded, mut tolerant) =
        (budget("degraded", "degraded", 0), budget("tolerant", "tolerated", 0));
    for budget in [&mut degraded, &mut tolerant] {
        budget.status.get_or_insert_default().current_healthy = 1;
    }
    let policy = &mut tolerant.spec.get_or_insert_default().unhealthy_pod_eviction_policy;
    *policy = Some("AlwaysAllow".to_owned());
    let budgets = [
        degraded,
        tolerant,
        budget("web", "web", 0),
        foreign,
        budget("allowed", "allowed", 1),
        budget("one", "twice", 1),
        budget("two", "twice", 1),
    ];
    let mut drain = read::drain(&machine("a", true, &deleting("DrainingNode", MESSAGE)), None);
    (drain.pods, drain.unnamed_pods, drain.source) =
        (waits(&pods, &budgets, now), 0, Source::WorkloadCluster);
    let mut empty = drain.clone();
    empty.pods = Vec::new();
    golden("drains-pods", &Drains { drains: vec![drain, empty] }, Width::Narrow);
}

/// Of Pods that Cluster API names nothing else is known: then there are no columns for it.
#[test]
fn wide_drains_have_the_instance_and_what_is_known_of_pods() {
    let now: Timestamp = NOW.parse().unwrap();
    let mut machine = machine("a", true, &deleting("DrainingNode", MESSAGE));
    machine.spec.provider_id = Some("aws:///eu-central-1a/i-a".to_owned());
    let reported = read::drain(&machine, None);
    let controlled = json!([
        {"apiVersion": "example.com/v1", "kind": "Team", "name": "red", "uid": "t"},
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "r", "controller": true},
    ]);
    let pods = [
        pod("bare", |_| {}),
        pod("web", |pod| {
            pod["metadata"]["creationTimestamp"] = json!("2026-11-21T09:00:00Z");
            pod["metadata"]["ownerReferences"] = controlled;
        }),
    ];
    let mut listed = reported.clone();
    (listed.pods, listed.unnamed_pods, listed.source) =
        (waits(&pods, &[budget("web", "web", 0)], now), 0, Source::WorkloadCluster);
    let unknown = read::drain(&crate::pools::machine("d", true, &json!({})), None);
    golden("drains-wide", &Drains { drains: vec![reported, listed, unknown] }, Width::Wide);
}
