//! Cluster API: installed by the real clusterctl from local folders, with its real managers beside it.
//!
//! The Deployments that clusterctl creates are scaled to zero: no container runs here. The managers of core and, if
//! asked for, of the kubeadm bootstrap provider run as local processes; those of other providers are the caller's to
//! start. cert-manager is not needed: its kinds are stubbed, and webhooks are pointed at loopback with certificates of
//! the API server's own authority.

pub(crate) mod installed;
mod manager;
mod repository;
mod webhooks;

pub use repository::{CapiOptions, Provider, ProviderKind};
pub use webhooks::point_webhooks_at;

use crate::ApiServer;
use crate::commands::Printed;
use crate::pki::write;
use anyhow::{Context as _, Result};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use manager::{CORE, KUBEADM_BOOTSTRAP, Manager};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Cluster API on one API server. Dropping it ends its managers; what is installed stays.
#[derive(Debug)]
pub struct Capi {
    folder: PathBuf,
    core: Option<Manager>,
    kubeadm_bootstrap: Option<Manager>,
}

impl Capi {
    /// Runs `clusterctl init` for core and the given providers, starts its managers and waits until they are ready.
    pub async fn install(api: &ApiServer, options: CapiOptions) -> Result<Self> {
        Self::init(api, options.clone()).await?;
        Self::start(api, options).await
    }

    /// Runs `clusterctl init` alone.
    async fn init(api: &ApiServer, options: CapiOptions) -> Result<()> {
        let (capi, core, options) = Self::prepare(api, options)?;
        api.apply(&repository::cert_manager_stub()).await.context("stubbing cert-manager")?;
        capi.clusterctl(api, repository::init_args(&core, &options.providers)).await?;
        scale_to_zero(api).await
    }

    /// Starts the managers of what is installed, and waits until they are ready.
    pub(crate) async fn start(api: &ApiServer, options: CapiOptions) -> Result<Self> {
        let (mut capi, _, options) = Self::prepare(api, options)?;
        let certificates = capi.folder.join("webhook");
        std::fs::create_dir_all(&certificates)
            .with_context(|| format!("creating {}", certificates.display()))?;
        api.pki().serving(&["127.0.0.1", "localhost"])?.write_to(&certificates)?;
        let gates = &options.feature_gates;
        capi.core = Some(Manager::start(api, &capi.folder, &CORE, gates).await?);
        if options.kubeadm_bootstrap {
            capi.kubeadm_bootstrap =
                Some(Manager::start(api, &capi.folder, &KUBEADM_BOOTSTRAP, gates).await?);
        }
        Ok(capi)
    }

    /// Writes clusterctl's configuration and the repositories of Cluster API. Returns core, and the options with all providers.
    fn prepare(api: &ApiServer, mut options: CapiOptions) -> Result<(Self, Provider, CapiOptions)> {
        let folder = api.folder().join("capi");
        let core = repository::core(api.tools(), &folder)?;
        if options.kubeadm_bootstrap {
            options.providers.push(repository::kubeadm_bootstrap(api.tools(), &folder)?);
        }
        let capi = Self { folder, core: None, kubeadm_bootstrap: None };
        write(&capi.clusterctl_config(), &repository::config(&core, &options))?;
        Ok((capi, core, options))
    }

    /// Runs the real clusterctl against `api` with this installation's configuration.
    ///
    /// After an upgrade or a deletion of providers call [`Capi::restart`]: clusterctl has pointed the webhooks back
    /// at services that do not exist here, and scaled Deployments up.
    pub async fn clusterctl<A, S>(&self, api: &ApiServer, args: A) -> Result<Printed>
    where
        A: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let config = self.clusterctl_config();
        let mut all: Vec<OsString> = vec!["--config".into(), config.into()];
        all.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        let home = self.folder.join("xdg").display().to_string();
        let env = [
            // clusterctl would check for newer versions of itself and of the providers on the internet.
            ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true"),
            ("GOPROXY", "off"),
            ("XDG_CONFIG_HOME", home.as_str()),
        ];
        api.run("clusterctl", all, &env, "").await
    }

    /// The configuration file that names the local repositories, for a program that runs clusterctl itself.
    pub fn clusterctl_config(&self) -> PathBuf {
        self.folder.join("clusterctl.yaml")
    }

    /// Kills the core manager, as a crash would. Its webhooks are refused until [`Capi::restart`].
    pub fn kill(&self) {
        if let Some(core) = &self.core {
            core.kill();
        }
    }

    /// Kills the managers, points all webhooks at them again, starts them, and waits until they are ready.
    pub async fn restart(&self, api: &ApiServer) -> Result<()> {
        scale_to_zero(api).await?;
        for manager in self.core.iter().chain(&self.kubeadm_bootstrap) {
            manager.kill();
            manager.start_again(api, &self.folder).await?;
        }
        Ok(())
    }
}

/// Scales the Deployments of all providers to zero: the kubelet stand-in would "run" their pods, and a test that
/// counts pods would count them.
async fn scale_to_zero(api: &ApiServer) -> Result<()> {
    let deployments: Api<Deployment> = Api::all(api.client());
    let of_providers = ListParams::default().labels("clusterctl.cluster.x-k8s.io");
    for deployment in deployments.list(&of_providers).await.context("listing Deployments")? {
        let namespace = deployment.namespace().unwrap_or_default();
        let namespaced: Api<Deployment> = Api::namespaced(api.client(), &namespace);
        let patch = Patch::Merge(json!({"spec": {"replicas": 0}}));
        namespaced.patch(&deployment.name_any(), &PatchParams::default(), &patch).await?;
    }
    Ok(())
}
