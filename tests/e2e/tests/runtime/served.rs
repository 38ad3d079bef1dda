//! An extension that is served by the test itself, and its registration with core.

use super::management::{EXTENSION_CONFIG, Management};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_runtime_sdk::Extension;
use foo_runtime_sdk::metrics::Metrics;
use foo_runtime_sdk::server::{Files, Options, Server};
use foo_testbed::world::kinds::{condition, text};
use foo_testbed::{Pki, free_port};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const GRACE: Duration = Duration::from_secs(5);

/// A server that runs. Dropping it stops it.
pub(crate) struct Served {
    pub(crate) port: u16,
    pub(crate) metrics: Arc<Metrics>,
    folder: TempDir,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Served {
    /// On a free port, with a certificate that the ExtensionConfigs of this suite trust.
    pub(crate) async fn start(management: &Management, extension: Extension) -> Result<Self> {
        Self::start_at(free_port()?, management.rig().api().pki(), extension).await
    }

    /// On a given port, with a certificate of some authority.
    pub(crate) async fn start_at(port: u16, authority: &Pki, extension: Extension) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        certify(authority, &folder)?;
        let options = Options {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            admin_address: None,
            tls: Files {
                certificate: folder.path().join("tls.crt"),
                key: folder.path().join("tls.key"),
                client_authorities: None,
            },
            grace: GRACE,
        };
        let server = Server::bind(extension, options).await?;
        let metrics = server.metrics();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async move { drop(stopped.await) }));
        Ok(Self { port, metrics, folder, stop, task })
    }

    /// Another certificate in its folder, as cert-manager would renew it.
    pub(crate) fn renew(&self, authority: &Pki) -> Result<()> {
        certify(authority, &self.folder)
    }

    /// Stops it and waits until it has.
    pub(crate) async fn stop(self) -> Result<()> {
        drop(self.stop);
        self.task.await.context("stopping the server")
    }
}

/// Writes a certificate for loopback into a folder.
pub(crate) fn certify(authority: &Pki, folder: &TempDir) -> Result<()> {
    authority.serving(&["127.0.0.1", "localhost"])?.write_to(folder.path())
}

/// An ExtensionConfig for what is served on a port of loopback, in effect in one namespace.
pub(crate) fn extension_config(management: &Management, name: &str, port: u16) -> Value {
    json!({
        "apiVersion": "runtime.cluster.x-k8s.io/v1beta2", "kind": "ExtensionConfig",
        "metadata": {"name": name},
        "spec": {
            "clientConfig": {
                "url": format!("https://127.0.0.1:{port}"),
                "caBundle": BASE64.encode(management.rig().api().pki().ca_pem()),
            },
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
            "settings": {"palette": "of the ExtensionConfig", "paper": "of the ExtensionConfig"},
        },
    })
}

/// Registers an extension under the name of the one namespace that it serves, and waits until core knows its handlers.
pub(crate) async fn register(management: &Management, name: &str, port: u16) -> Result<Value> {
    management.apply(&extension_config(management, name, port)).await?;
    is_known(management, name).await
}

/// Waits until core knows the handlers of an extension: it writes that it does, and the handlers a moment later.
pub(crate) async fn is_known(management: &Management, name: &str) -> Result<Value> {
    management
        .until((EXTENSION_CONFIG, "", name), "discovered, with handlers", |config| {
            let discovered = condition(config, "Discovered").is_some_and(|(status, ..)| status == "True");
            discovered && !handlers(config).is_empty()
        })
        .await
}

/// The names under which core knows the handlers of an extension.
pub(crate) fn handlers(config: &Value) -> Vec<&str> {
    let handlers = config.pointer("/status/handlers").and_then(Value::as_array);
    handlers.into_iter().flatten().map(|handler| text(handler, "/name")).collect()
}
