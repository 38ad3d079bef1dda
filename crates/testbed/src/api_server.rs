//! One real API server: etcd and kube-apiserver on loopback ports of their own.
//!
//! Several can run at once: a second one is a workload cluster that a test can cut off, or the target of
//! `clusterctl move`. Requests are authorised by real RBAC rules, so a program under test should run with
//! [`ApiServer::service_account_kubeconfig`], not with the administrator's kubeconfig.

use crate::commands::{Printed, run};
use crate::pki::{Pki, token_key, write};
use crate::process::{Process, Signal};
use crate::store::{Store, copy};
use crate::wait::{Probe, wait_until};
use crate::{Tools, free_port, lock};
use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// kube-apiserver is usually ready within 4 s; a machine busy with a cold build needs far longer.
const READY: Duration = Duration::from_secs(90);
/// Starts with fresh ports after another process took one first.
const STARTS: usize = 3;
/// Longer than any test; the rig's clocks are real.
const TOKEN_SECONDS: i64 = 24 * 3600;

/// A running API server with its own store and certificate authority. Dropping it ends both processes.
pub struct ApiServer {
    folder: PathBuf,
    tools: Tools,
    pki: Pki,
    port: u16,
    apiserver_args: Vec<String>,
    kubeconfig: String,
    client: Client,
    store: Store,
    apiserver: Mutex<Option<Process>>,
}

impl ApiServer {
    /// Starts etcd and kube-apiserver with their state, logs and keys in `folder`, and waits until they are ready.
    pub async fn start(tools: &Tools, folder: &Path) -> Result<Self> {
        Self::start_with(tools, folder, &[]).await
    }

    /// Like [`ApiServer::start`], with more arguments for kube-apiserver (`--runtime-config=…`, `--audit-…`).
    pub async fn start_with(tools: &Tools, folder: &Path, extra_args: &[&str]) -> Result<Self> {
        let mut starts = 0;
        loop {
            starts += 1;
            match Self::try_start(tools, folder, extra_args).await {
                Err(error) if starts < STARTS && format!("{error:#}").contains("address already in use") => {
                    tracing::info!("a port was taken; starting again with others");
                }
                result => return result,
            }
        }
    }

    /// Like [`ApiServer::start_with`], with a copy of the store of another one that has ended, with the same version of everything.
    pub(crate) async fn start_from(
        tools: &Tools,
        folder: &Path,
        extra_args: &[&str],
        store: &Path,
    ) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        copy(store, &Store::data(folder)).await?;
        Self::start_with(tools, folder, extra_args).await
    }

    async fn try_start(tools: &Tools, folder: &Path, extra_args: &[&str]) -> Result<Self> {
        drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let folder = folder.canonicalize()?;
        let (store_port, peer_port, port) = (free_port()?, free_port()?, free_port()?);
        let pki = Pki::new()?;
        write_pki(&pki, &folder.join("pki"))?;

        let store = Store::start(tools, &folder, store_port, peer_port)?;

        let admin = pki.client("admin", "system:masters")?;
        let credentials = format!(
            "client-certificate-data: {}, client-key-data: {}",
            BASE64.encode(&admin.certificate_pem),
            BASE64.encode(&admin.key_pem)
        );
        let kubeconfig = kubeconfig(port, pki.ca_pem(), "admin", &credentials);
        write(&folder.join("kubeconfig"), &kubeconfig)?;
        let client = client_of(&kubeconfig).await?;
        let server = Self {
            apiserver_args: apiserver_args(&folder, &store.address(), port, extra_args),
            folder,
            tools: tools.clone(),
            pki,
            port,
            kubeconfig,
            client,
            store,
            apiserver: Mutex::new(None),
        };
        server.resume().await?;
        Ok(server)
    }

    /// A client with all rights, which shows every response as it came: kube's own retries are off. Clones share its
    /// connections.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The administrator's kubeconfig: a client certificate, no exec plugin, nothing outside the text itself.
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// The same kubeconfig as a file, for programs.
    pub fn kubeconfig_path(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// `127.0.0.1` and this port are the server's address; it stays the same when the server is stopped and resumed.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with logs, keys and the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The authority whose serving certificates this API server accepts for webhooks that name its CA bundle.
    pub fn pki(&self) -> &Pki {
        &self.pki
    }

    /// The programs it was started from.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// A kubeconfig that acts as a service account, with a real token: its roles define what a program may do.
    ///
    /// The service account must exist.
    pub async fn service_account_kubeconfig(&self, namespace: &str, name: &str) -> Result<String> {
        let token = self.service_account_token(namespace, name).await?;
        Ok(kubeconfig(self.port, self.pki.ca_pem(), name, &format!("token: {token}")))
    }

    /// The token alone, for other programs whose tokens this API server reviews.
    pub async fn service_account_token(&self, namespace: &str, name: &str) -> Result<String> {
        let request = TokenRequest {
            spec: TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..Default::default() },
            ..Default::default()
        };
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client(), namespace);
        let granted: TokenRequest = accounts
            .create_subresource("token", name, &PostParams::default(), &request)
            .await
            .with_context(|| format!("requesting a token of service account {namespace}/{name}"))?;
        Ok(granted.status.context("a token request without a response")?.token)
    }

    /// Runs kubectl as the administrator and returns its standard output.
    pub async fn kubectl<A, S>(&self, args: A) -> Result<String>
    where
        A: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Ok(self.run("kubectl", args, &[], "").await?.stdout)
    }

    /// `kubectl apply --server-side` of some YAML.
    pub async fn apply(&self, yaml: &str) -> Result<()> {
        let args = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        self.run("kubectl", args, &[], yaml).await.map(drop)
    }

    /// Runs any of the tools, or a program given by its path, with `KUBECONFIG` set to the administrator's.
    pub async fn run<A, S>(
        &self,
        program: &str,
        args: A,
        env: &[(&str, &str)],
        stdin: &str,
    ) -> Result<Printed>
    where
        A: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let path = self.kubeconfig_path();
        let path = path.to_string_lossy();
        let mut all = vec![("KUBECONFIG", path.as_ref())];
        all.extend_from_slice(env);
        run(&self.tools.program(program), args, &all, stdin).await
    }

    /// Ends kube-apiserver: connections break and new ones are refused. The store stays.
    pub fn stop(&self) {
        lock(&self.apiserver).take();
    }

    /// Starts kube-apiserver again on the same port, and waits until it is ready. Nothing to do if it runs.
    pub async fn resume(&self) -> Result<()> {
        let ended = lock(&self.apiserver).as_ref().is_none_or(|process| !process.is_running());
        if ended {
            let process = Process::start(
                "kube-apiserver",
                &self.tools.program("kube-apiserver"),
                &self.apiserver_args,
                &[],
                &self.folder.join("kube-apiserver.log"),
            )?;
            lock(&self.apiserver).replace(process);
        }
        self.wait_until_ready().await
    }

    /// A snapshot of the store, taken while kube-apiserver is away for a moment; for [`ApiServer::restore`].
    pub async fn snapshot(&self, name: &str) -> Result<PathBuf> {
        self.stop();
        let snapshot = self.folder.join(name);
        self.store.copy_to(&snapshot).await?;
        self.resume().await?;
        Ok(snapshot)
    }

    /// Puts a snapshot in the place of the store, as `etcdutl snapshot restore --bump-revision` does: revisions
    /// continue above all that were ever given out, so that clients notice and read everything again.
    pub async fn restore(&self, snapshot: &Path) -> Result<()> {
        self.stop();
        self.store.restore(snapshot).await?;
        self.resume().await
    }

    /// Makes the server unreachable as a broken network would: connections stay open, and nothing responds.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::Freeze)
    }

    /// Undoes [`ApiServer::freeze`].
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::Thaw)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        lock(&self.apiserver).as_ref().context("kube-apiserver is stopped")?.signal(signal)
    }

    async fn wait_until_ready(&self) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.client());
        let ready = wait_until("kube-apiserver to be ready", READY, async || {
            if let Err(ended) = self.check_running() {
                return Ok(Probe::Done(Err(ended)));
            }
            self.client.request_text(http::Request::get("/readyz").body(Vec::new())?).await?;
            // Made by kube-apiserver itself shortly after it reports ready; nothing works without it.
            namespaces.get("default").await?;
            Ok(Probe::Done(Ok(())))
        });
        ready.await?
    }

    fn check_running(&self) -> Result<()> {
        self.store.check_running()?;
        match lock(&self.apiserver).as_ref() {
            Some(process) => process.check_running(),
            None => bail!("kube-apiserver is stopped"),
        }
    }
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (folder, port) = (&self.folder, self.port);
        f.debug_struct("ApiServer").field("folder", folder).field("port", &port).finish_non_exhaustive()
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        // The store last: kube-apiserver would fill its log with complaints about it.
        self.stop();
    }
}

fn write_pki(pki: &Pki, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    write(&folder.join("ca.crt"), pki.ca_pem())?;
    // 10.0.0.1 is the first address of the service range: the address of service "kubernetes".
    pki.serving(&["127.0.0.1", "localhost", "10.0.0.1", "kubernetes.default.svc"])?.write_to(folder)?;
    let (private, public) = token_key()?;
    write(&folder.join("tokens.key"), &private)?;
    write(&folder.join("tokens.pub"), &public)
}

fn apiserver_args(folder: &Path, etcd_url: &str, port: u16, extra: &[&str]) -> Vec<String> {
    let file = |name: &str| folder.join("pki").join(name).display().to_string();
    let mut args = vec![
        format!("--etcd-servers={etcd_url}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--tls-cert-file={}", file("tls.crt")),
        format!("--tls-private-key-file={}", file("tls.key")),
        format!("--client-ca-file={}", file("ca.crt")),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", file("tokens.pub")),
        format!("--service-account-signing-key-file={}", file("tokens.key")),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
        // It reads all of etcd again every five minutes: a tenth of the server's processor time, for faults that no test is about.
        "--feature-gates=DetectCacheInconsistency=false".to_owned(),
    ];
    args.extend(extra.iter().map(|&arg| arg.to_owned()));
    args
}

fn kubeconfig(port: u16, ca_pem: &str, user: &str, credentials: &str) -> String {
    kubeconfig_of(&format!("https://127.0.0.1:{port}"), ca_pem.as_bytes(), user, credentials)
}

/// A kubeconfig for any server; the credentials are fields of a user in YAML's flow style.
pub(crate) fn kubeconfig_of(server: &str, ca_pem: &[u8], user: &str, credentials: &str) -> String {
    let ca = BASE64.encode(ca_pem);
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters: [{{name: rig, cluster: {{server: \"{server}\", certificate-authority-data: {ca}}}}}]\n\
         users: [{{name: {user}, user: {{{credentials}}}}}]\n\
         contexts: [{{name: rig, context: {{cluster: rig, user: {user}}}}}]\n\
         current-context: rig\n"
    )
}

pub(crate) async fn client_of(kubeconfig: &str) -> Result<Client> {
    let parsed = Kubeconfig::from_yaml(kubeconfig).context("our own kubeconfig")?;
    let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await?;
    // kube would hide a 429, which is how an eviction is refused, behind up to 15 retries.
    config.default_retry = false;
    Client::try_from(config).context("making a client")
}
