//! A small stand-in for cluster-autoscaler with its provider `clusterapi`: its writes, in its order, with its rights.
//!
//! It decides nothing: each test decides when it does what, and how long it waits where the real one waits minutes. It
//! never deletes a Machine or a Node, as the real one never does.

use crate::set;
use anyhow::{Context as _, Result, bail};
use foo_testbed::world::kinds::{self, Kind, number, text};
use foo_testbed::world::{Cluster, MachineView, Pool, SOON, World, manifests};
use foo_testbed::{ApiServer, Probe, wait_until};
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// The ClusterRole that we release for it.
pub const ROLE: &str = "foo-cluster-autoscaler";
const ACCOUNT: &str = "cluster-autoscaler";
const MIN: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
const MAX: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";
/// Only its presence counts.
pub const MARK: &str = "cluster.x-k8s.io/delete-machine";
const CANDIDATE: &str = "DeletionCandidateOfClusterAutoscaler";
const TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";
/// The real one waits 5 s between its cordon and its evictions.
const BEFORE_EVICTING: Duration = Duration::from_millis(500);
/// Between its mark and its PATCH, as measured.
const BETWEEN_WRITES: Duration = Duration::from_millis(12);

/// Puts both annotations on a MachinePool.
pub fn in_bounds(machine_pool: &mut Value, min: &str, max: &str) {
    set(machine_pool, &["metadata", "annotations", MIN], json!(min));
    set(machine_pool, &["metadata", "annotations", MAX], json!(max));
}

/// A pool that it scales, created and not waited for.
pub async fn node_group<'w>(cluster: &Cluster<'w>, replicas: u32) -> Result<Pool<'w>> {
    cluster.pool_with("workers", replicas, |machine_pool, _| in_bounds(machine_pool, "0", "10")).await
}

/// What happens to its PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lowering {
    Accepted,
    Refused,
}

/// The stand-in, at work in one cluster.
pub struct Autoscaler {
    /// Of the management cluster, with the rights of its service account only.
    client: Client,
    /// Of the workload cluster, with the rights of its service account there.
    workload: Client,
    namespace: String,
}

impl Autoscaler {
    /// With a service account that has the role we release for the management cluster, and upstream's rights in the
    /// workload cluster, which is the same one.
    pub async fn of(world: &World, cluster: &Cluster<'_>) -> Result<Self> {
        Self::between(world, cluster, world.api()).await
    }

    /// The same for a Cluster with an API server of its own: a service account there reads its Nodes and pods.
    pub async fn between(world: &World, cluster: &Cluster<'_>, workload: &ApiServer) -> Result<Self> {
        let namespace = cluster.namespace().to_owned();
        for object in management_account(&namespace) {
            world.apply(&object).await?;
        }
        world.apply_in(cluster.name(), &manifests::namespace(&namespace)).await?;
        for object in workload_account(&namespace) {
            world.apply_in(cluster.name(), &object).await?;
        }
        let client = client_of_account(world.api(), &namespace).await?;
        let autoscaler = Self { client, workload: client_of_account(workload, &namespace).await?, namespace };
        wait_until("the autoscaler's rights to be known", SOON, async || {
            autoscaler.machines().await?;
            autoscaler.api(Kind::Node).list(&ListParams::default()).await?;
            Ok(Probe::Done(()))
        })
        .await?;
        Ok(autoscaler)
    }

    /// Name of the user it is.
    pub fn user(&self) -> String {
        format!("system:serviceaccount:{}:{ACCOUNT}", self.namespace)
    }

    /// The objects of a kind, as it reads them: Nodes in the workload cluster, all else in the management cluster.
    pub fn api(&self, kind: Kind) -> Api<DynamicObject> {
        let client = if kind == Kind::Node { &self.workload } else { &self.client };
        kind.api(client.clone(), &self.namespace)
    }

    /// Names of the pods that wait for a Node, of all namespaces: what it scales up for.
    pub async fn pending_pods(&self) -> Result<Vec<String>> {
        let pods = self.pods().list(&ListParams::default().fields("spec.nodeName=")).await?;
        Ok(pods.items.into_iter().filter_map(|pod| pod.metadata.name).collect())
    }

    /// The pods of all namespaces of the workload cluster.
    fn pods(&self) -> Api<DynamicObject> {
        Api::all_with(self.workload.clone(), &pod_resource())
    }

    /// The size it believes in.
    pub async fn target_size(&self, pool: &Pool<'_>) -> Result<i64> {
        let scale = self.api(Kind::MachinePool).get_subresource("scale", &pool.name().pool).await?;
        // A scale of zero leaves the field out.
        Ok(number(&serde_json::to_value(scale)?, "/spec/replicas").unwrap_or(0))
    }

    /// Asks for a size: how it scales up, and how it takes a scale-up back.
    pub async fn set_size(&self, pool: &Pool<'_>, replicas: i64) -> Result<()> {
        let change = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        let name = &pool.name().pool;
        self.api(Kind::MachinePool)
            .patch_subresource("scale", name, &PatchParams::default(), &change)
            .await
            .map(drop)
            .with_context(|| format!("asking for {replicas} replicas of {name}"))
    }

    /// The instances it believes in: the list that Cluster API copies into the MachinePool.
    pub async fn instances(&self, pool: &Pool<'_>) -> Result<Vec<String>> {
        let pool = self.api(Kind::MachinePool).get(&pool.name().pool).await?;
        let pool = serde_json::to_value(pool)?;
        let ids = pool.pointer("/spec/providerIDList").and_then(Value::as_array);
        Ok(ids.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// The instances that it finds no Node for, character by character; it ends such after 15 minutes, undrained.
    pub async fn unregistered(&self, pool: &Pool<'_>) -> Result<Vec<String>> {
        let mut instances = self.instances(pool).await?;
        let nodes = self.api(Kind::Node).list(&ListParams::default()).await?;
        let nodes: Vec<Value> =
            nodes.items.into_iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
        let registered: BTreeSet<&str> = nodes.iter().map(|node| text(node, "/spec/providerID")).collect();
        instances.retain(|id| !registered.contains(id.as_str()));
        Ok(instances)
    }

    /// Removes nodes it thinks are not needed: everything it does for that, in its order.
    pub async fn scale_down(&self, pool: &Pool<'_>, machines: &[&MachineView]) -> Result<()> {
        self.scale_down_and(pool, machines, Lowering::Accepted).await
    }

    /// The same with a PATCH that is refused: it reverts all it did, and fails.
    pub async fn fails_to_scale_down(&self, pool: &Pool<'_>, machines: &[&MachineView]) -> Result<()> {
        match self.scale_down_and(pool, machines, Lowering::Refused).await {
            Ok(()) => bail!("its PATCH was accepted"),
            Err(error) if format!("{error:#}").contains("asking for -1 replicas") => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn scale_down_and(
        &self,
        pool: &Pool<'_>,
        machines: &[&MachineView],
        lowering: Lowering,
    ) -> Result<()> {
        for machine in machines {
            self.taint(machine.node_name(), CANDIDATE, "PreferNoSchedule").await?;
        }
        for machine in machines {
            self.taint(machine.node_name(), TO_BE_DELETED, "NoSchedule").await?;
            self.cordon(machine.node_name(), true).await?;
        }
        tokio::time::sleep(BEFORE_EVICTING).await;
        for machine in machines {
            self.evict_pods(machine.node_name()).await?;
        }
        let deleted = self.delete_nodes(pool, machines, lowering).await;
        if deleted.is_err() {
            for machine in machines {
                self.forget(machine.node_name()).await?;
            }
        }
        deleted
    }

    /// Ends instances that never became Nodes: no drain, the rest is the same.
    pub async fn remove_unregistered(&self, pool: &Pool<'_>, machines: &[&MachineView]) -> Result<()> {
        self.delete_nodes(pool, machines, Lowering::Accepted).await
    }

    /// Mark, −1, mark, −1.
    async fn delete_nodes(
        &self,
        pool: &Pool<'_>,
        machines: &[&MachineView],
        lowering: Lowering,
    ) -> Result<()> {
        let mut replicas = self.target_size(pool).await?;
        for seen in machines {
            if kinds::is_deleting(&self.machine_of(seen).await?) {
                continue;
            }
            self.mark(seen, Some(&go_time())).await?;
            tokio::time::sleep(BETWEEN_WRITES).await;
            let wanted = if lowering == Lowering::Accepted { replicas - 1 } else { -1 };
            if let Err(error) = self.set_size(pool, wanted).await {
                self.mark(seen, None).await?;
                return Err(error);
            }
            replicas -= 1;
        }
        Ok(())
    }

    /// Its patience with a deletion is at its end: what has no deletionTimestamp by now it marks and counts down
    /// again. Returns whether it had to. (The real one waits five minutes after its taint.)
    pub async fn counts_down_again(&self, pool: &Pool<'_>, machines: &[&MachineView]) -> Result<bool> {
        let before = self.target_size(pool).await?;
        self.delete_nodes(pool, machines, Lowering::Accepted).await?;
        Ok(self.target_size(pool).await? != before)
    }

    /// It was restarted: the first thing it does is to take its taints and cordons back. Marks and sizes stay.
    pub async fn restarts(&self, machines: &[&MachineView]) -> Result<()> {
        for machine in machines {
            self.forget(machine.node_name()).await?;
        }
        Ok(())
    }

    async fn machines(&self) -> Result<Vec<Value>> {
        let machines = self.api(Kind::Machine).list(&ListParams::default()).await?;
        machines.items.into_iter().map(|it| serde_json::to_value(it).map_err(Into::into)).collect()
    }

    /// It finds Machines by the last segment of their ids.
    async fn machine_of(&self, seen: &MachineView) -> Result<Value> {
        let machines = self.machines().await?;
        let last = |id: &str| id.rsplit('/').next().unwrap_or_default().to_owned();
        let found = machines.into_iter().find(|it| last(text(it, "/spec/providerID")) == seen.instance);
        found.with_context(|| format!("there is no Machine of {} any more", seen.instance))
    }

    /// An UPDATE of the whole Machine as it was read. When another user or controller was first it tries again (the
    /// real one in its next round).
    async fn mark(&self, seen: &MachineView, mark: Option<&str>) -> Result<()> {
        let name = &seen.name;
        loop {
            let mut machine = self.machine_of(seen).await?;
            if let Some(when) = mark {
                set(&mut machine, &["metadata", "annotations", MARK], json!(when));
            } else if let Some(annotations) =
                machine.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut)
            {
                annotations.remove(MARK);
            }
            let machine: DynamicObject = serde_json::from_value(machine)?;
            match self.api(Kind::Machine).replace(name, &PostParams::default(), &machine).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                outcome => return outcome.map(drop).with_context(|| format!("marking Machine {name}")),
            }
        }
    }

    async fn taint(&self, node: &str, key: &str, effect: &str) -> Result<()> {
        self.change_taints(node, |taints| {
            taints.push(json!({"key": key, "value": "1700000000", "effect": effect}));
        })
        .await
    }

    async fn cordon(&self, node: &str, cordoned: bool) -> Result<()> {
        let change = Patch::Merge(json!({"spec": {"unschedulable": cordoned}}));
        let patched = self.api(Kind::Node).patch(node, &PatchParams::default(), &change).await;
        patched.map(drop).with_context(|| format!("cordoning Node {node}"))
    }

    /// Removes taints and cordon; fine if the Node does not exist.
    async fn forget(&self, node: &str) -> Result<()> {
        if self.api(Kind::Node).get_opt(node).await?.is_none() {
            return Ok(());
        }
        self.change_taints(node, |taints| {
            taints.retain(|taint| ![CANDIDATE, TO_BE_DELETED].contains(&text(taint, "/key")));
        })
        .await?;
        self.cordon(node, false).await
    }

    /// Kubelets and Cluster API write Nodes too, so it tries again when it comes too late.
    async fn change_taints(&self, node: &str, mut change: impl FnMut(&mut Vec<Value>)) -> Result<()> {
        wait_until(&format!("Node {node} to be tainted"), SOON, async || {
            let mut object = serde_json::to_value(self.api(Kind::Node).get(node).await?)?;
            let mut taints = object.pointer("/spec/taints").and_then(Value::as_array).cloned();
            change(taints.get_or_insert_default());
            set(&mut object, &["spec", "taints"], json!(taints));
            let object: DynamicObject = serde_json::from_value(object)?;
            self.api(Kind::Node).replace(node, &PostParams::default(), &object).await?;
            Ok(Probe::Done(()))
        })
        .await
    }

    /// Tries to evict every pod of a Node once. What a budget refuses stays.
    async fn evict_pods(&self, node: &str) -> Result<()> {
        let on_node = ListParams::default().fields(&format!("spec.nodeName={node}"));
        for pod in self.pods().list(&on_node).await?.items {
            let pod = serde_json::to_value(pod)?;
            let (namespace, name) = (text(&pod, "/metadata/namespace"), text(&pod, "/metadata/name"));
            let pods: Api<DynamicObject> =
                Api::namespaced_with(self.workload.clone(), namespace, &pod_resource());
            let eviction = json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": name, "namespace": namespace},
            });
            let params = PostParams::default();
            let evicted = pods.create_subresource::<Value, Value>("eviction", name, &params, &eviction);
            match evicted.await {
                Err(kube::Error::Api(status)) if [404, 429].contains(&status.code) => {}
                outcome => drop(outcome.with_context(|| format!("evicting {name}"))?),
            }
        }
        Ok(())
    }
}

/// A time as Go prints it, which is what it writes as its mark.
fn go_time() -> String {
    "2026-02-03 04:05:06.789012345 +0000 UTC m=+1234.567890123".to_owned()
}

fn pod_resource() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"))
}

async fn client_of_account(api: &ApiServer, namespace: &str) -> Result<Client> {
    let kubeconfig = Kubeconfig::from_yaml(&api.service_account_kubeconfig(namespace, ACCOUNT).await?)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    // Evictions are refused with 429; the real one tries again by itself.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

fn account(namespace: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": namespace},
    })
}

fn binding(namespace: &str, binding: &str, role: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": binding},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
    })
}

fn management_account(namespace: &str) -> [Value; 2] {
    [account(namespace), binding(namespace, &format!("{namespace}-{ACCOUNT}-management"), ROLE)]
}

/// What upstream's chart gives it in the workload cluster, as far as it is used here.
fn workload_account(namespace: &str) -> [Value; 3] {
    let name = format!("{namespace}-{ACCOUNT}");
    let rules = json!([
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch", "update", "patch"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    ]);
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": name}, "rules": rules,
    });
    [account(namespace), role, binding(namespace, &name, &name)]
}
