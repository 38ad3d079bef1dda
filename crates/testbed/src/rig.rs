//! Everything a test usually needs, in one piece: a management cluster that is also its own workload cluster.

use crate::capi::installed;
use crate::folder::Folder;
use crate::pki::write;
use crate::wait::{Probe, wait_until};
use crate::{ApiServer, Capi, CapiOptions, Controllers, Tools};
use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a rig is set up.
#[derive(Clone, Debug)]
pub struct RigOptions {
    /// Where state, logs and kubeconfigs go. None: a temporary folder, removed at the end unless the test panicked
    /// or `FOO_KEEP_RIG` is set. A given folder is emptied first and left as it is at the end.
    pub folder: Option<PathBuf>,
    /// What to install of Cluster API; none for a bare API server with controllers.
    pub capi: Option<CapiOptions>,
    /// More arguments for kube-apiserver.
    pub apiserver_args: Vec<String>,
}

impl Default for RigOptions {
    fn default() -> Self {
        Self { folder: None, capi: Some(CapiOptions::default()), apiserver_args: Vec::new() }
    }
}

/// A running management cluster. Dropping it stops everything.
#[derive(Debug)]
pub struct Rig {
    // Dropped in this order: a component ends before what it talks to.
    capi: Option<Capi>,
    controllers: Controllers,
    api: ApiServer,
    folder: Folder,
    timings: Vec<(&'static str, Duration)>,
}

impl Rig {
    /// Starts everything and waits until it is ready.
    pub async fn start(options: RigOptions) -> Result<Self> {
        // Before anything is created: a missing program is the first thing to report.
        Tools::find()?;
        let folder = Folder::prepare(options.folder.clone())?;
        Self::start_in(folder, options).await
    }

    /// The same in a folder in which something is already.
    pub(crate) async fn start_in(folder: Folder, options: RigOptions) -> Result<Self> {
        let tools = Tools::find()?;
        let mut watch = Stopwatch::default();
        let args: Vec<&str> = options.apiserver_args.iter().map(String::as_str).collect();
        let api = match &options.capi {
            Some(capi) => installed::start(&tools, folder.path(), &args, capi).await?,
            None => ApiServer::start_with(&tools, folder.path(), &args).await?,
        };
        watch.lap("etcd and kube-apiserver, with the providers");
        // Its start and that of Cluster API overlap.
        let controllers = Controllers::start(&api)?;
        let capi = match options.capi {
            Some(options) => {
                let capi = Capi::start(&api, options).await?;
                watch.lap("Cluster API core");
                Some(capi)
            }
            None => None,
        };
        controllers.wait_until_ready(&api).await?;
        watch.lap("kube-controller-manager, the rest");
        Ok(Self { capi, controllers, api, folder, timings: watch.laps })
    }

    /// The API server.
    pub fn api(&self) -> &ApiServer {
        &self.api
    }

    /// kube-controller-manager.
    pub fn controllers(&self) -> &Controllers {
        &self.controllers
    }

    /// Cluster API. An error if the rig was started without.
    pub fn capi(&self) -> Result<&Capi> {
        self.capi.as_ref().context("this rig was started without Cluster API")
    }

    /// Runs the real clusterctl with this rig's configuration and returns its standard output.
    pub async fn clusterctl<A, S>(&self, args: A) -> Result<String>
    where
        A: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        Ok(self.capi()?.clusterctl(&self.api, args).await?.stdout)
    }

    /// The folder with logs, kubeconfigs and whatever a test adds.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder stays at the end, for a user to read: for a test that failed in a rig it shares with others.
    pub fn keep_folder(&self) {
        self.folder.keep();
    }

    /// How long each step of the start took.
    pub fn timings(&self) -> &[(&'static str, Duration)] {
        &self.timings
    }

    /// Starts another API server with controllers, in its own folder below this rig's: a workload cluster that can
    /// be cut off, or the target of `clusterctl move` (then also [`Capi::install`] there).
    pub async fn another_cluster(&self, name: &str) -> Result<(ApiServer, Controllers)> {
        let api = ApiServer::start(self.api.tools(), &self.folder().join(name)).await?;
        let controllers = Controllers::start(&api)?;
        controllers.wait_until_ready(&api).await?;
        Ok((api, controllers))
    }

    /// Uses this rig's own API server as the workload cluster of a Cluster.
    pub async fn link_cluster(&self, namespace: &str, cluster: &str) -> Result<()> {
        self.link_cluster_to(namespace, cluster, &self.api).await
    }

    /// Uses `workload` as the workload cluster of a Cluster, by the kubeconfig Secret that Cluster API reads.
    ///
    /// The Secret has no owner; on a real control plane it belongs to the control plane object.
    pub async fn link_cluster_to(&self, namespace: &str, cluster: &str, workload: &ApiServer) -> Result<()> {
        let name = format!("{cluster}-kubeconfig");
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "cluster.x-k8s.io/secret",
            "metadata": {"name": name, "labels": {"cluster.x-k8s.io/cluster-name": cluster}},
            "stringData": {"value": workload.kubeconfig()},
        });
        let secrets: Api<Secret> = Api::namespaced(self.api.client(), namespace);
        let params = PatchParams::apply("foo-testbed").force();
        secrets
            .patch(&name, &params, &Patch::Apply(secret))
            .await
            .with_context(|| format!("writing Secret {namespace}/{name}"))?;
        Ok(())
    }

    /// Writes a kubeconfig that acts as a service account of this rig to a file, for a manager under test.
    ///
    /// Waits a little for a service account that was only just asked for.
    pub async fn service_account_kubeconfig(&self, namespace: &str, name: &str) -> Result<PathBuf> {
        service_account_kubeconfig(&self.api, namespace, name).await
    }
}

/// [`Rig::service_account_kubeconfig`] of any API server, in its folder.
pub(crate) async fn service_account_kubeconfig(
    api: &ApiServer,
    namespace: &str,
    name: &str,
) -> Result<PathBuf> {
    let waiting = format!("service account {namespace}/{name}");
    let text = wait_until(&waiting, Duration::from_secs(10), async || {
        Ok(Probe::Done(api.service_account_kubeconfig(namespace, name).await?))
    });
    let path = api.folder().join(format!("{namespace}-{name}.kubeconfig"));
    write(&path, &text.await?)?;
    Ok(path)
}

#[derive(Debug)]
struct Stopwatch {
    since: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self { since: Instant::now(), laps: Vec::new() }
    }
}

impl Stopwatch {
    fn lap(&mut self, step: &'static str) {
        let now = Instant::now();
        let took = now.duration_since(self.since);
        self.since = now;
        tracing::info!(step, ?took, "started");
        self.laps.push((step, took));
    }
}
