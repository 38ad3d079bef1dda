//! Asks the manager by FooPlans. It responds in their status.

use super::files::{Manifest, Manifests, Planned};
use super::{Plan, Plans};
use crate::access::{FIELD_MANAGER, Listed, Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use crate::refused::{Request, refused, resource};
use anyhow::{Result, anyhow, bail};
use foo_api::capi::MachinePool;
use foo_api::plan::GivenDurations;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool, FooPlan, FooPlanSpec, FooPlanStatus};
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt as _};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// What `kubectl apply` without `--server-side` applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How long the manager may take. Its own timeout is shorter.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two reads of the status.
const PERIOD: Duration = Duration::from_millis(500);

/// Objects of one pool, control plane or network, by their kind.
type Objects = BTreeMap<Planned, Value>;

/// What a FooPlan is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Network,
    ControlPlane,
    Pool,
}

impl Subject {
    /// Its kind.
    fn kind(self) -> Cow<'static, str> {
        match self {
            Self::Network => FooCluster::kind(&()),
            Self::ControlPlane => FooControlPlane::kind(&()),
            Self::Pool => FooMachinePool::kind(&()),
        }
    }

    /// Why the provider has nothing in AWS for an object of a file, if that is so.
    fn without_aws(self, object: &Value) -> Option<&'static str> {
        let lacks = |pointer: &str| object.pointer(pointer).is_none_or(Value::is_null);
        match self {
            Self::ControlPlane if lacks("/spec/eks") => Some("it is not in mode eks"),
            Self::Network if lacks("/spec/network/managed") => {
                Some("its network is not created by the provider")
            }
            Self::ControlPlane | Self::Network | Self::Pool => None,
        }
    }
}

/// Objects by what they are about, with its namespace and name.
type Subjects = BTreeMap<(Subject, String, String), Objects>;

/// The plans of pools, control planes and networks as they would be with these manifests applied.
///
/// # Errors
/// The API server refuses a manifest, a right is missing, or the manager does not respond.
pub async fn of_files(
    reads: &Reads<'_>,
    manifests: &Manifests,
    field_manager: &str,
    durations: GivenDurations,
) -> Result<Plans> {
    let others = manifests.others.iter().map(|other| {
        format!(
            "{other} is not planned: only FooMachinePools, MachinePools, FooControlPlanes and FooClusters are"
        )
    });
    let mut left_out: Vec<String> = others.collect();
    if manifests.planned.is_empty() {
        bail!("the files have no FooMachinePool, MachinePool, FooControlPlane or FooCluster");
    }
    let mut subjects = Subjects::new();
    for manifest in &manifests.planned {
        let namespace = manifest.namespace.as_deref().or(reads.namespace);
        let namespace = namespace.ok_or_else(|| {
            anyhow!("{} has no namespace in its file, and --all-namespaces names none", manifest.name)
        })?;
        let (object, exists) = dry_run(reads, manifest, namespace, field_manager).await?;
        let Some((subject, name)) = subject_of(manifest.kind, &object) else {
            let name = &manifest.name;
            left_out
                .push(format!("MachinePool {name} is not planned: its infrastructure is no FooMachinePool"));
            continue;
        };
        let kind = subject.kind();
        if let Some(why) = subject.without_aws(&object) {
            left_out.push(format!("{kind} {name} is not planned: {why}"));
            continue;
        }
        if !exists && subject != Subject::Pool {
            reads.warn(format!("{kind} {name} is not planned: it does not exist yet"));
            continue;
        }
        let objects = subjects.entry((subject, namespace.to_owned(), name.clone())).or_default();
        if objects.insert(manifest.kind, object).is_some() {
            bail!("the files have two objects of one kind for {kind} {name}");
        }
    }
    Ok(Plans { left_out, ..asked_for(reads, subjects, durations).await? })
}

/// The plans of pools, control planes and networks as they are in the cluster: what the manager would still do.
///
/// # Errors
/// An object does not exist, a right is missing, or the manager does not respond.
pub async fn of_cluster(reads: &Reads<'_>, asked: &[Asked], durations: GivenDurations) -> Result<Plans> {
    let mut subjects = Subjects::new();
    if let Some(names) = of_kind(asked, Kind::Pool) {
        let pools = meant(reads.list::<FooMachinePool>(None).await?, reads.namespace, &names)?;
        pools.iter().try_for_each(|pool| add(reads, &mut subjects, (Subject::Pool, Planned::Pool), pool))?;
    }
    // The kinds that not every installation has are read if they are named, or if they can be.
    let names = of_kind(asked, Kind::ControlPlane);
    let control_planes = match names.as_deref() {
        Some([]) if asked.is_empty() => reads.or_warn(reads.list_if_served().await).unwrap_or_default(),
        names => reads.unless_unasked::<FooControlPlane>(names).await?,
    };
    let is_named = names.is_some_and(|names| !names.is_empty());
    for object in control_planes.iter().filter(|it| is_named || it.spec.eks.is_some()) {
        add(reads, &mut subjects, (Subject::ControlPlane, Planned::ControlPlane), object)?;
    }
    let names = of_kind(asked, Kind::FooCluster);
    let clusters = reads.unless_unasked::<FooCluster>(names.as_deref()).await?;
    let is_named = names.is_some_and(|names| !names.is_empty());
    for object in clusters.iter().filter(|it| is_named || it.spec.network.managed.is_some()) {
        add(reads, &mut subjects, (Subject::Network, Planned::Cluster), object)?;
    }
    asked_for(reads, subjects, durations).await
}

/// Adds an object of the cluster, unless it is being deleted.
fn add<K: Listed + Serialize>(
    reads: &Reads<'_>,
    subjects: &mut Subjects,
    (subject, planned): (Subject, Planned),
    object: &K,
) -> Result<()> {
    let (kind, name) = (K::kind(&()), object.name_any());
    if object.meta().deletion_timestamp.is_some() {
        reads.warn(format!("{kind} {name} is not planned: it is being deleted"));
        return Ok(());
    }
    let mut value = serde_json::to_value(object)?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("apiVersion".to_owned(), K::api_version(&()).into());
        fields.insert("kind".to_owned(), kind.into());
    }
    let key = (subject, object.namespace().unwrap_or_default(), name);
    subjects.insert(key, Objects::from([(planned, without_managed_fields(value))]));
    Ok(())
}

/// The object as the API server would store it, after defaults, admission and validation, and whether it exists already.
/// Nothing is stored.
///
/// What kubectl applied before and the manifest does not have any more is removed, as `kubectl apply` does it: of an object
/// that was applied on the client's side by the annotation that kubectl left, otherwise by the field manager.
async fn dry_run(
    reads: &Reads<'_>,
    manifest: &Manifest,
    namespace: &str,
    field_manager: &str,
) -> Result<(Value, bool)> {
    let (kind, resource) = match manifest.kind {
        Planned::Pool => (erased::<FooMachinePool>(manifest), resource::<FooMachinePool>()),
        Planned::MachinePool => (erased::<MachinePool>(manifest), resource::<MachinePool>()),
        Planned::ControlPlane => (erased::<FooControlPlane>(manifest), resource::<FooControlPlane>()),
        Planned::Cluster => (erased::<FooCluster>(manifest), resource::<FooCluster>()),
    };
    let request = |verb| Request { verb, resource: &resource, namespace: Some(namespace) };
    let api: Api<DynamicObject> = Api::namespaced_with(reads.client.clone(), namespace, &kind);
    let mut object = manifest.object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        // Those of an object that was read; the API server refuses them in an apply.
        metadata.remove("managedFields");
    }
    let live = api.get_opt(&manifest.name).await.map_err(|error| refused(request("get"), error))?;
    let exists = live.is_some();
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
    Ok((without_managed_fields(serde_json::to_value(patched)?), exists))
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

/// What an object is about; `None` if it is not planned.
fn subject_of(kind: Planned, object: &Value) -> Option<(Subject, String)> {
    let (subject, name) = match kind {
        Planned::Pool => (Subject::Pool, object.pointer("/metadata/name")),
        Planned::MachinePool => {
            let reference = object.pointer("/spec/template/spec/infrastructureRef");
            let is_pool = |reference: &&Value| reference["kind"] == FooMachinePool::kind(&()).as_ref();
            (Subject::Pool, reference.filter(is_pool).and_then(|reference| reference.get("name")))
        }
        Planned::ControlPlane => (Subject::ControlPlane, object.pointer("/metadata/name")),
        Planned::Cluster => (Subject::Network, object.pointer("/metadata/name")),
    };
    Some((subject, name?.as_str()?.to_owned()))
}

async fn asked_for(reads: &Reads<'_>, subjects: Subjects, durations: GivenDurations) -> Result<Plans> {
    let mut plans = Plans::default();
    for ((subject, namespace, name), objects) in subjects {
        let asked = planned(reads, &namespace, objects, durations).await;
        let failed = |error| FooPlanStatus { error: Some(format!("{error:#}")), ..FooPlanStatus::default() };
        let FooPlanStatus { error, pool, control_plane, network } = asked.unwrap_or_else(failed);
        if let Some(plan) = pool {
            plans.plans.push(Plan { namespace, plan });
        } else if let Some(plan) = control_plane {
            plans.control_planes.push(Plan { namespace, plan });
        } else if let Some(plan) = network {
            plans.networks.push(Plan { namespace, plan });
        } else {
            let error = error.unwrap_or_else(|| "the manager gave no reason".to_owned());
            plans.failures.push(format!("no plan for {} {namespace}/{name}: {error}", subject.kind()));
        }
    }
    Ok(plans)
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
            "the manager has not responded to FooPlan {namespace}/{name} within {} s: does it run, and does it reconcile this object?",
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
