//! The clusters of a region as the page shows them.

use crate::core::Region;
use crate::core::eks::cluster::Cluster;
use foo_model::eks::UpdateStatus;
use serde_json::{Value, json};

/// Updates of a cluster that are shown, the latest ones.
const UPDATES: usize = 5;

/// All clusters, as they are now.
pub(super) fn clusters(region: &Region) -> Vec<Value> {
    region.eks.clusters().map(|cluster| of_cluster(region, cluster)).collect()
}

fn of_cluster(region: &Region, cluster: &Cluster) -> Value {
    let (status, mode): (&str, &str) = (cluster.status.into(), cluster.authentication.into());
    let updates: Vec<Value> = cluster
        .updates
        .iter()
        .rev()
        .take(UPDATES)
        .map(|it| {
            let (kind, status): (&str, &str) = (it.kind.into(), it.status.into());
            json!({ "id": kind, "words": status, "trouble": it.status == UpdateStatus::Failed })
        })
        .collect();
    let addons: Vec<Value> = cluster
        .addons
        .values()
        .map(|it| {
            let (status, issues) = region.addon_status(cluster, it);
            let status: &str = status.into();
            json!({ "id": it.name, "words": format!("{}, {status}", it.spec.version), "trouble": !issues.is_empty() })
        })
        .collect();
    let entries: Vec<Value> = cluster
        .entries
        .values()
        .map(|it| {
            let kind: &str = it.kind.into();
            json!({ "id": it.principal, "words": format!("{kind}, {} policies", it.policies.len()) })
        })
        .collect();
    let pods: Vec<Value> = cluster
        .pod_identities
        .values()
        .map(|it| json!({ "id": format!("{}/{}", it.namespace, it.service_account), "words": it.role }))
        .collect();
    json!({
        "id": cluster.name,
        "status": status,
        "version": cluster.version,
        "mode": mode,
        "health": cluster.health.iter().map(|it| format!("{}: {}", it.code, it.message)).collect::<Vec<_>>(),
        "updates": updates,
        "addons": addons,
        "entries": entries,
        "pods": pods,
    })
}
