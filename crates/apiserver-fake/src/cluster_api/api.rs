//! Reading the world, and the few kinds of writes core makes.

use crate::cluster_api::core::Core;
use crate::json::{at, text};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A kind core works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindName {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
}

const fn capi(kind: &'static str) -> KindName {
    KindName { group: "cluster.x-k8s.io", version: "v1beta2", kind }
}

const fn foo(kind: &'static str) -> KindName {
    KindName { group: "infrastructure.foo.com", version: "v1alpha1", kind }
}

pub(crate) const CLUSTER: KindName = capi("Cluster");
pub(crate) const POOL: KindName = capi("MachinePool");
pub(crate) const MACHINE: KindName = capi("Machine");
pub(crate) const INFRA_POOL: KindName = foo("FooMachinePool");
pub(crate) const INFRA_MACHINE: KindName = foo("FooMachine");
pub(crate) const INFRA_CLUSTER: KindName = foo("FooCluster");
pub(crate) const CONTROL_PLANE: KindName =
    KindName { group: "controlplane.foo.com", version: "v1alpha1", kind: "FooControlPlane" };
pub(crate) const NODE_CONFIG: KindName =
    KindName { group: "bootstrap.foo.com", version: "v1alpha1", kind: "FooNodeConfig" };

/// All of them.
pub(crate) const KINDS: [KindName; 8] =
    [CLUSTER, POOL, MACHINE, INFRA_POOL, INFRA_MACHINE, INFRA_CLUSTER, CONTROL_PLANE, NODE_CONFIG];

impl KindName {
    pub(crate) fn resource(self) -> ApiResource {
        ApiResource::from_gvk(&GroupVersionKind::gvk(self.group, self.version, self.kind))
    }

    pub(crate) fn api_version(self) -> String {
        format!("{}/{}", self.group, self.version)
    }

    pub(crate) fn of(object: &DynamicObject) -> Option<Self> {
        let types = object.types.as_ref()?;
        KINDS.into_iter().find(|kind| kind.kind == types.kind && kind.api_version() == types.api_version)
    }
}

/// The objects of one kind.
pub(crate) type Objects = Arc<Vec<DynamicObject>>;

/// Lists of all kinds, each kept until a watch shows a change, as core's own caches do: reading everything at each change was most of
/// what tests with many objects did.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<BTreeMap<&'static str, List>>);

#[derive(Debug, Default)]
struct List {
    /// Changes that its watch has shown so far.
    changes: u64,
    /// What was listed after the last of them.
    objects: Option<Objects>,
}

impl Lists {
    /// Something of this kind changed: the next reader lists it again.
    pub(crate) fn changed(&self, kind: KindName) {
        let mut lists = self.lock();
        let list = lists.entry(kind.kind).or_default();
        *list = List { changes: list.changes.wrapping_add(1), objects: None };
    }

    async fn get(&self, client: &Client, kind: KindName) -> kube::Result<Objects> {
        let changes = {
            let mut lists = self.lock();
            let list = lists.entry(kind.kind).or_default();
            if let Some(known) = &list.objects {
                return Ok(Arc::clone(known));
            }
            list.changes
        };
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind.resource());
        let objects = Arc::new(api.list(&ListParams::default()).await?.items);
        let mut lists = self.lock();
        let list = lists.entry(kind.kind).or_default();
        // What changed meanwhile may be missing in this answer.
        list.objects = (list.changes == changes).then(|| Arc::clone(&objects));
        Ok(objects)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, List>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that core works with.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) clusters: Objects,
    pub(crate) pools: Objects,
    pub(crate) machines: Objects,
    pub(crate) infra_pools: Objects,
    pub(crate) infra_machines: Objects,
    pub(crate) infra_clusters: Objects,
    pub(crate) control_planes: Objects,
    pub(crate) node_configs: Objects,
}

impl World {
    pub(crate) async fn read(client: &Client, lists: &Lists) -> kube::Result<Self> {
        Ok(Self {
            infra_machines: lists.get(client, INFRA_MACHINE).await?,
            machines: lists.get(client, MACHINE).await?,
            infra_pools: lists.get(client, INFRA_POOL).await?,
            pools: lists.get(client, POOL).await?,
            infra_clusters: lists.get(client, INFRA_CLUSTER).await?,
            control_planes: lists.get(client, CONTROL_PLANE).await?,
            node_configs: lists.get(client, NODE_CONFIG).await?,
            clusters: lists.get(client, CLUSTER).await?,
        })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &DynamicObject> {
        [
            &self.clusters,
            &self.pools,
            &self.machines,
            &self.infra_pools,
            &self.infra_machines,
            &self.infra_clusters,
            &self.control_planes,
            &self.node_configs,
        ]
        .into_iter()
        .flat_map(|objects| objects.iter())
    }

    /// The Cluster an object belongs to by its `spec.clusterName`.
    pub(crate) fn cluster_of(&self, object: &DynamicObject) -> Option<&DynamicObject> {
        named(&self.clusters, object, text(&object.data, &["spec", "clusterName"])?)
    }
}

/// What a contract reference at this path points to.
pub(crate) fn referred<'a>(
    among: &'a [DynamicObject],
    from: &DynamicObject,
    path: &[&str],
) -> Option<&'a DynamicObject> {
    named(among, from, text(at(&from.data, path)?, &["name"])?)
}

/// The object of this name beside another one.
pub(crate) fn named<'a>(
    among: &'a [DynamicObject],
    beside: &DynamicObject,
    name: &str,
) -> Option<&'a DynamicObject> {
    among.iter().find(|object| object.namespace() == beside.namespace() && object.name_any() == name)
}

/// `Kind namespace/name`.
pub(crate) fn title(object: &DynamicObject) -> String {
    let kind = object.types.as_ref().map_or("", |types| types.kind.as_str());
    format!("{kind} {}/{}", object.namespace().unwrap_or_default(), object.name_any())
}

pub(crate) fn is_deleting(object: &DynamicObject) -> bool {
    object.metadata.deletion_timestamp.is_some()
}

/// Whether the object or its Cluster is paused.
pub(crate) fn is_paused(object: &DynamicObject, cluster: Option<&DynamicObject>) -> bool {
    object.annotations().contains_key("cluster.x-k8s.io/paused")
        || cluster.is_some_and(|cluster| at(&cluster.data, &["spec", "paused"]) == Some(&Value::Bool(true)))
}

/// How an owner is to stand in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    Controller,
    Plain,
}

/// What an object's metadata shall have beside what it has.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) finalizer: Option<&'a str>,
    pub(crate) owner: Option<(&'a DynamicObject, Ownership)>,
    pub(crate) cluster: Option<&'a str>,
}

impl Core {
    pub(crate) fn api(&self, object: &DynamicObject) -> Option<Api<DynamicObject>> {
        let kind = KindName::of(object)?;
        let namespace = object.namespace()?;
        Some(Api::namespaced_with(self.client.clone(), &namespace, &kind.resource()))
    }

    /// Adds what is missing; no write if nothing is.
    pub(crate) async fn ensure(&self, object: &DynamicObject, wanted: Wanted<'_>) -> kube::Result<()> {
        let mut metadata = json!({});
        if let Some(finalizer) = wanted.finalizer.filter(|wanted| !has_finalizer(object, wanted)) {
            let mut all = object.finalizers().to_vec();
            all.push(finalizer.to_owned());
            crate::json::set(&mut metadata, &["finalizers"], json!(all));
        }
        if let Some((owner, ownership)) = wanted.owner {
            let uid = owner.uid().unwrap_or_default();
            let mut all = object.owner_references().to_vec();
            let other = all.iter().find(|entry| entry.controller == Some(true) && entry.uid != uid);
            if let (Some(other), Ownership::Controller) = (other, ownership) {
                let message =
                    format!("{} is already controlled by {} {}", title(object), other.kind, other.name);
                return Err(kube::Error::Service(message.into()));
            }
            let wanted = reference(owner, ownership);
            if let Some(wanted) = wanted.filter(|wanted| !all.contains(wanted)) {
                all.retain(|entry| entry.uid != uid);
                all.push(wanted);
                crate::json::set(&mut metadata, &["ownerReferences"], json!(all));
            }
        }
        if let Some(cluster) = wanted.cluster {
            let label = "cluster.x-k8s.io/cluster-name";
            if object.labels().get(label).map(String::as_str) != Some(cluster) {
                crate::json::set(&mut metadata, &["labels", label], json!(cluster));
            }
        }
        if metadata == json!({}) {
            return Ok(());
        }
        crate::json::set(&mut metadata, &["resourceVersion"], json!(object.resource_version()));
        self.merge(object, &json!({ "metadata": metadata })).await
    }

    pub(crate) async fn merge(&self, object: &DynamicObject, patch: &Value) -> kube::Result<()> {
        if let Some(api) = self.api(object) {
            api.patch(&object.name_any(), &manager(), &Patch::Merge(patch)).await?;
        }
        Ok(())
    }

    /// Writes fields of a status, if they are not so already.
    pub(crate) async fn merge_status(&self, object: &DynamicObject, status: &Value) -> kube::Result<()> {
        let live = object.data.get("status").cloned().unwrap_or_else(|| json!({}));
        let mut new = live.clone();
        json_patch::merge(&mut new, status);
        if new == live {
            return Ok(());
        }
        if let Some(api) = self.api(object) {
            let patch = json!({ "status": status });
            api.patch_status(&object.name_any(), &manager(), &Patch::Merge(&patch)).await?;
        }
        Ok(())
    }

    /// Deletes exactly this object, unless it is being deleted already; gone is fine.
    pub(crate) async fn delete(&self, object: &DynamicObject) -> kube::Result<()> {
        if is_deleting(object) {
            return Ok(());
        }
        let Some(api) = self.api(object) else { return Ok(()) };
        let only = Preconditions { uid: object.uid(), resource_version: None };
        match api.delete(&object.name_any(), &DeleteParams::background().preconditions(only)).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => result.map(drop),
        }
    }

    /// Takes a finalizer off; gone is fine.
    pub(crate) async fn release(&self, object: &DynamicObject, finalizer: &str) -> kube::Result<()> {
        if !has_finalizer(object, finalizer) {
            return Ok(());
        }
        let rest: Vec<&String> = object.finalizers().iter().filter(|present| *present != finalizer).collect();
        let metadata = json!({ "finalizers": rest, "resourceVersion": object.resource_version() });
        match self.merge(object, &json!({ "metadata": metadata })).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => result,
        }
    }
}

pub(crate) fn has_finalizer(object: &DynamicObject, finalizer: &str) -> bool {
    object.finalizers().iter().any(|present| present == finalizer)
}

fn manager() -> PatchParams {
    PatchParams { field_manager: Some("manager".to_owned()), ..PatchParams::default() }
}

type OwnerReference = k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

fn reference(owner: &DynamicObject, ownership: Ownership) -> Option<OwnerReference> {
    let types = owner.types.as_ref()?;
    let controller = (ownership == Ownership::Controller).then_some(true);
    Some(OwnerReference {
        api_version: types.api_version.clone(),
        kind: types.kind.clone(),
        name: owner.name_any(),
        uid: owner.uid()?,
        controller,
        block_owner_deletion: controller,
    })
}
