//! Keeps the owners, labels, finalizer and annotations of a FooMachine as the provider created them, whichever user or
//! controller changes them.
//!
//! Cluster API finds FooMachines by their labels, the garbage collector by their owners, and without our
//! finalizer an instance would outlive its FooMachine. One patch repairs everything.

use super::gather::Gathered;
use crate::clock::from_kube;
use crate::owners::group;
use foo_api::capi::Cluster;
use foo_api::{FooMachine, FooMachinePool, labels, names};
use foo_model::{Difference, Kubernetes, KubernetesTime};
use foo_planner::report::MachineReport;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The owners of a FooMachine besides its Machine, which Cluster API sets as its controller.
///
/// The Cluster is an owner because of the garbage collector: when a MachinePool is deleted in the foreground,
/// it deletes at once whatever has no other owner, and Cluster API skips the drain of a Machine whose
/// FooMachine is being deleted.
pub(super) fn owners(pool: &FooMachinePool, cluster: Option<&Cluster>) -> Vec<OwnerReference> {
    [pool.owner_ref(&()), cluster.and_then(|cluster| cluster.owner_ref(&()))].into_iter().flatten().collect()
}

/// The labels of a pool's FooMachines.
pub(super) fn labels(pool: &FooMachinePool, cluster: &str, machine_pool: &str) -> BTreeMap<String, String> {
    let mut wanted = BTreeMap::from([
        (names::CLUSTER_NAME_LABEL.to_owned(), cluster.to_owned()),
        (names::POOL_NAME_LABEL.to_owned(), labels::must_format_value(machine_pool)),
    ]);
    if let Some(filter) = pool.labels().get(names::WATCH_LABEL) {
        wanted.insert(names::WATCH_LABEL.to_owned(), filter.clone());
    }
    wanted
}

/// The owners that a FooMachine needs; `None` if it has them.
///
/// Missing owners are added, and the API version of present ones is updated: Cluster API finds owners by
/// group and version. A FooMachine belongs to one pool for ever, so references to other pools are removed.
fn right_owners(
    machine: &FooMachine,
    pool: &FooMachinePool,
    cluster: Option<&Cluster>,
) -> Option<Vec<OwnerReference>> {
    let wanted = owners(pool, cluster);
    let own_uid = pool.uid().unwrap_or_default();
    let another_pool = |owner: &OwnerReference| {
        owner.kind == "FooMachinePool"
            && group(&owner.api_version) == names::INFRASTRUCTURE_GROUP
            && owner.uid != own_uid
    };
    let mut right: Vec<OwnerReference> =
        machine.owner_references().iter().filter(|owner| !another_pool(owner)).cloned().collect();
    for owner in wanted {
        let same = |known: &&mut OwnerReference| {
            known.uid == owner.uid
                && known.kind == owner.kind
                && group(&known.api_version) == group(&owner.api_version)
        };
        match right.iter_mut().find(same) {
            Some(known) => known.api_version = owner.api_version,
            None => right.push(owner),
        }
    }
    (right != machine.owner_references()).then_some(right)
}

/// Annotations that repeat the status, which backups and moves do not keep.
fn records(
    machine: &FooMachine,
    report: Option<&MachineReport>,
    clock: Difference<Kubernetes>,
) -> Map<String, Value> {
    let mut records = Map::new();
    let Some(report) = report else { return records };
    let there = |key: &str| machine.annotations().get(key);
    if let (None, Some(hash)) = (there(names::SPEC_HASH_ANNOTATION), &report.spec_hash) {
        records.insert(names::SPEC_HASH_ANNOTATION.to_owned(), json!(hash.as_str()));
    }
    let since = report.hook_wait.and_then(|(since, _)| written(clock.remote(since)));
    match (there(names::DRAIN_HOOK_SINCE_ANNOTATION), since) {
        (None, Some(since)) => {
            records.insert(names::DRAIN_HOOK_SINCE_ANNOTATION.to_owned(), json!(since));
        }
        (Some(_), None) => {
            records.insert(names::DRAIN_HOOK_SINCE_ANNOTATION.to_owned(), Value::Null);
        }
        (None, None) | (Some(_), Some(_)) => {}
    }
    records
}

/// Whole seconds, as Kubernetes writes times.
fn written(at: KubernetesTime) -> Option<String> {
    jiff::Timestamp::from_second(at.millis() / 1000).ok().map(|at| at.to_string())
}

/// Since when the instance waits for our hook, according to the annotation.
pub(super) fn waiting_since(machine: &FooMachine) -> Option<KubernetesTime> {
    let text = machine.annotations().get(names::DRAIN_HOOK_SINCE_ANNOTATION)?;
    text.parse::<jiff::Timestamp>().ok().map(from_kube)
}

/// The repair of the metadata as a merge patch; `None` if nothing differs.
pub(super) fn repair(
    machine: &FooMachine,
    gathered: &Gathered,
    report: Option<&MachineReport>,
    clock: Difference<Kubernetes>,
) -> Option<Value> {
    let pool = &gathered.pool;
    let is_going = machine.metadata.deletion_timestamp.is_some();
    if is_going {
        return None;
    }
    let mut metadata = Map::new();
    if !machine.finalizers().iter().any(|finalizer| finalizer == names::MACHINE_FINALIZER) {
        let finalizers = [machine.finalizers(), &[names::MACHINE_FINALIZER.to_owned()]].concat();
        metadata.insert("finalizers".to_owned(), json!(finalizers));
    }
    // In a foreground deletion the garbage collector removes the pool from the owners.
    if pool.metadata.deletion_timestamp.is_none() {
        let cluster =
            gathered.cluster.as_deref().filter(|cluster| cluster.metadata.deletion_timestamp.is_none());
        if let Some(owners) = right_owners(machine, pool, cluster) {
            metadata.insert("ownerReferences".to_owned(), json!(owners));
        }
    }
    if let (Some(identity), Some(machine_pool)) = (&gathered.identity, &gathered.machine_pool) {
        let wanted = labels(pool, &identity.cluster, &machine_pool.name_any());
        let wrong: BTreeMap<_, _> =
            wanted.into_iter().filter(|(key, value)| machine.labels().get(key) != Some(value)).collect();
        if !wrong.is_empty() {
            metadata.insert("labels".to_owned(), json!(wrong));
        }
    }
    let records = records(machine, report, clock);
    if !records.is_empty() {
        metadata.insert("annotations".to_owned(), Value::Object(records));
    }
    if metadata.is_empty() {
        return None;
    }
    // Owners and finalizers are lists: a concurrent write must not be lost.
    metadata.insert("resourceVersion".to_owned(), json!(machine.resource_version()));
    metadata.insert("uid".to_owned(), json!(machine.uid()));
    Some(json!({ "metadata": metadata }))
}

/// Repairs the metadata of a FooMachine. If another writer was first, the pass that its write causes repeats
/// this.
pub(super) async fn keep(machines: &Api<FooMachine>, machine: &FooMachine, repair: Value) {
    let patched = machines.patch(&machine.name_any(), &PatchParams::default(), &Patch::Merge(repair)).await;
    if let Err(error) = patched {
        tracing::warn!(machine = machine.name_any(), %error, "could not repair the metadata of a FooMachine");
    }
}
