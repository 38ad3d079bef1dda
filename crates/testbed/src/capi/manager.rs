//! One of Cluster API's own managers as a local process: with its own service account, so that its rights are those it
//! would have in a cluster.

use super::webhooks::{move_webhooks, point_webhooks_at};
use crate::http::get;
use crate::pki::write;
use crate::process::Process;
use crate::wait::{Probe, wait_until};
use crate::{ApiServer, free_port, lock};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

const READY: Duration = Duration::from_mins(1);
const STARTS: usize = 3;

/// Which of them.
#[derive(Debug)]
pub(super) struct Which {
    name: &'static str,
    program: &'static str,
    namespace: &'static str,
    service_account: &'static str,
    /// Name of its kubeconfig and log.
    file: &'static str,
}

pub(super) static CORE: Which = Which {
    name: "cluster-api core",
    program: "capi-core",
    namespace: "capi-system",
    service_account: "capi-manager",
    file: "core",
};

pub(super) static KUBEADM_BOOTSTRAP: Which = Which {
    name: "kubeadm bootstrap provider",
    program: "capi-kubeadm-bootstrap",
    namespace: "capi-kubeadm-bootstrap-system",
    service_account: "capi-kubeadm-bootstrap-manager",
    file: "kubeadm-bootstrap",
};

/// The manager. Dropping it ends it; its webhooks stay, and are refused.
#[derive(Debug)]
pub(super) struct Manager {
    which: &'static Which,
    feature_gates: String,
    webhook_port: u16,
    process: Mutex<Option<Process>>,
}

impl Manager {
    /// Points its webhooks at it, starts it and waits until it is ready. Its files go to `folder`, in which the
    /// certificates of webhooks are.
    pub(super) async fn start(
        api: &ApiServer,
        folder: &Path,
        which: &'static Which,
        feature_gates: &str,
    ) -> Result<Self> {
        let mut manager = Self {
            which,
            feature_gates: feature_gates.to_owned(),
            webhook_port: free_port()?,
            process: Mutex::new(None),
        };
        for start in 1.. {
            match manager.start_again(api, folder).await {
                Err(error) if start < STARTS && format!("{error:#}").contains("address already in use") => {
                    tracing::info!("a port was taken; starting the {} again with others", which.name);
                    let taken = std::mem::replace(&mut manager.webhook_port, free_port()?);
                    move_webhooks(api, taken, manager.webhook_port).await?;
                }
                started => {
                    started?;
                    break;
                }
            }
        }
        Ok(manager)
    }

    /// Kills it, as a crash would.
    pub(super) fn kill(&self) {
        lock(&self.process).take();
    }

    /// Points all its webhooks at it again, starts it, and waits until it is ready.
    pub(super) async fn start_again(&self, api: &ApiServer, folder: &Path) -> Result<()> {
        let Which { name, program, namespace, service_account, file } = self.which;
        let (health_port, diagnostics_port) = (free_port()?, free_port()?);
        point_webhooks_at(api, namespace, self.webhook_port).await?;
        let kubeconfig = folder.join(format!("{file}.kubeconfig"));
        write(&kubeconfig, &api.service_account_kubeconfig(namespace, service_account).await?)?;
        let process = Process::start(
            name,
            &api.tools().program(program),
            [
                format!("--kubeconfig={}", kubeconfig.display()),
                "--leader-elect=false".to_owned(),
                format!("--webhook-port={}", self.webhook_port),
                format!("--webhook-cert-dir={}", folder.join("webhook").display()),
                format!("--diagnostics-address=127.0.0.1:{diagnostics_port}"),
                "--insecure-diagnostics".to_owned(),
                format!("--health-addr=127.0.0.1:{health_port}"),
                format!("--feature-gates={}", self.feature_gates),
            ],
            &[("POD_NAMESPACE", namespace), ("POD_NAME", "capi"), ("POD_UID", "capi")],
            &folder.join(format!("{file}.log")),
        )?;
        let waiting = format!("the {name} manager to be ready");
        let ready = wait_until(&waiting, READY, async || {
            if let Err(ended) = process.check_running() {
                return Ok(Probe::Done(Err(ended)));
            }
            get(health_port, "/readyz").await?;
            Ok(Probe::Done(Ok(())))
        });
        ready.await.with_context(|| process.log_tail())??;
        lock(&self.process).replace(process);
        Ok(())
    }
}
