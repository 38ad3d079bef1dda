//! `foo-rig`: a management cluster on loopback for exploration, until Ctrl-C or SIGTERM.

use anyhow::Result;
use clap::Parser;
use foo_testbed::{CapiOptions, Rig, RigOptions};
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

/// Starts etcd, kube-apiserver, kube-controller-manager and Cluster API core on the loopback interface, and
/// runs them until it is stopped.
#[derive(Parser)]
struct Args {
    /// Folder for state, logs and the kubeconfig. If an earlier run created it, its contents are deleted
    /// first.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Start only etcd, kube-apiserver and kube-controller-manager, without Cluster API.
    #[arg(long)]
    without_capi: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info,kube_client=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let capi = (!args.without_capi).then(CapiOptions::default);
    let rig = Rig::start(RigOptions { folder: args.folder, capi, ..RigOptions::default() }).await?;
    println!("export KUBECONFIG={}", rig.api().kubeconfig_path().display());
    println!("export PATH={}:$PATH", rig.api().tools().program("").display());
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed?,
        _ = terminated.recv() => {}
    }
    Ok(())
}
