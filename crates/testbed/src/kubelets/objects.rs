//! The Node and Pod objects as kubelets write them, and questions about them.

use super::NodeSpec;
use k8s_openapi::api::core::v1::{Node, Pod, Taint, Toleration};
use kube::ResourceExt as _;
use serde_json::{Value, json};

pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// The Node that a kubelet registers. Admission adds the taint `not-ready`.
pub(crate) fn node(spec: &NodeSpec) -> Value {
    let mut labels = spec.labels.clone();
    for (label, value) in [
        ("kubernetes.io/hostname", spec.name.as_str()),
        ("kubernetes.io/os", "linux"),
        ("topology.kubernetes.io/zone", spec.zone.as_str()),
        ("node.kubernetes.io/instance-type", spec.instance_type.as_str()),
    ] {
        labels.insert(label.to_owned(), value.to_owned());
    }
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name, "labels": labels},
        "spec": {"providerID": spec.provider_id},
    })
}

/// Status of a healthy Node. Cluster API requires the three pressures to be False, not just absent.
pub(super) fn ready_status(spec: &NodeSpec, version: &str, pods: usize, now: &str) -> Value {
    let room = json!({"cpu": "2", "memory": "8Gi", "pods": pods.to_string()});
    json!({"status": {
        "conditions": [
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory", now),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure", now),
            condition("PIDPressure", "False", "KubeletHasSufficientPID", now),
            condition("Ready", "True", "KubeletReady", now),
        ],
        "addresses": [
            {"type": "InternalIP", "address": "127.0.0.1"},
            {"type": "Hostname", "address": spec.name},
            {"type": "InternalDNS", "address": spec.name},
        ],
        "capacity": room,
        "allocatable": room,
        "nodeInfo": {
            "kubeletVersion": version, "kubeProxyVersion": "", "containerRuntimeVersion": "none://0",
            "operatingSystem": "linux", "osImage": "none", "architecture": "arm64", "kernelVersion": "0",
            "bootID": spec.provider_id, "machineID": spec.provider_id, "systemUUID": spec.provider_id,
        },
    }})
}

/// What the node lifecycle controller writes about a Node whose kubelet has stopped.
pub(super) fn unknown_status(now: &str) -> Value {
    let kinds = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];
    let conditions = kinds.map(|kind| condition(kind, "Unknown", "NodeStatusUnknown", now));
    json!({"status": {"conditions": conditions}})
}

/// Status of a pod whose containers run and are ready.
pub(super) fn running_status(pod: &Pod, now: &str) -> Value {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers).map(|container| {
        json!({
            "name": container.name, "image": container.image, "imageID": "none", "containerID": "none://0",
            "ready": true, "started": true, "restartCount": 0, "state": {"running": {"startedAt": now}},
        })
    });
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"]
        .map(|kind| condition(kind, "True", "Running", now));
    json!({"status": {
        "phase": "Running", "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}], "startTime": now,
        "conditions": conditions, "containerStatuses": containers.collect::<Vec<_>>(),
    }})
}

/// Status of a pod on a Node that no longer responds.
pub(super) fn unready_status(now: &str) -> Value {
    json!({"status": {"conditions": [condition("Ready", "False", "NodeNotReady", now)]}})
}

fn condition(kind: &str, status: &str, reason: &str, now: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": reason,
        "lastTransitionTime": now, "lastHeartbeatTime": now,
    })
}

pub(super) fn provider_id(node: &Node) -> Option<&str> {
    node.spec.as_ref()?.provider_id.as_deref()
}

pub(super) fn taints(node: &Node) -> &[Taint] {
    node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default()
}

/// Status of the Node's condition Ready: True, False or Unknown.
pub(super) fn node_ready(node: &Node) -> Option<&str> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    Some(&conditions.iter().find(|condition| condition.type_ == "Ready")?.status)
}

pub(super) fn pod_ready(pod: &Pod) -> bool {
    has_condition(pod, "Ready", "True")
}

/// Whether the pod was evicted (not plainly deleted), by the mark that the eviction API leaves.
pub(super) fn evicted(pod: &Pod) -> bool {
    has_condition(pod, "DisruptionTarget", "True")
}

fn has_condition(pod: &Pod, kind: &str, status: &str) -> bool {
    let conditions = pod.status.as_ref().and_then(|found| found.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == kind && condition.status == status)
}

pub(super) fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

pub(super) fn bound_to(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty())
}

/// Whether the scheduler would let this pod onto this Node.
pub(super) fn fits(pod: &Pod, node: &Node) -> bool {
    let Some(spec) = &pod.spec else { return false };
    let tolerations = spec.tolerations.as_deref().unwrap_or_default();
    let cordoned = node.spec.as_ref().and_then(|found| found.unschedulable).unwrap_or(false);
    let cordon = Taint { key: UNSCHEDULABLE.to_owned(), effect: "NoSchedule".to_owned(), ..Taint::default() };
    let mut repelling = taints(node)
        .iter()
        .filter(|taint| taint.effect != "PreferNoSchedule")
        .chain(cordoned.then_some(&cordon));
    let labels = node.labels();
    node_ready(node) == Some("True")
        && node.metadata.deletion_timestamp.is_none()
        && repelling.all(|taint| tolerations.iter().any(|toleration| tolerates(toleration, taint)))
        && spec.node_selector.iter().flatten().all(|(label, value)| labels.get(label) == Some(value))
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let same_effect = toleration.effect.as_deref().is_none_or(|it| it.is_empty() || it == taint.effect);
    let key = toleration.key.as_deref().unwrap_or_default();
    same_effect
        && match toleration.operator.as_deref() {
            Some("Exists") => key.is_empty() || key == taint.key,
            _ => key == taint.key && toleration.value == taint.value,
        }
}
