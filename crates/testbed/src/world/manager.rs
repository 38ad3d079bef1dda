//! Our managers as local processes: with the flags, the service account and the namespace that the release's
//! Deployments give them, so that what is tested is what is released.

use super::aws::{Aws, REGION};
use crate::http::get;
use crate::pki::write;
use crate::process::Process;
use crate::wait::{Probe, wait_until};
use crate::world::diagnostics;
use crate::{ApiServer, beside_us, free_port, lock};
use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Names the manager's program, for tests of one that was built elsewhere.
pub const PROGRAM: &str = "FOO_MANAGER_BIN";

const STARTS: usize = 3;
const READY: Duration = Duration::from_secs(30);
/// Its lines can be very long.
const LINE: usize = 400;
/// The Deployments give a manager 30 s to end.
const GRACE: Duration = Duration::from_secs(30);
/// The variable from which a manager has its identity in the election.
const POD_NAME: &str = "POD_NAME";
/// What a manager logs that has lost its Lease, before it ends.
const LEASE_LOST: &str = "no longer the leader";

/// Where the release's Deployment of a provider is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Released {
    pub(super) namespace: &'static str,
    pub(super) deployment: &'static str,
    /// What the names of its roles begin with.
    pub(super) prefix: &'static str,
}

/// The infrastructure provider: pools and clusters.
const INFRASTRUCTURE: Released =
    Released { namespace: "foo-system", deployment: "foo-controller-manager", prefix: "foo-" };
/// The control-plane provider.
const CONTROL_PLANE: Released = Released {
    namespace: "foo-control-plane-system",
    deployment: "foo-control-plane-controller-manager",
    prefix: "foo-control-plane-",
};
/// The bootstrap provider.
const BOOTSTRAP: Released = Released {
    namespace: "foo-bootstrap-system",
    deployment: "foo-bootstrap-controller-manager",
    prefix: "foo-bootstrap-",
};

/// The managers of a release's three providers.
#[derive(Debug)]
pub(super) struct Managers {
    pub(super) infrastructure: Manager,
    pub(super) control_plane: Manager,
    pub(super) bootstrap: Manager,
}

impl Managers {
    /// As the release describes them; does not start them.
    pub(super) async fn of(api: &ApiServer, aws: &Aws, infrastructure_args: &[String]) -> Result<Self> {
        Ok(Self {
            infrastructure: Manager::of(api, aws, INFRASTRUCTURE, infrastructure_args).await?,
            control_plane: Manager::of(api, aws, CONTROL_PLANE, &[]).await?,
            bootstrap: Manager::of(api, aws, BOOTSTRAP, &[]).await?,
        })
    }
}

/// One manager. Dropping it kills it.
#[derive(Debug)]
pub struct Manager {
    name: &'static str,
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
    /// Where it sends traces from its next start on.
    collector: Mutex<Option<String>>,
    log: PathBuf,
    /// Of a user who may see its diagnostics.
    token: String,
    /// Locked by the task that starts it.
    starting: tokio::sync::Mutex<()>,
    /// None unless it shall run.
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    process: Process,
    health_port: u16,
    diagnostics_port: u16,
}

impl Manager {
    /// The one of `deploy/default`, for all kinds; does not start it.
    pub(super) async fn of_default(api: &ApiServer, aws: &Aws, args: &[String]) -> Result<Self> {
        Self::of(api, aws, INFRASTRUCTURE, args).await
    }

    /// Reads its part of the release; does not start it.
    async fn of(api: &ApiServer, aws: &Aws, released: Released, more_args: &[String]) -> Result<Self> {
        let Released { namespace, deployment: name, prefix } = released;
        let deployments: Api<Deployment> = Api::namespaced(api.client(), namespace);
        let deployment =
            deployments.get(name).await.with_context(|| format!("reading Deployment {namespace}/{name}"))?;
        let pod = deployment.spec.and_then(|spec| spec.template.spec).unwrap_or_default();
        let account =
            pod.service_account_name.context("the manager's Deployment names no service account")?;
        let container = pod.containers.into_iter().next().unwrap_or_default();
        let mut args = container.args.unwrap_or_default();
        // The last value of a flag wins: ports that are free, periods that suit a test.
        args.retain(|arg| !is_overridden(arg) && !more_args.iter().any(|more| flag(more) == flag(arg)));
        args.extend_from_slice(more_args);
        args.push(format!("--aws-endpoint-url={}", aws.endpoint()));
        let kubeconfig = crate::rig::service_account_kubeconfig(api, namespace, &account).await?;
        let nowhere = api.folder().join("no-aws-configuration");
        write(&nowhere, "")?;
        let nowhere = nowhere.display().to_string();
        let env = vec![
            ("KUBECONFIG", kubeconfig.display().to_string()),
            ("POD_NAMESPACE", namespace.to_owned()),
            (POD_NAME, name.to_owned()),
            // Any will do, but there must be some; those of the user who runs the tests must not be found.
            ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ("AWS_CONFIG_FILE", nowhere.clone()),
            ("AWS_SHARED_CREDENTIALS_FILE", nowhere),
            ("NO_COLOR", "1".to_owned()),
        ];
        let log = api.folder().join(format!("{name}.log"));
        // Its log reports from where; a log level of the test runner's own must not get in.
        write(&log, "")?;
        let token = diagnostics::reader(api, prefix).await?;
        let (starting, running) = (tokio::sync::Mutex::default(), Mutex::new(None));
        let collector = Mutex::default();
        Ok(Self { name, program: program()?, args, env, collector, log, token, starting, running })
    }

    /// The same with more in its environment.
    pub(super) fn with_env(mut self, env: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        self.env.extend(env);
        self
    }

    /// Another replica of it, as a Deployment with two replicas has it, in a pod of this name and with a log of its own.
    /// Does not start it.
    pub fn replica(&self, pod: &str) -> Result<Self> {
        let mut env = self.env.clone();
        env.retain(|(name, _)| *name != POD_NAME);
        env.push((POD_NAME, pod.to_owned()));
        let log = self.log.with_file_name(format!("{pod}.log"));
        write(&log, "")?;
        Ok(Self {
            name: self.name,
            program: self.program.clone(),
            args: self.args.clone(),
            env,
            collector: Mutex::new(lock(&self.collector).clone()),
            log,
            token: self.token.clone(),
            starting: tokio::sync::Mutex::default(),
            running: Mutex::new(None),
        })
    }

    /// Starts it and waits until it is ready (a manager that waits for the lease is). Nothing to do if it runs.
    pub async fn start(&self) -> Result<()> {
        let _turn = self.starting.lock().await;
        if self.is_running() {
            return Ok(());
        }
        for start in 1.. {
            match self.try_start().await {
                Err(error) if start < STARTS && format!("{error:#}").contains("in use") => {
                    tracing::info!("a port was taken; starting the manager again with others");
                }
                started => {
                    lock(&self.running).replace(started?);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Starts it again if it exited by itself; does not wait until it is ready. Not if a test killed it meanwhile.
    pub(super) async fn revive(&self) -> Result<()> {
        let _turn = self.starting.lock().await;
        if self.has_ended_by_itself() {
            let launched = self.launch()?;
            if let Some(ended) = lock(&self.running).as_mut() {
                *ended = launched;
            }
        }
        Ok(())
    }

    async fn try_start(&self) -> Result<Running> {
        let running = self.launch()?;
        let waiting = format!("{} to be ready", self.name);
        let ready = wait_until(&waiting, READY, async || {
            if let Err(ended) = running.process.check_running() {
                return Ok(Probe::Done(Err(ended)));
            }
            get(running.health_port, "/readyz").await?;
            Ok(Probe::Done(Ok(())))
        });
        ready.await.with_context(|| last_lines(&running.process.log_tail()))??;
        Ok(running)
    }

    fn launch(&self) -> Result<Running> {
        let (health_port, diagnostics_port) = (free_port()?, free_port()?);
        let mut args = self.args.clone();
        args.push(format!("--health-addr=127.0.0.1:{health_port}"));
        args.push(format!("--diagnostics-address=127.0.0.1:{diagnostics_port}"));
        let collector = lock(&self.collector).clone();
        let mut env: Vec<(&str, &str)> =
            self.env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        env.extend(collector.as_deref().map(|url| ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url)));
        let process = Process::start(self.name, &self.program, args, &env, &self.log)?;
        Ok(Running { process, health_port, diagnostics_port })
    }

    /// From its next start on, it sends traces to this URL.
    pub fn will_send_traces_to(&self, url: &str) {
        lock(&self.collector).replace(url.to_owned());
    }

    /// Kills it, as a crash would. Its lease stays until it expires.
    pub fn kill(&self) {
        lock(&self.running).take();
    }

    /// Asks it to end (SIGTERM) and waits until it has; an error if it does not within its grace period.
    pub async fn terminate(&self) -> Result<()> {
        let Some(running) = lock(&self.running).take() else { return Ok(()) };
        self.in_time(running.process.terminate(GRACE).await?)
    }

    /// The same after `clusterctl upgrade apply`, which takes away the rights of the old Deployment before it creates the
    /// new one: a manager that cannot renew its Lease meanwhile ends by itself.
    pub(super) async fn retire(&self) -> Result<()> {
        let Some(running) = lock(&self.running).take() else { return Ok(()) };
        match running.process.terminate(GRACE).await {
            Err(_) if running.process.log_tail().contains(LEASE_LOST) => Ok(()),
            ended => self.in_time(ended?),
        }
    }

    fn in_time(&self, ended: bool) -> Result<()> {
        ensure!(ended, "{} did not end within {} s of SIGTERM", self.name, GRACE.as_secs());
        Ok(())
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        lock(&self.running).as_ref().is_some_and(|running| running.process.is_running())
    }

    /// Whether it exited although no test killed or terminated it.
    pub fn has_ended_by_itself(&self) -> bool {
        lock(&self.running).as_ref().is_some_and(|running| !running.process.is_running())
    }

    /// How it exited although no test killed or terminated it: its exit code and the last lines of its log.
    pub fn end(&self) -> Option<String> {
        let running = lock(&self.running);
        let process = &running.as_ref()?.process;
        if process.is_running() {
            return None;
        }
        let code = process.exit_code().map_or_else(|| "unknown".to_owned(), |code| code.to_string());
        let lines = last_lines(&process.log_tail());
        Some(format!(
            "{} has ended by itself, exit code {code}. The last lines of its log:\n{lines}",
            self.name
        ))
    }

    /// Name of its Deployment.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The last line of its log.
    pub(super) fn last_line(&self) -> String {
        let log = lock(&self.running).as_ref().map(|running| running.process.log_tail()).unwrap_or_default();
        log.lines().last().unwrap_or_default().chars().take(LINE).collect()
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        lock(&self.running).as_ref().map(|running| running.process.pid())
    }

    /// What its probes respond and what each of its threads waits for: for whoever has to find out why a test failed.
    pub async fn shows(&self) -> String {
        let running = lock(&self.running).as_ref().map(|it| (it.health_port, it.process.pid()));
        let Some((port, pid)) = running else { return format!("{} is not running", self.name) };
        let mut shown = Vec::new();
        for path in ["/healthz", "/readyz"] {
            let response =
                get(port, path).await.map_or_else(|error| format!("{error:#}"), |it| format!("{path}: {it}"));
            shown.push(response.trim().to_owned());
        }
        shown.extend(threads(pid));
        format!("{} ({pid}):\n  {}", self.name, shown.join("\n  "))
    }

    /// What its `/metrics` shows.
    pub async fn metrics(&self) -> Result<String> {
        self.diagnostics("/metrics").await
    }

    /// A page of its diagnostics.
    pub async fn diagnostics(&self, path: &str) -> Result<String> {
        match self.diagnostics_for(Some(&self.token), path).await? {
            (200, page) => Ok(page),
            (status, text) => bail!("{path} of {}: {status} {text}", self.name),
        }
    }

    /// Status and text of a page of its diagnostics, as whose token that is gets them.
    pub async fn diagnostics_for(&self, token: Option<&str>, path: &str) -> Result<(u16, String)> {
        self.diagnostics_by("GET", token, path).await
    }

    /// The same by another method of HTTP.
    pub async fn diagnostics_by(
        &self,
        method: &str,
        token: Option<&str>,
        path: &str,
    ) -> Result<(u16, String)> {
        diagnostics::request(self.diagnostics_port()?, method, token, path).await
    }

    /// Where on this machine its diagnostics are.
    pub fn diagnostics_port(&self) -> Result<u16> {
        self.port(|running| running.diagnostics_port)
    }

    fn port(&self, which: impl FnOnce(&Running) -> u16) -> Result<u16> {
        lock(&self.running).as_ref().map(which).with_context(|| format!("{} does not run", self.name))
    }

    /// Its log, of all its starts.
    pub fn log(&self) -> &Path {
        &self.log
    }
}

/// Enough of a log to see why a manager does not start.
fn last_lines(log: &str) -> String {
    let lines: Vec<String> =
        log.lines().rev().take(4).map(|line| line.chars().take(LINE).collect()).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

/// The flags whose values cannot be those of the release: addresses, and where AWS is.
fn is_overridden(arg: &str) -> bool {
    ["--health-addr", "--diagnostics-address", "--aws-endpoint-url"].contains(&flag(arg))
}

fn flag(arg: &str) -> &str {
    arg.split_once('=').map_or(arg, |(flag, _)| flag)
}

/// The manager's program: named by [`PROGRAM`], else `foo-manager` beside us.
pub fn program() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(PROGRAM) {
        let path = PathBuf::from(path);
        ensure!(path.is_file(), "{PROGRAM}: there is no file {}", path.display());
        return Ok(path);
    }
    beside_us("foo-manager").with_context(|| format!("or name one in {PROGRAM}"))
}

/// Each thread of a process: its name, its state, and the number of the system call in which it waits.
fn threads(pid: u32) -> Vec<String> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let threads = tasks.flatten().map(|task| {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        // "pid (name) state ...": proc_pid_stat(5).
        let stat = read("stat");
        let (_, after) = stat.rsplit_once(") ").unwrap_or_default();
        let state = after.chars().next().unwrap_or('?');
        let call = read("syscall");
        let call = call.split_whitespace().next().unwrap_or("unknown");
        format!("thread {} ({state}), system call {call}", read("comm").trim())
    });
    threads.collect()
}
