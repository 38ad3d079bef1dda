//! What to do next about pods: the scheduler's, the kubelet's and the pod garbage collector's part.

use super::model::{Action, Decided, Host, Kubelet, KubeletOptions, Now, PodDeath, PodEnd};
use super::objects::{bound_to, evicted, fits, phase, pod_ready};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt as _;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A binding that the watch has not shown by then was refused; the pod is placed again.
const BINDING: Duration = Duration::from_secs(2);

/// What the objects do not show, by UID.
#[derive(Default)]
pub(super) struct PodMemory {
    bound: BTreeMap<String, Instant>,
    terminating: BTreeMap<String, Instant>,
    /// Bindings asked for, with the Node, that the watch has not shown yet.
    assumed: BTreeMap<String, (String, Instant)>,
    ended: BTreeSet<String>,
}

/// What pods live in.
pub(super) struct Surroundings<'a> {
    /// By name of the Node.
    pub(super) hosts: &'a BTreeMap<&'a str, Host<'a>>,
    pub(super) nodes: &'a BTreeMap<String, &'a Arc<Node>>,
    pub(super) options: &'a KubeletOptions,
    pub(super) now: Now,
}

pub(super) fn decide(
    memory: &mut PodMemory,
    pods: &[Arc<Pod>],
    around: &Surroundings<'_>,
    decided: &mut Decided,
) {
    forget_the_removed(memory, pods, around.now.steady);
    let mut room: BTreeMap<&str, usize> =
        around.hosts.keys().map(|&name| (name, around.options.pods_per_node)).collect();
    let mut unbound = Vec::new();
    for pod in pods.iter().filter(|pod| !matches!(phase(pod), "Succeeded" | "Failed")) {
        let uid = pod.uid().unwrap_or_default();
        if let Some(node) = bound_to(pod) {
            memory.assumed.remove(&uid);
            take_place(&mut room, node);
            on_node(memory, pod, &uid, node, around, decided);
        } else if let Some((node, _)) = memory.assumed.get(&uid) {
            take_place(&mut room, node);
        } else if pod.metadata.deletion_timestamp.is_none() {
            unbound.push((uid, pod));
        }
    }
    // In a fixed order, so that the same pods always land on the same Nodes.
    unbound.sort_by_key(|(_, pod)| (pod.creation_timestamp(), pod.namespace(), pod.name_any()));
    for (uid, pod) in unbound {
        place(memory, pod, uid, around, &mut room, decided);
    }
}

fn forget_the_removed(memory: &mut PodMemory, pods: &[Arc<Pod>], now: Instant) {
    let present: BTreeSet<String> = pods.iter().filter_map(|pod| pod.uid()).collect();
    memory.bound.retain(|uid, _| present.contains(uid));
    memory.terminating.retain(|uid, _| present.contains(uid));
    memory.ended.retain(|uid| present.contains(uid));
    memory.assumed.retain(|uid, (_, since)| present.contains(uid) && now.duration_since(*since) < BINDING);
}

fn take_place(room: &mut BTreeMap<&str, usize>, node: &str) {
    if let Some(left) = room.get_mut(node) {
        *left = left.saturating_sub(1);
    }
}

/// A pod that is bound to a Node.
fn on_node(
    memory: &mut PodMemory,
    pod: &Arc<Pod>,
    uid: &str,
    node: &str,
    around: &Surroundings<'_>,
    decided: &mut Decided,
) {
    let lost = if pod.metadata.deletion_timestamp.is_some() { PodEnd::CutShort } else { PodEnd::Lost };
    match around.hosts.get(node) {
        Some(host) => match host.kubelet {
            Kubelet::Works => run(memory, pod, uid, host.provider_id, around, decided),
            Kubelet::Gone(since) => {
                report(memory, pod, uid, Some(host.provider_id), lost, around, decided);
                let terminated_for = around.now.steady.duration_since(since);
                if host.node.is_none()
                    || around.options.node_lingers.is_some_and(|time| terminated_for >= time)
                {
                    decided.actions.push(Action::RemovePod(Arc::clone(pod)));
                } else {
                    set_unready(pod, decided);
                }
            }
        },
        // Of an earlier instance, or created by hand: no kubelet here runs that pod.
        None if around.nodes.contains_key(node) => {}
        None => {
            report(memory, pod, uid, None, lost, around, decided);
            decided.actions.push(Action::RemovePod(Arc::clone(pod)));
        }
    }
}

fn set_unready(pod: &Arc<Pod>, decided: &mut Decided) {
    if pod_ready(pod) {
        decided.actions.push(Action::SetPodUnready(Arc::clone(pod)));
    }
}

/// A pod whose kubelet works.
fn run(
    memory: &mut PodMemory,
    pod: &Arc<Pod>,
    uid: &str,
    provider_id: &str,
    around: &Surroundings<'_>,
    decided: &mut Decided,
) {
    let now = around.now.steady;
    if pod.metadata.deletion_timestamp.is_some() {
        let since = *memory.terminating.entry(uid.to_owned()).or_insert(now);
        if now.duration_since(since) >= around.options.pod_shutdown {
            let end = if evicted(pod) { PodEnd::Evicted } else { PodEnd::Deleted };
            report(memory, pod, uid, Some(provider_id), end, around, decided);
            decided.actions.push(Action::RemovePod(Arc::clone(pod)));
        }
        return;
    }
    let since = *memory.bound.entry(uid.to_owned()).or_insert(now);
    if !pod_ready(pod) && now.duration_since(since) >= around.options.pod_startup {
        decided.actions.push(Action::SetPodRunning(Arc::clone(pod)));
    }
}

/// Once for each pod.
fn report(
    memory: &mut PodMemory,
    pod: &Pod,
    uid: &str,
    provider_id: Option<&str>,
    end: PodEnd,
    around: &Surroundings<'_>,
    decided: &mut Decided,
) {
    if !memory.ended.insert(uid.to_owned()) {
        return;
    }
    let controller = pod.owner_references().iter().find(|owner| owner.controller == Some(true));
    decided.deaths.push(PodDeath {
        namespace: pod.namespace().unwrap_or_default(),
        name: pod.name_any(),
        uid: uid.to_owned(),
        node: bound_to(pod).unwrap_or_default().to_owned(),
        provider_id: provider_id.map(str::to_owned),
        controller: controller.map(|owner| owner.kind.clone()),
        end,
        at: around.now.wall,
    });
}

/// Onto the Node with the most room that takes it.
fn place(
    memory: &mut PodMemory,
    pod: &Arc<Pod>,
    uid: String,
    around: &Surroundings<'_>,
    room: &mut BTreeMap<&str, usize>,
    decided: &mut Decided,
) {
    let candidates = around.hosts.iter().filter_map(|(&name, host)| {
        let left = room.get(name).copied().filter(|&left| left > 0)?;
        (host.kubelet == Kubelet::Works && fits(pod, host.node?)).then_some((left, name))
    });
    let Some((_, node)) = candidates.max_by_key(|&(left, name)| (left, Reverse(name))) else { return };
    take_place(room, node);
    memory.assumed.insert(uid, (node.to_owned(), around.now.steady));
    decided.actions.push(Action::Bind { pod: Arc::clone(pod), node: node.to_owned() });
}
