//! MachinePools: what core does to a FooNodeConfig and a FooMachinePool, and which Machines it creates for FooMachines.

use crate::cluster_api::api::{Ownership, Wanted};
use crate::cluster_api::core::Core;
use crate::cluster_api::world::{INFRA_MACHINE, MACHINE, POOL, World, is_deleting, is_paused, referred};
use crate::json::{at, text, texts};
use foo_api::labels::must_format_value;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use kube::core::DynamicObject;
use serde_json::{Value, json};

const FINALIZER: &str = "machinepool.cluster.x-k8s.io";
const BOOTSTRAP_REFERENCE: [&str; 5] = ["spec", "template", "spec", "bootstrap", "configRef"];
const POOL_LABEL: &str = "cluster.x-k8s.io/pool-name";
const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

pub(crate) async fn reconcile(core: &Core, world: &World, pool: &DynamicObject) -> kube::Result<()> {
    let Some(cluster) = world.cluster_of(pool) else { return Ok(()) };
    if is_paused(pool, Some(cluster)) {
        return Ok(());
    }
    let reference = ["spec", "template", "spec", "infrastructureRef"];
    let infra = referred(&world.infra_pools, pool, &reference);
    let config = referred(&world.node_configs, pool, &BOOTSTRAP_REFERENCE);
    if is_deleting(pool) {
        // Both at once.
        for object in config.into_iter().chain(infra) {
            core.delete(object).await?;
        }
        return if config.is_none() && infra.is_none() {
            core.release(pool, FINALIZER).await
        } else {
            Ok(())
        };
    }
    let name = cluster.name_any();
    let owner = Some((cluster, Ownership::Plain));
    core.ensure(pool, Wanted { finalizer: Some(FINALIZER), owner, cluster: Some(&name) }).await?;
    if let Some(config) = config {
        bootstrap(core, pool, config, &name).await?;
    }
    let Some(infra) = infra else { return Ok(()) };
    let owner = Some((pool, Ownership::Controller));
    core.ensure(infra, Wanted { owner, cluster: Some(&name), ..Wanted::default() }).await?;
    if is_deleting(infra) {
        return Ok(());
    }
    let provisioned = at(&infra.data, &["status", "ready"]) == Some(&Value::Bool(true));
    if text(&infra.data, &["status", "infrastructureMachineKind"]).is_some() {
        machines(core, world, pool).await?;
    }
    let replicas = at(&infra.data, &["status", "replicas"]).and_then(Value::as_i64);
    if provisioned {
        provider_ids(core, world, pool, infra, replicas).await?;
    }
    status(core, world, pool, provisioned, replicas).await
}

/// Owns the bootstrap configuration, and takes the name of its Secret over once it is there.
async fn bootstrap(
    core: &Core,
    pool: &DynamicObject,
    config: &DynamicObject,
    cluster: &str,
) -> kube::Result<()> {
    let owner = Some((pool, Ownership::Controller));
    core.ensure(config, Wanted { owner, cluster: Some(cluster), ..Wanted::default() }).await?;
    let created = ["status", "initialization", "dataSecretCreated"];
    if is_deleting(config) || at(&config.data, &created) != Some(&Value::Bool(true)) {
        return Ok(());
    }
    let secret = text(&config.data, &["status", "dataSecretName"]);
    let known = text(&pool.data, &["spec", "template", "spec", "bootstrap", "dataSecretName"]);
    if secret.is_none() || secret == known {
        return Ok(());
    }
    let patch = json!({"spec": {"template": {"spec": {"bootstrap": {"dataSecretName": secret}}}}});
    core.merge(pool, &patch).await
}

/// One Machine for each FooMachine with the labels of the pool, being deleted or not.
async fn machines(core: &Core, world: &World, pool: &DynamicObject) -> kube::Result<()> {
    let Some(namespace) = pool.namespace() else { return Ok(()) };
    let api: Api<DynamicObject> = Api::namespaced_with(core.client.clone(), &namespace, &MACHINE.resource());
    for infra in world.infra_machines.iter().filter(|infra| belongs(infra, pool)) {
        let existing = world.machines.iter().filter(|machine| belongs(machine, pool)).find(|machine| {
            text(&machine.data, &["spec", "infrastructureRef", "name"]) == Some(&infra.name_any())
        });
        let name = existing.map_or_else(|| infra.name_any(), ResourceExt::name_any);
        let wanted = desired(pool, infra, &name, existing);
        if existing.is_some_and(|machine| already(machine, &wanted)) {
            continue;
        }
        let params = PatchParams::apply("machinepool-controller").force();
        api.patch(&name, &params, &Patch::Apply(&wanted)).await?;
    }
    Ok(())
}

fn belongs(object: &DynamicObject, pool: &DynamicObject) -> bool {
    let label = |key: &str| object.labels().get(key).map(String::as_str);
    object.namespace() == pool.namespace()
        && label(POOL_LABEL) == Some(&must_format_value(&pool.name_any()))
        && label(CLUSTER_LABEL) == text(&pool.data, &["spec", "clusterName"])
}

fn desired(
    pool: &DynamicObject,
    infra: &DynamicObject,
    name: &str,
    existing: Option<&DynamicObject>,
) -> Value {
    let cluster = text(&pool.data, &["spec", "clusterName"]).unwrap_or_default();
    let template = |field: &str| {
        at(&pool.data, &["spec", "template", "metadata", field]).cloned().unwrap_or_else(|| json!({}))
    };
    let mut labels = template("labels");
    crate::json::set(&mut labels, &[POOL_LABEL], json!(must_format_value(&pool.name_any())));
    crate::json::set(&mut labels, &[CLUSTER_LABEL], json!(cluster));
    let mut machine = json!({
        "apiVersion": MACHINE.api_version(),
        "kind": MACHINE.kind,
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": template("annotations"),
            "ownerReferences": [{
                "apiVersion": POOL.api_version(),
                "kind": POOL.kind,
                "name": pool.name_any(),
                "uid": pool.uid(),
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "clusterName": cluster,
            "bootstrap": { "dataSecretName": "" },
            "infrastructureRef": {
                "apiGroup": INFRA_MACHINE.group,
                "kind": INFRA_MACHINE.kind,
                "name": infra.name_any(),
            },
        },
    });
    if let Some(uid) = existing.and_then(ResourceExt::uid) {
        crate::json::set(&mut machine, &["metadata", "uid"], json!(uid));
    }
    machine
}

/// Whether applying would change nothing; saves the write, as core's cache of applies does.
fn already(machine: &DynamicObject, wanted: &Value) -> bool {
    let map = |field: &str| at(wanted, &["metadata", field]).and_then(Value::as_object);
    let has = |present: &std::collections::BTreeMap<String, String>, field: &str| {
        map(field)
            .into_iter()
            .flatten()
            .all(|(key, value)| present.get(key).map(String::as_str) == value.as_str())
    };
    let owner = at(wanted, &["metadata", "ownerReferences"]).and_then(|owners| owners.get(0));
    has(machine.labels(), "labels")
        && has(machine.annotations(), "annotations")
        && owner.and_then(|owner| text(owner, &["uid"])).is_some_and(|uid| {
            machine.owner_references().iter().any(|owner| owner.uid == uid && owner.controller == Some(true))
        })
}

/// Copies the list; an id that leaves it costs its Node.
async fn provider_ids(
    core: &Core,
    world: &World,
    pool: &DynamicObject,
    infra: &DynamicObject,
    replicas: Option<i64>,
) -> kube::Result<()> {
    let list = texts(&infra.data, &["spec", "providerIDList"]);
    if list.is_empty() && replicas.unwrap_or_default() != 0 {
        return Ok(());
    }
    let old = texts(&pool.data, &["spec", "providerIDList"]);
    if old == list {
        return Ok(());
    }
    core.merge(pool, &json!({ "spec": { "providerIDList": list } })).await?;
    for id in old.into_iter().filter(|id| !list.contains(id)) {
        let machine =
            world.machines.iter().find(|machine| text(&machine.data, &["spec", "providerID"]) == Some(id));
        let has_node = machine.is_some_and(|machine| at(&machine.data, &["status", "nodeRef"]).is_some());
        let mut memory = core.memory();
        if has_node && !memory.drains.may_terminate(id) {
            memory.retired.push(id.to_owned());
        }
        memory.deleted_nodes.insert(id.to_owned());
    }
    Ok(())
}

async fn status(
    core: &Core,
    world: &World,
    pool: &DynamicObject,
    provisioned: bool,
    replicas: Option<i64>,
) -> kube::Result<()> {
    let machines: Vec<_> = world.machines.iter().filter(|machine| belongs(machine, pool)).collect();
    let count = |kind: &str| machines.iter().filter(|machine| super::machine::is_true(machine, kind)).count();
    let node_refs: Vec<Value> =
        machines.iter().filter_map(|machine| at(&machine.data, &["status", "nodeRef"]).cloned()).collect();
    let wanted = at(&pool.data, &["spec", "replicas"]).and_then(Value::as_i64).unwrap_or(1);
    let ready = count("Ready");
    let managed =
        pool.annotations().get("cluster.x-k8s.io/replicas-managed-by").is_some_and(|by| by != "false");
    let phase = match () {
        () if !provisioned => "Pending",
        () if node_refs.is_empty() => "Provisioned",
        () if i64::try_from(ready).is_ok_and(|ready| ready == wanted) => "Running",
        () if managed => "Scaling",
        () if i64::try_from(ready).is_ok_and(|ready| ready > wanted) => "ScalingDown",
        () => "ScalingUp",
    };
    let mut status = json!({
        "initialization": { "infrastructureProvisioned": provisioned },
        "readyReplicas": ready,
        "availableReplicas": count("Available"),
        "upToDateReplicas": count("UpToDate"),
        "nodeRefs": node_refs,
        "phase": phase,
    });
    if let Some(replicas) = replicas.filter(|_| provisioned) {
        crate::json::set(&mut status, &["replicas"], json!(replicas));
    }
    core.merge_status(pool, &status).await
}
