//! What to do next about Nodes, as a pure function of what is seen; the rules for pods are in `pods`.
//!
//! Each rule reads the objects as they are and asks for one write, so a write that was lost, or that another
//! user undid, is requested again in the next round. [`Memory`] has only what objects do not show: when something
//! was first seen, and what has already been reported.

use super::model::{Action, Decided, Host, Join, Kubelet, KubeletOptions, Now, View};
use super::objects::{NOT_READY, UNREACHABLE, node_ready, provider_id, taints};
use super::{NodeSpec, pods};
use k8s_openapi::api::core::v1::{Node, Taint};
use kube::ResourceExt as _;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// What one instance is known to have gone through.
#[derive(Debug)]
struct Life {
    spec: NodeSpec,
    since: Instant,
    joined: bool,
    gone: Option<Instant>,
}

#[derive(Default)]
pub(super) struct Memory {
    lives: BTreeMap<String, Life>,
    pub(super) pods: pods::PodMemory,
}

impl Memory {
    /// Whether an instance that ran before does not run any more.
    pub(super) fn loses_an_instance(&self, running: &[NodeSpec]) -> bool {
        let running: BTreeSet<&str> = running.iter().map(|spec| spec.provider_id.as_str()).collect();
        self.lives.iter().any(|(id, life)| life.gone.is_none() && !running.contains(id.as_str()))
    }
}

pub(super) fn decide(memory: &mut Memory, view: &View<'_>, options: &KubeletOptions, now: Now) -> Decided {
    let mut decided = Decided::default();
    let nodes: BTreeMap<String, &Arc<Node>> = view.nodes.iter().map(|node| (node.name_any(), node)).collect();
    remember_instances(memory, view, &nodes, now.steady);
    forget_the_cleaned_up(memory, &nodes, view);

    let mut hosts = BTreeMap::new();
    for life in memory.lives.values_mut() {
        // A Node of the same name may belong to another instance: an address is used again.
        let node = nodes.get(&life.spec.name).copied();
        let node = node.filter(|node| provider_id(node) == Some(&life.spec.provider_id));
        let kubelet = match life.gone {
            Some(since) => Kubelet::Gone(since),
            None => Kubelet::Works,
        };
        match (node, kubelet) {
            (None, Kubelet::Works) => join(life, options, now.steady, &mut decided),
            (None, _) => {}
            (Some(node), Kubelet::Works) => keep_ready(life, node, options, &mut decided),
            (Some(node), Kubelet::Gone(since)) => {
                let lingered =
                    options.node_lingers.is_some_and(|time| now.steady.duration_since(since) >= time);
                if lingered && node.metadata.deletion_timestamp.is_none() {
                    decided.actions.push(Action::DeleteNode(node.name_any()));
                } else {
                    keep_unknown(node, &mut decided);
                }
            }
        }
        // A running instance takes its name from a terminated one.
        let host = Host { node, provider_id: &life.spec.provider_id, kubelet };
        if life.gone.is_none() || !hosts.contains_key(life.spec.name.as_str()) {
            hosts.insert(life.spec.name.as_str(), host);
        }
    }
    let surroundings = pods::Surroundings { hosts: &hosts, nodes: &nodes, options, now };
    pods::decide(&mut memory.pods, view.pods, &surroundings, &mut decided);
    decided
}

fn remember_instances(
    memory: &mut Memory,
    view: &View<'_>,
    nodes: &BTreeMap<String, &Arc<Node>>,
    now: Instant,
) {
    for spec in view.running {
        let life = memory.lives.entry(spec.provider_id.clone()).or_insert_with(|| Life {
            spec: spec.clone(),
            since: now,
            joined: false,
            gone: None,
        });
        // A kubelet registers once. If a user deletes the Node of a running instance it stays deleted; only if we
        // started after the kubelet did, its Node is how we know.
        life.joined |= nodes.get(&spec.name).is_some_and(|node| provider_id(node) == Some(&spec.provider_id));
    }
    let running: BTreeSet<&str> = view.running.iter().map(|spec| spec.provider_id.as_str()).collect();
    for (id, life) in &mut memory.lives {
        if running.contains(id.as_str()) {
            life.gone = None;
        } else {
            life.gone.get_or_insert(now);
        }
    }
}

/// Forgets instances that left nothing behind, so that a long demo does not grow.
fn forget_the_cleaned_up(memory: &mut Memory, nodes: &BTreeMap<String, &Arc<Node>>, view: &View<'_>) {
    let hosting: BTreeSet<&str> = view.pods.iter().filter_map(|pod| super::objects::bound_to(pod)).collect();
    memory.lives.retain(|_, life| {
        life.gone.is_none()
            || nodes.contains_key(&life.spec.name)
            || hosting.contains(life.spec.name.as_str())
    });
}

fn join(life: &Life, options: &KubeletOptions, now: Instant, decided: &mut Decided) {
    let due = match (options.join)(&life.spec) {
        Join::After(delay) => now.duration_since(life.since) >= delay,
        Join::Never => false,
    };
    if due && !life.joined {
        decided.actions.push(Action::CreateNode(life.spec.clone()));
    }
}

fn keep_ready(life: &Life, node: &Arc<Node>, options: &KubeletOptions, decided: &mut Decided) {
    if node_ready(node) != Some("True") {
        let version = life.spec.kubelet_version.as_ref().unwrap_or(&options.kubelet_version);
        decided.actions.push(Action::SetNodeReady {
            spec: life.spec.clone(),
            version: version.clone(),
            pods: options.pods_per_node,
        });
        return;
    }
    let mut left = taints(node).to_vec();
    left.retain(|taint| taint.key != NOT_READY && taint.key != UNREACHABLE);
    if left.len() < taints(node).len() {
        decided.actions.push(Action::SetTaints { node: Arc::clone(node), taints: left });
    }
}

fn keep_unknown(node: &Arc<Node>, decided: &mut Decided) {
    if node_ready(node) != Some("Unknown") {
        decided.actions.push(Action::SetNodeUnknown(node.name_any()));
    } else if !taints(node).iter().any(|taint| taint.key == UNREACHABLE) {
        let mut more = taints(node).to_vec();
        more.extend(["NoSchedule", "NoExecute"].map(|effect| Taint {
            key: UNREACHABLE.to_owned(),
            effect: effect.to_owned(),
            ..Taint::default()
        }));
        decided.actions.push(Action::SetTaints { node: Arc::clone(node), taints: more });
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
