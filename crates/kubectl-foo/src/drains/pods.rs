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
/// Label by which a user has Cluster API evict a Pod or not.
const DRAIN_LABEL: &str = "cluster.x-k8s.io/drain";

/// The Pods that the drain of their Node waits for, by namespace and name, with the budgets of their cluster.
pub fn waits(pods: &[Pod], budgets: &[PodDisruptionBudget], now: Timestamp) -> Vec<Wait> {
    let mut waits: Vec<Wait> = pods.iter().filter_map(|pod| wait(pod, budgets, now)).collect();
    waits.sort();
    waits
}

/// What Cluster API does with a Pod, unless a MachineDrainRule decides otherwise.
enum Behavior {
    Skipped,
    Awaited,
    Evicted,
}

/// The filters of Cluster API's package `drain`, in their order.
fn behavior(pod: &Pod) -> Behavior {
    let is_of_daemon_set = pod
        .owner_references()
        .iter()
        .any(|owner| owner.kind == "DaemonSet" && owner.controller == Some(true));
    if (is_of_daemon_set && !has_ended(pod)) || pod.annotations().contains_key(MIRROR) {
        return Behavior::Skipped;
    }
    let label = pod.labels().get(DRAIN_LABEL).map(|value| value.replacen('-', "", 1).to_ascii_lowercase());
    match label.as_deref() {
        Some("skip") => Behavior::Skipped,
        Some("waitcompleted") => Behavior::Awaited,
        _ => Behavior::Evicted,
    }
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

fn has_ended(pod: &Pod) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// `None` for a Pod that no drain waits for.
fn wait(pod: &Pod, budgets: &[PodDisruptionBudget], now: Timestamp) -> Option<Wait> {
    let of_pod = |budget: Option<&PodDisruptionBudget>, why: String| {
        let owner = pod.owner_references().iter().find(|owner| owner.controller == Some(true));
        Some(Wait {
            pod: place(pod),
            budget: budget.map(place),
            why,
            owner: owner.map(|owner| format!("{}/{}", owner.kind, owner.name)),
            created: pod.metadata.creation_timestamp.as_ref().map(|time| time.0),
        })
    };
    match behavior(pod) {
        Behavior::Skipped => return None,
        Behavior::Awaited => {
            return of_pod(
                None,
                format!("not evicted; it is to end by itself, as its label {DRAIN_LABEL} says"),
            );
        }
        Behavior::Evicted => {}
    }
    if let Some(ends) = &pod.metadata.deletion_timestamp {
        return of_pod(None, terminating(pod, ends.0, now));
    }
    // The API server asks no budget before it evicts these.
    if has_ended(pod) {
        return of_pod(None, "it has ended, and can be evicted".to_owned());
    }
    if phase(pod) == "Pending" {
        return of_pod(None, "it has not started, and can be evicted".to_owned());
    }
    let mut matching = budgets.iter().filter(|budget| applies(budget, pod));
    let budget = match (matching.next(), matching.next()) {
        (None, _) => return of_pod(None, "it has no budget, and can be evicted".to_owned()),
        (Some(one), Some(other)) => {
            let why =
                format!("budget {} applies as well: Kubernetes evicts no Pod with several", place(other));
            return of_pod(Some(one), why);
        }
        (Some(budget), None) => budget,
    };
    let status = budget.status.clone().unwrap_or_default();
    let counted = format!("healthy Pods: {}, required: {}", status.current_healthy, status.desired_healthy);
    if status.disruptions_allowed > 0 {
        of_pod(None, format!("its budget {} allows the eviction: {counted}", place(budget)))
    } else if !is_ready(pod) && allows_unhealthy(budget) {
        of_pod(
            None,
            format!("it is not Ready, so that its budget {} allows the eviction: {counted}", place(budget)),
        )
    } else {
        of_pod(Some(budget), counted)
    }
}

/// Whether a budget lets Pods go that are not Ready (`unhealthyPodEvictionPolicy`, by default `IfHealthyBudget`).
fn allows_unhealthy(budget: &PodDisruptionBudget) -> bool {
    let policy = budget.spec.as_ref().and_then(|spec| spec.unhealthy_pod_eviction_policy.as_deref());
    let status = budget.status.clone().unwrap_or_default();
    let is_healthy = status.desired_healthy > 0 && status.current_healthy >= status.desired_healthy;
    policy == Some("AlwaysAllow") || is_healthy
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
