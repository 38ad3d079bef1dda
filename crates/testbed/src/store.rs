//! The store of an API server: a real etcd, which can be restored to what it was.

use crate::commands::run;
use crate::http::post;
use crate::process::Process;
use crate::wait::{Probe, wait_until};
use crate::{Tools, lock};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

const GRACE: Duration = Duration::from_secs(20);
const READY: Duration = Duration::from_mins(1);
/// `foo-testbed/revision` and a value, as etcd's gateway expects them. Kubernetes reads below `/registry` only.
const A_WRITE: &str = r#"{"key": "Zm9vLXRlc3RiZWQvcmV2aXNpb24=", "value": "MQ=="}"#;

/// A running etcd. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Store {
    program: PathBuf,
    args: Vec<String>,
    data: PathBuf,
    log: PathBuf,
    port: u16,
    process: Mutex<Option<Process>>,
}

impl Store {
    /// Starts it with its state and log in `folder`; does not wait until it is ready.
    pub(crate) fn start(tools: &Tools, folder: &Path, port: u16, peer_port: u16) -> Result<Self> {
        let data = Self::data(folder);
        let url = format!("http://127.0.0.1:{port}");
        let args = vec![
            // Nothing here has to survive a power cut.
            "--unsafe-no-fsync".to_owned(),
            format!("--data-dir={}", data.display()),
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            format!("--listen-peer-urls=http://127.0.0.1:{peer_port}"),
        ];
        let (program, log) = (tools.program("etcd"), folder.join("etcd.log"));
        let store = Self { program, args, data, log, port, process: Mutex::new(None) };
        store.run()?;
        Ok(store)
    }

    /// Where its state is.
    pub(crate) fn data(folder: &Path) -> PathBuf {
        folder.join("etcd")
    }

    fn run(&self) -> Result<()> {
        let process = Process::start("etcd", &self.program, &self.args, &[], &self.log)?;
        lock(&self.process).replace(process);
        Ok(())
    }

    async fn end(&self) -> Result<()> {
        let Some(process) = lock(&self.process).take() else { return Ok(()) };
        ensure!(process.terminate(GRACE).await?, "etcd did not end");
        Ok(())
    }

    /// Where kube-apiserver finds it.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn check_running(&self) -> Result<()> {
        lock(&self.process).as_ref().context("etcd is stopped")?.check_running()
    }

    /// Copies its state while it does not run. It must not be in use.
    pub(crate) async fn copy_to(&self, folder: &Path) -> Result<()> {
        self.end().await?;
        copy(&self.data, folder).await?;
        self.run()
    }

    /// Restores a copy as `etcdutl snapshot restore --bump-revision --mark-compacted` does: its revisions continue
    /// above all that were ever given out, and none below is remembered, so that no client continues from an earlier
    /// one. It must not be in use.
    pub(crate) async fn restore(&self, copied: &Path) -> Result<()> {
        let newest = self.write().await?;
        self.end().await?;
        std::fs::remove_dir_all(&self.data).with_context(|| format!("removing {}", self.data.display()))?;
        copy(copied, &self.data).await?;
        self.run()?;
        wait_until("etcd to be ready again", READY, async || {
            self.check_running()?;
            self.write().await.map(Probe::Done)
        })
        .await?;
        while self.write().await? <= newest {}
        let forgotten = json!({"revision": newest.to_string(), "physical": true});
        post(self.port, "/v3/kv/compaction", &forgotten.to_string()).await.map(drop)
    }

    /// The revision of a write that is not read.
    async fn write(&self) -> Result<u64> {
        let response: Value = serde_json::from_str(&post(self.port, "/v3/kv/put", A_WRITE).await?)?;
        let revision = response.pointer("/header/revision").and_then(Value::as_str);
        revision.context("a response without revision")?.parse().context("a revision")
    }
}

/// Copies the state of an etcd that does not run to a folder that does not exist.
pub(crate) async fn copy(from: &Path, to: &Path) -> Result<()> {
    let arguments = ["-r".as_ref(), from.as_os_str(), to.as_os_str()];
    run(Path::new("cp"), arguments, &[], "").await.map(drop)
}
