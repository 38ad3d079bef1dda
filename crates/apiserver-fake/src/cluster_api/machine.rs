//! Machines: their conditions, and the order of their deletion.

use crate::cluster_api::api::{Ownership, Wanted, has_finalizer};
use crate::cluster_api::core::{Core, NodeState};
use crate::cluster_api::drain::{Progress, SkipReason};
use crate::cluster_api::world::{World, is_deleting, is_paused, named, referred};
use crate::json::{at, text};
use foo_api::names::PAUSED_ANNOTATION;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use kube::core::DynamicObject;
use serde_json::{Map, Value, json};
use std::time::Duration;

const FINALIZER: &str = "machine.cluster.x-k8s.io";
const EXCLUDE: &str = "machine.cluster.x-k8s.io/exclude-node-draining";

pub(crate) async fn reconcile(core: &Core, world: &World, machine: &DynamicObject) -> kube::Result<()> {
    let cluster = world.cluster_of(machine);
    let infra = text(&machine.data, &["spec", "infrastructureRef", "name"])
        .and_then(|name| named(&world.infra_machines, machine, name));
    note_loss(core, machine, infra, cluster);
    if is_paused(machine, cluster) {
        if !is_deleting(machine) {
            // Before it looks whether the Machine is paused, as core does.
            core.ensure(machine, Wanted { finalizer: Some(FINALIZER), ..Wanted::default() }).await?;
        }
        return report_pause(core, machine).await;
    }
    if is_deleting(machine) {
        return delete(core, world, machine, infra, cluster).await;
    }
    let cluster_name = cluster.map(ResourceExt::name_any);
    core.ensure(
        machine,
        Wanted { finalizer: Some(FINALIZER), cluster: cluster_name.as_deref(), ..Wanted::default() },
    )
    .await?;
    let Some(infra) = infra else { return Ok(()) };
    core.memory().drains.saw_infrastructure(&machine.uid().unwrap_or_default());
    let owner = Some((machine, Ownership::Controller));
    core.ensure(infra, Wanted { owner, cluster: cluster_name.as_deref(), ..Wanted::default() }).await?;
    let provider_id = text(&infra.data, &["spec", "providerID"]);
    let provisioned =
        at(&infra.data, &["status", "initialization", "provisioned"]) == Some(&Value::Bool(true));
    let known = text(&machine.data, &["spec", "providerID"]);
    if let Some(id) = provider_id.filter(|id| provisioned && known != Some(id)) {
        core.merge(machine, &json!({ "spec": { "providerID": id } })).await?;
    }
    write_status(core, machine, Some(infra), known, None).await
}

/// Detects FooMachines that are deleted before their Machine was drained.
fn note_loss(
    core: &Core,
    machine: &DynamicObject,
    infra: Option<&DynamicObject>,
    cluster: Option<&DynamicObject>,
) {
    let uid = machine.uid().unwrap_or_default();
    let mut memory = core.memory();
    if let Some(id) = text(&machine.data, &["spec", "providerID"]) {
        memory.drains.know(&uid, &machine.name_any(), id, has_node(machine));
    }
    if infra.is_none() && memory.drains.had_infrastructure(&uid) {
        let excuse = excuse(machine, cluster);
        memory.drains.lost_infrastructure(&uid, excuse);
    }
}

fn has_node(machine: &DynamicObject) -> bool {
    at(&machine.data, &["status", "nodeRef"]).is_some()
}

/// Why a Machine needs no drain, whatever its FooMachine does.
fn excuse(machine: &DynamicObject, cluster: Option<&DynamicObject>) -> Option<SkipReason> {
    if cluster.is_none_or(is_deleting) {
        Some(SkipReason::ClusterDeleting)
    } else if machine.annotations().contains_key(EXCLUDE) {
        Some(SkipReason::Excluded)
    } else if machine.annotations().contains_key(PAUSED_ANNOTATION) {
        Some(SkipReason::Paused)
    } else if !has_node(machine) {
        Some(SkipReason::NoNode)
    } else {
        None
    }
}

async fn delete(
    core: &Core,
    world: &World,
    machine: &DynamicObject,
    infra: Option<&DynamicObject>,
    cluster: Option<&DynamicObject>,
) -> kube::Result<()> {
    if !has_finalizer(machine, FINALIZER) {
        return Ok(());
    }
    let hook = |prefix: &str| machine.annotations().keys().any(|key| key.starts_with(prefix));
    let provider_id = text(&machine.data, &["spec", "providerID"]);
    let waiting = async |reason: &str| write_status(core, machine, infra, provider_id, Some(reason)).await;
    if hook("pre-drain.delete.hook.machine.cluster.x-k8s.io/") {
        return waiting("WaitingForPreDrainHook").await;
    }
    let uid = machine.uid().unwrap_or_default();
    let skip = skip_drain(core, world, machine, infra, cluster);
    let timeout = at(&machine.data, &["spec", "deletion", "nodeDrainTimeoutSeconds"])
        .and_then(Value::as_u64)
        .filter(|seconds| *seconds > 0)
        .map(Duration::from_secs);
    let progress = core.memory().drains.advance(&uid, &machine.name_any(), provider_id, skip, timeout);
    if progress == Progress::Draining {
        return waiting("DrainingNode").await;
    }
    if hook("pre-terminate.delete.hook.machine.cluster.x-k8s.io/") {
        return waiting("WaitingForPreTerminateHook").await;
    }
    if let Some(infra) = infra {
        core.delete(infra).await?;
        return waiting("WaitingForInfrastructureDeletion").await;
    }
    if let Some(id) = provider_id {
        core.memory().deleted_nodes.insert(id.to_owned());
    }
    core.release(machine, FINALIZER).await
}

/// Why core does not drain this Machine now; nothing if it does.
fn skip_drain(
    core: &Core,
    world: &World,
    machine: &DynamicObject,
    infra: Option<&DynamicObject>,
    cluster: Option<&DynamicObject>,
) -> Option<SkipReason> {
    let provider_id = text(&machine.data, &["spec", "providerID"]).unwrap_or_default();
    let control_plane =
        cluster.and_then(|cluster| referred(&world.control_planes, cluster, &["spec", "controlPlaneRef"]));
    let external = ["status", "externalManagedControlPlane"];
    if let Some(excuse) = excuse(machine, cluster) {
        Some(excuse)
    } else if core.memory().deleted_nodes.contains(provider_id) {
        Some(SkipReason::NodeDeleted)
    } else if control_plane.is_some_and(|object| at(&object.data, &external) != Some(&Value::Bool(true))) {
        Some(SkipReason::NoControlPlane)
    } else if infra.is_none_or(is_deleting) {
        Some(SkipReason::InfrastructureDeleting)
    } else {
        None
    }
}

/// Whether a condition of a Machine is True.
pub(crate) fn is_true(machine: &DynamicObject, kind: &str) -> bool {
    status_of(machine, kind) == Some("True")
}

fn find<'a>(machine: &'a DynamicObject, kind: &str) -> Option<&'a Value> {
    at(&machine.data, &["status", "conditions"])?
        .as_array()?
        .iter()
        .find(|condition| text(condition, &["type"]) == Some(kind))
}

fn status_of<'a>(machine: &'a DynamicObject, kind: &str) -> Option<&'a str> {
    text(find(machine, kind)?, &["status"])
}

/// Node, conditions and phase.
async fn write_status(
    core: &Core,
    machine: &DynamicObject,
    infra: Option<&DynamicObject>,
    provider_id: Option<&str>,
    deleting: Option<&str>,
) -> kube::Result<()> {
    let provisioned = infra.is_some_and(|infra| {
        at(&infra.data, &["status", "initialization", "provisioned"]) == Some(&Value::Bool(true))
    });
    let node = provider_id.map_or(NodeState::Absent, |id| core.node(id));
    let joined = has_node(machine) || node != NodeState::Absent;
    let (node_ready, why) = match (node, joined) {
        (NodeState::Ready, _) => ("True", "NodeReady"),
        (NodeState::NotReady, _) => ("False", "NodeNotReady"),
        (NodeState::Absent, true) => ("False", "NodeDeleted"),
        (NodeState::Absent, false) => ("Unknown", "InspectionFailed"),
    };
    let conditions = conditions(core, machine, provisioned, (node_ready, why), deleting);
    let phase = match () {
        () if deleting.is_some() => "Deleting",
        () if joined => "Running",
        () if provisioned => "Provisioned",
        () => "Provisioning",
    };
    let mut status = Map::new();
    status.insert("phase".to_owned(), json!(phase));
    status.insert("conditions".to_owned(), json!(conditions));
    if provisioned {
        status.insert("initialization".to_owned(), json!({ "infrastructureProvisioned": true }));
    }
    if let Some(id) = provider_id.filter(|_| joined) {
        let name = format!("node-{}", id.rsplit('/').next().unwrap_or(id));
        status.insert("nodeRef".to_owned(), json!({ "name": name }));
    }
    apply_status(core, machine, Value::Object(status)).await
}

/// The conditions of a Machine, given status and reason of those about its Node. A condition whose status stays keeps
/// its time.
fn conditions(
    core: &Core,
    machine: &DynamicObject,
    provisioned: bool,
    (node_ready, why): (&str, &str),
    deleting: Option<&str>,
) -> Vec<Value> {
    let truth = |yes: bool| if yes { "True" } else { "False" };
    let healthy = status_of(machine, "HealthCheckSucceeded") != Some("False");
    let ready = node_ready == "True" && provisioned && healthy && deleting.is_none();
    let facts = [
        ("InfrastructureReady", truth(provisioned), if provisioned { "Ready" } else { "NotReady" }),
        ("NodeReady", node_ready, why),
        ("NodeHealthy", node_ready, why),
        ("Ready", truth(ready), if ready { "Ready" } else { "NotReady" }),
        ("Available", truth(ready), if ready { "Available" } else { "NotReady" }),
        ("UpToDate", truth(deleting.is_none()), if deleting.is_none() { "UpToDate" } else { "Deleting" }),
        ("Paused", "False", "NotPaused"),
        ("Deleting", truth(deleting.is_some()), deleting.unwrap_or("NotDeleting")),
    ];
    let now = core.now();
    facts
        .into_iter()
        .map(|(kind, status, reason)| {
            let since = find(machine, kind).filter(|old| text(old, &["status"]) == Some(status));
            let since = since.and_then(|old| text(old, &["lastTransitionTime"])).unwrap_or(&now);
            json!({ "type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": since })
        })
        .collect()
}

/// Reports that a Machine is paused; the rest of its status stays.
async fn report_pause(core: &Core, machine: &DynamicObject) -> kube::Result<()> {
    if is_true(machine, "Paused") {
        return Ok(());
    }
    let mut status = machine.data.get("status").cloned().unwrap_or_else(|| json!({}));
    let others = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut conditions: Vec<Value> =
        others.into_iter().filter(|condition| text(condition, &["type"]) != Some("Paused")).collect();
    conditions.push(json!({
        "type": "Paused", "status": "True", "reason": "Paused", "message": "", "lastTransitionTime": core.now(),
    }));
    if let Some(fields) = status.as_object_mut() {
        fields.insert("conditions".to_owned(), json!(conditions));
    }
    apply_status(core, machine, status).await
}

/// Applies a status unless the Machine has it.
async fn apply_status(core: &Core, machine: &DynamicObject, status: Value) -> kube::Result<()> {
    if contains(machine.data.get("status").unwrap_or(&Value::Null), &status) {
        return Ok(());
    }
    let applied = json!({
        "apiVersion": machine.types.as_ref().map(|types| types.api_version.clone()),
        "kind": machine.types.as_ref().map(|types| types.kind.clone()),
        "status": status,
    });
    if let Some(api) = core.api(machine) {
        let params = PatchParams::apply("capi-machine").force();
        match api.patch_status(&machine.name_any(), &params, &Patch::Apply(&applied)).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            result => drop(result?),
        }
    }
    Ok(())
}

/// Whether a status has everything requested; conditions are found by type.
fn contains(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            wanted.iter().all(|(name, value)| live.get(name).is_some_and(|live| contains(live, value)))
        }
        (Value::Array(live), Value::Array(wanted)) => wanted.iter().all(|item| live.contains(item)),
        _ => live == wanted,
    }
}
