//! A Cluster of a world, in a namespace of its own that has the same name.

use super::kinds::{self, Kind, condition, text};
use super::manifests::{self, PoolName};
use super::{Pool, SOON, World};
use crate::{ApiServer, Kubelets, Probe, wait_until};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;

/// A Cluster.
#[derive(Clone, Debug)]
pub struct Cluster<'w> {
    world: &'w World,
    namespace: String,
    name: String,
}

impl World {
    /// A Cluster in a namespace of its own, both with this name, with its FooCluster and FooControlPlane; returns when
    /// it is provisioned. The management cluster's API server is its workload cluster.
    pub async fn cluster(&self, name: &str) -> Result<Cluster<'_>> {
        let cluster = self.cluster_on(name, self.api()).await?;
        cluster.is_provisioned().await?;
        Ok(cluster)
    }

    /// The same with its Nodes on another API server; keep the kubelets as long as they shall live. Returns at once.
    pub async fn cluster_elsewhere(
        &self,
        name: &str,
        workload: &ApiServer,
    ) -> Result<(Cluster<'_>, Kubelets)> {
        let kubelets = self.moves_to(name, workload);
        Ok((self.cluster_on(name, workload).await?, kubelets))
    }

    /// A Cluster of which nothing exists yet but the namespace.
    pub async fn no_cluster(&self, name: &str) -> Result<Cluster<'_>> {
        self.apply(&manifests::namespace(name)).await?;
        Ok(self.existing_cluster(name, name))
    }

    /// A Cluster that exists already.
    pub fn existing_cluster(&self, namespace: &str, name: &str) -> Cluster<'_> {
        Cluster { world: self, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    async fn cluster_on(&self, name: &str, workload: &ApiServer) -> Result<Cluster<'_>> {
        let cluster = self.no_cluster(name).await?;
        self.apply(&manifests::kubeconfig_secret(name, name, workload.kubeconfig())).await?;
        self.apply(&manifests::foo_cluster(name, name)).await?;
        self.apply(&manifests::foo_control_plane(name, name)).await?;
        self.apply(&manifests::cluster(name, name)).await?;
        Ok(cluster)
    }
}

impl<'w> Cluster<'w> {
    /// The world it is in.
    pub fn world(&self) -> &'w World {
        self.world
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of a pool of it.
    pub fn pool_name(&self, pool: &str) -> PoolName {
        PoolName {
            namespace: self.namespace.clone(),
            cluster: self.name.clone(),
            pool: pool.to_owned(),
            machine_pool: pool.to_owned(),
        }
    }

    /// Creates a pool with all that belongs to it, and does not wait.
    pub async fn pool(&self, name: &str, replicas: u32) -> Result<Pool<'w>> {
        self.pool_with(name, replicas, |_, _| {}).await
    }

    /// The same, with changes to the MachinePool (first) and the FooMachinePool.
    pub async fn pool_with(
        &self,
        name: &str,
        replicas: u32,
        change: impl FnOnce(&mut Value, &mut Value),
    ) -> Result<Pool<'w>> {
        let names = self.pool_name(name);
        let (mut machine_pool, mut foo_machine_pool) =
            (manifests::machine_pool(&names, replicas), manifests::foo_machine_pool(&names));
        change(&mut machine_pool, &mut foo_machine_pool);
        self.world.apply(&manifests::bootstrap_secret(&names)).await?;
        self.world.apply(&foo_machine_pool).await?;
        self.world.apply(&machine_pool).await?;
        Ok(self.existing_pool(name))
    }

    /// A pool that exists already, or that a test creates by other means.
    pub fn existing_pool(&self, name: &str) -> Pool<'w> {
        Pool::new(self.world, self.pool_name(name))
    }

    /// A pool that the topology controller made: it names MachinePool and FooMachinePool each in its own way.
    pub fn topology_pool(&self, machine_pool: &str, foo_machine_pool: &str) -> Pool<'w> {
        let name = PoolName { machine_pool: machine_pool.to_owned(), ..self.pool_name(foo_machine_pool) };
        Pool::new(self.world, name)
    }

    /// Waits until Cluster API calls it provisioned and its control plane initialised.
    pub async fn is_provisioned(&self) -> Result<()> {
        let Self { namespace, name, world } = self;
        wait_until(&format!("Cluster {name} to be provisioned"), SOON, async || {
            let found = kinds::read(world.client(), Kind::Cluster, namespace, name).await?;
            let Some(cluster) = found else { return Ok(Probe::NotYet("there is no Cluster".to_owned())) };
            let initialized =
                cluster.pointer("/status/initialization/controlPlaneInitialized") == Some(&json!(true));
            let provisioned = text(&cluster, "/status/phase") == "Provisioned" && initialized;
            if provisioned {
                return Ok(Probe::Done(()));
            }
            let foo = kinds::read(world.client(), Kind::FooCluster, namespace, name).await?;
            let control_plane = kinds::read(world.client(), Kind::FooControlPlane, namespace, name).await?;
            let conditions = |object: Option<&Value>| {
                object
                    .and_then(|it| it.pointer("/status/conditions"))
                    .map_or_else(|| "none".to_owned(), Value::to_string)
            };
            Ok(Probe::NotYet(format!(
                "phase {}, FooCluster: {}, FooControlPlane: {}, Cluster: {}",
                text(&cluster, "/status/phase"),
                conditions(foo.as_ref()),
                conditions(control_plane.as_ref()),
                conditions(Some(&cluster)),
            )))
        })
        .await
    }

    /// Pauses or unpauses everything of it.
    pub async fn set_paused(&self, paused: bool) -> Result<()> {
        self.patch(Kind::Cluster, &json!({"spec": {"paused": paused}})).await
    }

    /// Changes part of its Cluster, FooCluster or FooControlPlane.
    pub async fn patch(&self, kind: Kind, change: &Value) -> Result<()> {
        kinds::patch(self.world.client(), kind, &self.namespace, &self.name, change).await
    }

    /// Its Cluster, FooCluster or FooControlPlane.
    pub async fn read(&self, kind: Kind) -> Result<Option<Value>> {
        kinds::read(self.world.client(), kind, &self.namespace, &self.name).await
    }

    /// Deletes the Cluster, and with it everything; does not wait.
    pub async fn delete(&self) -> Result<()> {
        kinds::delete(self.world.client(), Kind::Cluster, &self.namespace, &self.name).await
    }

    /// Waits until nothing is left of it in Kubernetes.
    pub async fn is_gone(&self, timeout: Duration) -> Result<()> {
        let kinds =
            [Kind::Cluster, Kind::FooCluster, Kind::FooControlPlane, Kind::MachinePool, Kind::FooMachinePool];
        wait_until(&format!("Cluster {} to be deleted", self.name), timeout, async || {
            let mut left = Vec::new();
            for kind in kinds.into_iter().chain([Kind::Machine, Kind::FooMachine]) {
                for object in kinds::list(self.world.client(), kind, &self.namespace, "").await? {
                    let found = condition(&object, "Deleting").or_else(|| condition(&object, "Ready"));
                    left.push(format!("\n  {kind:?} {} {found:?}", text(&object, "/metadata/name")));
                }
            }
            Ok(Probe::when(left.is_empty(), || left.concat()))
        })
        .await
    }
}
