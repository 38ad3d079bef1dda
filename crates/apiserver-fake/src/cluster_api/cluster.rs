//! Clusters: owners of their infrastructure and control plane, and the order in which they go.

use crate::cluster_api::api::{Ownership, Wanted};
use crate::cluster_api::core::Core;
use crate::cluster_api::world::{World, is_deleting, is_paused, referred};
use crate::json::at;
use kube::ResourceExt;
use kube::core::DynamicObject;
use serde_json::{Value, json};

const FINALIZER: &str = "cluster.cluster.x-k8s.io";

pub(crate) async fn reconcile(core: &Core, world: &World, cluster: &DynamicObject) -> kube::Result<()> {
    if is_paused(cluster, Some(cluster)) {
        return Ok(());
    }
    let infrastructure = referred(&world.infra_clusters, cluster, &["spec", "infrastructureRef"]);
    let control_plane = referred(&world.control_planes, cluster, &["spec", "controlPlaneRef"]);
    if is_deleting(cluster) {
        return delete(core, world, cluster, infrastructure, control_plane).await;
    }
    core.ensure(cluster, Wanted { finalizer: Some(FINALIZER), ..Wanted::default() }).await?;
    let name = cluster.name_any();
    for object in infrastructure.into_iter().chain(control_plane) {
        let owner = Some((cluster, Ownership::Controller));
        core.ensure(object, Wanted { owner, cluster: Some(&name), ..Wanted::default() }).await?;
    }
    let done = |object: Option<&DynamicObject>, path: &[&str]| {
        object.is_some_and(|object| at(&object.data, path) == Some(&Value::Bool(true)))
    };
    let mut initialization = json!({});
    if done(infrastructure, &["status", "initialization", "provisioned"]) {
        crate::json::set(&mut initialization, &["infrastructureProvisioned"], json!(true));
    }
    if done(control_plane, &["status", "initialization", "controlPlaneInitialized"]) {
        crate::json::set(&mut initialization, &["controlPlaneInitialized"], json!(true));
    }
    if initialization != json!({}) {
        core.merge_status(cluster, &json!({ "initialization": initialization })).await?;
    }
    let endpoint = |object: &DynamicObject| {
        at(&object.data, &["spec", "controlPlaneEndpoint"])
            .filter(|endpoint| endpoint.get("host").is_some())
            .cloned()
    };
    let found = infrastructure.and_then(endpoint).or_else(|| control_plane.and_then(endpoint));
    if let Some(found) = found.filter(|_| endpoint(cluster).is_none()) {
        core.merge(cluster, &json!({ "spec": { "controlPlaneEndpoint": found } })).await?;
    }
    Ok(())
}

/// Pools, then what is left of Machines, then the control plane, then the infrastructure.
async fn delete(
    core: &Core,
    world: &World,
    cluster: &DynamicObject,
    infrastructure: Option<&DynamicObject>,
    control_plane: Option<&DynamicObject>,
) -> kube::Result<()> {
    let uid = cluster.uid();
    let ours = |object: &&DynamicObject| world.cluster_of(object).is_some_and(|found| found.uid() == uid);
    let pools: Vec<_> = world.pools.iter().filter(ours).collect();
    for pool in &pools {
        core.delete(pool).await?;
    }
    if !pools.is_empty() || world.machines.iter().any(|machine| ours(&machine)) {
        return Ok(());
    }
    match control_plane.or(infrastructure) {
        Some(object) => core.delete(object).await,
        None => core.release(cluster, FINALIZER).await,
    }
}
