//! kube-controller-manager with the controllers that tests rely on; the others would fight the kubelet stand-in
//! (node lifecycle) or have nothing to do.

use crate::ApiServer;
use crate::process::Process;
use crate::wait::{Probe, wait_until};
use anyhow::Result;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use std::time::Duration;

/// Real garbage collection by owner references, deletion of namespaces, aggregated roles, Deployments and the
/// status of PodDisruptionBudgets.
const CONTROLLERS: &str = "garbage-collector-controller,namespace-controller,serviceaccount-controller,\
    clusterrole-aggregation-controller,deployment-controller,replicaset-controller,disruption-controller";

const READY: Duration = Duration::from_mins(1);

/// A running kube-controller-manager. Dropping it ends it.
#[derive(Debug)]
pub struct Controllers {
    process: Process,
}

impl Controllers {
    /// Starts it against `api`; returns before it is ready.
    pub fn start(api: &ApiServer) -> Result<Self> {
        let pki = api.folder().join("pki");
        let process = Process::start(
            "kube-controller-manager",
            &api.tools().program("kube-controller-manager"),
            [
                &format!("--kubeconfig={}", api.kubeconfig_path().display()),
                "--leader-elect=false",
                &format!("--service-account-private-key-file={}", pki.join("tokens.key").display()),
                &format!("--root-ca-file={}", pki.join("ca.crt").display()),
                // As kubeadm starts it: policies distinguish the garbage collector from users.
                "--use-service-account-credentials=true",
                &format!("--controllers={CONTROLLERS}"),
                "--secure-port=0",
            ],
            &[],
            &api.folder().join("kube-controller-manager.log"),
        )?;
        Ok(Self { process })
    }

    /// Waits until its controllers work: no pod can be created before one of them has made the service account.
    pub async fn wait_until_ready(&self, api: &ApiServer) -> Result<()> {
        let accounts: Api<ServiceAccount> = Api::namespaced(api.client(), "default");
        let ready =
            wait_until("kube-controller-manager to create service account default", READY, async || {
                if let Err(ended) = self.process.check_running() {
                    return Ok(Probe::Done(Err(ended)));
                }
                accounts.get("default").await?;
                Ok(Probe::Done(Ok(())))
            });
        ready.await?
    }

    /// The process, to stop it for a while.
    pub fn process(&self) -> &Process {
        &self.process
    }
}
