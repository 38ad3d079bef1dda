//! The plugin. kubectl finds it by its name, `kubectl-foo`, on the PATH.

use anyhow::{Result, ensure};
use clap::{Args, Parser, Subcommand};
use jiff::Timestamp;
use kube::Client;
use kubectl_foo::asked::{Asked, Kind, asked, of_kind};
use kubectl_foo::explain;
use kubectl_foo::gather::{self, Access};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// Explains FooControlPlanes, FooNodeConfigs and FooMachinePools: control planes on EKS, user data of nodes, and pools
/// of Machines in AWS Auto Scaling groups.
#[derive(Parser)]
#[command(name = "kubectl foo", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Cluster and namespace, with kubectl's names of flags.
#[derive(Args)]
struct ClusterArgs {
    /// Path of the kubeconfig file [default: $KUBECONFIG, then ~/.kube/config].
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: its current context].
    #[arg(long, global = true)]
    context: Option<String>,
    /// Namespace of the objects [default: the context's namespace].
    #[arg(short, long, global = true)]
    namespace: Option<String>,
    /// Explain the objects of all namespaces.
    #[arg(short = 'A', long, global = true, conflicts_with = "namespace")]
    all_namespaces: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Show whether control planes, node configurations and pools are ready, and if not, what they wait for and why.
    Explain {
        /// Names of FooMachinePools, or TYPE [NAME...], or TYPE/NAME, for example foocontrolplane/prod [default: all in
        /// the namespace].
        objects: Vec<String>,
    },
}

/// Errors are for users: one line, without the backtrace that `RUST_BACKTRACE` asks for.
#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let Cli { command, cluster } = Cli::parse();
    let ClusterArgs { kubeconfig, context, namespace, all_namespaces } = cluster;
    let access = Access::of(kubeconfig.as_deref(), context).await?;
    let namespace = (!all_namespaces).then(|| namespace.unwrap_or_else(|| access.namespace.clone()));
    let mut unread = Vec::new();
    match command {
        Command::Explain { objects } => {
            let objects = asked(&objects).map_err(anyhow::Error::msg)?;
            ensure!(
                namespace.is_some() || objects.iter().all(|it| it.name.is_none()),
                "names of objects cannot be combined with --all-namespaces"
            );
            let mut texts = texts(&access.client, namespace.as_deref(), &objects, &mut unread).await?;
            if texts.is_empty() {
                texts.push("no FooMachinePools, FooControlPlanes or FooNodeConfigs found\n".to_owned());
            }
            match write!(std::io::stdout(), "{}", texts.join("\n")) {
                // The reader, such as `head`, has closed the pipe.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                written => written?,
            }
        }
    }
    for what in unread {
        eprintln!("warning: {what}");
    }
    Ok(())
}

/// The explanations of all objects that are asked for: control planes first, because everything waits for them. If no
/// names were given, a kind that cannot be listed is left out, except pools.
async fn texts(
    client: &Client,
    namespace: Option<&str>,
    asked: &[Asked],
    unread: &mut Vec<String>,
) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let now = Timestamp::now();
    if let Some(names) = of_kind(asked, Kind::ControlPlane) {
        let found = gather::control_planes(client, namespace, &names, unread).await;
        let found = found_or_unread(found, &names, unread)?;
        texts.extend(found.iter().map(|facts| explain::control_plane(facts, now)));
    }
    if let Some(names) = of_kind(asked, Kind::NodeConfig) {
        let found = gather::node_configs(client, namespace, &names, unread).await;
        let found = found_or_unread(found, &names, unread)?;
        texts.extend(found.iter().map(|facts| explain::node_config(facts, now)));
    }
    if let Some(names) = of_kind(asked, Kind::Pool) {
        let found = gather::pools(client, namespace, &names, unread).await?;
        texts.extend(found.iter().map(|facts| explain::pool(facts, now)));
    }
    Ok(texts)
}

/// What was found. A kind that the user did not name, and may not list or this cluster does not have, is only
/// mentioned.
fn found_or_unread<T>(found: Result<Vec<T>>, names: &[String], unread: &mut Vec<String>) -> Result<Vec<T>> {
    match found {
        Err(error) if names.is_empty() => {
            unread.push(format!("{error:#}"));
            Ok(Vec::new())
        }
        found => found,
    }
}
