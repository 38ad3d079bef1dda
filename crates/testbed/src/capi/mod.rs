//! Cluster API: installed by the real clusterctl from local folders, with the real core manager beside it.
//!
//! The Deployments that clusterctl creates are scaled to zero: no container runs here. The core manager runs as a
//! local process with its own service account, so its rights are those it would have in a cluster; managers of other
//! providers are the caller's to start. cert-manager is not needed: its kinds are stubbed, and webhooks are pointed
//! at loopback with certificates of the API server's own authority.

mod repository;
mod webhooks;

pub use repository::{Provider, ProviderKind};
pub use webhooks::point_webhooks_at;

use crate::commands::Printed;
use crate::http::get;
use crate::pki::write;
use crate::process::Process;
use crate::wait::{Probe, wait_until};
use crate::{ApiServer, free_port, lock};
use anyhow::{Context as _, Result};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

const READY: Duration = Duration::from_mins(1);
const NAMESPACE: &str = "capi-system";
const SERVICE_ACCOUNT: &str = "capi-manager";
const STARTS: usize = 3;

/// What is installed beside Cluster API core, and how core runs.
#[derive(Clone, Debug)]
pub struct CapiOptions {
    /// Providers to install with core, from their release folders.
    pub providers: Vec<Provider>,
    /// Value of the core manager's `--feature-gates`.
    pub feature_gates: String,
    /// Variables of provider templates (`${NAME}` in components and cluster templates).
    pub variables: Vec<(String, String)>,
}

impl Default for CapiOptions {
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            feature_gates: "MachinePool=true,ClusterTopology=true,RuntimeSDK=true".to_owned(),
            variables: Vec::new(),
        }
    }
}

/// Cluster API on one API server. Dropping it ends the core manager; what is installed stays.
#[derive(Debug)]
pub struct Capi {
    folder: PathBuf,
    options: CapiOptions,
    webhook_port: u16,
    core: Mutex<Option<Process>>,
}

impl Capi {
    /// Runs `clusterctl init` for core and the given providers, starts the core manager and waits until it is ready.
    pub async fn install(api: &ApiServer, options: CapiOptions) -> Result<Self> {
        let folder = api.folder().join("capi");
        let certificates = folder.join("webhook");
        std::fs::create_dir_all(&certificates)
            .with_context(|| format!("creating {}", certificates.display()))?;
        api.pki().serving(&["127.0.0.1", "localhost"])?.write_to(&certificates)?;
        let core = repository::core(api.tools(), &folder)?;
        write(&folder.join("clusterctl.yaml"), &repository::config(&core, &options))?;
        api.apply(&repository::cert_manager_stub()).await.context("stubbing cert-manager")?;

        let mut capi = Self { folder, options, webhook_port: free_port()?, core: Mutex::new(None) };
        capi.clusterctl(api, repository::init_args(&core, &capi.options.providers)).await?;
        scale_to_zero(api).await?;
        for start in 1.. {
            match capi.start_core(api).await {
                Err(error) if start < STARTS && format!("{error:#}").contains("address already in use") => {
                    tracing::info!("a port was taken; starting the core manager again with others");
                    let taken = std::mem::replace(&mut capi.webhook_port, free_port()?);
                    webhooks::move_webhooks(api, taken, capi.webhook_port).await?;
                }
                started => {
                    started?;
                    break;
                }
            }
        }
        Ok(capi)
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
            // clusterctl would look for newer versions of itself and of the providers on the internet.
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
        lock(&self.core).take();
    }

    /// Kills the core manager, points all webhooks at it again, starts it, and waits until it is ready.
    pub async fn restart(&self, api: &ApiServer) -> Result<()> {
        self.kill();
        scale_to_zero(api).await?;
        self.start_core(api).await
    }

    async fn start_core(&self, api: &ApiServer) -> Result<()> {
        let (health_port, diagnostics_port) = (free_port()?, free_port()?);
        point_webhooks_at(api, NAMESPACE, self.webhook_port).await?;
        let kubeconfig = self.folder.join("core.kubeconfig");
        write(&kubeconfig, &api.service_account_kubeconfig(NAMESPACE, SERVICE_ACCOUNT).await?)?;
        let process = Process::start(
            "cluster-api core",
            &api.tools().program("capi-core"),
            [
                format!("--kubeconfig={}", kubeconfig.display()),
                "--leader-elect=false".to_owned(),
                format!("--webhook-port={}", self.webhook_port),
                format!("--webhook-cert-dir={}", self.folder.join("webhook").display()),
                format!("--diagnostics-address=127.0.0.1:{diagnostics_port}"),
                "--insecure-diagnostics".to_owned(),
                format!("--health-addr=127.0.0.1:{health_port}"),
                format!("--feature-gates={}", self.options.feature_gates),
            ],
            &[("POD_NAMESPACE", NAMESPACE), ("POD_NAME", "capi"), ("POD_UID", "capi")],
            &self.folder.join("core.log"),
        )?;
        let ready = wait_until("the Cluster API core manager to be ready", READY, async || {
            if let Err(ended) = process.check_running() {
                return Ok(Probe::Done(Err(ended)));
            }
            get(health_port, "/readyz").await?;
            Ok(Probe::Done(Ok(())))
        });
        ready.await.with_context(|| process.log_tail())??;
        lock(&self.core).replace(process);
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
