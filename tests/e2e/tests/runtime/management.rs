//! One management cluster for all tests of `runtime`. Each test works in a namespace of its own, and its extension is
//! called for that namespace only.

use super::provider;
use anyhow::{Context as _, Result, anyhow};
use foo_testbed::world::SOON;
use foo_testbed::world::kinds::condition;
use foo_testbed::{CapiOptions, InstanceList, KubeletOptions, Kubelets, Probe, Rig, RigOptions, wait_until};
use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

/// Core with all that calls extensions.
const GATES: &str = "MachinePool=true,ClusterTopology=true,RuntimeSDK=true,InPlaceUpdates=true";

/// What the API server responds while it cannot respond yet.
const TOO_MANY_REQUESTS: u16 = 429;

static MANAGEMENT: OnceCell<Result<Management, String>> = OnceCell::const_new();

/// Group, version and kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind(pub(crate) &'static str, pub(crate) &'static str, pub(crate) &'static str);

pub(crate) const CLUSTER: Kind = Kind("cluster.x-k8s.io", "v1beta2", "Cluster");
pub(crate) const CLUSTER_CLASS: Kind = Kind("cluster.x-k8s.io", "v1beta2", "ClusterClass");
pub(crate) const MACHINE: Kind = Kind("cluster.x-k8s.io", "v1beta2", "Machine");
pub(crate) const MACHINE_DEPLOYMENT: Kind = Kind("cluster.x-k8s.io", "v1beta2", "MachineDeployment");
pub(crate) const EXTENSION_CONFIG: Kind = Kind("runtime.cluster.x-k8s.io", "v1beta2", "ExtensionConfig");

impl Kind {
    fn resource(self) -> ApiResource {
        ApiResource::from_gvk(&GroupVersionKind::gvk(self.0, self.1, self.2))
    }

    /// The objects of a namespace; all of them, or those of a kind without namespaces, if it is empty.
    pub(crate) fn api(self, client: Client, namespace: &str) -> Api<DynamicObject> {
        match namespace {
            "" => Api::all_with(client, &self.resource()),
            namespace => Api::namespaced_with(client, namespace, &self.resource()),
        }
    }
}

/// The management cluster.
pub(crate) struct Management {
    // Dropped in this order.
    _provider: JoinSet<()>,
    _kubelets: Kubelets,
    rig: Rig,
}

/// Runs a test on the management cluster that all share; the first one starts it.
pub(crate) fn on_management(test: impl AsyncFnOnce(&'static Management) -> Result<()>) {
    foo_e2e::alone(async || {
        let started =
            MANAGEMENT.get_or_init(async || start().await.map_err(|error| format!("{error:#}"))).await;
        let management = started.as_ref().map_err(|error| anyhow!(error.clone()))?;
        let outcome = Box::pin(test(management)).await;
        if outcome.is_err() {
            management.rig.keep_folder();
        }
        outcome
    });
}

/// A separate management cluster, for a test that disturbs others.
pub(crate) async fn start() -> Result<Management> {
    let capi = CapiOptions { feature_gates: GATES.to_owned(), ..CapiOptions::default() };
    let options = RigOptions { capi: Some(capi), ..RigOptions::default() };
    let rig = Box::pin(Rig::start(options)).await?;
    for object in provider::components() {
        rig.api().apply(&object.to_string()).await?;
    }
    let instances = InstanceList::default();
    let kubelets = Kubelets::start(rig.api().client(), instances.clone(), KubeletOptions::default());
    let provider = provider::start(rig.api().client(), instances);
    Ok(Management { _provider: provider, _kubelets: kubelets, rig })
}

impl Management {
    /// The management cluster, which is the workload cluster of every Cluster, too.
    pub(crate) fn rig(&self) -> &Rig {
        &self.rig
    }

    /// Creates a namespace.
    pub(crate) async fn namespace(&self, name: &str) -> Result<()> {
        self.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await
    }

    /// Writes an object as a user would.
    pub(crate) async fn apply(&self, object: &Value) -> Result<()> {
        self.rig.api().apply(&object.to_string()).await
    }

    /// Changes part of an object.
    pub(crate) async fn patch(&self, kind: Kind, namespace: &str, name: &str, change: &Value) -> Result<()> {
        let objects = kind.api(self.rig.api().client(), namespace);
        let patched = objects.patch(name, &PatchParams::default(), &Patch::Merge(change)).await;
        patched.map(drop).with_context(|| format!("changing {} {namespace}/{name}", kind.2))
    }

    /// Reads an object, `null` if there is none.
    pub(crate) async fn read(&self, kind: Kind, namespace: &str, name: &str) -> Result<Value> {
        let found = kind.api(self.rig.api().client(), namespace).get_opt(name).await;
        Ok(serde_json::to_value(found.with_context(|| format!("reading {} {namespace}/{name}", kind.2))?)?)
    }

    /// Reads all objects of a kind in a namespace. The first list of a kind may come before the API server has it in
    /// its cache: it returns 429, "storage is (re)initializing", and is requested again, as every client of core does.
    pub(crate) async fn list(&self, kind: Kind, namespace: &str) -> Result<Vec<Value>> {
        let objects = kind.api(self.rig.api().client(), namespace);
        let what = format!("a list of {}s", kind.2);
        let response = wait_until(&what, SOON, async || match objects.list(&ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == TOO_MANY_REQUESTS => {
                Ok(Probe::NotYet(status.message.clone()))
            }
            response => Ok(Probe::Done(response)),
        });
        let found = response.await?.with_context(|| format!("listing {}s of {namespace}", kind.2))?;
        found.items.into_iter().map(|object| Ok(serde_json::to_value(object)?)).collect()
    }

    /// Deletes an object; does not wait.
    pub(crate) async fn delete(&self, kind: Kind, namespace: &str, name: &str) -> Result<()> {
        let objects = kind.api(self.rig.api().client(), namespace);
        let deleted = objects.delete(name, &DeleteParams::default()).await;
        deleted.map(drop).with_context(|| format!("deleting {} {namespace}/{name}", kind.2))
    }

    /// Causes core to reconcile an object again, by a change of it.
    pub(crate) async fn touch(&self, kind: Kind, namespace: &str, name: &str, value: &str) -> Result<()> {
        let change = json!({"metadata": {"annotations": {"runtime.test/touch": value}}});
        self.patch(kind, namespace, name, &change).await
    }

    /// Waits until an object meets a condition.
    pub(crate) async fn until(
        &self,
        (kind, namespace, name): (Kind, &str, &str),
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        wait_until(&format!("{} {namespace}/{name}: {what}", kind.2), SOON, async || {
            let object = self.read(kind, namespace, name).await?;
            Ok(if wanted(&object) {
                Probe::Done(object)
            } else {
                Probe::NotYet(format!("{:#}", object.pointer("/status/conditions").unwrap_or(&object)))
            })
        })
        .await
    }

    /// Waits until a condition of an object has a status, and a message with all these parts.
    pub(crate) async fn until_condition(
        &self,
        object: (Kind, &str, &str),
        kind: &str,
        status: &str,
        parts: &[&str],
    ) -> Result<Value> {
        let what = format!("{kind} to be {status}, with {parts:?}");
        self.until(object, &what, |object| {
            condition(object, kind).is_some_and(|(is, _reason, message)| {
                is == status && parts.iter().all(|part| message.contains(part))
            })
        })
        .await
    }
}
