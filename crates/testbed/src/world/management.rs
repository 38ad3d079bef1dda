//! Another management cluster beside that of a world, for `clusterctl move`; and new versions of our managers.

use super::clock::MovedClock;
use super::manager::Managers;
use super::{Manager, World, released_providers, variables};
use crate::{ApiServer, Capi, CapiOptions, ClusterServer, Controllers};
use anyhow::Result;
use std::sync::Arc;

/// A management cluster with Cluster API, our provider and our managers, before the same AWS. It has no Nodes of its
/// own: those of the Clusters that come here stay where their kubeconfigs point to. Dropping it stops everything.
#[derive(Debug)]
pub struct ManagementCluster {
    // Dropped in this order: a component ends before what it talks to.
    manager: Manager,
    control_plane_manager: Manager,
    bootstrap_manager: Manager,
    capi: Capi,
    host: Host,
}

/// The Kubernetes cluster that Cluster API and the managers run on.
#[derive(Debug)]
enum Host {
    /// Its own.
    Own { _controllers: Controllers, api: Box<ApiServer> },
    /// A cluster of the simulated EKS.
    Eks(Arc<ClusterServer>),
}

impl Host {
    fn api(&self) -> &ApiServer {
        match self {
            Self::Own { api, .. } => api,
            Self::Eks(server) => server.api(),
        }
    }
}

impl ManagementCluster {
    /// Its API server.
    pub fn api(&self) -> &ApiServer {
        self.host.api()
    }

    /// Cluster API.
    pub fn capi(&self) -> &Capi {
        &self.capi
    }

    /// The manager of pools and FooClusters.
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// The manager of FooControlPlanes.
    pub fn control_plane_manager(&self) -> &Manager {
        &self.control_plane_manager
    }

    /// The manager of FooNodeConfigs.
    pub fn bootstrap_manager(&self) -> &Manager {
        &self.bootstrap_manager
    }
}

impl World {
    /// Starts another management cluster, in a folder of that name below this world's.
    pub async fn another_management_cluster(&self, name: &str) -> Result<ManagementCluster> {
        let (api, controllers) = self.rig().another_cluster(name).await?;
        self.management_cluster_on(Host::Own { _controllers: controllers, api: Box::new(api) }).await
    }

    /// Creates a cluster of the simulated EKS a management cluster, as `clusterctl init` does before a cluster is moved
    /// into itself.
    pub async fn management_cluster_on_eks(&self, server: Arc<ClusterServer>) -> Result<ManagementCluster> {
        self.management_cluster_on(Host::Eks(server)).await
    }

    async fn management_cluster_on(&self, host: Host) -> Result<ManagementCluster> {
        Box::pin(async {
            let api = host.api();
            let providers = released_providers(&api.folder().join("release"))?;
            let options = CapiOptions { providers, variables: variables(), ..CapiOptions::default() };
            let capi = Capi::install(api, options).await?;
            let Managers { infrastructure: manager, control_plane: control_plane_manager, bootstrap } =
                Managers::of(api, self.aws(), &self.manager_args).await?;
            tokio::try_join!(manager.start(), control_plane_manager.start(), bootstrap.start())?;
            Ok(ManagementCluster { manager, control_plane_manager, bootstrap_manager: bootstrap, capi, host })
        })
        .await
    }

    /// What kubelets do after `clusterctl upgrade apply`: stops the managers and starts them with the arguments of the
    /// Deployments, with Cluster API core. The managers' program stays the same.
    pub async fn roll_out_deployments(&mut self) -> Result<()> {
        tokio::try_join!(
            self.manager.retire(),
            self.control_plane_manager.retire(),
            self.bootstrap_manager.retire()
        )?;
        let api = self.rig.api();
        self.rig.capi()?.restart(api).await?;
        let managers = Managers::of(api, &self.aws, &self.manager_args).await?;
        let manager = managers.infrastructure.with_env(self.clock.iter().flat_map(MovedClock::env));
        self.manager = Arc::new(manager);
        self.control_plane_manager = Arc::new(managers.control_plane);
        self.bootstrap_manager = Arc::new(managers.bootstrap);
        self.start_managers().await
    }

    /// Starts the manager that the Deployment of `deploy/default` or of a flavour of it describes by now, instead of
    /// those that clusterctl installed; both of those must have ended.
    pub async fn starts_the_one_manager(&mut self) -> Result<()> {
        let api = self.rig.api();
        self.manager = Arc::new(Manager::of_default(api, &self.aws, &self.manager_args).await?);
        self.manager.start().await
    }
}
