//! The real aws-iam-authenticator in front of the API server of one cluster, unchanged, in its mode for EKS: it sends
//! each token to STS, and maps who signed it by the unique id of the role or user, by a file.
//!
//! The test bed writes that file from the access entries of the simulated EKS. Its clock is the machine's: it refuses
//! tokens that are older than fifteen minutes by that clock. How old a token is for AWS, whose time a test may let
//! pass, STS judges.

use super::rights;
use super::shared::Shared;
use crate::free_port;
use crate::pki::write;
use crate::process::Process;
use crate::wait::{Probe, wait_until};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const PROGRAM: &str = "aws-iam-authenticator";
/// How often the access entries are read.
const TICK: Duration = Duration::from_millis(100);
/// How long it takes to listen, generously: a machine may be busy with a build.
const READY: Duration = Duration::from_mins(1);
/// Starts with another port after another process took the first.
const STARTS: usize = 3;

/// The running authenticator of one cluster. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Authenticator {
    process: Process,
    kubeconfig: PathBuf,
    /// Aborted when dropped.
    _mappings: JoinSet<()>,
}

impl Authenticator {
    /// Starts it with its state, log and mappings in `folder`, and waits until it listens.
    pub(super) async fn start(shared: &Arc<Shared>, cluster: &str, id: &str, folder: &Path) -> Result<Self> {
        let folder = folder.join("authenticator");
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        // It checks for a missing file only once in a second.
        let file = folder.join("access-entries.json");
        let written = mappings(shared, cluster, id);
        write(&file, &written)?;
        let mut starts = 0;
        let (process, kubeconfig) = loop {
            starts += 1;
            match run(shared, cluster, &folder, &file).await {
                Err(error) if starts < STARTS && format!("{error:#}").contains("address already in use") => {
                    tracing::info!("a port was taken; starting the authenticator again with another one");
                }
                started => break started?,
            }
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(keep(Arc::clone(shared), cluster.to_owned(), id.to_owned(), file, written));
        Ok(Self { process, kubeconfig, _mappings: tasks })
    }

    /// What kube-apiserver reads to find it.
    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Why it refused tokens, oldest first, in its own words.
    pub(super) fn refusals(&self) -> Vec<String> {
        refusals(&std::fs::read_to_string(self.process.log()).unwrap_or_default())
    }
}

async fn run(shared: &Shared, cluster: &str, folder: &Path, file: &Path) -> Result<(Process, PathBuf)> {
    let port = free_port()?;
    let kubeconfig = folder.join("kubeconfig");
    let config = json!({
        "clusterID": cluster,
        "server": {
            "partition": partition_of(shared.region.name()),
            "address": Ipv4Addr::LOCALHOST,
            "hostname": Ipv4Addr::LOCALHOST,
            "port": port,
            "stateDir": folder,
            "generateKubeconfig": kubeconfig,
            "backendMode": ["DynamicFile"],
            "dynamicfilepath": file,
            "dynamicfileUserIDStrict": true,
        },
    });
    let path = folder.join("config.json");
    write(&path, &config.to_string())?;
    let mut env = shared.endpoints.env();
    env.extend([
        ("AWS_REGION", shared.region.name().to_owned()),
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        // EKS's own, which the simulated AWS accepts from no other client.
        ("AWS_ACCESS_KEY_ID", "EKS".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "EKS".to_owned()),
        ("AWS_SESSION_TOKEN", String::new()),
    ]);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let config = format!("--config={}", path.display());
    let args = ["server", &config, "--log-format=json"];
    let log = folder.join("authenticator.log");
    let process = Process::start(PROGRAM, &shared.tools.program(PROGRAM), args, &env, &log)?;
    let waiting = format!("{PROGRAM} of {cluster} to listen");
    let ready = wait_until(&waiting, READY, async || {
        if let Err(ended) = process.check_running() {
            return Ok(Probe::Done(Err(ended)));
        }
        let open = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await;
        Ok(open.map_or_else(|error| Probe::NotYet(error.to_string()), |_| Probe::Done(Ok(()))))
    });
    ready.await??;
    Ok((process, kubeconfig))
}

/// The partition of a region, by whose hosts tokens may be signed (AWS General Reference, "Amazon Resource Names").
fn partition_of(region: &str) -> &'static str {
    match region.split_once('-') {
        Some(("cn", _)) => "aws-cn",
        Some(("us", rest)) if rest.starts_with("gov-") => "aws-us-gov",
        _ => "aws",
    }
}

/// Keeps the file in line with the access entries, until the task is aborted.
async fn keep(shared: Arc<Shared>, cluster: String, id: String, file: PathBuf, mut written: String) {
    loop {
        tokio::time::sleep(TICK).await;
        let now = mappings(&shared, &cluster, &id);
        if now == written {
            continue;
        }
        // In place, not by another file: it takes up to a second to notice that.
        match write(&file, &now) {
            Ok(()) => written = now,
            Err(error) => tracing::warn!(cluster, "writing its access entries: {error:#}"),
        }
    }
}

/// The access entries of a cluster as it reads them. Groups have one more than EKS gives: the one to which the access
/// policies of the entry are bound.
fn mappings(shared: &Shared, cluster: &str, id: &str) -> String {
    let is_it = shared.region.cluster(cluster).is_some_and(|found| found.id == id);
    let all = shared.simulator.access_mappings(shared.region.name(), cluster);
    let (mut roles, mut users) = (Vec::new(), Vec::new());
    for mut mapping in all.into_iter().filter(|_| is_it) {
        mapping.groups.push(rights::group_of(&mapping.principal));
        let is_user = mapping.principal.contains(":user/");
        let arn = if is_user { "userarn" } else { "rolearn" };
        let text = json!({
            arn: mapping.principal, "userid": mapping.user_id, "username": mapping.username, "groups": mapping.groups,
        });
        if is_user { users.push(text) } else { roles.push(text) }
    }
    json!({ "mapRoles": roles, "mapUsers": users }).to_string()
}

fn refusals(log: &str) -> Vec<String> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let denied = lines.filter(|line| line.get("msg").and_then(Value::as_str) == Some("access denied"));
    denied.filter_map(|line| line.get("error").and_then(Value::as_str).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_in_one_partition() {
        let regions = ["eu-central-1", "us-east-2", "us-gov-west-1", "cn-north-1"];
        assert_eq!(regions.map(partition_of), ["aws", "aws", "aws-us-gov", "aws-cn"]);
    }

    #[test]
    fn refusals_are_read_from_the_log() {
        let log = r#"Authenticator Version: "v0.6.13", ""
{"level":"info","msg":"STS response","time":"t"}
{"client":"127.0.0.1:1","error":"ARN is not mapped","level":"warning","msg":"access denied","time":"t"}
{"level":"info","ms"#;
        assert_eq!(refusals(log), ["ARN is not mapped"]);
    }
}
