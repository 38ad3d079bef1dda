//! The plugin. kubectl finds it by its name, `kubectl-foo`, on the PATH.

use anyhow::{Result, ensure};
use clap::{Args, Parser, Subcommand};
use kubectl_foo::explain::explain;
use kubectl_foo::gather::{self, Access};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

/// Explains FooMachinePools: pools of Machines in AWS Auto Scaling groups.
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
    /// Namespace of the pools [default: the context's namespace].
    #[arg(short, long, global = true)]
    namespace: Option<String>,
    /// Explain the pools of all namespaces.
    #[arg(short = 'A', long, global = true, conflicts_with = "namespace")]
    all_namespaces: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Say whether pools are ready, and if not, what they wait for and why.
    Explain {
        /// Names of FooMachinePools [default: all in the namespace].
        pools: Vec<String>,
    },
}

#[tokio::main]
async fn main() -> Result<()> {
    let Cli { command, cluster } = Cli::parse();
    let ClusterArgs { kubeconfig, context, namespace, all_namespaces } = cluster;
    let access = Access::of(kubeconfig.as_deref(), context).await?;
    let namespace = (!all_namespaces).then(|| namespace.unwrap_or_else(|| access.namespace.clone()));
    let mut unread = Vec::new();
    match command {
        Command::Explain { pools } => {
            ensure!(
                namespace.is_some() || pools.is_empty(),
                "names of pools cannot be combined with --all-namespaces"
            );
            let facts = gather::pools(&access.client, namespace.as_deref(), &pools, &mut unread).await?;
            let now = jiff::Timestamp::now();
            let mut texts: Vec<String> = facts.iter().map(|facts| explain(facts, now)).collect();
            if texts.is_empty() {
                texts.push("no FooMachinePools found\n".to_owned());
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
