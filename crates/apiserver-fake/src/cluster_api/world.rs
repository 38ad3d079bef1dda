//! What core reads: lists of all kinds, and how their objects refer to each other.

use crate::json::{at, text};
use foo_api::names::PAUSED_ANNOTATION;
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use serde_json::Value;
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

/// Lists of all kinds, each kept until a watch shows a change, as core's own caches do: reading everything at each
/// change was most of what tests with many objects did.
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
        // What changed meanwhile may be missing in this response.
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
    object.annotations().contains_key(PAUSED_ANNOTATION)
        || cluster.is_some_and(|cluster| at(&cluster.data, &["spec", "paused"]) == Some(&Value::Bool(true)))
}
