//! Pools.

use crate::{NOW, condition, conditions, event, is_printed};
use foo_api::pool::WarmPoolStatus;
use foo_api::{FooMachine, FooMachinePool};
use kubectl_foo::capi::Machine;
use kubectl_foo::explain;
use kubectl_foo::explain::read::Facts;
use serde_json::{Value, json};

fn golden(name: &str, facts: &Facts) {
    is_printed(name, &explain::pool(facts, NOW.parse().unwrap()));
}

/// A pool of three with these conditions beside those that show that all is well.
pub(crate) fn pool(reported: &[Value]) -> FooMachinePool {
    let well = ["CredentialsReady", "LaunchTemplateReady", "AutoScalingGroupReady", "CapacityAvailable"];
    let quiet = ["Paused", "ScalingUp", "ScalingDown", "RollingOut", "Remediating", "Deleting"];
    let all = conditions(reported, &well, &quiet);
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool",
        "metadata": {
            "namespace": "default", "name": "workers", "uid": "pool", "generation": 2,
            "labels": {"cluster.x-k8s.io/cluster-name": "c"},
        },
        "spec": {"instanceType": "m7i.large", "ami": {"id": "ami-1"}},
        "status": {
            "observedGeneration": 2, "desiredReplicas": 3, "replicas": 3, "readyReplicas": 3, "upToDateReplicas": 3,
            "autoScalingGroup": {"name": "default-c-workers", "desiredCapacity": 3, "minSize": 0, "maxSize": 3},
            "conditions": all,
        },
    }))
    .unwrap()
}

pub(crate) fn foo_machine(name: &str, status: &Value) -> FooMachine {
    let mut all = json!({"lifecycleState": "InService", "instanceType": "m7i.large", "failureDomain": "eu-central-1a", "conditions": [condition("UpToDate", "True", "UpToDate", "")]});
    all.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachine",
        "metadata": {
            "namespace": "default", "name": name, "ownerReferences": [
                {"apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool", "name": "workers", "uid": "pool"},
            ],
        },
        "spec": {"providerID": format!("aws:///eu-central-1a/i-{name}"), "instanceID": format!("i-{name}")},
        "status": all,
    }))
    .unwrap()
}

/// The manager reports nothing of an instance that is being launched.
fn launching(name: &str) -> FooMachine {
    let mut machine = foo_machine(name, &json!({}));
    machine.status = None;
    machine
}

pub(crate) fn machine(name: &str, deleted: bool, status: &Value) -> Machine {
    let ready = json!({"nodeRef": {"name": format!("node-{name}")}, "conditions": [condition("NodeReady", "True", "NodeReady", "")]});
    let mut metadata =
        json!({"namespace": "default", "name": name, "creationTimestamp": "2026-11-21T11:50:00Z"});
    if deleted {
        metadata["deletionTimestamp"] = json!("2026-11-21T11:58:00Z");
    }
    serde_json::from_value(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": metadata,
        "spec": {"clusterName": "c", "infrastructureRef": {"apiGroup": "infrastructure.foo.com", "kind": "FooMachine", "name": name}},
        "status": if status.is_null() { &ready } else { status },
    }))
    .unwrap()
}

#[test]
fn a_settled_object_is_explained_briefly() {
    let names = ["a", "b", "c"];
    golden(
        "settled",
        &Facts {
            pool: pool(&[condition("Ready", "True", "Ready", "")]),
            foo_machines: names.map(|name| foo_machine(name, &json!({}))).into(),
            machines: names.map(|name| machine(name, false, &Value::Null)).into(),
            events: vec![event("Warning", "2026-11-21T08:00:00.000000Z", "InstanceMissing", "long ago")],
        },
    );
}

#[test]
fn instances_in_a_warm_pool_are_counted_apart() {
    let mut pool = pool(&[condition("Ready", "True", "Ready", "")]);
    pool.status.as_mut().unwrap().warm_pool = Some(WarmPoolStatus { size: 2 });
    let facts = Facts { pool, foo_machines: Vec::new(), machines: Vec::new(), events: Vec::new() };
    let text = explain::pool(&facts, NOW.parse().unwrap());
    assert!(text.contains("3 ready, 3 up to date, 2 in the warm pool"), "{text}");
}

#[test]
fn work_in_progress_is_explained_with_what_it_waits_for() {
    let draining = "Drain not completed yet (started at 2026-11-21T11:58:02Z):\n* Pod default/web: cannot evict pod as it would \
                    violate the pod's disruption budget.";
    let drain = json!({"nodeRef": {"name": "node-a"}, "conditions": [condition("Deleting", "True", "DrainingNode", draining)]});
    let unknown = json!({"nodeRef": {"name": "node-d"}, "conditions": [condition("NodeReady", "Unknown", "NodeInternalError", "kubelet stopped")]});
    let unhealthy = json!({
        "nodeRef": {"name": "node-e"},
        "conditions": [
            condition("NodeReady", "True", "NodeReady", ""),
            condition("OwnerRemediated", "False", "WaitingForRemediation", "Waiting for remediation"),
            condition("HealthCheckSucceeded", "False", "UnhealthyNode", "Condition DiskPressure on Node is reporting status True for more than 5m0s"),
        ],
    });
    let hook = json!({"lifecycleState": "Terminating:Wait", "drainHook": {"since": "2026-11-21T11:58:00Z", "deadline": "2026-11-23T11:58:00Z"}});
    let outdated = json!({"conditions": [condition("UpToDate", "False", "Outdated", "")]});
    golden(
        "under-way",
        &Facts {
            pool: pool(&[
                condition("Ready", "True", "Draining", "waiting for Cluster API to drain a"),
                condition(
                    "RollingOut",
                    "True",
                    "Rolling",
                    "3 of 6 are up to date; waiting for the Node of c",
                ),
                condition(
                    "CapacityAvailable",
                    "False",
                    "InstancesNotLaunched",
                    "1 instance short for 5 minutes; AWS says: We currently do not have sufficient capacity.",
                ),
            ]),
            foo_machines: vec![
                foo_machine("a", &hook),
                foo_machine("b", &outdated),
                foo_machine("c", &json!({})),
                foo_machine("d", &json!({})),
                foo_machine("e", &json!({})),
                launching("f"),
                foo_machine("g", &json!({})),
                launching("h"),
            ],
            machines: vec![
                machine("a", true, &drain),
                machine("b", false, &Value::Null),
                machine("c", false, &json!({})),
                machine("d", false, &unknown),
                machine("e", false, &unhealthy),
                machine("g", false, &Value::Null),
                machine("h", false, &json!({})),
            ],
            events: vec![
                event(
                    "Warning",
                    "2026-11-21T11:58:00.000000Z",
                    "InstanceTerminatedByAws",
                    "AWS ends i-a (health check)",
                ),
                event(
                    "Warning",
                    "2026-11-21T11:57:00.000000Z",
                    "InstanceTerminatedByAws",
                    "AWS ends i-a (health check)",
                ),
                event("Normal", "2026-11-21T11:57:00.000000Z", "ScaledUp", "not a warning"),
            ],
        },
    );
}

#[test]
fn a_pool_that_was_never_reconciled() {
    let mut fresh = pool(&[]);
    fresh.status = None;
    golden(
        "fresh",
        &Facts { pool: fresh, foo_machines: Vec::new(), machines: Vec::new(), events: Vec::new() },
    );
    let mut edited = pool(&[
        condition("Ready", "False", "IdentityNotFound", "FooClusterIdentity prod does not exist"),
        condition("CredentialsReady", "False", "IdentityNotFound", "FooClusterIdentity prod does not exist"),
    ]);
    edited.metadata.generation = Some(3);
    golden(
        "edited",
        &Facts { pool: edited, foo_machines: Vec::new(), machines: Vec::new(), events: Vec::new() },
    );
}

/// A manager that cannot write a status, or no longer reconciles, leaves the old one.
#[test]
fn a_stale_status_of_a_pool_that_is_not_ready_is_called_stale() {
    let mut old = pool(&[condition(
        "Ready",
        "False",
        "WaitingForMachinePool",
        "no MachinePool owns this FooMachinePool yet",
    )]);
    let written = |minute: u32, subresource: Option<&str>| json!({"manager": "foo", "operation": "Apply", "subresource": subresource, "time": format!("2026-11-21T11:{minute}:00Z")});
    let fields = json!([written(20, Some("status")), written(35, Some("status")), written(59, None)]);
    old.metadata.managed_fields = Some(serde_json::from_value(fields).unwrap());
    let status = old.status.as_mut().unwrap();
    (status.desired_replicas, status.replicas) = (None, None);
    (status.ready_replicas, status.up_to_date_replicas) = (None, None);
    golden("old", &Facts { pool: old, foo_machines: Vec::new(), machines: Vec::new(), events: Vec::new() });
}

#[test]
fn a_warning_of_a_ready_pool_is_printed_once() {
    let bounded = "the MachinePool requests 5 replicas, but spec.maxSize is 3";
    let twin = "MachinePool twin also references this FooMachinePool";
    let ready = format!("3 of 3 instances in service; warning: {twin}; warning: {bounded}");
    let conditions = [
        condition("Ready", "True", "ReadyAtMaxSize", &ready),
        condition("ScalingUp", "False", "MaxSizeReached", bounded),
    ];
    let facts =
        Facts { pool: pool(&conditions), foo_machines: Vec::new(), machines: Vec::new(), events: Vec::new() };
    golden("warned", &facts);
}
