//! Why Pods are still on a Node that is being drained. Pure.

use super::Wait;
use crate::text::duration;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt as _;
use kube::core::{Selector, SelectorExt as _};

/// Annotation of Pods that the kubelet runs from a file: they cannot be evicted, and no drain waits for them.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// Label by which a user excludes Pods from drains of Cluster API.
const DRAIN_LABEL: &str = "cluster.x-k8s.io/drain";

/// The Pods that the drain of their Node waits for, by namespace and name, with the budgets of their cluster.
pub fn waits(pods: &[Pod], budgets: &[PodDisruptionBudget], now: Timestamp) -> Vec<Wait> {
    let mut waits: Vec<Wait> =
        pods.iter().filter(|pod| is_drained(pod)).map(|pod| wait(pod, budgets, now)).collect();
    waits.sort();
    waits
}

/// Whether Cluster API evicts the Pod, unless a MachineDrainRule excludes it.
fn is_drained(pod: &Pod) -> bool {
    let of_daemon_set = pod
        .owner_references()
        .iter()
        .any(|owner| owner.kind == "DaemonSet" && owner.controller == Some(true));
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    let has_ended = matches!(phase, Some("Succeeded" | "Failed"));
    let is_skipped = pod.labels().get(DRAIN_LABEL).is_some_and(|value| value == "skip");
    !of_daemon_set && !has_ended && !is_skipped && !pod.annotations().contains_key(MIRROR)
}

fn wait(pod: &Pod, budgets: &[PodDisruptionBudget], now: Timestamp) -> Wait {
    let of_pod = |budget: Option<&PodDisruptionBudget>, why: String| Wait {
        pod: place(pod),
        budget: budget.map(place),
        why,
    };
    if let Some(ends) = &pod.metadata.deletion_timestamp {
        return of_pod(None, terminating(pod, ends.0, now));
    }
    let mut matching = budgets.iter().filter(|budget| applies(budget, pod));
    match (matching.next(), matching.next()) {
        (None, _) => of_pod(None, "it has no budget, and can be evicted".to_owned()),
        (Some(one), Some(other)) => of_pod(
            Some(one),
            format!("budget {} applies as well: Kubernetes evicts no Pod with several", place(other)),
        ),
        (Some(budget), None) => {
            let status = budget.status.clone().unwrap_or_default();
            let counted =
                format!("healthy Pods: {}, required: {}", status.current_healthy, status.desired_healthy);
            if status.disruptions_allowed > 0 {
                of_pod(None, format!("its budget {} allows the eviction: {counted}", place(budget)))
            } else {
                of_pod(Some(budget), counted)
            }
        }
    }
}

/// How far a Pod is that was evicted: the API server dates its deletion at the end of its grace period.
fn terminating(pod: &Pod, ends: Timestamp, now: Timestamp) -> String {
    let finalizers = pod.finalizers();
    if !finalizers.is_empty() && ends <= now {
        return format!("evicted; it stays until its finalizers are removed: {}", finalizers.join(", "));
    }
    if ends <= now {
        let late = duration(ends, now);
        return format!("evicted; its grace period ended {late} ago, and the kubelet has not removed it");
    }
    format!("evicted; it has {} left to end", duration(now, ends))
}

fn applies(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.clone());
    let selector = selector.and_then(|selector| Selector::try_from(selector).ok());
    budget.namespace() == pod.namespace() && selector.is_some_and(|selector| selector.matches(pod.labels()))
}

fn place<K: kube::Resource>(object: &K) -> String {
    format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any())
}
