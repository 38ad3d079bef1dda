//! The API server of one cluster, with what EKS runs beside it and the kubelets of its instances.

use super::authenticator::Authenticator;
use super::nodes::ClusterNodes;
use super::rights;
use super::shared::Shared;
use crate::{ApiServer, Controllers, Kubelets};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_simulator::core::eks::cluster::ApiServer as Address;
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The running API server of one cluster. Dropping it ends it.
#[derive(Debug)]
pub struct ClusterServer {
    // Dropped in this order: a component ends before what it talks to.
    kubelets: Kubelets,
    /// Aborted when dropped.
    _rights: JoinSet<()>,
    _controllers: Controllers,
    api: ApiServer,
    authenticator: Authenticator,
}

impl ClusterServer {
    pub(super) async fn start(shared: &Arc<Shared>, name: &str, id: &str, folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let cluster = shared.region.cluster(name).filter(|cluster| cluster.id == id);
        let cluster = cluster.with_context(|| format!("the cluster {name} does not exist"))?;
        let authenticator = Authenticator::start(shared, name, id, folder).await?;
        let args = [
            format!("--authentication-token-webhook-config-file={}", authenticator.kubeconfig().display()),
            // The version that it speaks.
            "--authentication-token-webhook-version=v1beta1".to_owned(),
            "--authentication-token-webhook-cache-ttl=0s".to_owned(),
            // Beside RBAC.
            "--authorization-mode=Node".to_owned(),
            "--enable-admission-plugins=NodeRestriction".to_owned(),
            format!("--service-cluster-ip-range={}", cluster.service_range),
        ];
        let args = args.each_ref().map(String::as_str);
        let api = ApiServer::start_with(&shared.tools, folder, &args).await?;
        let controllers = Controllers::start(&api)?;
        controllers.wait_until_ready(&api).await?;
        let mut tasks = JoinSet::new();
        rights::prepare(&api.client()).await?;
        tasks.spawn(rights::keep(shared.region.clone(), name.to_owned(), id.to_owned(), api.client()));
        let nodes = ClusterNodes::new(Arc::clone(shared), name);
        let kubelets = Kubelets::start(api.client(), nodes, shared.kubelets.clone());
        Ok(Self { kubelets, _rights: tasks, _controllers: controllers, api, authenticator })
    }

    /// The API server, as its administrator calls it.
    pub fn api(&self) -> &ApiServer {
        &self.api
    }

    /// The kubelets of its instances.
    pub fn kubelets(&self) -> &Kubelets {
        &self.kubelets
    }

    /// Why its authenticator refused tokens, oldest first.
    pub(super) fn refused_tokens(&self) -> Vec<String> {
        self.authenticator.refusals()
    }

    /// Endpoint and authority, as EKS reports them.
    pub(super) fn address(&self) -> Address {
        Address {
            endpoint: format!("https://127.0.0.1:{}", self.api.port()),
            certificate_authority: BASE64.encode(self.api.pki().ca_pem()),
        }
    }
}
