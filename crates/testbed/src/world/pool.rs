//! A pool of a world: what users do to it, and waiting for what it shall come to.

use super::kinds::{self, Kind, number};
use super::manifests::{self, PoolName};
use super::{MachineView, PoolView, SOON, World};
use crate::wait::POLL;
use crate::{Probe, nothing_happens, wait_until};
use anyhow::{Context as _, Result};
use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus};
use kube::Api;
use serde_json::{Value, json};
use std::time::Duration;

/// A pool, by its names.
#[derive(Clone, Debug)]
pub struct Pool<'w> {
    world: &'w World,
    name: PoolName,
}

impl<'w> Pool<'w> {
    pub(super) fn new(world: &'w World, name: PoolName) -> Self {
        Self { world, name }
    }

    /// Its names.
    pub fn name(&self) -> &PoolName {
        &self.name
    }

    /// Name of its Auto Scaling group.
    pub fn group(&self) -> String {
        self.name.group()
    }

    /// One read of all of it.
    pub async fn view(&self) -> Result<PoolView> {
        // Five requests at once are a large future.
        Box::pin(PoolView::take(self.world, &self.name)).await
    }

    /// Reads until the condition is met, and returns that read.
    pub async fn wait(
        &self,
        what: &str,
        timeout: Duration,
        mut wanted: impl FnMut(&PoolView) -> bool,
    ) -> Result<PoolView> {
        let what = format!("pool {}: {what}", self.name.pool);
        wait_until(&what, timeout, async || {
            let view = self.view().await?;
            if wanted(&view) {
                return Ok(Probe::Done(view));
            }
            tokio::time::sleep(POLL).await;
            Ok(Probe::NotYet(view.to_string()))
        })
        .await
    }

    /// Waits until everything agrees on a number of machines and nothing is on its way.
    pub async fn settles_at(&self, replicas: usize) -> Result<PoolView> {
        self.settles_within(replicas, SOON).await
    }

    /// The same with a time of one's own.
    pub async fn settles_within(&self, replicas: usize, timeout: Duration) -> Result<PoolView> {
        self.wait(&format!("to settle at {replicas}"), timeout, |view| view.is_settled_at(replicas)).await
    }

    /// Watches that it stays as it is while a component that acts once in every `period` could act; see
    /// [`nothing_happens`].
    pub async fn stays(
        &self,
        what: &str,
        period: Duration,
        as_requested: impl Fn(&PoolView) -> bool,
    ) -> Result<()> {
        nothing_happens(&format!("pool {} did not stay {what}", self.name.pool), period, async || {
            let view = self.view().await?;
            Ok(Probe::when(as_requested(&view), || view.to_string()))
        })
        .await
    }

    /// Writes the number of replicas through the scale subresource, as `kubectl scale` and cluster-autoscaler do.
    pub async fn scale(&self, replicas: u32) -> Result<()> {
        let pools = Kind::MachinePool.api(self.world.client(), &self.name.namespace);
        let change = kube::api::Patch::Merge(json!({"spec": {"replicas": replicas}}));
        let scaled =
            pools.patch_scale(&self.name.machine_pool, &kube::api::PatchParams::default(), &change).await;
        scaled.map(drop).with_context(|| format!("scaling {}", self.name.pool))
    }

    /// Its target: `spec.replicas` of the MachinePool.
    pub async fn replicas(&self) -> Result<Option<i64>> {
        let pool = self.read(Kind::MachinePool).await?;
        Ok(pool.and_then(|pool| number(&pool, "/spec/replicas")))
    }

    /// Name of its MachinePool or FooMachinePool.
    fn object(&self, kind: Kind) -> &str {
        if kind == Kind::MachinePool { &self.name.machine_pool } else { &self.name.pool }
    }

    /// Its MachinePool or FooMachinePool.
    pub async fn read(&self, kind: Kind) -> Result<Option<Value>> {
        kinds::read(self.world.client(), kind, &self.name.namespace, self.object(kind)).await
    }

    /// Changes part of its MachinePool or FooMachinePool.
    pub async fn patch(&self, kind: Kind, change: &Value) -> Result<()> {
        kinds::patch(self.world.client(), kind, &self.name.namespace, self.object(kind), change).await
    }

    /// Sets an annotation of its MachinePool or FooMachinePool; `None` removes it.
    pub async fn annotate(&self, kind: Kind, annotation: &str, value: Option<&str>) -> Result<()> {
        self.patch(kind, &json!({"metadata": {"annotations": {annotation: value}}})).await
    }

    /// Marks one of its Machines as the first to go, as cluster-autoscaler does.
    pub async fn mark_for_deletion(&self, machine: &MachineView) -> Result<()> {
        let change = json!({"metadata": {"annotations": {"cluster.x-k8s.io/delete-machine": "marked"}}});
        kinds::patch(self.world.client(), Kind::Machine, &self.name.namespace, &machine.name, &change).await
    }

    /// Deletes one of its Machines, as `kubectl delete machine --wait=false` does.
    pub async fn delete_machine(&self, machine: &MachineView) -> Result<()> {
        kinds::delete(self.world.client(), Kind::Machine, &self.name.namespace, &machine.name).await
    }

    /// Deletes the MachinePool, and with it everything of the pool; does not wait.
    pub async fn delete(&self) -> Result<()> {
        kinds::delete(self.world.client(), Kind::MachinePool, &self.name.namespace, &self.name.machine_pool)
            .await
    }

    /// Waits until nothing is left of it in Kubernetes nor in AWS.
    pub async fn is_gone(&self, timeout: Duration) -> Result<()> {
        let group = self.group();
        self.wait("to be deleted", timeout, |view| {
            view.machine_pool.is_none()
                && view.foo_pool.is_none()
                && view.machines.is_empty()
                && view.foo_machines.is_empty()
                && self.world.aws().leftovers(&group).is_empty()
        })
        .await
        .map(drop)
        .with_context(|| format!("left in AWS: {:?}", self.world.aws().leftovers(&group)))
    }

    /// Runs a Deployment on it with this many pods, spread over its Nodes, and waits until they are ready. None of them
    /// may be missing: its budget lets nothing be evicted until [`Workload::allow`].
    pub async fn run(&self, app: &str, pods: u32) -> Result<Workload<'w>> {
        let workload = self.workload(app);
        self.world.apply_in(&self.name.cluster, &manifests::namespace(&self.name.namespace)).await?;
        workload.scale(pods).await?;
        workload.allow(0).await?;
        workload.is_ready(pods).await?;
        Ok(workload)
    }

    /// A Deployment that [`Pool::run`] made.
    pub fn workload(&self, app: &str) -> Workload<'w> {
        Workload { world: self.world, pool: self.name.clone(), app: app.to_owned() }
    }
}

/// A Deployment with a PodDisruptionBudget.
#[derive(Clone, Debug)]
pub struct Workload<'w> {
    world: &'w World,
    pool: PoolName,
    app: String,
}

impl Workload<'_> {
    /// Its budget: how many of its pods may be missing at a time.
    pub async fn allow(&self, max_unavailable: u32) -> Result<()> {
        let budget = manifests::budget(&self.pool.namespace, &self.app, max_unavailable);
        self.world.apply_in(&self.pool.cluster, &budget).await
    }

    /// Changes the number of its pods.
    pub async fn scale(&self, pods: u32) -> Result<()> {
        self.world.apply_in(&self.pool.cluster, &manifests::deployment(&self.pool, &self.app, pods)).await
    }

    /// What its status shows. Nothing until its controller has read it.
    async fn status(&self) -> Result<DeploymentStatus> {
        let client = self.world.workload_client(&self.pool.cluster);
        let deployments: Api<Deployment> = Api::namespaced(client, &self.pool.namespace);
        Ok(deployments.get(&self.app).await?.status.unwrap_or_default())
    }

    /// Number of its pods that are ready.
    pub async fn ready(&self) -> Result<u32> {
        Ok(u32::try_from(self.status().await?.ready_replicas.unwrap_or(0))?)
    }

    /// Waits until this many pods are ready.
    pub async fn is_ready(&self, pods: u32) -> Result<()> {
        let wanted = i32::try_from(pods).unwrap_or(i32::MAX);
        wait_until(&format!("Deployment {} to have {pods} ready pods", self.app), SOON, async || {
            let status = self.status().await?;
            let ready = status.ready_replicas.unwrap_or(0);
            Ok(Probe::when(ready == wanted && status.replicas == Some(wanted), || format!("{status:?}")))
        })
        .await
    }
}
