//! What a FooPlan asks: which pool, and the objects as they are planned.

use crate::owners;
use crate::pool::gather::Caches;
use foo_api::capi::MachinePool;
use foo_api::plan::{FooPlan, GivenDurations};
use foo_api::{FooMachinePool, FooMachinePoolSpec};
use kube::api::ObjectMeta;
use kube::{Resource, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// Items of a list in an object that is planned.
const LONGEST_LIST: usize = 100;

/// A question about one pool.
pub(super) struct Question {
    /// The pool as it is; none yet for a new one.
    pub(super) present: Option<Arc<FooMachinePool>>,
    /// The pool as it is planned.
    pub(super) planned: Arc<FooMachinePool>,
    /// Its MachinePool as it is planned; `None`: none is known.
    pub(super) machine_pool: Option<Arc<MachinePool>>,
    /// Durations that the user gave.
    pub(super) durations: GivenDurations,
}

impl Question {
    /// The question, or why there can be no plan. `None`: the pool may be one of another manager, which this one does not
    /// see (`is_filtered`).
    pub(super) fn of(plan: &FooPlan, caches: &Caches, is_filtered: bool) -> Result<Option<Self>, String> {
        let namespace = plan.namespace().unwrap_or_default();
        let (mut pool, mut machine_pool) = (None, None);
        for object in &plan.spec.objects {
            check_namespace(object, &namespace)?;
            check_lists(object)?;
            if is_of::<FooMachinePool>(object) {
                insert(&mut pool, parse(object, &namespace)?)?;
            } else if is_of::<MachinePool>(object) {
                insert(&mut machine_pool, parse(object, &namespace)?)?;
            } else {
                let (version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
                let known = [api_version::<FooMachinePool>(), api_version::<MachinePool>()];
                return Err(format!(
                    "a plan is about a FooMachinePool ({}) and its MachinePool ({}), not about {kind} ({version})",
                    known[0], known[1]
                ));
            }
        }
        let (pool, machine_pool): (Option<FooMachinePool>, Option<MachinePool>) = (pool, machine_pool);
        let name = match (&pool, machine_pool.as_ref().map(infrastructure)) {
            (Some(pool), named) => {
                let name = pool.name_any();
                if named.flatten().is_some_and(|named| named != name) {
                    return Err(format!("the MachinePool does not belong to FooMachinePool {name}"));
                }
                name
            }
            (None, Some(Some(named))) => named.to_owned(),
            (None, _) => return Err("the infrastructure of the MachinePool is no FooMachinePool".to_owned()),
        };
        let present = caches.pools.get(&ObjectRef::new(&name).within(&namespace));
        let planned =
            pool.map(|pool| Arc::new(trusted(pool, present.as_deref()))).or_else(|| present.clone());
        let Some(planned) = planned else {
            if is_filtered {
                return Ok(None);
            }
            return Err(format!("there is no FooMachinePool {name} in namespace {namespace}"));
        };
        if planned.metadata.deletion_timestamp.is_some() {
            return Err(format!("FooMachinePool {name} is being deleted"));
        }
        let live = owners::of_kind(planned.as_ref(), "MachinePool", &caches.machine_pools).or_else(|| {
            let of_it = |pool: &MachinePool| infrastructure(pool) == Some(&name);
            caches.machine_pools_by_name.all_in(&namespace, of_it).into_iter().next()
        });
        let machine_pool = match machine_pool {
            Some(mut planned) => {
                planned.metadata.uid = live.and_then(|live| live.uid());
                Some(Arc::new(planned))
            }
            None => live,
        };
        let durations = plan.spec.durations.unwrap_or_default();
        Ok(Some(Self { present, planned, machine_pool, durations }))
    }
}

/// The pool with everything that users do not decide as it is in the cluster. The content of a FooPlan is not validated:
/// its author could claim another pool's identity, and with it what is known of another tenant's group.
fn trusted(planned: FooMachinePool, present: Option<&FooMachinePool>) -> FooMachinePool {
    let FooMachinePool { metadata, spec, status: _ } = planned;
    let (name, namespace) = (metadata.name, metadata.namespace);
    let (labels, annotations) = (metadata.labels, metadata.annotations);
    match present {
        Some(present) => FooMachinePool {
            metadata: ObjectMeta { labels, annotations, ..present.metadata.clone() },
            spec: FooMachinePoolSpec {
                group_name: present.spec.group_name.clone(),
                provider_id: present.spec.provider_id.clone(),
                provider_id_list: present.spec.provider_id_list.clone(),
                ..spec
            },
            status: present.status.clone(),
        },
        None => FooMachinePool {
            metadata: ObjectMeta { name, namespace, labels, annotations, ..ObjectMeta::default() },
            spec: FooMachinePoolSpec { provider_id: None, provider_id_list: None, ..spec },
            status: None,
        },
    }
}

/// The FooMachinePool that a MachinePool names.
fn infrastructure(machine_pool: &MachinePool) -> Option<&str> {
    let reference = &machine_pool.spec.template.spec.infrastructure_ref;
    (reference.kind == "FooMachinePool").then_some(reference.name.as_str())
}

fn insert<T>(slot: &mut Option<T>, object: T) -> Result<(), String> {
    match slot.replace(object) {
        None => Ok(()),
        Some(_) => Err("a plan is about one pool: two objects of one kind are given".to_owned()),
    }
}

/// The namespace of an object is that of the FooPlan: whoever may create one there need not see others.
fn check_namespace(object: &Value, namespace: &str) -> Result<(), String> {
    match object.pointer("/metadata/namespace").and_then(Value::as_str) {
        Some(other) if other != namespace => Err(format!(
            "an object is in namespace {other}, the FooPlan in {namespace}: both must be in the same one"
        )),
        Some(_) | None => Ok(()),
    }
}

/// Whether it is an object of this kind, in the version that the manager reads: in another one fields have other names.
fn is_of<K: Resource<DynamicType = ()>>(object: &Value) -> bool {
    text(object, "/kind") == K::kind(&()) && text(object, "/apiVersion") == api_version::<K>()
}

fn api_version<K: Resource<DynamicType = ()>>() -> String {
    K::api_version(&()).into_owned()
}

/// Nothing has compared the object with its schema, whose lists are shorter than this.
fn check_lists(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(items) if items.len() > LONGEST_LIST => {
            Err(format!("a list has {} items, more than {LONGEST_LIST}", items.len()))
        }
        Value::Array(items) => items.iter().try_for_each(check_lists),
        Value::Object(fields) => {
            // Written by the manager, and not read from here.
            let read = fields.iter().filter(|(name, _)| *name != "providerIDList" && *name != "status");
            read.map(|(_, inner)| inner).try_for_each(check_lists)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn text<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn parse<T: DeserializeOwned + ResourceExt>(object: &Value, namespace: &str) -> Result<T, String> {
    let mut parsed: T = serde_json::from_value(object.clone())
        .map_err(|error| format!("{} cannot be read: {error}", text(object, "/kind")))?;
    if parsed.meta().name.is_none() {
        return Err(format!("{} has no name", text(object, "/kind")));
    }
    parsed.meta_mut().namespace = Some(namespace.to_owned());
    Ok(parsed)
}
