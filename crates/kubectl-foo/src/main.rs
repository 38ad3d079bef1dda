//! The plugin. kubectl finds it by its name, `kubectl-foo`, on the PATH.

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use kubectl_foo::explain::explain;
use kubectl_foo::gather::{self, Access};
use std::path::PathBuf;

/// Pools on AWS Auto Scaling groups, explained.
#[derive(Parser)]
#[command(name = "kubectl foo", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Which cluster, as kubectl has it.
#[derive(Args)]
struct ClusterArgs {
    /// Kubeconfig file; otherwise as for kubectl.
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long, global = true)]
    context: Option<String>,
    /// Namespace; otherwise the context's.
    #[arg(short, long, global = true)]
    namespace: Option<String>,
    /// Pools of all namespaces.
    #[arg(short = 'A', long, global = true, conflicts_with = "namespace")]
    all_namespaces: bool,
}

#[derive(Subcommand)]
enum Command {
    /// What pools wait for, and why.
    Explain {
        /// Names of FooMachinePools; all of the namespace without.
        #[arg(conflicts_with = "all_namespaces")]
        pools: Vec<String>,
    },
}

#[tokio::main]
async fn main() -> Result<()> {
    let Cli { command, cluster } = Cli::parse();
    let ClusterArgs { kubeconfig, context, namespace, all_namespaces } = cluster;
    let access = Access::of(kubeconfig.as_deref(), context).await?;
    let namespace = (!all_namespaces).then(|| namespace.unwrap_or_else(|| access.namespace.clone()));
    match command {
        Command::Explain { pools } => {
            let facts = gather::pools(&access.client, namespace.as_deref(), &pools).await?;
            if facts.is_empty() {
                println!("there are no FooMachinePools");
            }
            let now = jiff::Timestamp::now();
            let texts: Vec<String> = facts.iter().map(|facts| explain(facts, now)).collect();
            print!("{}", texts.join("\n"));
        }
    }
    Ok(())
}
