//! Asks the manager by FooPlans. It responds in their status.

use super::files::{Manifest, Manifests, Planned};
use super::{Plan, Plans};
use crate::access::{FIELD_MANAGER, Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use crate::refused::{Request, refused, resource};
use anyhow::{Result, anyhow, bail};
use foo_api::capi::MachinePool;
use foo_api::plan::GivenDurations;
use foo_api::{FooMachinePool, FooPlan, FooPlanSpec, FooPlanStatus};
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt as _};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// What `kubectl apply` without `--server-side` applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How long the manager may take. Its own timeout is shorter.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two reads of the status.
const PERIOD: Duration = Duration::from_millis(500);

/// Objects of one pool, by their kind.
type Objects = BTreeMap<Planned, Value>;

/// The plans of pools as they would be with these manifests applied.
///
/// # Errors
/// The API server refuses a manifest, a right is missing, or the manager does not respond.
pub async fn of_files(
    reads: &Reads<'_>,
    manifests: &Manifests,
    field_manager: &str,
    durations: GivenDurations,
) -> Result<Plans> {
    for other in &manifests.others {
        reads.warn(format!("{other} is not planned: only FooMachinePools and MachinePools are"));
    }
    if manifests.planned.is_empty() {
        bail!("the files have no FooMachinePool and no MachinePool");
    }
    let mut pools: BTreeMap<(String, String), Objects> = BTreeMap::new();
    for manifest in &manifests.planned {
        let namespace = manifest.namespace.as_deref().or(reads.namespace);
        let namespace = namespace.ok_or_else(|| {
            anyhow!("{} has no namespace in its file, and --all-namespaces names none", manifest.name)
        })?;
        let object = dry_run(reads, manifest, namespace, field_manager).await?;
        let Some(pool) = pool_of(manifest.kind, &object) else {
            let name = &manifest.name;
            reads.warn(format!("MachinePool {name} is not planned: its infrastructure is no FooMachinePool"));
            continue;
        };
        if pools
            .entry((namespace.to_owned(), pool.clone()))
            .or_default()
            .insert(manifest.kind, object)
            .is_some()
        {
            bail!("the files have two objects of one kind for FooMachinePool {pool}");
        }
    }
    asked_for(reads, pools, durations).await
}

/// The plans of pools as they are in the cluster: what the manager would still do.
///
/// # Errors
/// A pool does not exist, a right is missing, or the manager does not respond.
pub async fn of_cluster(reads: &Reads<'_>, asked: &[Asked], durations: GivenDurations) -> Result<Plans> {
    let names = of_kind(asked, Kind::Pool).unwrap_or_default();
    let pools = meant(reads.list::<FooMachinePool>(None).await?, reads.namespace, &names)?;
    let mut objects = BTreeMap::new();
    for pool in pools {
        if pool.metadata.deletion_timestamp.is_some() {
            reads.warn(format!("FooMachinePool {} is not planned: it is being deleted", pool.name_any()));
            continue;
        }
        let key = (pool.namespace().unwrap_or_default(), pool.name_any());
        let mut object = serde_json::to_value(&pool)?;
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), FooMachinePool::api_version(&()).into());
            fields.insert("kind".to_owned(), FooMachinePool::kind(&()).into());
        }
        objects.insert(key, Objects::from([(Planned::Pool, without_managed_fields(object))]));
    }
    asked_for(reads, objects, durations).await
}

/// The object as the API server would store it, after defaults, admission and validation. Nothing is stored.
///
/// What kubectl applied before and the manifest does not have any more is removed, as `kubectl apply` does it: of an object
/// that was applied on the client's side by the annotation that kubectl left, otherwise by the field manager.
async fn dry_run(
    reads: &Reads<'_>,
    manifest: &Manifest,
    namespace: &str,
    field_manager: &str,
) -> Result<Value> {
    let (kind, resource) = match manifest.kind {
        Planned::Pool => (erased::<FooMachinePool>(manifest), resource::<FooMachinePool>()),
        Planned::MachinePool => (erased::<MachinePool>(manifest), resource::<MachinePool>()),
    };
    let request = |verb| Request { verb, resource: &resource, namespace: Some(namespace) };
    let api: Api<DynamicObject> = Api::namespaced_with(reads.client.clone(), namespace, &kind);
    let mut object = manifest.object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        // Those of an object that was read; the API server refuses them in an apply.
        metadata.remove("managedFields");
    }
    let live = api.get_opt(&manifest.name).await.map_err(|error| refused(request("get"), error))?;
    let applied = live.and_then(|live| live.annotations().get(LAST_APPLIED).cloned());
    let applied: Option<Value> = applied.and_then(|text| serde_json::from_str(&text).ok());
    let patched = if let Some(applied) = applied {
        remove_absent(&applied, &mut object);
        let params = PatchParams {
            dry_run: true,
            field_manager: Some(field_manager.to_owned()),
            ..PatchParams::default()
        };
        api.patch(&manifest.name, &params, &Patch::Merge(&object)).await
    } else {
        let params = PatchParams { dry_run: true, ..PatchParams::apply(field_manager).force() };
        api.patch(&manifest.name, &params, &Patch::Apply(&object)).await
    };
    let patched = patched.map_err(|error| refused(request("patch"), error))?;
    Ok(without_managed_fields(serde_json::to_value(patched)?))
}

/// Adds a null for each field that was applied and is not in the manifest: in a merge patch that removes it.
fn remove_absent(applied: &Value, manifest: &mut Value) {
    let (Value::Object(applied), Value::Object(manifest)) = (applied, manifest) else { return };
    for (name, before) in applied {
        match manifest.get_mut(name) {
            Some(now) => remove_absent(before, now),
            None => drop(manifest.insert(name.clone(), Value::Null)),
        }
    }
}

/// The resource of a kind in the version of the manifest.
fn erased<K: Resource<DynamicType = ()>>(manifest: &Manifest) -> ApiResource {
    let mut erased = ApiResource::erase::<K>(&());
    if let Some(Value::String(api_version)) = manifest.object.get("apiVersion") {
        erased.api_version.clone_from(api_version);
        if let Some((_, version)) = api_version.split_once('/') {
            version.clone_into(&mut erased.version);
        }
    }
    erased
}

fn without_managed_fields(mut object: Value) -> Value {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    object
}

/// The name of the FooMachinePool that an object is about.
fn pool_of(kind: Planned, object: &Value) -> Option<String> {
    let name = match kind {
        Planned::Pool => object.pointer("/metadata/name"),
        Planned::MachinePool => {
            let reference = object.pointer("/spec/template/spec/infrastructureRef");
            let is_pool = |reference: &&Value| reference["kind"] == FooMachinePool::kind(&()).as_ref();
            reference.filter(is_pool).and_then(|reference| reference.get("name"))
        }
    };
    name.and_then(Value::as_str).map(str::to_owned)
}

async fn asked_for(
    reads: &Reads<'_>,
    pools: BTreeMap<(String, String), Objects>,
    durations: GivenDurations,
) -> Result<Plans> {
    let (mut plans, mut failures) = (Vec::new(), Vec::new());
    for ((namespace, pool), objects) in pools {
        match planned(reads, &namespace, objects, durations).await? {
            FooPlanStatus { pool: Some(plan), .. } => plans.push(Plan { namespace, plan }),
            FooPlanStatus { error, .. } => {
                let error = error.unwrap_or_else(|| "the manager gave no reason".to_owned());
                failures.push(format!("no plan for FooMachinePool {namespace}/{pool}: {error}"));
            }
        }
    }
    Ok(Plans { plans, failures })
}

/// Creates a FooPlan, waits for its status, and deletes it.
async fn planned(
    reads: &Reads<'_>,
    namespace: &str,
    objects: Objects,
    durations: GivenDurations,
) -> Result<FooPlanStatus> {
    let api: Api<FooPlan> = Api::namespaced(reads.client.clone(), namespace);
    let resource = resource::<FooPlan>();
    let request = |verb| Request { verb, resource: &resource, namespace: Some(namespace) };
    let durations = Some(durations).filter(|durations| *durations != GivenDurations::default());
    let spec = FooPlanSpec { objects: objects.into_values().collect(), durations };
    let mut plan = FooPlan::new("", spec);
    plan.metadata.name = None;
    plan.metadata.generate_name = Some("kubectl-foo-".to_owned());
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let created = api.create(&params, &plan).await.map_err(|error| refused(request("create"), error))?;
    let name = created.name_any();
    let status = async {
        let ends = Instant::now() + PATIENCE;
        while Instant::now() < ends {
            let read = api.get(&name).await.map_err(|error| refused(request("get"), error))?;
            if let Some(status) = read.status {
                return Ok(status);
            }
            sleep(PERIOD).await;
        }
        bail!(
            "the manager has not responded to FooPlan {namespace}/{name} within {} s: does it run, and does it reconcile this pool?",
            PATIENCE.as_secs()
        )
    };
    let status = status.await;
    // The manager deletes what stays.
    if let Err(error) = api.delete(&name, &DeleteParams::default()).await {
        reads.warn(format!("{:#}", refused(request("delete"), error)));
    }
    status
}
