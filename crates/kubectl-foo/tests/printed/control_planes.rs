//! Control planes.

use crate::{NOW, condition, conditions, event, is_printed};
use foo_api::FooControlPlane;
use jiff::Timestamp;
use kubectl_foo::explain;
use kubectl_foo::explain::read::ControlPlaneFacts;
use serde_json::{Value, json};

fn golden(name: &str, facts: &ControlPlaneFacts) {
    is_printed(name, &explain::control_plane(facts, NOW.parse().unwrap()));
}

fn at(minute: &str) -> String {
    format!("2026-11-21T11:{minute}:00Z")
}

/// A control plane on EKS with three add-ons, with these conditions beside those that show that all is well.
fn control_plane(reported: &[Value], change: impl FnOnce(&mut Value)) -> FooControlPlane {
    let well = ["Available", "Initialized", "ClusterReady", "AddonsReady", "AccessReady", "KubeconfigReady"];
    let active = |name: &str| json!({"name": name, "version": "v1.20.1-eksbuild.1", "status": "ACTIVE"});
    let addons = ["vpc-cni", "kube-proxy", "coredns"].map(active);
    let mut object = json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {
            "namespace": "default", "name": "prod", "uid": "cp", "generation": 1,
            "labels": {"cluster.x-k8s.io/cluster-name": "c"},
        },
        "spec": {
            "version": "v1.34.0",
            "eks": {
                "roleARN": "arn:aws:iam::123456789012:role/eks",
                "addons": [{"name": "vpc-cni"}, {"name": "kube-proxy"}, {"name": "coredns"}],
            },
        },
        "status": {
            "version": "v1.34.0",
            "eks": {
                "name": "default_prod-5f3c01aa", "status": "ACTIVE",
                "addons": addons,
                "record": {"activeOnce": true},
            },
            "conditions": conditions(reported, &well, &["Upgrading", "Paused", "Deleting"]),
        },
    });
    change(&mut object);
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        condition["observedGeneration"] = json!(1);
    }
    serde_json::from_value(object).unwrap()
}

fn facts(control_plane: FooControlPlane) -> ControlPlaneFacts {
    ControlPlaneFacts { control_plane, token_ends: None, events: Vec::new() }
}

fn ready() -> Value {
    condition("Ready", "True", "ApiServerReachable", "")
}

#[test]
fn a_settled_object_is_explained_briefly() {
    let token_ends: Option<Timestamp> = "2026-11-21T12:09:30Z".parse().ok();
    golden("eks-settled", &ControlPlaneFacts { token_ends, ..facts(control_plane(&[ready()], |_| {})) });
}

#[test]
fn a_cluster_under_creation_is_reported_once() {
    let creating = "EKS creates the cluster";
    let reported = [
        condition("Ready", "False", "CreatingCluster", creating),
        condition("Available", "False", "CreatingCluster", creating),
        condition("Initialized", "False", "CreatingCluster", creating),
        condition("ClusterReady", "False", "CreatingCluster", creating),
        condition("Upgrading", "False", "WaitingForEksCluster", ""),
        condition("AddonsReady", "False", "WaitingForEksCluster", ""),
        condition("AccessReady", "False", "WaitingForEksCluster", ""),
        condition("KubeconfigReady", "Unknown", "NotChecked", "EKS has no endpoint yet"),
    ];
    let not_yet = |object: &mut Value| {
        object["status"]["version"] = Value::Null;
        let record = json!({"creatingSince": at("54"), "attempts": 2});
        object["status"]["eks"] =
            json!({"name": "default_prod-5f3c01aa", "status": "CREATING", "record": record});
    };
    golden("eks-created", &facts(control_plane(&reported, not_yet)));
    let unseen = |object: &mut Value| {
        not_yet(object);
        object["status"]["eks"]["status"] = Value::Null;
    };
    golden("eks-unseen", &facts(control_plane(&reported, unseen)));
}

#[test]
fn an_update_is_explained_with_its_duration_and_earlier_failures() {
    let reported = [
        ready(),
        condition("Upgrading", "True", "UpgradingControlPlane", "from 1.34 to 1.35"),
        condition("AddonsReady", "False", "ChangingAddons", "coredns is updated later: the version"),
    ];
    let upgrades = |object: &mut Value| {
        object["spec"]["version"] = json!("v1.36.0");
        object["status"]["eks"]["status"] = json!("UPDATING");
        object["status"]["eks"]["record"] = json!({
            "activeOnce": true,
            "update": {"kind": "version", "content": "x", "id": "0a1b2c", "since": at("48")},
            "failed": [
                {"kind": "logging", "content": "y", "message": "the update 9f (logging) failed: AccessDenied: no", "times": 2, "at": at("40")},
            ],
        });
    };
    golden("eks-upgrading", &facts(control_plane(&reported, upgrades)));
    let lost = |object: &mut Value| {
        upgrades(object);
        object["status"]["eks"]["record"]["update"]["id"] = Value::Null;
    };
    golden("eks-response-lost", &facts(control_plane(&reported, lost)));
}

#[test]
fn add_ons_that_wait_for_a_maintenance_window_are_explained() {
    let waits = "waiting for the maintenance window that opens at 2026-11-28 02:00 UTC; kube-proxy is to be updated from \
                 v1.20.1-eksbuild.1 to v1.20.2-eksbuild.1";
    let reported = [ready(), condition("AddonsReady", "True", "AwaitingMaintenanceWindow", waits)];
    golden("eks-awaits-window", &facts(control_plane(&reported, |_| {})));
}

#[test]
fn conditions_that_need_a_user_are_explained_with_what_to_do() {
    let blocked = "upgrade insights speak against 1.35: Deprecated APIs removed in Kubernetes v1.35; Kubelet version skew";
    let degraded =
        "coredns is DEGRADED: InsufficientNumberOfReplicas: no replicas; aws-ebs-csi-driver is CREATE_FAILED";
    let reported = [
        ready(),
        condition("Upgrading", "False", "UpgradeBlocked", blocked),
        condition("AddonsReady", "False", "AddonDegraded", degraded),
        condition("AccessReady", "False", "RoleNotUsable", "CreateAccessEntry: the principal does not exist"),
    ];
    let issues = |object: &mut Value| {
        object["spec"]["version"] = json!("v1.35.0");
        let addons = object["spec"]["eks"]["addons"].as_array_mut().unwrap();
        addons.extend([json!({"name": "aws-ebs-csi-driver"}), json!({"name": "metrics-server"})]);
        let shown = &mut object["status"]["eks"]["addons"];
        shown[2]["status"] = json!("DEGRADED");
        shown[2]["message"] = json!("InsufficientNumberOfReplicas: no replicas");
        let failed = json!({"name": "aws-ebs-csi-driver", "version": "v1.40.0", "status": "CREATE_FAILED"});
        let old = json!({"name": "old", "version": "v1.0.0", "status": "DELETING"});
        shown.as_array_mut().unwrap().extend([failed, old]);
        object["status"]["eks"]["record"]["rollback"] = json!({"update": "u", "refusedVersion": "1.36"});
    };
    let ended: Option<Timestamp> = "2026-11-21T11:50:00Z".parse().ok();
    let warning = event("Warning", "2026-11-21T11:58:00.000000Z", "UpgradeBlocked", blocked);
    let control_plane = control_plane(&reported, issues);
    golden("eks-blocked", &ControlPlaneFacts { control_plane, token_ends: ended, events: vec![warning] });
}

#[test]
fn one_under_deletion_is_explained_with_what_it_waits_for() {
    let kinds = ["Upgrading", "AddonsReady", "AccessReady", "ClusterReady", "Available"];
    let mut reported = kinds.map(|kind| condition(kind, "False", "Deleting", "")).to_vec();
    reported.push(condition("Ready", "False", "Deleting", "2 MachinePools are left"));
    reported.push(condition("Deleting", "True", "WaitingForPools", "2 MachinePools are left"));
    golden("eks-deleted", &facts(control_plane(&reported, |_| {})));
}

#[test]
fn an_external_api_server_has_no_eks() {
    let unreachable = condition("Ready", "False", "ApiServerUnreachable", "connection refused");
    let external = |object: &mut Value| {
        object["spec"] =
            json!({"version": "v1.34.0", "external": {"kubeconfigSecretRef": {"name": "there"}}});
        object["status"]["eks"] = Value::Null;
    };
    let mut external = control_plane(std::slice::from_ref(&unreachable), |object| {
        external(object);
        object["status"]["conditions"] = json!([unreachable]);
    });
    golden("external", &facts(external.clone()));
    external.status = None;
    golden("external-fresh", &facts(external));
}
