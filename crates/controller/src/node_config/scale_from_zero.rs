//! Labels, taints and the number of pods of Nodes that do not exist yet.
//!
//! cluster-autoscaler reads capacity from the FooMachinePool, and these three only from annotations of the MachinePool
//! (cluster-autoscaler, provider `clusterapi`, "Scale from zero support"). A MachinePool that it scales gets labels and
//! taints from the FooNodeConfig, and the number of pods from it or from the instance types. An annotation that a user
//! or a topology wrote stays: each is applied without `force`, by a field manager of its own, so that one conflict does
//! not keep the others from being written.

use crate::apply;
use foo_api::FooNodeConfigSpec;
use foo_api::capi::MachinePool;
use foo_api::names::{self, managers};
use foo_api::node_config::{Taint, TaintEffect};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// An annotation, the field manager that applies it, and its value.
pub(super) type Fact = (&'static str, &'static str, Option<String>);

/// How many values are remembered at most.
const REMEMBERED: usize = 10_000;

/// The present value of an annotation, and the one that was applied.
type Sent = (Option<String>, Option<String>);

/// What was sent last, by uid of the MachinePool and annotation: the present value, and the one that was applied. As
/// long as both are the same nothing is sent again: another manager owns the annotation.
#[derive(Debug, Default)]
pub(super) struct ScaleFromZero {
    sent: Mutex<HashMap<(String, &'static str), Sent>>,
}

impl ScaleFromZero {
    /// Applies what differs. Nothing is written to a MachinePool that cluster-autoscaler does not scale and that has
    /// none of them. What fails is tried again by the next pass: Nodes do not wait for it.
    pub(super) async fn publish(&self, client: &Client, pool: &MachinePool, facts: [Fact; 3]) {
        let uid = pool.uid().unwrap_or_default();
        let api: Api<MachinePool> = Api::namespaced(client.clone(), &pool.namespace().unwrap_or_default());
        for (annotation, manager, wanted) in facts {
            let wanted = wanted.filter(|_| is_scaled(pool));
            let present = pool.annotations().get(annotation).cloned();
            let key = (uid.clone(), annotation);
            if present == wanted {
                self.forget(&key);
                continue;
            }
            if !self.is_news(key.clone(), (present, wanted.clone())) {
                continue;
            }
            let annotations = wanted.map_or_else(|| json!({}), |value| json!({ annotation: value }));
            let fields = json!({"metadata": {"uid": uid, "annotations": annotations}});
            match apply::apply_unless_owned(&api, &pool.name_any(), manager, fields).await {
                Ok(_) => {}
                Err(error) if apply::is_conflict(&error) || apply::is_not_found(&error) => {
                    tracing::debug!(%error, pool = pool.name_any(), annotation, "the annotation has another owner");
                }
                Err(error) => {
                    self.forget(&key);
                    tracing::warn!(%error, pool = pool.name_any(), annotation, "could not write for cluster-autoscaler");
                }
            }
        }
    }

    fn is_news(&self, key: (String, &'static str), values: (Option<String>, Option<String>)) -> bool {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of deleted MachinePools stay: without all of them each annotation is sent once more.
        if sent.len() >= REMEMBERED {
            sent.clear();
        }
        let before = sent.insert(key, values.clone());
        before != Some(values)
    }

    fn forget(&self, key: &(String, &'static str)) {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// Whether cluster-autoscaler recognises the MachinePool as a node group.
fn is_scaled(pool: &MachinePool) -> bool {
    [names::AUTOSCALER_MIN_ANNOTATION, names::AUTOSCALER_MAX_ANNOTATION]
        .iter()
        .any(|name| pool.annotations().contains_key(*name))
}

/// What is known of new Nodes. `max_pods` is the most Pods that one can have.
pub(super) fn facts(spec: &FooNodeConfigSpec, max_pods: Option<i64>) -> [Fact; 3] {
    let joined = |all: Vec<String>| (!all.is_empty()).then(|| all.join(","));
    let labels = spec.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    [
        (names::AUTOSCALER_LABELS_ANNOTATION, managers::NODE_LABELS, joined(labels)),
        (
            names::AUTOSCALER_TAINTS_ANNOTATION,
            managers::NODE_TAINTS,
            joined(spec.taints.iter().map(taint).collect()),
        ),
        (names::AUTOSCALER_MAX_PODS_ANNOTATION, managers::NODE_PODS, max_pods.map(|pods| pods.to_string())),
    ]
}

/// `key=value:effect`; without a value `key:effect`.
fn taint(Taint { key, value, effect }: &Taint) -> String {
    let effect = match effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    };
    let value = if value.is_empty() { String::new() } else { format!("={value}") };
    format!("{key}{value}:{effect}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_written_as_cluster_autoscaler_reads_them() {
        let spec = serde_json::from_value(json!({
            "family": "AL2023", "labels": {"team": "a", "example.com/role": "batch"},
            "taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}, {"key": "gpu", "effect": "NoExecute"}],
        }))
        .unwrap();
        let values = facts(&spec, Some(58)).map(|(annotation, _, value)| (annotation, value.unwrap()));
        let prefix = "capacity.cluster-autoscaler.kubernetes.io";
        assert_eq!(
            values.map(|(annotation, value)| format!("{annotation}: {value}")),
            [
                format!("{prefix}/labels: example.com/role=batch,team=a"),
                format!("{prefix}/taints: dedicated=batch:NoSchedule,gpu:NoExecute"),
                format!("{prefix}/maxPods: 58"),
            ]
        );
        let plain = serde_json::from_value(json!({"family": "AL2023"})).unwrap();
        assert!(facts(&plain, None).iter().all(|(_, _, value)| value.is_none()));
    }
}
